// One text: its words coloured by how likely they are a name, and the links between equal words.

import { css, make, mix } from "../pmpviz.player/theme.js";
import { drawKey } from "../pmpviz.player/traces.js";

const NAME = [230, 159, 0];
const [LIGHT, DARK] = [0.8, 0.6]; // How much of the colour a certain name has.
const POINT = ["#0072B2", "#56B4E9"]; // What is pointed to, in light and in dark: apart from amber, and from ink.
const [MOST_DRAWN, MANY] = [600, 12]; // Links, and from how many on they are fainter.
const [FAINT, STRONG] = [0.3, 0.65]; // Of the colour, what is as likely a name as none: just below and just above.
const [LIKELY, UNLIKELY] = [127, 64]; // Of 255 levels.
const TYPES = [0.9375, 0.875, 0.8125]; // No smaller than a class can read.
const DENSE = ["", 0.875]; // As the style has it, and closer.
const OFF = 26; // More than .1, of 255 levels.
const SVG = "http://www.w3.org/2000/svg";

export class Column {
  // `hands` has `point(place)`, -1 for none, `click(place)`, `leave()`, `scroll(column, top)` and `unfold()`.
  constructor(hands) {
    this.root = make("div", "pv-lane tx-lane");
    this.ring = [];
    const head = (this.head = make("div", "pv-head"));
    this.name = make("span", "pv-name");
    this.badge = make("span", "pv-badge");
    this.key = make("canvas", "pv-key");
    head.append(this.key, this.name, this.badge);
    this.page = this.canvas = make("div", "tx-page");
    this.page.dataset.testid = "text-page";
    this.page.setAttribute("role", "group");
    const more = make("div", "tx-below", "▾ more"); // Is seen where more of the text follows.
    more.setAttribute("aria-hidden", "true");
    this.status = make("div", "tx-status");
    this.root.append(head, this.page, more, this.status);
    this.spans = [];
    this.page.addEventListener("scroll", () => {
      this.fade();
      // One that was moved by another does not move that one back, which may go on.
      if (this.page.scrollTop !== this.led) hands.scroll(this, (this.led = this.page.scrollTop));
    });
    this.page.addEventListener("mouseover", (event) => hands.point(this.place(event), event.target));
    this.page.addEventListener("mouseleave", () => hands.leave());
    this.page.addEventListener("click", (event) => {
      if (event.target.closest(".tx-cut")) hands.unfold();
      else if (this.place(event) >= 0) hands.click(this.place(event));
    });
  }

  forget() {}

  // How high what stands above and beneath the text is.
  get around() {
    return this.root.offsetHeight - this.page.offsetHeight;
  }

  place(event) {
    const word = event.target.closest(".tx-word");
    return word ? Number(word.dataset.place) : -1;
  }

  adopt(text, head, p, x) {
    Object.assign(this, { p, x, label: head.label });
    const written = JSON.stringify([text.words, text.gaps, text.labels]);
    if (written !== this.written) this.write(text);
    this.written = written;
    this.text = text;
    this.key.hidden = !head.colour; // What is exact is no lane, and has no line.
    this.style = head;
    this.name.textContent = head.label;
    this.page.setAttribute("aria-label", `The text as read: ${head.label}`);
    this.badge.textContent = head.badge;
    this.badge.title = head.badgeHelp || "";
    this.status.title = head.help || "";
    // Counts follow with the colours that they are of: see `state`.
    if (!this.status.textContent) this.status.textContent = head.status;
  }

  // Beneath the text what is said of that which is shown.
  state(sampled) {
    this.status.textContent = (sampled && this.style.sampled) || this.style.status;
  }

  write(text) {
    this.lines = document.createElementNS(SVG, "svg");
    this.lines.setAttribute("class", "tx-links");
    this.spans = text.words.map((word, place) => {
      const span = make("span", "tx-word", word);
      span.dataset.place = place;
      if (text.labels && text.labels[place]) span.classList.add("tx-true");
      return span;
    });
    this.parts = this.spans.map((span, place) => {
      const [root, cut] = [make("span"), make("span", "tx-cut")];
      cut.title = "Show the whole text";
      const gap = document.createTextNode("");
      root.append(gap, span);
      return { root, cut, gap, between: text.gaps[place] };
    });
    this.fold(null);
    const parts = this.parts.flatMap(({ cut, root }) => [cut, root]);
    this.page.replaceChildren(this.lines, ...parts, text.gaps[this.spans.length] || "");
  }

  // Leaves out what is more than `around` words from these on their lines, but for a sign where it was; `places` is null
  // for nothing.
  fold(places, around) {
    const kept = places && this.near(places, around);
    this.parts.forEach(({ root, cut, gap, between }, k) => {
      root.hidden = Boolean(kept) && !kept.has(k);
      cut.textContent = root.hidden && (!k || kept.has(k - 1)) ? this.sign(k, kept) : "";
      gap.data = kept ? between.replace(/\n\s*/g, "\n") : between;
    });
  }

  // The sign for what is left out from a word on, on a line of its own where the next word does not begin one.
  sign(from, kept) {
    let [next, broken] = [from, false];
    for (; next < this.parts.length && !kept.has(next); next++) broken = broken || this.breaks(next);
    return broken && from && next < this.parts.length && !this.breaks(next) ? "\n…" : " …";
  }

