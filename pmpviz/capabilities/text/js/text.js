// The stage of the Text page: the same text once for each lane and once as it is exactly, its words coloured.

import { choiceButtons } from "../pmpviz.player/bar.js";
import { mounted } from "../pmpviz.player/component.js";
import { unpack } from "../pmpviz.player/decode.js";
import { Live } from "../pmpviz.player/live.js";
import { make, number } from "../pmpviz.player/theme.js";
import { Column } from "./column.js";
// What others import is asked for here too, at once: found one after the other they would be waited for in turn.
import "../pmpviz.player/knobs.js";
import "../pmpviz.player/traces.js";

const BESIDE = 700; // From this width on the curves stand beside the text.
const [LEAST, LOWEST] = [160, 88]; // Of a column's width and height, in px.
const SHOWN = ["Marginals", "One sample"];
const LINKS = ["Links of a word", "All links"];
const AROUND = [10, 5, 3, 1]; // Words that are seen beside one where there is no room for all.
const ANEW = "Being read again under the new setting: colours, numbers and log Z are not there yet.";
const SAMPLED = "Amber: a name in this sample; exact: p over ½.";
const AVERAGES = "On average, not of this sample: ";
const BEGINS = /^(With|After|Of|Within|Each|The|Under) /;
const COLOURED = "Amber: p(name), how likely a name, strong above ½.";
const OFF = "Violet: off by over .1.";
const HELD = "Reversed: held as a name; struck out: as none.";
const UNDERLINED = "Underlined: the true name.";
const HINT = "Point at a word for its links (lines) and numbers; click: hold it as a name, as none, let it go.";
const CLICK = "Click: hold as a name, as none, let go.";
const AGAIN = "Reversed: held. Click: as none, let go.";
const TIP = [250, 6]; // Its greatest width and its distance from the word, in px.

class Reading extends Live {
  constructor(parent) {
    super(parent, "pv-root tx-root");
    this.sampled = 0;
    this.every = 0;
    this.near = this.first = -1; // The word that is pointed to, and the one whose links are seen else.
    this.sought = new Set(); // Words that a class is to see, however little room there is.
    this.inside = false; // Whether the pointer is over a text: what it points at stays where it is.
    this.turned = false; // Whether a knob was turned whose answer has not come.
    this.unread = true; // Whether nothing was read yet: which names are true is left to be guessed.
    this.framed = false; // Whether a word has been framed since.
    this.hands = {
      point: (place, span) => this.point(place, span),
      leave: () => this.leave(),
      click: (site) => this.post({ type: "click", site }),
      scroll: (from, top) => this.scroll(from, top),
      unfold: () => this.unfold(),
    };
    this.modes = choiceButtons("tx-choices", SHOWN, "What is shown", (k) => this.set("sampled", k));
    this.links = choiceButtons("tx-choices", LINKS, "Links", (k) => this.set("every", k));
    this.head = make("div", "tx-head");
    this.head.append(this.modes, this.links);
    this.exact = new Column(this.hands);
    this.hint = make("div", "tx-hint");
    this.tip = make("div", "pv-tip");
    this.tip.hidden = true;
    this.root.append(this.tip);
    this.stage.append(this.head, this.exact.root, this.hint);
    this.timeline.root.remove();
  }

  set(name, value) {
    this[name] = value;
    this.tell(this.sentences || []);
    this.keepHint();
    this.dirty = true;
    this.wake();
  }

  columns() {
    return [...this.lanes, this.exact];
  }

  newLane() {
    const column = new Column(this.hands);
    setTimeout(() => {
      this.exact.root.before(column.root);
      this.layout();
    });
    return column;
  }

  scrub() {}

  // What the server sends.

  receive(bytes) {
    let some;
    const update = this.read(bytes, (whole) => {
      const found = unpack(whole);
      some = found.some;
      return found.meta;
    });
    if (!update || !this.isNew(update)) return;
    const now = performance.now();
    this.takeHead(update, now);
    // Another text is on its way: this one is no answer to what the page asks.
    this.waits = Boolean(update.waits);
    this.anew = Boolean(update.anew) || (this.turned && !this.answered(update));
    this.turned = this.anew && this.turned;
    this.unread = Boolean(update.unread);
    this.framed = this.framed && !this.unread;
    this.root.classList.toggle("tx-unread", this.unread);
    if (update.text) this.takeText(update, some);
    this.curves = update.traces;
    // Where there is room for one, a knob's change is told rather than a word's label.
    this.marks = update.marks.map(([at, words]) => [at, words, !words.includes("→")]);
    this.showAge();
    this.traces.tell(update.lanes, null);
    this.tracesDirty = this.dirty = true;
    this.takeRest(update);
    this.wake();
  }

