// One lane of the deconvolution page: a row of features for each posterior sample, under the glyphs they should be.

import { Figure } from "../pmpviz.player/figure.js";
import { css, enlarged, make, mix, number, seconds, sized, thousands } from "../pmpviz.player/theme.js";
import { featureColour } from "./stamps.js";

const RING = 600;
const GAP = 10;
const [LABEL, FOOT] = [76, 16]; // Beside a row and beneath a glyph; more where the page is enlarged.
const CELL = 22; // Most pixels of a feature's pixel.
const LINE = 48; // As high is a row of features at least.
const [THREE, FOUR] = [43, 57]; // So high is a row beside which so many lines of words stand.
const APART = 14; // Pixels between what is said of two glyphs.
const TRUTH_SHARE = 0.8;

export class FeatureLane extends Figure {
  constructor(index, choose, point) {
    super(index, "pv-lane dc-lane", "dc-canvas", "deconvolution-canvas");
    this.forget();
    this.canvas.addEventListener("click", (event) => {
      const row = this.rowAt(event);
      if (row >= 0) choose(row);
    });
    this.canvas.addEventListener("pointermove", (event) => point(this.show(event)));
    this.canvas.addEventListener("pointerleave", () => point(this.show(null)));
    this.tip = make("div", "pv-tip");
    this.tip.setAttribute("aria-hidden", "true");
    this.tip.hidden = true;
    this.pale = make("span", "dc-pale"); // Before a class, which points at nothing.
    this.head.append(this.pale);
    this.root.append(this.head, this.canvas, this.tip, this.words);
  }

  // How long it has computed is told of the picture that is shown.
  say(meta) {
    // What the run has come to is not said beneath a picture of an earlier moment.
    this.status.textContent = this.painted && this.painted !== this.shown ? "" : meta.status || "";
  }

  forget() {
    this.queue = [];
    this.ring = [];
    this.shown = null;
    this.last = -1;
    this.credit = 0;
  }

  // How many frames of an update are new; null where some are missing before them.
  adopt(meta, update) {
    const shape = JSON.stringify([update.shape, meta.samples, meta.algorithm]);
    if (shape !== this.shape) this.forget();
    this.shape = shape;
    this.meta = meta;
    this.update = update;
    this.call(meta);
    this.pale.hidden = !meta.pale;
    this.say(meta);
    if (meta.frames.since > this.last) return null;
    const fresh = meta.frames.list.filter((frame) => frame.number > this.last);
    if (fresh.length) this.last = fresh[fresh.length - 1].number;
    this.queue.push(...fresh);
    return fresh.length;
  }

  // A share of the frames that wait is shown; the first one at once.
  pass(share) {
    if (!this.queue.length) return false;
    this.credit += share * this.queue.length;
    const count = this.shown ? Math.min(this.queue.length, Math.floor(this.credit)) : 1;
    if (count < 1) return false;
    this.credit = Math.max(0, this.credit - count);
    this.ring.push(...this.queue.splice(0, count));
    this.shown = this.ring[this.ring.length - 1];
    // Where the past grows long every other frame of its older half goes: the whole run stays within reach.
    if (this.ring.length > RING) this.ring = this.ring.filter((_, k) => k % 2 === 0 || k > RING / 2);
    return true;
  }

  frame(at, timed) {
    if (at === null || !this.ring.length) return this.shown;
    let found = this.ring[0];
    for (const frame of this.ring) {
      if ((timed ? Math.round(1000 * frame.seconds) : frame.sweep) > at) break;
      found = frame;
    }
    return found;
  }

  rowAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const y = event.clientY - box.top - (this.top || 0);
    const row = Math.floor(y / (this.high || 1));
    return y >= 0 && row < this.meta.samples ? row : -1;
  }

  // The place of the feature under the pointer, of which it tells; null where there is none.
  show(event) {
    const row = event && this.meta && this.update ? this.rowAt(event) : -1;
    const box = this.canvas.getBoundingClientRect();
    const place = row < 0 ? -1 : Math.floor((event.clientX - box.left - this.label) / this.wide);
    this.tip.hidden = place < 0 || place >= this.update.shape.features;
    if (this.tip.hidden) return null;
    const feature = this.painted ? this.painted.orders[row][place] : place;
    const held = this.update.clamped && this.update.clamped[feature] ? ", clamped" : "";
    const { bits, count } = this.update.truth;
    const spare = bits && place >= count ? "; spare: there are more features than glyphs, and this one does not count" : "";
    this.tip.textContent = `Feature ${feature + 1}${held}${spare}${this.meta.pale ? `; ${this.pale.textContent}` : ""}`;
    this.tip.style.left = `${this.canvas.offsetLeft + this.label + place * this.wide}px`;
    this.tip.style.top = `${this.canvas.offsetTop + this.top + (row + 1) * this.high - GAP + 6}px`;
    return place;
  }

  // The generating glyphs stand above the first lane; those below keep its columns.
  get truth() {
    return this.index === 0 ? this.update.truth : { bits: null };
  }

  // Lines of features that the generating glyphs take as much room as.
  get above() {
    return this.update.truth.bits ? TRUTH_SHARE : 0;
  }

  resize(width, most) {
    if (!this.meta) return;
    this.large = enlarged();
    [this.label, this.foot] = [LABEL * this.large, FOOT * this.large];
    const { features, rows, cols } = this.update.shape;
    const truth = this.truth;
    const lines = this.meta.samples + this.above;
    const room = (width - this.label - GAP * (features - 1)) / features;
    const high = Math.max(34, (Math.max(most, LINE * lines) - this.foot) / lines - GAP);
    this.unit = Math.max(2, Math.floor(Math.min(room / cols, high / rows, CELL * this.large)));
    this.small = truth.bits ? Math.max(2, Math.min(Math.floor(this.unit * TRUTH_SHARE), Math.floor(room / truth.cols))) : 0;
    this.wide = cols * this.unit + GAP;
    this.high = rows * this.unit + GAP;
    this.top = truth.bits ? truth.rows * this.small + this.foot + GAP + 4 : 0;
    this.size = [this.label + features * this.wide - GAP + 2, this.top + this.meta.samples * this.high - GAP + 2];
    this.root.style.setProperty("--pv-wide", `${Math.max(this.size[0], Math.min(width, 260))}px`);
  }

  font(size, theme, weight = 400) {
    return `${weight} ${size * this.large}px ${theme.font}`;
  }

  // Features in the order that sets those of all samples, and the glyphs above them, one under the other.
  paint(frame, theme, chosen, stamps, pointed) {
    const near = `${theme.dark ? "dim" : "pale"} pixels: unsure`; // As the ground is.
    if (this.pale.textContent !== near) this.pale.textContent = near;
    if (!this.size) return;
    this.painted = frame;
    const context = sized(this.canvas, ...this.size);
    context.fillStyle = css(theme.ground);
    context.fillRect(0, 0, ...this.size);
    context.font = this.font(12, theme);
    context.textBaseline = "middle";
    this.paintTruth(context, theme, frame, chosen);
    for (let row = 0; row < this.meta.samples; row++) this.paintRow(context, theme, frame, row, chosen);
    this.point(context, theme, chosen, stamps, pointed);
    this.tell(frame, chosen);
  }

  paintTruth(context, theme, frame, chosen) {
    const { bits, rows, cols, count } = this.truth;
    if (!bits) return;
    context.fillStyle = css(theme.soft);
    context.textAlign = "left";
    const middle = (rows * this.small) / 2;
    if (middle < 15 * this.large) context.fillText("glyphs", 0, middle);
    else ["generated", "with"].forEach((words, k) => context.fillText(words, 0, middle + (15 * k - 7) * this.large));
    const line = 1 + rows * this.small + this.foot / 2 + 1;
    if (this.meta.samples > 1) context.fillText(`in sample ${chosen + 1}:`, 0, line);
    const found = (frame && frame.found[chosen]) || [];
    for (let glyph = 0; glyph < count; glyph++) {
      const left = this.label + glyph * this.wide + Math.floor((this.wide - GAP - cols * this.small) / 2);
      for (let i = 0; i < rows * cols; i++) {
        context.fillStyle = css(bits[glyph * rows * cols + i] ? theme.ink : theme.paper);
        context.fillRect(left + (i % cols) * this.small, 1 + Math.floor(i / cols) * this.small, this.small, this.small);
      }
      outline(context, left, 1, cols * this.small, rows * this.small, theme.rule, 1);
      context.fillStyle = css(theme.soft);
      context.textAlign = "center";
      context.font = this.font(11.5, theme);
      const words = found[glyph] || "";
      // In little room without the shift, in less as a tick or a cross.
      const told = [words, words.split(",")[0], words.replace(" off", ""), words.startsWith("found") ? "✓" : words === "not found" ? "✗" : ""];
      const fitting = told.find((each) => context.measureText(each).width < this.wide - APART * this.large);
      context.fillText(fitting || "", left + (cols * this.small) / 2, line);
      context.font = this.font(12, theme);
    }
    context.font = this.font(11.5, theme);
    const spared = context.measureText("spare").width < this.wide - 4;
    for (let place = count; spared && place < this.update.shape.features; place++) {
      context.fillText("spare", this.label + place * this.wide + (this.wide - GAP) / 2, line);
    }
    context.font = this.font(12, theme);
  }

  paintRow(context, theme, frame, row, chosen) {
    const { features, rows, cols } = this.update.shape;
    const size = rows * cols;
    const top = this.top + row * this.high + 1;
    const mine = row === chosen;
    const found = frame ? this.foundIn(frame, row) : "";
    const up = found ? 7 : this.update.partly ? (this.roomy ? 15 : 7) : 0; // By the lines beneath the name.
    const middle = top + (rows * this.unit) / 2 - up * this.large;
    context.textAlign = "left";
    context.fillStyle = css(mine ? theme.text : theme.soft);
    context.font = this.font(12, theme, mine && this.meta.samples > 1 ? 600 : 400);
    context.fillText(`sample ${row + 1}`, 0, middle - (frame ? 7 * this.large : 0));
    context.font = this.font(11.5, theme);
    context.fillStyle = css(theme.soft);
    if (frame && this.update.observed) this.paintWrong(context, frame, row, middle + 9 * this.large);
    context.fillText(found, 0, middle + 24 * this.large, this.label - 4);
    const order = frame ? frame.orders[row] : null;
    for (let place = 0; place < features; place++) {
      const feature = order ? order[place] : place;
      const left = this.label + place * this.wide;
      const colour = featureColour(place);
      // Nothing is known before the first picture, and nothing is painted.
      for (let i = 0; frame && i < size; i++) {
        const grey = frame.belief[(row * features + feature) * size + i] / 255;
        context.fillStyle = css(mix(theme.paper, colour, grey));
        context.fillRect(left + (i % cols) * this.unit, top + Math.floor(i / cols) * this.unit, this.unit, this.unit);
      }
      const held = this.update.clamped && this.update.clamped[feature];
      outline(context, left, top, cols * this.unit, rows * this.unit, mix(theme.ground, theme.text, 0.45), 1);
      if (held) thick(context, left, top, cols * this.unit, rows * this.unit, theme.text);
    }
  }

  // Whether a row has room for four lines beside it.
  get roomy() {
    return this.update.shape.rows * this.unit >= FOUR * this.large;
  }

  // Whether a row is too low for three lines of words beside it.
  get little() {
    return this.update.shape.rows * this.unit < THREE * this.large;
  }

  // How many glyphs a sample has found, of several samples: what stands above is of the chosen one alone.
  foundIn(frame, row) {
    const { features } = this.update.shape;
    const { truth, clamped, partly } = this.update;
    const given = clamped && [...clamped].filter(Boolean).length === features;
    if (!truth.bits || this.meta.samples < 2 || given || partly || this.little || !frame.counts.length) return "";
    return `${frame.counts[row]} of ${truth.count} found`;
  }

  // How many pixels a sample has wrong: of those given, and of those hidden where there are such.
  paintWrong(context, frame, row, line) {
    const [given, hidden] = [frame.wrong[row], frame.hidden[row]].map(thousands);
    const words = this.update.partly ? [`${given} given and`, `${hidden} hidden`, "wrong"] : [`${given} wrong`];
    words.slice(0, this.roomy ? 3 : 2).forEach((each, place) => context.fillText(each, 0, line + 14 * this.large * place, this.label - 4));
    this.canvas.dataset.said = words.join(" ");
  }

  // The features pointed at, or those that the image pointed at is made of.
  point(context, theme, chosen, stamps, pointed) {
    if (!pointed) return;
    const { rows, cols } = this.update.shape;
    const used = stamps.list.filter((stamp) => stamp.image === pointed.image).map((stamp) => stamp.place);
    for (const place of pointed.place === undefined ? new Set(used) : [pointed.place]) {
      const top = this.top + Math.min(chosen, this.meta.samples - 1) * this.high + 1;
      thick(context, this.label + place * this.wide, top, cols * this.unit, rows * this.unit, theme.text);
    }
  }

  tell(frame, chosen) {
    const data = this.canvas.dataset;
    this.say(this.meta);
    if (!frame) return;
    this.counter.textContent = this.meta.timed
      ? `sweep ${frame.sweep < 100 ? number(frame.sweep) : thousands(frame.sweep)} · ${seconds(frame.seconds)}`
      : `sweep ${thousands(frame.sweep)}`;
    const computing = frame.seconds ? `${seconds(frame.seconds)} computing` : "";
    if (this.sub.textContent !== computing) this.sub.textContent = computing;
    data.sweep = frame.sweep;
    data.frame = frame.number;
    data.seconds = frame.seconds;
    data.wrong = frame.wrong[chosen] ?? "";
    data.wrongs = frame.wrong.join();
    data.found = frame.counts.join();
    data.rows = frame.counts.map((_, row) => this.foundIn(frame, row)).join("; ");
    data.residual = frame.residual ?? "";
    data.sharpness = frame.sharpness;
    data.sample = chosen;
    const words = `${this.meta.label}, sweep ${Math.floor(frame.sweep)}: ${frame.said}`;
    if (this.canvas.getAttribute("aria-label") !== words) this.canvas.setAttribute("aria-label", words);
  }
}

function outline(context, left, top, width, height, colour, thick) {
  context.strokeStyle = css(colour);
  context.lineWidth = thick;
  context.strokeRect(left - thick / 2, top - thick / 2, width + thick, height + thick);
}

// A frame that keeps within the room of a thin one.
function thick(context, left, top, width, height, colour) {
  outline(context, left + 2, top + 2, width - 4, height - 4, colour, 3);
}
