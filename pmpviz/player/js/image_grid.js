// Images beside what a sample makes of them; pixels that differ stand out in two colours that everybody can tell apart.

import { css, make, mix, rgb, sized } from "./theme.js";

const MISSING = "#E69F00";
const EXTRA = { light: "#0072B2", dark: "#56B4E9" };
const GAP = 8;
const LABEL = 76;
const BLOCK_GAP = 14;
const MOST_BLOCKS = 3;

export class ImageGrid {
  constructor(choose) {
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
    this.root.append(this.head, this.canvas);
  }

  adopt(meta, samples, chosen) {
    this.meta = meta;
    this.title.textContent = meta.images ? "Images, and what is made of them" : "Images that the sample makes up";
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

  resize(width) {
    const { shown, height, width: across } = this.meta.shape;
    const want = shown > 12 ? 64 : 84;
    this.unit = Math.max(1, Math.floor(Math.min(want / Math.max(height, across), (width - LABEL) / across)));
    this.wide = across * this.unit + GAP;
    this.columns = Math.max(1, Math.min(shown, Math.floor((width - LABEL + GAP) / this.wide)));
    this.blocks = Math.min(MOST_BLOCKS, Math.ceil(shown / this.columns));
    this.count = Math.min(shown, this.blocks * this.columns);
    // A last line of a few images looks like a mistake: lines of equal length instead.
    this.columns = Math.ceil(this.count / this.blocks);
    this.line = height * this.unit + 4;
    this.lines = (this.meta.images ? 1 : 0) + this.meta.lanes.length;
    this.block = this.lines * this.line + BLOCK_GAP;
    this.size = [Math.min(width, LABEL + this.columns * this.wide), this.blocks * this.block - BLOCK_GAP + 2];
  }

  paint(frames, lanes, theme, sample) {
    if (!this.size) return;
    const context = sized(this.canvas, ...this.size);
    context.fillStyle = css(theme.ground);
    context.fillRect(0, 0, ...this.size);
    context.font = `12px ${theme.font}`;
    context.textBaseline = "middle";
    const colours = this.colours(theme);
    for (let block = 0; block < this.blocks; block++) this.labels(context, theme, lanes, block);
    for (let image = 0; image < this.count; image++) {
      const left = LABEL + (image % this.columns) * this.wide;
      const top = Math.floor(image / this.columns) * this.block + 1;
      if (this.meta.images) this.image(context, left, top, (i) => this.given(image, i, colours), theme);
      lanes.forEach((lane, k) => {
        const at = top + (k + (this.meta.images ? 1 : 0)) * this.line;
        const frame = frames[k];
        this.image(context, left, at, (i) => this.made(frame, lane, sample, image, i, colours), theme);
      });
    }
    this.legends(theme, colours);
    this.describe();
  }

  colours(theme) {
    const extra = rgb(theme.dark ? EXTRA.dark : EXTRA.light);
    return { ink: theme.ink, paper: theme.paper, missing: rgb(MISSING), extra, hidden: mix(theme.paper, theme.ink, 0.4) };
  }

  labels(context, theme, lanes, block) {
    const names = [...(this.meta.images ? ["given"] : []), ...lanes.map((lane) => lane.short)];
    context.fillStyle = css(theme.soft);
    context.textAlign = "left";
    names.forEach((name, k) => context.fillText(name, 0, block * this.block + (k + 0.5) * this.line));
  }

  given(image, i, { ink, paper, hidden }) {
    const value = this.meta.images[image * this.pixels + i];
    return value === 2 ? hidden : value ? ink : paper;
  }

  made(frame, lane, sample, image, i, { ink, paper, missing, extra }) {
    if (!frame) return paper;
    const at = Math.min(sample, lane.samples - 1) * this.meta.shape.shown * this.pixels + image * this.pixels + i;
    const value = frame.picture(at);
    const given = this.meta.images ? this.meta.images[image * this.pixels + i] : 2;
    if (given === 2 || given === value) {
      const shade = value ? ink : paper;
      return given === 2 && this.meta.images ? mix(shade, value ? paper : ink, 0.22) : shade;
    }
    return given ? missing : extra;
  }

  get pixels() {
    return this.meta.shape.height * this.meta.shape.width;
  }

  image(context, left, top, colour, theme) {
    const { height, width } = this.meta.shape;
    for (let i = 0; i < height * width; i++) {
      context.fillStyle = css(colour(i));
      context.fillRect(left + (i % width) * this.unit, top + Math.floor(i / width) * this.unit, this.unit, this.unit);
    }
    context.strokeStyle = css(theme.rule);
    context.lineWidth = 1;
    context.strokeRect(left - 0.5, top - 0.5, width * this.unit + 1, height * this.unit + 1);
  }

  legends(theme, { missing, extra, hidden }) {
    const some = this.meta.images && this.meta.images.includes(2);
    const entries = this.meta.images ? [[missing, "ink that is missing"], [extra, "ink too much"]] : [];
    if (some) entries.push([hidden, "hidden"]);
    const state = JSON.stringify(entries);
    if (state === this.legendState) return;
    this.legendState = state;
    this.legend.replaceChildren(
      ...entries.map(([colour, words]) => {
        const entry = make("span", "dc-entry");
        const patch = make("span", "dc-patch");
        patch.style.background = css(colour);
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
