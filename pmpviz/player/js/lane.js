// One lane: its header, canvas, other chains, legend, queue of coming frames and ring of past ones.

import { frameHash } from "./decode.js";
import { Figure } from "./figure.js";
import { painterFor, thumbnailFor } from "./painters.js";
import { faint } from "./raster.js";
import { css, heldColour, make, number, OPPOSED, scaleColour, sized, thousands, unmetColour } from "./theme.js";

const RING = 2000;
const FIRST = 64; // Of the ring: how a run began stays to be looked back at.
const [MOMENTS, RECENT] = [128, 64];
const MOST_WAITING = 4000;
const UNMET_WORDS = "red: a coupling not met, which costs energy";
const NONE = { sweep: -1, epoch: -1 };

export class Lane extends Figure {
  constructor(index) {
    super(index, "pv-lane", "pv-canvas", "live-canvas");
    this.forget();
    this.paints = 0;
    this.box = make("div", "pv-box");
    this.box.append(this.canvas);
    this.legend = make("div", "pv-legend pv-scale");
    this.share = make("span", "pv-figure pv-unmet"); // Of the couplings that are not met.
    this.strip = make("div", "pv-strip");
    this.strip.setAttribute("aria-hidden", "true");
    this.root.append(this.head, this.box, this.words, this.legend, this.strip);
  }

  // Geometry of an update, before its frames: another shape forgets the past.
  fit(meta) {
    const shape = JSON.stringify([meta.n, { ...meta.geometry, nodes: null, edges: null }, meta.states]);
    if (shape === this.shape && !meta.geometry.nodes) return;
    if (shape !== this.shape) this.forget();
    this.shape = shape;
    this.painter = painterFor(meta);
    this.canvas.classList.toggle("pv-parts", meta.geometry.kind === "layers");
  }

  // Words and layer of an update; frames go through `take`.
  adopt(meta, theme, alt, still) {
    this.meta = meta;
    this.remember(meta);
    this.call(meta);
    this.canvas.setAttribute("aria-label", `${meta.label}. ${alt || ""}`.trim());
    if (!still) this.say(meta);
    this.drawKey(theme);
    this.dirty = true;
  }

  say(meta) {
    super.say(meta);
    this.tellOf(this.shown);
  }

  // How many draws it had done at the picture on screen, of which server and words are ahead, or of which it is a part;
  // it is done with its last.
  tellOf(frame) {
    const { draws, status, back } = this.meta;
    this.status.textContent = status === "done" && this.queue.length ? "" : status || "";
    const part = this.sub.firstChild;
    if (!draws || !frame || !part || back) return;
    const [done, end, length, since] = draws;
    const { number, age } = this.drawOf(frame);
    const count = length === 1 ? done - (end - frame.sweep) : number;
    const which = number > 1 ? `draw ${thousands(number)}` : `first ${since ? "new " : ""}draw`;
    const whole = length === 1 || age === length;
    part.textContent = whole && count > 0 ? `${thousands(count)} draw${count > 1 ? "s" : ""} a chain${since}` : whole ? "" : `${which}: sweep ${thousands(age)} of ${length}`;
  }

  // The number of the draw that a picture is a part of, and after how many of its sweeps; of one before all that count
  // there is none.
  drawOf({ sweep }) {
    const [done, end, length] = this.meta.draws;
    const made = Math.max(0, sweep - end + done * length);
    const number = Math.max(1, Math.ceil(made / length));
    return { number, age: made - (number - 1) * length };
  }

  // Whether the picture is of a draw that is not done, and no sample.
  unfinished(frame) {
    const { draws } = this.meta;
    if (!draws || draws[2] === 1 || frame.sweep <= draws[1] - draws[0] * draws[2]) return false;
    return this.drawOf(frame).age < draws[2];
  }

  // The other chains and the layer as they came, for those who look back.
  remember({ sweep, strip, layer }) {
    if (!Number.isFinite(sweep)) return;
    while (this.moments.length && this.moments[this.moments.length - 1].sweep >= sweep) this.moments.pop();
    const at = this.moments.length ? this.moments[this.moments.length - 1].at + 1 : 0;
    this.moments.push({ sweep, strip, layer, at });
    // All of a long run can be looked back at, but for the last ones the more coarsely the longer it is.
    const thin = () => (this.moments = this.moments.filter((moment) => moment.at > at - RECENT || moment.at % this.every === 0));
    if (thin().length > MOMENTS) this.every *= 2;
    thin();
  }

  // What came last at or before a sweep.
  moment(sweep) {
    return this.moments.findLast((moment) => moment.sweep <= sweep) || null;
  }

  forget() {
    this.moments = [];
    this.every = 1; // So many moments come for one that is kept.
    this.queue = [];
    this.ring = [];
    this.shown = null;
    this.last = NONE;
    this.number = -1;
    this.fresh = true;
  }

  // A new epoch: what waits is past, and is not played any more.
  renew() {
    this.keep(this.queue.splice(0));
    this.fresh = true;
  }

