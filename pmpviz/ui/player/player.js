// The live player. Streamlit calls the default export once for each update; the player itself is made once for
// each mount and kept, so that zoom, focus, queue and ring survive.

import { Bar, Timeline } from "./bar.js";
import { decode } from "./decode.js";
import { Lane } from "./lane.js";
import { Pointer } from "./pointer.js";
import { make, readTheme } from "./theme.js";
import { Traces } from "./traces.js";

const ANNOUNCE_MS = 5000;
const HOLD_MS = 3000;
const STEP_MS = 1500;
const OUTBOX_MS = 8000;
const OUTBOX_MOST = 64;
const TRACE_MS = 100;
const LATE_MS = 400;
const ASK_MS = 1000;
const players = new WeakMap();

export default function mount({ data, parentElement, setStateValue }) {
  let player = players.get(parentElement);
  if (!player || player.gone) {
    player = new Player(parentElement);
    players.set(parentElement, player);
  }
  player.send = (value) => setStateValue("outbox", value);
  player.receive(data);
  return () => player.leave();
}

class Player {
  constructor(parent) {
    this.mount = Math.random().toString(36).slice(2);
    this.number = 0;
    this.outbox = [];
    this.lanes = [];
    this.epoch = -1;
    this.playing = false;
    this.held = null;
    this.sweep = null;
    this.steppedUntil = 0;
    this.interval = 500;
    this.build(parent);
    this.listen();
  }

  build(parent) {
    this.root = make("div", "pv-root");
    this.trouble = make("div", "pv-trouble");
    this.trouble.setAttribute("role", "alert");
    this.stage = make("div", "pv-stage");
    this.tip = make("div", "pv-tip");
    this.tip.setAttribute("aria-hidden", "true");
    this.spoken = make("div", "pv-spoken");
    this.spoken.setAttribute("aria-live", "polite");
    this.bar = new Bar((type, more) => this.act(type, more));
    this.timeline = new Timeline((sweep) => this.scrub(sweep));
    this.traces = new Traces();
    this.main = make("div", "pv-main");
    this.main.append(this.trouble, this.stage, this.timeline.root, this.bar.root);
    this.body = make("div", "pv-body");
    this.body.append(this.main, this.traces.root);
    this.root.append(this.body, this.tip, this.spoken);
    parent.append(this.root);
    this.theme = readTheme(this.root);
    this.root.style.colorScheme = this.theme.dark ? "dark" : "light";
    this.pointer = new Pointer(this);
  }

  listen() {
    this.onKey = (event) => this.key(event);
    document.addEventListener("keydown", this.onKey);
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(this.root);
    this.watch = setInterval(() => this.look(), 700);
    this.wake();
  }

  // A cleanup may belong to an update that a newer one has overtaken: only a player off the page ends.
  leave() {
    setTimeout(() => this.root.isConnected || this.end(), 50);
  }

  end() {
    if (this.gone) return;
    this.gone = true;
    document.removeEventListener("keydown", this.onKey);
    this.observer.disconnect();
    clearInterval(this.watch);
    this.rest();
    this.pointer.end();
  }

  look() {
    if (!this.root.isConnected) return this.end();
    if (this.behind) this.missed(performance.now());
    const theme = readTheme(this.root);
    if (theme.id === this.theme.id) return;
    this.theme = theme;
    this.root.style.colorScheme = theme.dark ? "dark" : "light";
    this.refresh();
  }

  refresh() {
    for (const lane of this.lanes) {
      lane.dirty = true;
      if (!lane.meta) continue;
      lane.drawKey();
      lane.drawLegend(this.theme);
      lane.drawStrip(this.theme);
    }
    this.tracesDirty = true;
    this.wake();
  }

  receive(bytes) {
    let update;
    try {
      if (!(bytes instanceof Uint8Array)) return;
      update = decode(bytes);
    } catch {
      this.say("This update arrived damaged; the last picture is kept, and the next update replaces it.");
      return;
    }
    if (update.run !== this.run) this.start(update.run);
    if (update.epoch < this.epoch) return;
    this.say(update.trouble || "");
    this.adopt(update);
    this.wake();
  }

  // Another run under the same key: its epochs count anew.
  start(run) {
    this.run = run;
    this.epoch = -1;
    this.held = null;
    this.forget();
  }

  forget() {
    this.sweep = null;
    for (const lane of this.lanes) lane.forget();
  }

  say(sentence) {
    if (this.trouble.textContent !== sentence) this.trouble.textContent = sentence;
  }