  breaks(place) {
    return this.parts[place].between.includes("\n");
  }

  // The words beside these on their lines, too.
  near(places, around) {
    const kept = new Set(places);
    for (const place of places) {
      for (let k = place; k > Math.max(0, place - around) && !this.breaks(k); k--) kept.add(k - 1);
      for (let k = place + 1; k < Math.min(this.parts.length, place + 1 + around) && !this.breaks(k); k++) kept.add(k);
    }
    return kept;
  }

  // Where more of the text follows beneath, its last line fades and a mark says so. What scrolls is within reach of the
  // keys, whose arrows then scroll it.
  fade() {
    const { scrollTop, clientHeight, scrollHeight } = this.page;
    this.page.classList.toggle("tx-more", scrollHeight - scrollTop - clientHeight > 8);
    if (scrollHeight - clientHeight > 8) this.page.tabIndex = 0;
    else this.page.removeAttribute("tabindex");
  }

  follow(top) {
    this.page.scrollTop = top;
    this.led = this.page.scrollTop;
  }

  // At most so high, in the largest type in which all of it is seen. Whether all of it is.
  fit(high, large) {
    const { style } = this.page;
    style.maxHeight = `${high}px`;
    for (const size of large ? TYPES : DENSE) {
      style.fontSize = size && `${size}rem`;
      this.page.classList.toggle("tx-dense", size === DENSE[1]);
      if (this.page.scrollHeight <= high) break;
    }
    this.fade();
    return this.page.scrollHeight <= high;
  }

  // Brings a set of words that somebody looks for up to date: true and held ones, and what is more likely a name than
  // not, until that is out of question.
  seek(sought) {
    const { labels, held } = this.text;
    const sure = new Set(held.map(([place]) => place));
    this.spans.forEach((_, place) => {
      if ((labels && labels[place]) || sure.has(place) || (this.p && this.p[place] > LIKELY)) sought.add(place);
    });
  }

  doubts(place) {
    return !this.p || this.p[place] < UNLIKELY;
  }

  partners(place) {
    const { links } = this.text;
    const found = [];
    for (let k = 0; k < links.length; k += 2) {
      if (links[k] === place) found.push(links[k + 1]);
      else if (links[k + 1] === place) found.push(links[k]);
    }
    return found;
  }

  // `first` is whose links are seen while no word is pointed to.
  draw(theme, sampled, every, near, first) {
    if (this.style && this.style.colour) drawKey(this.key, this.style, theme);
    const full = theme.dark ? DARK : LIGHT;
    this.page.style.setProperty("--tx-point", theme.dark ? POINT[1] : POINT[0]);
    const held = new Map(this.text.held);
    const around = new Set(near < 0 ? [] : [near, ...this.partners(near)]);
    this.spans.forEach((span, place) => {
      const share = !this.p ? 0 : sampled ? this.x[place] : this.p[place] / 255;
      // Behind the links, which run behind the letters.
      span.style.setProperty("--tx-colour", share < 0.01 ? "transparent" : css(mix(theme.ground, NAME, full * strength(share))));
      span.classList.toggle("tx-off", Boolean(this.p && this.truth && !sampled) && Math.abs(this.p[place] - this.truth[place]) > OFF);
      span.classList.toggle("tx-held", held.has(place));
      span.classList.toggle("tx-held-0", held.get(place) === 0);
      span.classList.toggle("tx-near", around.has(place));
      span.classList.toggle("tx-point", place === near);
    });
    this.connect(every, near, near < 0 ? first : near);
    this.page.dataset.levels = this.p || "";
    this.page.dataset.names = this.p ? this.p.filter((level) => level > 127).length : "";
  }

  connect(every, near, seen) {
    const { links } = this.text;
    const paths = [];
    for (let k = 0; k < links.length && paths.length < MOST_DRAWN; k += 2) {
      const close = links[k] === near || links[k + 1] === near;
      if (!every && links[k] !== seen && links[k + 1] !== seen) continue;
      if (this.spans[links[k]].parentElement.hidden || this.spans[links[k + 1]].parentElement.hidden) continue;
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", this.arc(this.spans[links[k]], this.spans[links[k + 1]]));
      if (close) path.setAttribute("class", "tx-near");
      paths.push(path);
    }
    this.lines.classList.toggle("tx-every", every);
    this.lines.classList.toggle("tx-many", paths.length > MANY);
    this.lines.replaceChildren(...paths);
  }

  // From the middle of a word's lower edge to the middle of the other's upper edge; above the line on one and the same.
  arc(one, two) {
    const [x, y] = [one.offsetLeft + one.offsetWidth / 2, one.offsetTop + one.offsetHeight];
    const [u, v] = [two.offsetLeft + two.offsetWidth / 2, two.offsetTop];
    if (v < y - one.offsetHeight / 2) {
      const top = one.offsetTop;
      return `M${x},${top} Q${(x + u) / 2},${top - 14} ${u},${top}`;
    }
    const bend = Math.min(60, 0.3 * (v - y)) + 6;
    return `M${x},${y} C${x - bend},${y + (v - y) / 3} ${u - bend},${v - (v - y) / 3} ${u},${v}`;
  }
}

// How much of the colour a probability has: what is a name rather than none stands out from what is not.
function strength(share) {
  return share > 0.5 ? STRONG + (1 - STRONG) * (2 * share - 1) : FAINT * 2 * share;
}