  // Adds the frames that are new: to the queue, or where they are of an earlier epoch to the past. False where some
  // are missing between what is held and these, which are left then.
  take({ frames, since, last: number }, epoch) {
    if (since > this.number) return false;
    this.number = Math.max(this.number, number);
    for (const { sweep, bits, epoch: own = epoch } of frames) {
      const { sweep: last, epoch: before } = this.last;
      if (sweep < last || (sweep === last && own <= before)) continue;
      this.last = { sweep, epoch: own, bits };
      if (own < epoch) this.keep([this.last]);
      else this.queue.push(this.last);
    }
    if (this.queue.length > MOST_WAITING) this.queue.splice(0, this.queue.length - MOST_WAITING);
    return true;
  }

  keep(frames) {
    for (const frame of frames) this.ring.push(frame);
    if (this.ring.length > RING) this.ring.splice(FIRST, this.ring.length - RING);
  }

  // Move `count` frames from the queue to the ring; the last of them is shown.
  pass(count) {
    if (count < 1 || !this.queue.length) return false;
    const moved = this.queue.splice(0, count);
    this.keep(moved);
    this.shown = moved[moved.length - 1];
    this.fresh = false;
    return true;
  }

  // The picture of now.
  get current() {
    return this.shown;
  }

  // Whether it has got past its first picture: before that there is nothing to repeat.
  moves() {
    return !this.fresh && this.ring.length > 1;
  }

  // The frame of the ring that was on screen at this sweep; null where none of then is kept.
  past(sweep) {
    let low = 0;
    let high = this.ring.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ring[middle].sweep <= sweep) low = middle + 1;
      else high = middle;
    }
    return this.ring[low - 1] || null;
  }

  // The frames of the ring before this one, at most `count`.
  before(frame, count) {
    const at = this.ring.lastIndexOf(frame);
    return at < 1 ? [] : this.ring.slice(Math.max(0, at - count), at);
  }

  // The area of its picture in so much room.
  size(width, height) {
    const [w, h] = this.painter ? this.painter.fit(Math.floor(width), Math.floor(height)) : [0, 0];
    return w * h;
  }

  resize(width, height) {
    if (!this.painter) return;
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = this.painter.fit(Math.floor(width * ratio), Math.floor(height * ratio));
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
    }
    this.canvas.style.width = `${w / ratio}px`;
    this.canvas.style.height = `${h / ratio}px`;
    this.root.style.setProperty("--pv-wide", `${Math.max(w / ratio, Math.min(width, 200))}px`);
    this.dirty = true;
  }

  paint(theme, sweep, edits) {
    const frame = sweep === null ? this.current : this.past(sweep);
    if (!this.painter || !this.canvas.width) return;
    if (!frame) return sweep === null ? undefined : this.paintNothing();
    const layer = this.layerAt(sweep);
    const before = this.painter.past ? this.before(frame, this.painter.past - 1) : undefined;
    this.painter.paint(this.canvas, frame.bits, layer && layer.values ? layer : null, theme, before);
    if (hasBonds(this.meta)) this.share.textContent = this.unmet(frame);
    if (edits.any()) this.painter.mark(this.canvas, edits.over(frame.epoch, this.meta.states, theme), theme);
    this.dirty = false;
    this.paints += 1;
    const data = this.canvas.dataset;
    data.paints = this.paints;
    data.epoch = frame.epoch;
    if (this.painted === frame) return;
    this.painted = frame;
    data.frame = data.sweep = frame.sweep;
    data.frameHash = frameHash(frame.bits);
    this.counter.textContent = `${this.meta.step || "sweep"} ${thousands(frame.sweep)}`;
    if (sweep === null) this.tellOf(frame);
  }

  // Of a draw that is not done the share of couplings that are not met is none of a sample.
  unmet(frame) {
    const share = `${(100 * this.painter.costly).toFixed(0)} % not met`;
    if (!this.unfinished(frame)) return share;
    return this.meta.chains > 1 ? "draw not done" : `${share}, draw not done`;
  }

  // Where no picture of the moment is kept none stands there for another one's.
  paintNothing() {
    this.canvas.getContext("2d").clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.counter.textContent = "not kept";
    this.share.textContent = "";
    this.painted = null;
    this.dirty = false;
  }

  // What is known here of a site of the picture on screen, beside where it is.
  tells() {
    return [];
  }

  // The layer over the picture at a sweep, or of now.
  layerAt(sweep) {
    const { layer } = this.meta;
    if (sweep === null || (layer && layer.kind === "bonds")) return layer;
    const frame = this.past(sweep);
    const moment = frame && this.moment(frame.sweep);
    return moment && moment.sweep === frame.sweep ? moment.layer : null;
  }

  // The layer's scale: each lane has its own. Of a moment that is looked back at there may be none.
  drawLegend(theme, sweep = null) {
    const { layer, missing } = this.meta;
    this.legend.replaceChildren();
    if (missing) this.legend.append(make("span", "", missing));
    if (hasBonds(this.meta)) this.legend.append(this.share);
    if (!layer || !layer.values || layer.kind === "bonds") return;
    if (!this.layerAt(sweep)) return this.legend.append(make("span", "", `${layer.name}: not kept of this moment`));
    this.legend.append(make("span", "", layer.name));
    if (layer.kind === "labels") return;
    const stops = Array.from({ length: 9 }, (_, k) => layer.low + ((layer.high - layer.low) * k) / 8);
    const ramp = make("span", "pv-ramp");
    ramp.style.background = `linear-gradient(90deg, ${stops.map((v) => css(scaleColour(layer, v, theme))).join()})`;
    // Beside its name where there is room, else beneath it.
    const ends = make("span", "pv-ends");
    ends.append(make("span", "pv-figure", number(layer.low)), ramp, make("span", "pv-figure", number(layer.high)));
    this.legend.append(ends);
    if (this.meta.geometry?.nodes && !layer.plain) this.legend.append(make("span", "", "dot: state"));
  }

  // Thumbnails of the other chains, of the moment that is looked back at where it is `kept`; else their room.
  drawStrip(theme, sweep = null, kept = true) {
    const found = sweep === null ? this.meta : kept && this.moment(sweep);
    this.strip.style.visibility = found ? "" : "hidden";
    const moment = found || { strip: this.meta.strip };
    const frames = moment.strip;
    this.strip.dataset.sweep = moment.sweep ?? "";
    // Of a long run the others may be kept of an earlier moment than the picture: of which one is written on them.
    const other = sweep !== null && found && moment.sweep !== this.past(sweep)?.sweep;
    this.strip.dataset.when = other ? `at ${this.meta.step || "sweep"} ${thousands(moment.sweep)}` : "";
    this.strip.title = moment.sweep === undefined ? "" : `eight other chains at sweep ${moment.sweep}`;
    while (this.strip.children.length > frames.length) this.strip.lastChild.remove();
    frames.forEach((bits, k) => {
      if (!this.strip.children[k]) this.strip.append(make("canvas", "pv-thumb"));
      const same = this.thumbs && this.thumbShape === this.shape && (k || !this.meta.geometry.nodes);
      this.thumbs = same ? this.thumbs : thumbnailFor(this.meta);
      this.thumbShape = this.shape;
      const canvas = this.strip.children[k];
      const ratio = window.devicePixelRatio || 1;
      // A graph has no pixels of its own: as large as may be.
      const own = this.thumbs.width ? Math.min(this.thumbs.width, this.thumbs.height) : Infinity;
      const room = Math.max(40 * ratio, Math.min(own, 64 * ratio));
      const [w, h] = this.thumbs.fit(2 * room, room);
      if (canvas.width !== w) canvas.width = w;
      if (canvas.height !== h) canvas.height = h;
      canvas.style.width = `${w / ratio}px`;
      canvas.style.height = `${h / ratio}px`;
      this.thumbs.paint(canvas, bits, null, theme);
    });
  }
}

