// The filters of one lane, framed, each on its own scale; the one under the pointer says which samples use it.

import { ask } from "../pmpviz.player/ask.js";
import { bit } from "../pmpviz.player/decode.js";
import { make, mix, number, sized, thousands } from "../pmpviz.player/theme.js";

const [SIDE, LOW_SIDE, LOW] = [60, 52, 820]; // Of a filter, of one beneath samples in a window that is lower than so many.
const BETWEEN = 6; // Filters, as in learning.css; and the grid's padding above and beneath them.
const PADDING = 4;
const FEW_ROWS = 2; // Beneath the samples.
const DIM = 0.62;
const COLOURS = {
  light: { negative: [0, 114, 178], zero: [250, 249, 246], positive: [213, 94, 0] },
  dark: { negative: [86, 180, 233], zero: [20, 20, 18], positive: [255, 148, 56] },
};

export class Filters {
  constructor(lane, changed) {
    this.lane = lane;
    this.chosen = null; // The place of the filter under the pointer.
    this.sample = null; // The sample under the pointer.
    this.changed = changed;
    this.root = make("section", "ln-panel");
    this.head = make("div", "pv-head");
    this.title = make("span", "ln-title");
    this.about = make("span");
    this.many = make("span", "ln-many");
    this.legend = make("span", "ln-legend");
    this.head.append(this.title, this.about, this.many, this.legend);
    this.grid = make("div", "ln-grid");
    this.grid.addEventListener("scroll", () => this.count());
    this.grid.addEventListener("pointerleave", () => this.choose(null));
    this.said = make("div", "ln-words");
    this.root.append(this.head, this.grid, this.said);
    this.light = make("canvas", "ln-light");
    lane.box.append(this.light);
    lane.canvas.addEventListener("pointermove", (event) => this.point(event));
    lane.canvas.addEventListener("pointerleave", () => this.take(null));
  }

  end() {
    this.root.remove();
    this.light.remove();
  }

  adopt(meta, label, theme) {
    if (!this.meta || this.meta.hidden !== meta.hidden) this.about.replaceChildren(ask(this.terms(meta), "filters"));
    this.meta = meta;
    this.grid.setAttribute("aria-label", `${this.what(null)}: ${label}`);
    while (this.grid.children.length > meta.units.length) this.grid.lastChild.remove();
    while (this.grid.children.length < meta.units.length) this.add(this.grid.children.length);
    this.draw(theme);
  }

  add(place) {
    const canvas = make("canvas", "ln-filter");
    canvas.addEventListener("pointerenter", () => this.choose(place));
    canvas.addEventListener("pointerdown", () => this.choose(place));
    this.grid.append(canvas);
  }

  choose(place) {
    if (place === this.chosen) return;
    this.chosen = place;
    this.changed();
  }

  take(sample) {
    if (sample === this.sample) return;
    this.sample = sample;
    this.changed();
  }

  mark(places) {
    [...this.grid.children].forEach((canvas, k) => canvas.classList.toggle("ln-chosen", places.includes(k)));
  }

  // Every filter with a pixel of its own for each weight; the browser makes them larger.
  draw(theme) {
    const { height, width } = this.meta;
    const { negative, zero, positive } = COLOURS[theme.dark ? "dark" : "light"];
    this.size();
    [...this.grid.children].forEach((canvas, k) => {
      if (canvas.width !== width) canvas.width = width;
      if (canvas.height !== height) canvas.height = height;
      const image = new ImageData(width, height);
      for (let i = 0; i < width * height; i++) {
        const weight = this.meta.weight[k * width * height + i] / 127;
        image.data.set([...mix(zero, weight < 0 ? negative : positive, Math.abs(weight)), 255], 4 * i);
      }
      canvas.getContext("2d").putImageData(image, 0, 0);
    });
  }

  // Each weight has whole pixels of the page.
  size() {
    const { height, width } = this.meta;
    const scale = Math.max(1, Math.floor(this.side() / Math.max(height, width)));
    for (const { style } of this.grid.children) {
      style.width = `${width * scale + 2}px`;
      style.height = `${height * scale + 2}px`;
    }
  }

  side() {
    return this.brief && window.innerHeight < LOW ? LOW_SIDE : SIDE;
  }

  what(at) {
    if (!this.meta.hidden) return "Couplings of a pixel";
    if (at !== null) return "Filters";
    return this.brief ? "A hidden unit's weights" : "Filters: a hidden unit's weights";
  }

  // Whose filters they are: of an earlier moment those that were kept last before it.
  name(at) {
    const when = at === null ? "" : `, of iteration ${thousands(this.meta.iteration)}`;
    if (this.title.textContent !== this.what(at) + when) this.title.textContent = this.what(at) + when;
    this.legend.hidden = this.brief || at !== null;
  }

  // How many of all are seen whole, and that there are more beneath.
  count() {
    const { scrollTop, clientHeight, scrollHeight, children } = this.grid;
    const top = this.grid.offsetTop + scrollTop;
    const whole = (one) => one.offsetTop >= top && one.offsetTop + one.offsetHeight <= top + clientHeight;
    const seen = [...children].filter(whole).length;
    const below = scrollTop + clientHeight < scrollHeight - 2 * PADDING;
    const way = below ? " ▼" : scrollTop ? " ▲" : "";
    const words = seen < this.meta.total ? `${seen} of ${thousands(this.meta.total)} units${way}` : "";
    if (this.many.textContent !== words) this.many.textContent = words;
    this.grid.classList.toggle("ln-more", below);
  }