  adopt(update) {
    const now = performance.now();
    const fresh = update.epoch !== this.epoch;
    if (update.lanes.some((lane) => lane.frames.length)) this.time(now);
    this.epoch = update.epoch;
    if (update.begun !== this.begun) this.forget();
    this.begun = update.begun;
    this.settle(update, now);
    this.arrange(update.lanes.length);
    let behind = false;
    update.lanes.forEach((meta, k) => {
      this.lanes[k].fit(meta);
      if (fresh) this.lanes[k].renew();
      if (!this.lanes[k].take(meta, update.epoch)) behind = true;
    });
    this.behind = behind;
    if (behind) this.missed(now);
    const stepped = now < this.steppedUntil;
    this.words(update, this.held === "paused" && this.serverPlaying && !fresh && !stepped);
    this.pointer.answer(update, fresh);
    this.bar.adopt(update.bar || ["play", "step", "reset", "seed"], update.speed, this.playing, update.unit);
    this.announce(update.announce, now);
    this.layout();
    if (stepped || (this.held === "paused" && !this.serverPlaying)) this.skip();
    this.prefer(update);
  }

  // A player that was mounted anew in mid-run, or whose browser was too busy, asks for what it has missed.
  missed(now) {
    if (this.asked && now - this.asked < ASK_MS) return;
    this.asked = now;
    setTimeout(() => this.post({ type: "mount" }));
  }

  time(now) {
    if (this.arrived) {
      const gap = Math.min(2000, Math.max(60, now - this.arrived));
      this.interval += 0.4 * (gap - this.interval);
    }
    this.arrived = now;
  }

  // What the person asked for holds until the server agrees, at most for 3 s.
  settle(update, now) {
    this.serverPlaying = Boolean(update.playing);
    if (this.held === "paused") {
      if (this.serverPlaying && now - this.heldAt > HOLD_MS) this.held = null;
    } else if (this.held === "playing" && (this.serverPlaying || this.answered(update) || now - this.heldAt > HOLD_MS)) {
      this.held = null;
    }
    this.playing = this.held ? this.held === "playing" : this.serverPlaying;
    this.root.dataset.playing = this.playing;
    this.root.dataset.server = this.serverPlaying ? "playing" : "paused";
    for (const lane of this.lanes) lane.credit = 0;
  }

  // Whether the server has done what was asked last: a short run may be over before it is seen to play.
  answered(update) {
    return Boolean(update.answered) && update.answered[0] === this.mount && update.answered[1] >= this.number;
  }

  arrange(count) {
    while (this.lanes.length > count) this.lanes.pop().root.remove();
    while (this.lanes.length < count) {
      const lane = new Lane(this.lanes.length);
      this.lanes.push(lane);
      this.stage.append(lane.root);
      this.pointer.attach(lane);
    }
  }

  // While the picture is frozen by hand only what is new in kind is adopted: a layer, a reference that arrived.
  words(update, frozen) {
    const layers = JSON.stringify(update.lanes.map((meta) => [meta.layer && meta.layer.name, meta.status]));
    if (!frozen || layers !== this.layers) {
      update.lanes.forEach((meta, k) => {
        this.lanes[k].adopt(meta, this.theme, update.alt, frozen);
        this.lanes[k].drawStrip(this.theme);
      });
    }
    this.layers = layers;
    const kinds = JSON.stringify((update.traces || []).map(kindOf));
    if (update.traces && (!frozen || kinds !== this.kinds)) this.traces.adopt(update.traces, update.marks);
    this.kinds = kinds;
    this.tracesDirty = true;
  }

  // Where motion is not wanted the run starts in steps.
  prefer(update) {
    if (this.preferred) return;
    this.preferred = true;
    if (!update.playing || !window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.act("pause");
    this.spoken.textContent = "Motion is reduced: press Play, or Step for one sweep.";
  }

  announce(text, now) {
    if (!text || text === this.spoken.textContent) return;
    if (this.announced && now - this.announced < ANNOUNCE_MS) return;
    this.announced = now;
    this.spoken.textContent = text;
  }

  // Commands.

  act(name, more = {}) {
    let type = name;
    if (name === "play") {
      type = this.playing ? "pause" : "play";
    }
    if (type === "pause") this.hold("paused");
    if (type === "play") this.hold("playing");
    if (type === "step") {
      this.hold("paused");
      this.steppedUntil = performance.now() + STEP_MS;
    }
    if (type === "reset" || type === "seed") {
      this.held = this.held === "paused" ? null : this.held;
      this.sweep = null;
    }
    this.post({ type, ...more });
    this.wake();
  }

  hold(wish) {
    this.held = wish;
    this.heldAt = performance.now();
    this.playing = wish === "playing";
    this.root.dataset.playing = this.playing;
    this.bar.show(this.playing);
    if (this.playing) this.scrub(null);
  }

  post(event) {
    const now = performance.now();
    this.number += 1;
    this.outbox = this.outbox.filter((old) => now - old.at < OUTBOX_MS).slice(1 - OUTBOX_MOST);
    this.outbox.push({ at: now, event: { ...event, sweep: this.shownSweep(), number: this.number } });
    if (this.send) this.send({ mount: this.mount, events: this.outbox.map((entry) => entry.event) });
  }

  key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const focus = document.activeElement;
    const dialog = document.querySelector("[role=dialog]");
    if (dialog) return this.leaveDialog(dialog, event, focus);
    const typing = focus && focus.closest("input:not([type=range]), textarea, select, [contenteditable=true]");
    const control = focus && focus.closest("button, a[href], input, select, textarea, summary, [role=button], [role=slider]");
    const key = event.key.toLowerCase();
    const name = { " ": "play", n: "step", s: "share" }[key];
    if (!name || typing || (name === "play" && control) || !this.bar.buttons[name]) return;
    event.preventDefault();
    this.act(name);
  }

