// The stage of the deconvolution page: features that sharpen, and what they explain of the images.

import { mounted } from "../pmpviz.player/component.js";
import { bit, unpack } from "../pmpviz.player/decode.js";
import { FeatureLane } from "./features.js";
import { ImageGrid } from "./images.js";
import { Live } from "../pmpviz.player/live.js";
import { ASKS } from "../pmpviz.player/sentences.js";
import { make, seconds, thousands, topOf } from "../pmpviz.player/theme.js";
import { stampsOf } from "./stamps.js";
// What others import is asked for here too, at once: found one after the other they would be waited for in turn.
import "../pmpviz.player/bar.js";
import "../pmpviz.player/figure.js";
import "../pmpviz.player/knobs.js";
import "../pmpviz.player/traces.js";

const GAP = 16;
const LEAST = 180; // As high are features at least.

class Deconvolution extends Live {
  constructor(parent) {
    super(parent, "pv-root dc-root");
    this.sample = 0;
    this.seconds = null;
    this.numbers = make("dl", "dc-numbers");
    this.images = new ImageGrid((sample) => this.choose(sample), (image) => this.hover(image === null ? null : { image }));
    this.pointed = null; // At an image, or at the place of a feature in its row.
    this.axis = make("div", "dc-axis");
    this.side.prepend(this.numbers, this.axis);
    this.main.append(this.images.root);
    this.buildAxis();
  }

  buildAxis() {
    this.axis.setAttribute("role", "radiogroup");
    this.axis.setAttribute("aria-label", "Curves against");
    for (const unit of ["sweeps", "seconds"]) {
      const button = make("button", "pv-button dc-small", `against ${unit}`);
      button.type = "button";
      button.setAttribute("role", "radio");
      button.dataset.unit = unit;
      button.addEventListener("click", () => {
        this.seconds = unit === "seconds";
        this.adoptTraces();
      });
      this.axis.append(button);
    }
  }

  themed() {
    super.themed();
    this.draw();
  }

  receive(bytes) {
    const meta = this.read(bytes, opened);
    if (meta && this.isNew(meta)) this.adopt(meta);
  }

  newLane(index) {
    return new FeatureLane(index, (sample) => this.choose(sample), (place) => this.hover(place === null ? null : { place }));
  }

  adopt(meta) {
    const now = performance.now();
    this.meta = meta;
    this.takeHead(meta, now);
    let behind = false;
    let came = false;
    meta.lanes.forEach((lane, k) => {
      const got = this.lanes[k].adopt(lane, meta);
      behind = behind || got === null;
      came = came || got > 0;
    });
    this.miss(behind, now);
    if (came) this.arrive(now);
    const samples = Math.max(1, ...meta.lanes.map((lane) => lane.samples));
    if (this.sample >= samples) this.sample = 0;
    this.images.adopt(meta, samples, this.sample);
    this.adoptTraces();
    this.takeRest(meta);
  }

  // Of the pictures that are shown.
  tellNumbers(frames) {
    const lanes = this.meta.lanes.map((lane) => lane.short);
    const head = lanes.length > 1 ? [["", lanes, ""]] : [];
    const told = (this.meta.numbers || []).map(([name, help], k) => [name, frames.map((frame) => frame?.values[k] ?? "–"), help]);
    const rows = [...head, ...told];
    this.numbers.classList.toggle("dc-table", lanes.length > 1);
    this.numbers.style.setProperty("--dc-lanes", lanes.length);
    while (this.numbers.children.length > rows.length) this.numbers.lastChild.remove();
    while (this.numbers.children.length < rows.length) {
      const row = make("div", "dc-number");
      row.append(make("dt"));
      this.numbers.append(row);
    }
    rows.forEach(([name, values, help], k) => {
      const row = this.numbers.children[k];
      while (row.children.length > values.length + 1) row.lastChild.remove();
      while (row.children.length < values.length + 1) row.append(make("dd"));
      row.title = help;
      [name, ...values].forEach((text, at) => {
        if (row.children[at].textContent !== text) row.children[at].textContent = text;
      });
    });
  }