  // What is of another setting than the page's says so, from the first move of a hand on.
  showAge() {
    const old = this.anew;
    this.root.classList.toggle("tx-waits", this.waits || old);
    const curves = this.curves || [];
    this.traces.adopt(old ? curves.map((curve) => ({ ...curve, lines: [], empty: "starting again" })) : curves, this.marks);
    this.tracesDirty = true;
    if (old && this.text) for (const { status } of this.columns()) this.age(status);
  }

  // In the room of what stood there.
  age(status) {
    status.style.minHeight = `${status.offsetHeight}px`;
    status.textContent = "of the setting before";
  }

  tell(sentences) {
    super.tell(this.anew && !this.waits && this.text ? [ANEW, ...sentences.slice(1)] : this.averaged(sentences));
    this.sentences = sentences;
  }

  // Beside one sample what was found is said to be of averages.
  averaged([found, ...rest]) {
    if (!this.sampled || !found || !this.lanes.some(({ style }) => style?.sampled)) return [found, ...rest];
    return [AVERAGES + found.replace(BEGINS, (word) => word.toLowerCase()), ...rest];
  }

  act(name, more) {
    if (name === "knob") {
      this.inside = true; // Or the knob would move under the hand as the answer grows.
      this.turned = this.anew = true;
      this.showAge();
      this.tell(["", ""]);
    }
    super.act(name, more);
  }

  takeText(update, some) {
    const links = some(update.text.links, Int32Array);
    const words = update.text.words.join();
    if (words !== this.words) this.sought.clear();
    this.words = words;
    this.text = { ...update.text, links };
    this.first = mostLinked(this.text, this.unread);
    update.lanes.forEach((lane, k) => {
      this.lanes[k].adopt(this.text, lane, some(lane.p, Uint8Array), some(lane.x, Uint8Array));
    });
    const { exact } = update;
    const head = { label: "Exact", badge: "", help: exact.help, status: [exact.status, exact.words].filter(Boolean).join(" · ") };
    // A class guesses first.
    const p = exact.p === undefined || (this.unread && this.large) ? null : some(exact.p, Uint8Array);
    if (p) head.sampled = exact.sampled; // Of what is not there nothing is said but that.
    for (const lane of this.lanes) lane.truth = p;
    this.exact.adopt(this.text, head, p, p && p.map((level) => (level > 127 ? 1 : 0)));
    for (const place of this.sought) if (this.columns().every((column) => column.doubts(place))) this.sought.delete(place);
    for (const column of this.columns()) column.seek(this.sought);
    this.point(this.near < this.text.words.length ? this.near : -1); // What it tells is another now.
  }

  // What a person does.

  point(place, span) {
    this.near = place;
    this.inside = this.inside || Boolean(span);
    this.hint.textContent = this.legend();
    this.tip.hidden = place < 0;
    if (place >= 0) this.tip.textContent = this.describe(place);
    if (span) this.placeTip(span.getBoundingClientRect(), span.closest(".tx-page").getBoundingClientRect());
    this.dirty = true;
    this.wake();
  }

  leave() {
    this.inside = false;
    this.point(-1);
    this.layout();
  }

  // Beneath the word, over no other text than its own.
  placeTip({ left, bottom }, page) {
    const box = this.root.getBoundingClientRect();
    const wide = Math.min(TIP[0], page.width);
    this.tip.style.maxWidth = `${wide}px`;
    this.tip.style.left = `${Math.max(page.left, Math.min(left, page.right - wide)) - box.left}px`;
    this.tip.style.top = `${bottom - box.top + TIP[1]}px`;
  }

  // What colour and lines mean, and what a hand can do; `all` that it may come to be.
  legend(all) {
    const underlined = this.text && this.text.labels && (all || !this.unread);
    const compared = (all || this.framed) && !this.sampled;
    const coloured = this.sampled ? SAMPLED : COLOURED;
    if (this.large) return this.shortLegend(underlined, compared);
    if (this.text && this.text.held.length) return [coloured, underlined ? UNDERLINED : "", HELD].filter(Boolean).join(" ");
    return [coloured, underlined ? UNDERLINED : "", compared ? OFF : "", HINT].filter(Boolean).join(" ");
  }

  // Before a class, in one line: what a click does is told before Play, once words are held, and beside the pointer.
  shortLegend(underlined, compared) {
    const amber = this.sampled ? "Amber: a name in this sample." : `Amber: p(name)${underlined ? ", a name above ½" : ""}.`;
    if (this.text?.held.length) return `${amber} ${AGAIN}`;
    if (!underlined && !compared) return `${amber} ${CLICK}`;
    return [amber, underlined ? "Underlined: true." : "", compared ? "Violet: far off." : ""].filter(Boolean).join(" ");
  }

  // The room of all that it may come to say: nothing beneath it moves.
  keepHint() {
    this.hint.style.minHeight = "";
    this.hint.textContent = this.legend(true);
    this.hint.style.minHeight = `${this.hint.offsetHeight}px`;
    this.hint.textContent = this.legend();
  }