  // A download button gives up the focus while its file is made, and the dialog then no longer hears Escape.
  leaveDialog(dialog, event, focus) {
    if (event.key === "Escape" && focus === document.body) dialog.querySelector("[aria-label=Close]")?.click();
  }

  scrub(sweep) {
    this.sweep = sweep;
    for (const lane of this.lanes) lane.dirty = true;
    this.tracesDirty = true;
    this.wake();
  }

  shownSweep() {
    if (this.sweep !== null) return this.sweep;
    return Math.max(0, ...this.lanes.map((lane) => (lane.shown ? lane.shown.sweep : 0)));
  }

  // After a step, and when the server has stopped, the newest frame is shown at once: what the dialogs speak of.
  skip() {
    if (performance.now() < this.steppedUntil && this.lanes.some((lane) => lane.queue.length)) this.sweep = null;
    for (const lane of this.lanes) lane.dirty = lane.pass(lane.queue.length) || lane.dirty;
  }

  // Drawing.

  layout() {
    const width = this.root.clientWidth;
    if (!width || !this.lanes.length) return;
    const wide = width >= 860 && this.lanes.length <= 2 && this.traces.cards.size > 0;
    this.body.classList.toggle("pv-beside", wide);
    const room = this.main.clientWidth;
    const across = Math.max(1, Math.min(this.lanes.length, Math.floor((room + 16) / 236)));
    const columns = this.lanes.length === 4 && across === 3 ? 2 : across;
    const each = Math.floor((room - 16 * (columns - 1)) / columns);
    this.stage.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    // Few lanes leave room for the bar below them on the screen.
    const high = this.lanes.length > 2 ? 420 : Math.max(240, Math.min(560, 0.54 * window.innerHeight));
    for (const lane of this.lanes) lane.resize(each, high);
    if (this.width !== width) this.tracesDirty = true;
    this.width = width;
    this.wake();
  }

  // A window that is covered may get no animation frames: a timer then keeps the picture from standing still.
  wake() {
    if (this.request || this.gone) return;
    this.request = requestAnimationFrame((now) => this.frame(now));
    this.late = setTimeout(() => this.frame(performance.now()), LATE_MS);
  }

  rest() {
    cancelAnimationFrame(this.request);
    clearTimeout(this.late);
    this.request = null;
  }

  frame(now) {
    this.rest();
    if (!this.root.isConnected) return;
    const passed = Math.min(250, now - (this.before || now));
    this.before = now;
    const moving = this.advance(passed);
    for (const lane of this.lanes) {
      const repeat = this.playing && this.sweep === null && lane.moves();
      if (lane.dirty || repeat) lane.paint(this.theme, this.sweep);
    }
    this.drawTimeline();
    if (this.tracesDirty && now - (this.traced || 0) > TRACE_MS) {
      this.traced = now;
      this.tracesDirty = false;
      this.traces.draw(this.theme, this.sweep);
    }
    if (moving || this.tracesDirty) this.wake();
    else this.before = null;
  }

  // Frames that wait are spread over the time to the next batch; those that can't be shown are passed over.
  advance(passed) {
    let waiting = false;
    const left = Math.max(60, 1.15 * this.interval - (performance.now() - (this.arrived || 0)));
    for (const lane of this.lanes) {
      if (!lane.queue.length || (this.held === "paused" && !lane.fresh)) continue;
      lane.credit = (lane.credit || 0) + (passed * lane.queue.length) / left;
      const count = lane.fresh ? 1 : Math.floor(lane.credit);
      if (lane.pass(count)) lane.dirty = true;
      lane.credit -= Math.min(count, lane.credit);
      waiting = waiting || lane.queue.length > 0;
    }
    return waiting || (this.playing && this.lanes.some((lane) => lane.moves()));
  }

  drawTimeline() {
    const rings = this.lanes.map((lane) => lane.ring).filter((ring) => ring.length);
    if (!rings.length) return this.timeline.show(0, 0, null);
    const first = Math.min(...rings.map((ring) => ring[0].sweep));
    const last = Math.max(...rings.map((ring) => ring[ring.length - 1].sweep));
    if (this.sweep !== null && this.sweep < first) this.sweep = first;
    this.timeline.show(first, last, this.sweep, this.lanes[0].meta && this.lanes[0].meta.step);
  }
}

function kindOf(trace) {
  return [trace.id, trace.exact, trace.band, (trace.lines || []).map((line) => Boolean(line.y && line.y.length))];
}