  adoptTraces() {
    const seconds = this.seconds === null ? this.meta.lanes.length > 1 : this.seconds;
    for (const button of this.axis.children) {
      button.setAttribute("aria-checked", (button.dataset.unit === "seconds") === seconds);
    }
    const far = (trace) => farApart(trace.lines.map((line) => (line.seconds ? line.seconds[line.seconds.length - 1] : 0)));
    const traces = this.meta.traces.map((trace) => ({
      ...trace,
      xlog: seconds && far(trace),
      span: seconds && far(trace) ? null : [0, 0], // From the beginning on.
      x: seconds ? "seconds" : "sweeps",
      lines: trace.lines.map((line) => ({ ...line, x: seconds ? line.seconds : line.x })),
    }));
    this.traces.adopt(traces, this.meta.marks);
    this.traces.tell(this.meta.lanes.length > 1 ? this.meta.lanes : [], null);
    this.tracesDirty = true;
    this.wake();
  }

  // Commands.

  act(name, more) {
    const back = this.at;
    super.act(name, more);
    if (name === "step" && this.at === back) this.scrub(null);
  }

  moment(frame) {
    return this.lanes.length > 1 ? Math.round(1000 * frame.seconds) : frame.sweep;
  }

  // What was found is of the pictures that are shown, not of those that wait, also while one looks back.
  tell(sentences) {
    // Before the first sweep nothing is found, and the server says what to do; nor is what was found before other
    // settings are taken up an answer to what the page asks.
    const shown = ASKS.test(sentences[0]) || this.meta.waits ? [] : this.frames().filter(Boolean).map((frame) => frame.said);
    super.tell(shown.length ? [shown.join(" "), ...sentences.slice(1)] : sentences);
    this.sentences = sentences;
  }

  lead() {
    if (this.at === null) return "";
    const when = this.lanes.length > 1 ? seconds(this.at / 1000) : `sweep ${thousands(Math.floor(this.at))}`;
    return `Looking back at ${when}. `;
  }

  // What each lane shows; null where that is nothing yet.
  frames() {
    return this.lanes.map((lane) => lane.frame(this.at, this.lanes.length > 1));
  }

  scrub(at) {
    this.at = at;
    this.tell(this.sentences || []);
    this.dirty = this.tracesDirty = true;
    this.wake();
  }

  choose(sample) {
    this.sample = sample;
    this.images.choose(sample);
    this.dirty = true;
    this.wake();
  }

  hover(pointed) {
    if (JSON.stringify(pointed) === JSON.stringify(this.pointed)) return;
    this.pointed = pointed;
    this.dirty = true;
    this.wake();
  }

  // Drawing.

  layout() {
    const width = this.root.clientWidth;
    if (!width || !this.meta) return;
    this.body.classList.toggle("dc-beside", width >= 760);
    const room = this.main.clientWidth;
    const share = (0.36 * window.innerHeight) / Math.min(2, this.lanes.length);
    const most = this.large ? this.roomFor(this.bar.root) : Math.min(share, this.roomFor(this.said));
    for (const lane of this.lanes) {
      lane.fitName(room);
      lane.resize(room, Math.max(LEAST / Math.min(2, this.lanes.length), most));
    }
    this.placeImages(this.large && width >= 760);
    this.spreadBeforeClass();
    this.draw();
  }

  // Before a class a few images stand beside the features, where both are in sight.
  placeImages(beside) {
    const home = beside ? this.side : this.main;
    if (this.images.root.parentNode !== home) home[beside ? "prepend" : "append"](this.images.root);
    this.images.resize(home.clientWidth, beside);
  }

  // How high the features of a lane may be for what stands beneath them all, down to this, to be seen with them. The
  // glyphs stand above the first lane alone: the others leave it their room.
  roomFor(lowest) {
    if (!this.lanes.length) return 0;
    const rest = lowest.getBoundingClientRect().bottom - this.stage.getBoundingClientRect().bottom;
    const heads = this.lanes.reduce((sum, lane) => sum + lane.root.offsetHeight - lane.canvas.offsetHeight + GAP, 0);
    const [{ meta, above }] = this.lanes;
    const lines = meta.samples * this.lanes.length + above;
    return ((window.innerHeight - topOf(this.main) - rest - heads - GAP) * (meta.samples + above)) / lines;
  }

  draw() {
    this.dirty = this.tracesDirty = true;
    for (const lane of this.lanes) lane.drawKey(this.theme);
    this.wake();
  }

