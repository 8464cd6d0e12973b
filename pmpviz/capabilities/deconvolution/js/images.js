// Images beside what a sample makes of them, painted in the colours of the features that explain them.

import { css, enlarged, make, mix, sized, topOf } from "../pmpviz.player/theme.js";
import { featureColour, placesIn } from "./stamps.js";

const GAP = 8;
const [LABEL, LEAST_LABEL] = [76, 44]; // More where the page is enlarged.
const [FEW, CLASS_FEW] = [98, 126]; // Pixels of an image where only some are shown; before a class, where two have room.
const HEAD = 72; // Above the images there is the question alone.
const LOW_WINDOW = 790; // In a lower one images leave room for what is found.
const BLOCK_GAP = 14;
const MOST_BLOCKS = 2;
const FADED = 0.75;

export class ImageGrid {
  constructor(choose, point) {
    this.chooseSample = choose;
    this.root = make("section", "dc-images");
    this.root.setAttribute("aria-label", "Images and reconstructions");
    this.head = make("div", "dc-head");
    this.title = make("span", "dc-title", "Images");
    this.picks = make("span", "dc-picks");
    this.picks.setAttribute("role", "radiogroup");
    this.picks.setAttribute("aria-label", "Sample that reconstructs the images");
    this.legend = make("span", "dc-legend");
    this.head.append(this.title, this.picks, this.legend);
    this.canvas = make("canvas", "dc-canvas");
    this.canvas.dataset.testid = "images-canvas";
    this.canvas.setAttribute("role", "img");
    this.canvas.addEventListener("pointermove", (event) => point(this.find(event)));
    this.canvas.addEventListener("pointerleave", () => point(null));
    this.root.append(this.head, this.canvas);
  }

  adopt(meta, samples, chosen) {
    this.meta = meta;
    const given = enlarged() > 1 ? "Images" : "Images, and what is made of them"; // Before a class their rows say it.
    this.title.textContent = meta.images ? given : meta.total ? "Images that the sample makes up" : "Images";
    while (this.picks.children.length > samples) this.picks.lastChild.remove();
    while (this.picks.children.length < samples) {
      const place = this.picks.children.length;
      const button = make("button", "pv-button dc-small", `sample ${place + 1}`);
      button.type = "button";
      button.setAttribute("role", "radio");
      button.addEventListener("click", () => this.chooseSample(place));
      this.picks.append(button);
    }
    this.picks.hidden = samples < 2;
    this.choose(chosen);
  }

  choose(sample) {
    [...this.picks.children].forEach((button, k) => button.setAttribute("aria-checked", k === sample));
  }

  // `few`: one line of images alone.
  resize(width, few) {
    const { shown, height, width: across } = this.meta.shape;
    this.lines = (this.meta.images ? 1 : 0) + this.meta.lanes.length;
    this.large = enlarged();
    this.label = this.large * (few && this.meta.lanes.every(({ short }) => short.length < 6) ? LEAST_LABEL : LABEL);
    const two = (width - this.label + GAP) / 2 - GAP;
    // What stands above them all, as the fold of glyphs that are painted, leaves less room.
    const low = window.innerHeight - Math.max(0, topOf(this.root) - HEAD * this.large) < LOW_WINDOW;
    const each = this.large > 1 && !low ? Math.max(FEW, Math.min(CLASS_FEW, two)) : FEW;
    const want = few ? each * Math.min(1, (this.lines > 3 ? 2 : 2.5) / this.lines) : shown > 12 ? 76 : 98;
    this.unit = Math.max(1, Math.floor(Math.min(want / Math.max(height, across), (width - this.label) / across)));
    this.wide = across * this.unit + GAP;
    this.columns = Math.max(1, Math.min(shown, Math.floor((width - this.label + GAP) / this.wide)));
    this.blocks = Math.min(few ? 1 : MOST_BLOCKS, Math.ceil(shown / this.columns));
    this.count = Math.min(shown, this.blocks * this.columns);
    // A last line of a few images looks like a mistake: lines of equal length instead.
    this.columns = Math.ceil(this.count / this.blocks);
    this.line = height * this.unit + 4;
    this.block = this.lines * this.line + BLOCK_GAP;
    this.size = [Math.min(width, this.label + this.columns * this.wide), this.blocks * this.block - BLOCK_GAP + 2];
  }