  describe(place) {
    const after = { undefined: "as a name", 1: "as none" }[new Map(this.text.held).get(place)];
    const click = after ? ` Click: hold it ${after}.` : " Click: let it go.";
    const said = this.columns().filter((column) => column.p).map((column) => `${column.label} ${number(column.p[place] / 255)}`);
    const linked = this.exact.partners(place).length;
    const told = [said.join(", "), `${linked} link${linked === 1 ? "" : "s"}`].filter(Boolean).join("; ");
    return `${this.text.words[place]}: ${told}.${click}`;
  }

  scroll(from, top) {
    for (const column of this.columns()) if (column !== from) column.follow(top);
  }

  // Drawing.

  themed() {
    super.themed();
    this.tracesDirty = this.dirty = true;
  }

  layout() {
    const width = this.root.clientWidth;
    if (!width) return;
    this.body.classList.toggle("pv-beside", width >= BESIDE);
    const stage = [width, window.innerHeight, this.large, this.whole, this.words, this.lanes.length].join();
    const moves = !this.inside || stage !== this.laid;
    if (stage !== this.laid) {
      this.keepHint();
      for (const { status } of this.columns()) status.style.minHeight = "";
    }
    this.laid = stage;
    if (moves) this.fill();
    this.spread();
    this.tracesDirty = this.dirty = true;
    this.wake();
  }

  // As much of the text as there is room for.
  fill() {
    // Before a class the words come first: what is exact gives way to them, and the verdict says it.
    this.exact.root.hidden = false;
    this.fold(null);
    if (!this.place() && this.text && this.lanes.length) {
      this.exact.root.hidden = this.large;
      // A reader of one's own text, who looks for no names, scrolls.
      if (this.large ? !this.place() : this.text.labels && !this.whole) this.foldToFit();
    }
  }

  // What is far from all words that are looked for gives way; a click on its sign brings it back.
  foldToFit() {
    for (const around of this.sought.size ? [...AROUND, ...(this.large ? [0] : [])] : []) {
      this.fold(this.sought, around);
      if (this.place()) return;
    }
    if (this.large) return;
    // A list of names alone says nothing: one scrolls.
    this.fold(null);
    this.place();
  }

  unfold() {
    this.whole = true;
    this.layout();
  }

  fold(places, around) {
    for (const column of this.columns()) if (column.parts) column.fold(places, around);
  }

  // Lays the columns out; whether all of the text is seen in each.
  place() {
    const shown = this.columns().filter((column) => !column.root.hidden);
    const count = shown.length;
    const rows = Math.ceil(count / Math.max(1, Math.floor(this.main.clientWidth / LEAST)));
    this.stage.style.gridTemplateColumns = `repeat(${Math.ceil(count / rows)}, minmax(0, 1fr))`;
    this.root.classList.toggle("tx-rows", rows > 1); // Room for the texts, which stand one above another.
    this.levelHeads();
    const around = this.head.offsetHeight + this.hint.offsetHeight + 40;
    const exact = this.exact.root.hidden ? 0 : this.exact.around;
    const words = Math.max(0, ...this.lanes.map((column) => column.around));
    const high = Math.max(LOWEST, this.high(rows) - around / rows - Math.max(0, exact - words));
    return shown.map((column) => column.fit(Math.round(high), this.large)).every(Boolean);
  }

  // A name that takes two lines begins no text lower than the others'.
  levelHeads() {
    const heads = this.columns().map((column) => column.head);
    for (const head of heads) head.style.minHeight = "";
    const high = Math.max(...heads.map((head) => head.offsetHeight));
    for (const head of heads) head.style.minHeight = `${high}px`;
  }

  play(passed, now) {
    if (this.dirty && this.text) {
      this.dirty = false;
      for (const column of this.columns()) column.draw(this.theme, this.sampled === 1, this.every === 1, this.near, this.first);
      if (!this.anew) for (const column of this.columns()) column.state(this.sampled === 1);
      this.root.classList.toggle("tx-sampled", this.sampled === 1);
      this.noteFrames();
      this.press(this.modes, this.sampled);
      this.press(this.links, this.every);
    }
    this.drawTraces(now, null);
    return this.tracesDirty;
  }

  // That frames mean something is said once there are some.
  noteFrames() {
    if (this.framed || !this.stage.querySelector(".tx-off")) return;
    this.framed = true;
    this.hint.textContent = this.legend();
  }

  press(root, chosen) {
    [...root.children].forEach((button, k) => button.setAttribute("aria-checked", k === chosen));
  }
}

// The word of a true name, or of any where none is known or to be given away, that has most links; -1 where there are none.
function mostLinked({ words, labels, links }, any) {
  const counts = words.map(() => 0);
  for (const place of links) counts[place] += labels && !any && !labels[place] ? 0 : 1;
  const most = Math.max(0, ...counts);
  return most ? counts.indexOf(most) : -1;
}

export default mounted(Reading);
