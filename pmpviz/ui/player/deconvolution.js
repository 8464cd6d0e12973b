// The stage of the deconvolution page: features that sharpen, and what they explain of the images.
//
// Streamlit calls the default export once for each update; the stage is made once for each mount and kept, so that
// what was seen can be looked back at.

import { Bar, Timeline } from "./bar.js";
import { bit, unpack } from "./decode.js";
import { FeatureLane } from "./features.js";
import { ImageGrid } from "./image_grid.js";
import { make, readTheme } from "./theme.js";
import { Traces } from "./traces.js";

const OUTBOX_MS = 8000;
const OUTBOX_MOST = 64;
const HOLD_MS = 3000;
const ANNOUNCE_MS = 5000;
const TRACE_MS = 150;
const stages = new WeakMap();

export default function mount({ data, parentElement, setStateValue }) {
  let stage = stages.get(parentElement);
  if (!stage || stage.gone) {
    stage = new Stage(parentElement);
    stages.set(parentElement, stage);
  }
  stage.send = (value) => setStateValue("outbox", value);
  stage.receive(data);
  return () => stage.leave();
}

class Stage {
  constructor(parent) {
    this.mount = Math.random().toString(36).slice(2);
    this.number = 0;
    this.outbox = [];
    this.lanes = [];
    this.epoch = -1;
    this.at = null;
    this.sample = 0;
    this.seconds = null;
    this.interval = 400;
    this.build(parent);
    this.onKey = (event) => this.key(event);
    document.addEventListener("keydown", this.onKey);
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(this.root);
    this.watch = setInterval(() => this.look(), 700);
  }