  // The image under the pointer, with all that is made of it; null where there is none.
  find(event) {
    if (!this.size) return null;
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left - this.label, event.clientY - box.top];
    const [column, block] = [Math.floor(x / this.wide), Math.floor(y / this.block)];
    const image = block * this.columns + column;
    return x >= 0 && y >= 0 && column < this.columns && image < this.count ? image : null;
  }

  // `stamps[lane]`: the list of stamps and the mask of features of every pixel; `pointed` an image or a feature's place.
  paint(frames, lanes, theme, sample, stamps, pointed) {
    if (!this.size) return;
    const context = sized(this.canvas, ...this.size);
    Object.assign(this, { context, theme, pointed });
    context.fillStyle = css(theme.ground);
    context.fillRect(0, 0, ...this.size);
    context.font = `${12 * this.large}px ${theme.font}`;
    context.textBaseline = "middle";
    for (let block = 0; block < this.blocks; block++) this.labels(lanes, block);
    for (let image = 0; image < this.count; image++) this.column(image, frames, lanes, sample, stamps);
    this.outlined = stamps.reduce((sum, each, k) => sum + this.outlines(each.list, k), 0);
    this.canvas.dataset.outlined = this.outlined;
    this.canvas.dataset.painted = stamps.map((each) => each.masks.reduce((sum, mask) => sum + (mask > 0), 0)).join();
    this.legends();
    this.describe();
  }

  // An image, and under it what each lane makes of it.
  column(image, frames, lanes, sample, stamps) {
    const { ink, paper } = this.theme;
    const hidden = mix(paper, ink, 0.4);
    if (this.meta.images) {
      const value = (i) => this.meta.images[image * this.pixels + i];
      this.image(image, 0, (i) => ({ colours: [value(i) === 2 ? hidden : value(i) ? ink : paper] }));
    }
    lanes.forEach((lane, k) => {
      const made = (i) => this.made(frames[k], lane, sample, image, i, stamps[k]);
      this.image(image, k + (this.meta.images ? 1 : 0), made);
    });
  }

  corner(image, line) {
    const top = Math.floor(image / this.columns) * this.block + 1 + line * this.line;
    return [this.label + (image % this.columns) * this.wide, top];
  }

  labels(lanes, block) {
    const names = [...(this.meta.images ? ["given"] : []), ...lanes.map((lane) => lane.short)];
    this.context.fillStyle = css(this.theme.soft);
    this.context.textAlign = "left";
    const some = this.meta.images && !block && this.count < this.meta.total;
    const write = (words, k, off) => this.context.fillText(words, 0, block * this.block + (k + 0.5) * this.line + off * this.large, this.label - 4);
    names.forEach((name, k) => write(name, k, some && !k ? -8 : 0));
    if (some) write(`${this.count} of ${this.meta.total}`, 0, 8);
  }

  // {colours of the pixel, one a feature; middle: that of what is given, where it is another}.
  made(frame, lane, sample, image, i, { masks }) {
    const { ink, paper } = this.theme;
    if (!frame) return { colours: [paper] };
    const place = image * this.pixels + i;
    const value = frame.picture(Math.min(sample, lane.samples - 1) * this.meta.shape.shown * this.pixels + place);
    const given = this.meta.images ? this.meta.images[place] : 2;
    const faded = this.pointed && this.pointed.place !== undefined && !((masks[place] >> this.pointed.place) & 1) ? FADED : 0;
    let colours = value ? placesIn(masks[place]).map(featureColour) : [];
    if (!colours.length) colours = [value ? ink : paper];
    if (given === 2 && this.meta.images) colours = colours.map((colour) => mix(colour, value ? paper : ink, 0.22));
    colours = colours.map((colour) => mix(colour, paper, faded));
    return given === 2 || given === value ? { colours } : { colours, middle: mix(given ? ink : paper, paper, faded) };
  }

  get pixels() {
    return this.meta.shape.height * this.meta.shape.width;
  }

  image(image, line, pixel) {
    const { context, unit } = this;
    const [left, top] = this.corner(image, line);
    const { height, width } = this.meta.shape;
    for (let i = 0; i < height * width; i++) {
      const [x, y] = [left + (i % width) * unit, top + Math.floor(i / width) * unit];
      const { colours, middle } = pixel(i);
      colours.forEach((colour, k) => {
        context.fillStyle = css(colour);
        context.fillRect(x + (k * unit) / colours.length, y, unit / colours.length, unit);
      });
      if (middle) this.middle(x, y, middle);
    }
    context.strokeStyle = css(this.theme.rule);
    context.lineWidth = 1;
    context.strokeRect(left - 0.5, top - 0.5, width * unit + 1, height * unit + 1);
  }

  middle(x, y, colour) {
    const edge = Math.max(1, Math.round(this.unit / 4));
    this.context.fillStyle = css(colour);
    this.context.fillRect(x + edge, y + edge, this.unit - 2 * edge, this.unit - 2 * edge);
  }

  // Around the stamps of what is pointed at, in one lane; how many there are.
  outlines(list, lane) {
    const { context, unit, theme, pointed } = this;
    const { rows, cols } = this.meta.shape;
    const found = pointed ? list.filter(({ image, place }) => image < this.count && (image === pointed.image || place === pointed.place)) : [];
    for (const { image, place, row, column } of found) {
      const [left, top] = this.corner(image, lane + (this.meta.images ? 1 : 0));
      const box = [left + column * unit, top + row * unit, cols * unit, (rows / this.meta.channels) * unit];
      for (const [colour, thick] of [[theme.text, 3.5], [featureColour(place), 2]]) {
        context.strokeStyle = css(colour);
        context.lineWidth = thick;
        context.strokeRect(...box);
      }
    }
    return found.length;
  }

  legends() {
    const { theme } = this;
    const some = this.meta.images && this.meta.images.includes(2);
    const said = enlarged() > 1 ? ["missing", "too much"] : ["ink that is missing", "ink too much"];
    const entries = this.meta.images ? [["missing", said[0]], ["extra", said[1]]] : [];
    if (some) entries.push(["hidden", "hidden"]);
    const state = JSON.stringify([entries, theme.id]);
    if (state === this.legendState) return;
    this.legendState = state;
    const patches = { missing: [theme.paper, theme.ink], extra: [featureColour(0), theme.paper] };
    // Its rings have the colours of its features: more than one.
    const [one, another, within] = [featureColour(0), featureColour(2), theme.paper].map(css);
    const colours = `linear-gradient(${within}, ${within}) content-box, linear-gradient(135deg, ${one} 50%, ${another} 50%)`;
    const ring = { background: colours, boxShadow: "none", padding: "3px", boxSizing: "border-box" };
    this.legend.replaceChildren(
      ...entries.map(([kind, words]) => {
        const entry = make("span", "dc-entry");
        const patch = make("span", "dc-patch");
        const [around, middle] = patches[kind] || [mix(theme.paper, theme.ink, 0.4), mix(theme.paper, theme.ink, 0.4)];
        patch.style.background = css(around);
        patch.style.boxShadow = `inset 0 0 0 3px ${css(around)}, inset 0 0 0 1rem ${css(middle)}`;
        if (kind === "extra") Object.assign(patch.style, ring);
        entry.append(patch, words);
        return entry;
      }),
    );
  }

  describe() {
    const more = this.meta.total > this.count ? ` of ${this.meta.total}` : "";
    const words = `${this.count}${more} images, each above its reconstruction; ${this.meta.alt}`;
    if (this.canvas.getAttribute("aria-label") !== words) this.canvas.setAttribute("aria-label", words);
  }
}