// Whether couplings that are not met are drawn red, and their share is told.
function hasBonds({ geometry, layer }) {
  return Boolean(geometry?.coupled || (layer && layer.kind === "bonds"));
}

// What the signs in the pictures of all lanes mean, once for all of them, and what `more` there is to know of these.
export function drawSigns(legend, { states, geometry, layer }, theme, clamped, field, more = []) {
  const bonds = hasBonds({ geometry, layer });
  const signs = states ? states.names.map((name, k) => sign(states.colours[k], name, "pv-swatch")) : [];
  if (geometry.kind === "chain") signs.push(make("span", "pv-state", "a row: the chain after a sweep, the newest at the bottom"));
  for (const words of more) signs.push(make("span", "pv-state", words));
  legend.classList.toggle("pv-always", signs.length > 0 || Boolean(geometry.opposed) || bonds);
  if (clamped) signs.push(sign(css(heldColour(theme)), "clamped", "pv-held"));
  if (field) signs.push(sign("linear-gradient(90deg, #0072B2 50%, #D55E00 50%)", "field down, up", "pv-held"));
  if (geometry.opposed) {
    const colour = css(theme.dark ? OPPOSED.dark : OPPOSED.light);
    const dashes = `repeating-linear-gradient(90deg, ${colour} 0 4px, transparent 4px 7px)`;
    signs.push(sign(dashes, "negative coupling", "pv-dashed"));
  }
  if (layer?.kind === "bonds" && !states) {
    const [pale, dim] = faint(theme).map(css);
    signs.push(sign(`linear-gradient(90deg, ${pale} 50%, ${dim} 50%)`, "states 0, 1", "pv-two"));
  }
  if (bonds) {
    const red = css(unmetColour(theme));
    // Of a negative coupling dashed, too.
    const dashed = `linear-gradient(90deg, ${red} 0 44%, transparent 44% 56%, ${red} 56% 72%, transparent 72% 84%, ${red} 84%)`;
    signs.push(sign(geometry.opposed ? dashed : red, UNMET_WORDS, geometry.opposed ? "pv-heavy pv-both" : "pv-heavy"));
  }
  legend.replaceChildren(...signs);
}

function sign(background, words, kind) {
  const root = make("span", "pv-state");
  const box = make("span", kind);
  box.style.background = background;
  root.append(box, make("span", "", words));
  return root;
}