  play(passed, now) {
    if (!this.meta) return false;
    const left = this.left();
    let waiting = false;
    for (const lane of this.lanes) {
      this.dirty = lane.pass(passed / left) || this.dirty;
      waiting = waiting || lane.queue.length > 0;
    }
    if (this.dirty) this.paint();
    this.drawTraces(now, this.cursor());
    return waiting || this.tracesDirty;
  }

  // Where the person looks back to, in the sweeps of the first lane; none where lanes are timed.
  cursor() {
    return this.at !== null && this.lanes.length === 1 && !this.seconds ? this.at : null;
  }

  heads() {
    const seconds = this.traces.cards.values().next().value?.trace.x === "seconds";
    return { seconds, of: this.headsBy((frame) => (seconds ? frame.seconds : frame.sweep)) };
  }

  paint() {
    this.dirty = false;
    const timed = this.lanes.length > 1;
    const frames = this.frames();
    this.tell(this.sentences || []);
    const stamps = this.lanes.map(({ meta }, k) => {
      const sample = Math.min(this.sample, meta.samples - 1);
      return stampsOf(frames[k], this.meta, sample);
    });
    this.tellNumbers(frames);
    this.lanes.forEach((lane, k) => lane.paint(frames[k], this.theme, this.sample, stamps[k], this.pointed));
    this.images.paint(frames, this.lanes.map((lane) => lane.meta), this.theme, this.sample, stamps, this.pointed);
    const rings = this.lanes.map((lane) => lane.ring).filter((ring) => ring.length);
    const when = (frame) => this.moment(frame);
    const first = rings.length ? Math.min(...rings.map((ring) => when(ring[0]))) : 0;
    const last = rings.length ? Math.max(...rings.map((ring) => when(ring[ring.length - 1]))) : 0;
    const waiting = this.lanes.filter((lane) => lane.queue.length).map((lane) => when(lane.queue[lane.queue.length - 1]));
    const tell = timed ? (at) => `after ${seconds(at / 1000)}` : undefined;
    if (!waiting.length && !rings.some((ring) => ring[ring.length - 1].sweep)) {
      return this.timeline.show(0, 0, null, "before", 0, () => "before the first sweep");
    }
    this.timeline.show(first, last, this.at, timed ? "after" : "sweep", Math.max(last, ...waiting), tell);
  }
}

// Whether times differ tenfold.
function farApart(times) {
  const some = times.filter((time) => time > 0);
  return some.length > 1 && Math.max(...some) >= 10 * Math.min(...some);
}

export default mounted(Deconvolution);

// As `unpack`, with all arrays read.
function opened(bytes) {
  const { meta, some } = unpack(bytes);
  meta.images = some(meta.images, Uint8Array);
  meta.truth.bits = some(meta.truth.bits, Uint8Array);
  meta.clamped = some(meta.clamped, Uint8Array);
  const { features, rows, cols, shown, height, width } = meta.shape;
  for (const lane of meta.lanes) {
    const { belief, pictures, numbers, stamps } = lane.frames;
    const places = some(lane.frames.places, Int32Array);
    let stamped = 0;
    const [grey, bits] = [some(belief, Uint8Array), some(pictures, Uint8Array)];
    const size = lane.samples * features * rows * cols;
    const bytes = Math.ceil((lane.samples * shown * height * width) / 8);
    if (numbers.length && (grey.length !== size * numbers.length || bits.length !== bytes * numbers.length)) {
      throw new Error("frames of another size");
    }
    lane.frames.list = numbers.map((number, k) => ({
      number,
      sweep: lane.frames.sweeps[k],
      seconds: lane.frames.seconds[k],
      wrong: lane.frames.wrong[k],
      hidden: lane.frames.hidden[k],
      residual: lane.frames.residual[k],
      sharpness: lane.frames.sharpness[k],
      said: lane.frames.said[k],
      values: lane.frames.values[k],
      orders: lane.frames.orders[k],
      found: lane.frames.found[k],
      counts: lane.frames.counts[k],
      belief: grey.subarray(k * size, (k + 1) * size),
      places: places.subarray(stamped, (stamped += stamps[k])),
      picture: (at) => bit(bits.subarray(k * bytes, (k + 1) * bytes), at),
    }));
  }
  return meta;
}