  // So many whole rows of filters as make the panel at most this high, with its words; beneath samples it has few words.
  fit(high, large) {
    this.brief = !high && !large;
    this.root.classList.toggle("ln-brief", this.brief);
    if (this.brief) this.legend.hidden = true;
    this.legend.textContent = large ? "blue < 0 < orange" : "blue below 0, orange above";
    if (this.meta) this.size();
    const first = this.grid.firstChild;
    const row = (first ? first.offsetHeight : this.side()) + BETWEEN;
    const room = high - this.head.offsetHeight - this.said.offsetHeight - PADDING;
    const rows = Math.max(FEW_ROWS, Math.floor((room + BETWEEN) / row));
    this.grid.style.maxHeight = `${rows * row - BETWEEN + PADDING}px`;
    if (this.meta) this.count();
  }

  // Whether a filter is in use in a picture of the frame: its hidden unit is on rather than off, or its pixel is ink.
  uses(bits, place, picture) {
    const { height, width, hidden, units } = this.meta;
    if (!hidden) return bit(bits, this.pixel(picture, units[place])) === 1;
    let field = this.meta.bias[place];
    const unit = this.meta.limit[place] / 127;
    const from = place * height * width;
    for (let i = 0; i < height * width; i++) {
      if (bit(bits, this.pixel(picture, i))) field += unit * this.meta.weight[from + i];
    }
    return field > 0;
  }

  // The site of the mosaic where a pixel of a picture is.
  pixel(picture, i) {
    const { height, width, columns } = this.meta;
    const row = 1 + Math.floor(picture / columns) * (height + 1) + Math.floor(i / width);
    return row * (columns * (width + 1) + 1) + 1 + (picture % columns) * (width + 1) + (i % width);
  }

  // Over the samples: those that use the chosen filter framed, the others dimmed.
  show(theme, at) {
    if (this.meta) this.name(at);
    const frame = this.meta && (at === null ? this.lane.shown : this.lane.past(at));
    const on = this.chosen !== null && this.chosen < this.meta.units.length && Boolean(frame);
    this.light.hidden = !on;
    const used = on ? [...Array(this.meta.pictures).keys()].map((k) => this.uses(frame.bits, this.chosen, k)) : [];
    if (on) this.frames(theme, used);
    const marked = frame ? this.marked(frame) : [];
    this.mark(marked);
    this.tell(used, marked);
  }

  // The filter under the pointer, or those that the sample under it uses.
  marked({ bits }) {
    if (this.chosen !== null) return [this.chosen];
    if (this.sample === null || this.sample >= this.meta.pictures) return [];
    return this.meta.units.map((_, k) => k).filter((k) => this.uses(bits, k, this.sample));
  }

  frames(theme, used) {
    const { canvas } = this.lane;
    const { height, width, columns } = this.meta;
    const unit = canvas.clientWidth / (columns * (width + 1) + 1);
    const context = sized(this.light, canvas.clientWidth, canvas.clientHeight);
    Object.assign(this.light.style, { left: `${canvas.offsetLeft}px`, top: `${canvas.offsetTop}px` });
    context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    used.forEach((lit, k) => {
      const left = (k % columns) * (width + 1) * unit + unit / 2;
      const top = Math.floor(k / columns) * (height + 1) * unit + unit / 2;
      const [wide, high] = [(width + 1) * unit, (height + 1) * unit];
      context.fillStyle = `rgba(${theme.ground}, ${DIM})`;
      context.strokeStyle = `rgb(${theme.accent})`;
      context.lineWidth = 2;
      if (lit) context.strokeRect(left + 1.5, top + 1.5, wide - 3, high - 3);
      else context.fillRect(left, top, wide, high);
    });
  }

  tell(used, marked) {
    const words = used.length ? this.useOf(used) : this.sample !== null && this.meta ? this.framed(marked) : this.way();
    if (this.said.textContent !== words) this.said.textContent = words;
  }

  terms({ hidden }) {
    const what = hidden ? "A filter is the weights of one hidden unit to the pixels" : "The couplings of one pixel to the others";
    const on = hidden ? "hidden unit" : "pixel";
    return `${what}, each on its own scale: blue is below 0, orange above. Point at one: samples where its ${on} is on light up. Point at a sample: filters whose ${on} is on in it are framed.`;
  }

  way() {
    if (this.brief) return "";
    const whose = this.meta && this.meta.hidden ? "Its weights to the pixels, each filter" : "Each";
    return `${whose} on its own scale. Point at one: samples where its ${this.kind()} is on light up.`;
  }

  framed(marked) {
    const many = `${marked.length} of ${this.meta.units.length} filters`;
    return this.brief ? `Framed: its ${many}.` : `Framed: the ${many} that the sample under the pointer uses.`;
  }

  useOf(used) {
    const lit = used.filter(Boolean).length;
    const limit = number(this.meta.limit[this.chosen]);
    const unit = `${this.kind()} ${this.meta.units[this.chosen] + 1}`;
    if (this.brief) return `Is on in ${lit} of ${used.length} samples; up to ±${limit}.`;
    return `Its ${unit} is on in ${lit} of ${used.length} samples; weights up to ±${limit}.`;
  }

  kind() {
    return this.meta && this.meta.hidden ? "hidden unit" : "pixel";
  }

  point(event) {
    if (!this.meta) return;
    const { height, width, columns } = this.meta;
    const box = this.lane.canvas.getBoundingClientRect();
    const unit = box.width / (columns * (width + 1) + 1);
    const column = Math.floor((event.clientX - box.left) / unit / (width + 1));
    const row = Math.floor((event.clientY - box.top) / unit / (height + 1));
    this.take(row * columns + Math.min(column, columns - 1));
  }
}