  build(parent) {
    this.root = make("div", "pv-root dc-root");
    this.trouble = make("div", "pv-trouble");
    this.trouble.setAttribute("role", "alert");
    this.numbers = make("dl", "dc-numbers");
    this.stage = make("div", "pv-stage");
    this.spoken = make("div", "pv-spoken");
    this.spoken.setAttribute("aria-live", "polite");
    this.bar = new Bar((type, more) => this.act(type, more));
    this.timeline = new Timeline((at) => this.scrub(at));
    this.images = new ImageGrid((sample) => this.choose(sample));
    this.traces = new Traces();
    this.axis = make("div", "dc-axis");
    this.side = make("div", "dc-side");
    this.side.append(this.numbers, this.axis, this.traces.root);
    this.main = make("div", "pv-main");
    this.main.append(this.trouble, this.stage, this.timeline.root, this.bar.root, this.images.root);
    this.body = make("div", "pv-body");
    this.body.append(this.main, this.side);
    this.root.append(this.body, this.spoken);
    parent.append(this.root);
    this.theme = readTheme(this.root);
    this.root.style.colorScheme = this.theme.dark ? "dark" : "light";
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

  // A cleanup may belong to an update that a newer one has overtaken: only a stage off the page ends.
  leave() {
    setTimeout(() => this.root.isConnected || this.end(), 50);
  }

  end() {
    if (this.gone) return;
    this.gone = true;
    document.removeEventListener("keydown", this.onKey);
    this.observer.disconnect();
    clearInterval(this.watch);
    cancelAnimationFrame(this.request);
  }

  look() {
    if (!this.root.isConnected) return this.end();
    const theme = readTheme(this.root);
    if (theme.id === this.theme.id) return;
    this.theme = theme;
    this.root.style.colorScheme = theme.dark ? "dark" : "light";
    this.draw();
  }

  receive(bytes) {
    if (!(bytes instanceof Uint8Array)) return;
    let meta;
    let some;
    try {
      ({ meta, some } = unpack(bytes));
      read(meta, some);
    } catch {
      this.trouble.textContent = "This update arrived damaged; the next one replaces it.";
      return;
    }
    if (meta.run !== this.run) this.epoch = -1;
    this.run = meta.run;
    if (meta.epoch < this.epoch) return;
    this.epoch = meta.epoch;
    this.adopt(meta);
  }

  adopt(meta) {
    const now = performance.now();
    if (meta.begun !== this.begun) {
      this.at = null;
      for (const lane of this.lanes) lane.forget();
    }
    this.begun = meta.begun;
    this.meta = meta;
    if (this.trouble.textContent !== meta.trouble) this.trouble.textContent = meta.trouble;
    this.settle(meta, now);
    this.arrange(meta.lanes.length);
    let behind = false;
    let came = false;
    meta.lanes.forEach((lane, k) => {
      const got = this.lanes[k].adopt(lane, meta);
      behind = behind || got === null;
      came = came || got > 0;
    });
    if (behind) setTimeout(() => this.post({ type: "mount" }));
    if (came) {
      const gap = Math.min(1500, Math.max(100, now - (this.arrived || now - 400)));
      this.interval += 0.4 * (gap - this.interval);
      this.arrived = now;
    }
    const samples = Math.max(1, ...meta.lanes.map((lane) => lane.samples));
    if (this.sample >= samples) this.sample = 0;
    this.images.adopt(meta, samples, this.sample);
    this.adoptNumbers();
    this.adoptTraces();
    this.bar.adopt(meta.bar, meta.speed, this.playing, meta.unit);
    this.announce(meta.announce, now);
    this.layout();
    this.prefer(meta);
  }

  settle(meta, now) {
    const [mount, number] = meta.answered || ["", 0];
    const answered = mount === this.mount && number >= this.number;
    if (this.held && (answered || this.held === (meta.playing ? "playing" : "paused") || now - this.heldAt > HOLD_MS)) {
      this.held = null;
    }
    this.playing = this.held ? this.held === "playing" : Boolean(meta.playing);
    this.root.dataset.playing = this.playing;
    this.root.dataset.server = meta.playing ? "playing" : "paused";
  }

  arrange(count) {
    while (this.lanes.length > count) this.lanes.pop().root.remove();
    while (this.lanes.length < count) {
      const lane = new FeatureLane(this.lanes.length, (sample) => this.choose(sample));
      this.lanes.push(lane);
      this.stage.append(lane.root);
    }
  }

  adoptNumbers() {
    const rows = this.meta.numbers || [];
    while (this.numbers.children.length > rows.length) this.numbers.lastChild.remove();
    while (this.numbers.children.length < rows.length) {
      const row = make("div", "dc-number");
      row.append(make("dt"), make("dd"));
      this.numbers.append(row);
    }
    rows.forEach(([name, value, help], k) => {
      const [term, words] = this.numbers.children[k].children;
      this.numbers.children[k].title = help;
      if (term.textContent !== name) term.textContent = name;
      if (words.textContent !== value) words.textContent = value;
    });
  }

  adoptTraces() {
    const seconds = this.seconds === null ? this.meta.lanes.length > 1 : this.seconds;
    for (const button of this.axis.children) {
      button.setAttribute("aria-checked", (button.dataset.unit === "seconds") === seconds);
    }
    const traces = this.meta.traces.map((trace) => ({
      ...trace,
      x: seconds ? "seconds" : "sweeps",
      lines: trace.lines.map((line) => ({ ...line, x: seconds ? line.seconds : line.x })),
    }));
    this.traces.adopt(traces, []);
    this.tracesDirty = true;
    this.wake();
  }

  announce(text, now) {
    if (!text || text === this.spoken.textContent) return;
    if (this.announced && now - this.announced < ANNOUNCE_MS) return;
    this.announced = now;
    this.spoken.textContent = text;
  }

  // Where motion is not wanted the run starts in steps.
  prefer(meta) {
    if (this.preferred) return;
    this.preferred = true;
    if (!meta.playing || !window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.act("pause");
    this.spoken.textContent = "Motion is reduced: press Play, or Step for one sweep.";
  }

  // Commands.

  act(name, more = {}) {
    const type = name === "play" && this.playing ? "pause" : name;
    if (type === "play" || type === "pause" || type === "step") {
      this.held = type === "play" ? "playing" : "paused";
      this.heldAt = performance.now();
      this.playing = type === "play";
      this.root.dataset.playing = this.playing;
      this.bar.show(this.playing);
    }
    if (type !== "pause") this.scrub(null);
    this.post({ type, ...more });
  }

  post(event) {
    const now = performance.now();
    this.number += 1;
    this.outbox = this.outbox.filter((old) => now - old.at < OUTBOX_MS).slice(1 - OUTBOX_MOST);
    this.outbox.push({ at: now, event: { ...event, number: this.number } });
    if (this.send) this.send({ mount: this.mount, events: this.outbox.map((entry) => entry.event) });
  }

  key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (document.querySelector("[role=dialog]")) return;
    const focus = document.activeElement;
    const typing = focus && focus.closest("input:not([type=range]), textarea, select, [contenteditable=true]");
    const control = focus && focus.closest("button, a[href], input, select, textarea, summary, [role=button], [role=slider], [role=application]");
    const name = { " ": "play", n: "step", s: "share" }[event.key.toLowerCase()];
    if (!name || typing || (name === "play" && control) || !this.bar.buttons[name]) return;
    event.preventDefault();
    this.act(name);
  }

  scrub(at) {
    this.at = at;
    this.dirty = this.tracesDirty = true;
    this.wake();
  }

  choose(sample) {
    this.sample = sample;
    this.images.choose(sample);
    this.dirty = true;
    this.wake();
  }

  // Drawing.

  layout() {
    const width = this.root.clientWidth;
    if (!width || !this.meta) return;
    this.body.classList.toggle("dc-beside", width >= 760);
    const room = this.main.clientWidth;
    const high = Math.max(220, 0.46 * window.innerHeight) / Math.min(2, this.lanes.length);
    for (const lane of this.lanes) lane.resize(room, high);
    this.images.resize(room);
    this.draw();
  }

  draw() {
    this.dirty = this.tracesDirty = true;
    for (const lane of this.lanes) lane.drawKey();
    this.wake();
  }

  wake() {
    if (this.request || this.gone) return;
    this.request = requestAnimationFrame((now) => this.frame(now));
  }

  frame(now) {
    this.request = null;
    if (!this.root.isConnected || !this.meta) return;
    const passed = Math.min(250, now - (this.before || now));
    this.before = now;
    const left = Math.max(60, 1.1 * this.interval - (performance.now() - (this.arrived || 0)));
    let waiting = false;
    for (const lane of this.lanes) {
      this.dirty = lane.pass(passed / left) || this.dirty;
      waiting = waiting || lane.queue.length > 0;
    }
    if (this.dirty) this.paint();
    if (this.tracesDirty && now - (this.traced || 0) > TRACE_MS) {
      this.traced = now;
      this.tracesDirty = false;
      this.traces.draw(this.theme, this.cursor());
    }
    if (waiting || this.tracesDirty) this.wake();
    else this.before = null;
  }

  // Where the person looks back to, in the sweeps of the first lane; none where lanes are timed.
  cursor() {
    return this.at !== null && this.lanes.length === 1 && !this.seconds ? this.at : null;
  }

  paint() {
    this.dirty = false;
    const timed = this.lanes.length > 1;
    const frames = this.lanes.map((lane) => lane.frame(this.at, timed));
    this.lanes.forEach((lane, k) => lane.paint(frames[k], this.theme, this.sample, this.at === null));
    this.images.paint(frames, this.lanes.map((lane) => lane.meta), this.theme, this.sample);
    const rings = this.lanes.map((lane) => lane.ring).filter((ring) => ring.length);
    const when = (frame) => (timed ? Math.round(1000 * frame.seconds) : frame.sweep);
    const first = rings.length ? Math.min(...rings.map((ring) => when(ring[0]))) : 0;
    const last = rings.length ? Math.max(...rings.map((ring) => when(ring[ring.length - 1]))) : 0;
    this.timeline.show(first, last, this.at, timed ? "computing, ms" : "sweep");
  }
}

// The arrays of an update, in place.
function read(meta, some) {
  meta.images = some(meta.images, Uint8Array);
  meta.truth.bits = some(meta.truth.bits, Uint8Array);
  meta.clamped = some(meta.clamped, Uint8Array);
  const { features, rows, cols, shown, height, width } = meta.shape;
  for (const lane of meta.lanes) {
    const { belief, pictures, numbers } = lane.frames;
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
      residual: lane.frames.residual[k],
      sharpness: lane.frames.sharpness[k],
      belief: grey.subarray(k * size, (k + 1) * size),
      picture: (at) => bit(bits.subarray(k * bytes, (k + 1) * bytes), at),
    }));
  }
}
