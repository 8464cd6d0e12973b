// One text: its words coloured by how likely they are a name, and the links between equal words.

import { css, make, mix } from "../pmpviz.player/theme.js";
import { drawKey } from "../pmpviz.player/traces.js";

const NAME = [230, 159, 0];
const [LIGHT, DARK] = [0.8, 0.6]; // How much of the colour a certain name has.
const MOST_DRAWN = 600;
const TYPES = [0.9375, 0.875, 0.8125]; // No smaller than a class can read.
const OFF = 26; // More than .1, of 255 levels.
const SVG = "http://www.w3.org/2000/svg";

export class Column {
  // `hands` has `point(place)`, -1 for none, `click(place)` and `scroll(column, top)`.
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
    this.status = make("div", "tx-status");
    this.root.append(head, this.page, this.status);
    this.spans = [];
    this.page.addEventListener("scroll", () => {
      this.fade();
      hands.scroll(this, this.page.scrollTop);
    });
    this.page.addEventListener("mouseover", (event) => hands.point(this.place(event)));
    this.page.addEventListener("mouseleave", () => hands.point(-1));
    this.page.addEventListener("click", (event) => this.place(event) >= 0 && hands.click(this.place(event)));
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
    this.badge.textContent = head.badge;
    this.status.textContent = head.status;
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
    const parts = this.spans.flatMap((span, place) => [text.gaps[place], span]);
    this.page.replaceChildren(this.lines, ...parts, text.gaps[this.spans.length] || "");
  }

  // Where more of the text follows beneath, its last line fades.
  fade() {
    const { scrollTop, clientHeight, scrollHeight } = this.page;
    this.page.classList.toggle("tx-more", scrollHeight - scrollTop - clientHeight > 8);
  }

  // At most so high; before a class in the largest type in which all of it is seen. Whether all of it is.
  fit(high, large) {
    const { style } = this.page;
    style.maxHeight = `${high}px`;
    for (const size of large ? TYPES : [""]) {
      style.fontSize = size && `${size}rem`;
      if (this.page.scrollHeight <= high) break;
    }
    this.fade();
    return this.page.scrollHeight <= high;
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

  draw(theme, sampled, every, near) {
    if (this.style && this.style.colour) drawKey(this.key, this.style, theme);
    const full = theme.dark ? DARK : LIGHT;
    const held = new Map(this.text.held);
    const around = new Set(near < 0 ? [] : [near, ...this.partners(near)]);
    this.spans.forEach((span, place) => {
      const share = !this.p ? 0 : sampled ? this.x[place] : this.p[place] / 255;
      span.style.backgroundColor = share < 0.01 ? "" : css(mix(theme.ground, NAME, full * share));
      span.classList.toggle("tx-off", Boolean(this.p && this.truth && !sampled) && Math.abs(this.p[place] - this.truth[place]) > OFF);
      span.classList.toggle("tx-held", held.has(place));
      span.classList.toggle("tx-held-0", held.get(place) === 0);
      span.classList.toggle("tx-near", around.has(place) && around.size > 1);
    });
    this.connect(every, near);
    this.page.dataset.levels = this.p || "";
    this.page.dataset.names = this.p ? this.p.filter((level) => level > 127).length : "";
  }

  connect(every, near) {
    const { links } = this.text;
    const paths = [];
    for (let k = 0; k < links.length && paths.length < MOST_DRAWN; k += 2) {
      const close = links[k] === near || links[k + 1] === near;
      if (!every && !close) continue;
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", this.arc(this.spans[links[k]], this.spans[links[k + 1]]));
      if (close) path.setAttribute("class", "tx-near");
      paths.push(path);
    }
    this.lines.replaceChildren(...paths);
  }

  // From the middle of a word's lower edge to the middle of the other's upper edge; above the line on one and the same.
  arc(one, two) {
    const [x, y] = [one.offsetLeft + one.offsetWidth / 2, one.offsetTop + one.offsetHeight];
    const [u, v] = [two.offsetLeft + two.offsetWidth / 2, two.offsetTop];
    if (v < y) {
      const top = one.offsetTop;
      return `M${x},${top} Q${(x + u) / 2},${top - 14} ${u},${top}`;
    }
    const bend = Math.min(60, 0.3 * (v - y)) + 6;
    return `M${x},${y} C${x - bend},${y + (v - y) / 3} ${u - bend},${v - (v - y) / 3} ${u},${v}`;
  }
}
