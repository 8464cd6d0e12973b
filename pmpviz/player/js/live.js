// The stage of a run on the server: lanes, a bar, a timeline and curves, and what the server says of them.

import { Bar, Timeline } from "./bar.js";
import { Stage } from "./component.js";
import { make } from "./theme.js";
import { Traces } from "./traces.js";

const HOLD_MS = 3000;
const TRACE_MS = 100;
const ASK_MS = 1000;

// Brings `newLane(index)` and `scrub(at)` too.
export class Live extends Stage {
  constructor(parent, name) {
    super(parent, name);
    this.lanes = [];
    this.epoch = -1;
    this.at = null; // Where the person looks back to.
    this.held = null; // What the person has asked for, until the server agrees.
    this.playing = false;
    this.interval = 500;
    this.stage = make("div", "pv-stage");
    this.bar = new Bar((type, more) => this.act(type, more));
    this.timeline = new Timeline((at) => this.scrub(at));
    this.traces = new Traces();
    this.main = make("div", "pv-main");
    this.main.append(this.trouble, this.stage, this.timeline.root, this.bar.root);
    this.body = make("div", "pv-body");
    this.body.append(this.main);
    this.root.append(this.body, this.spoken);
  }

  look() {
    super.look();
    if (!this.gone) this.miss(this.behind, performance.now());
  }

  // Whether an update is not older than what is shown; those of another run under the same key count anew.
  isNew(update) {
    if (update.run !== this.run) {
      this.run = update.run;
      this.epoch = -1;
      this.held = null;
      this.forget();
    }
    return update.epoch >= this.epoch;
  }

  forget() {
    this.at = null;
    for (const lane of this.lanes) lane.forget();
  }

  // The head of an update, before its lanes.
  takeHead(update, now) {
    this.epoch = update.epoch;
    if (update.begun !== this.begun) this.forget();
    this.begun = update.begun;
    this.complain(update.trouble || "");
    this.settle(update, now);
    while (this.lanes.length > update.lanes.length) this.lanes.pop().root.remove();
    while (this.lanes.length < update.lanes.length) {
      const lane = this.newLane(this.lanes.length);
      this.lanes.push(lane);
      this.stage.append(lane.root);
    }
  }

  // What the person asked for holds until the server agrees, at most for 3 s.
  settle(update, now) {
    this.serverPlaying = Boolean(update.playing);
    const over = now - this.heldAt > HOLD_MS;
    if (this.held === "paused") {
      if (this.serverPlaying && over) this.held = null;
    } else if (this.held === "playing" && (this.serverPlaying || this.answered(update) || over)) {
      this.held = null;
    }
    this.playing = this.held ? this.held === "playing" : this.serverPlaying;
    this.root.dataset.playing = this.playing;
    this.root.dataset.server = this.serverPlaying ? "playing" : "paused";
  }

  // Whether the server has done what was asked last: a short run may be over before it is seen to play.
  answered(update) {
    return Boolean(update.answered) && update.answered[0] === this.mount && update.answered[1] >= this.number;
  }

  // The rest of an update, after its lanes.
  takeRest(update) {
    this.bar.adopt(update.bar, update.speed, this.playing, update.unit);
    this.announce(update.announce);
    this.layout();
    this.prefer(update);
  }

  // Where motion is not wanted, what starts to play by itself goes in steps.
  prefer(update) {
    if (this.preferred || !update.playing) return;
    this.preferred = true;
    if (!this.still) return;
    this.act("pause");
    this.spoken.textContent = "Motion is reduced: press Play, or Step for one sweep.";
  }

  // A stage that was mounted anew in mid-run, or whose browser was too busy, asks for what it has missed.
  miss(behind, now) {
    this.behind = behind;
    if (!behind || (this.asked && now - this.asked < ASK_MS)) return;
    this.asked = now;
    setTimeout(() => this.post({ type: "mount" }));
  }

  // Frames have come: how often they do.
  arrive(now) {
    if (this.arrived) {
      const gap = Math.min(2000, Math.max(60, now - this.arrived));
      this.interval += 0.4 * (gap - this.interval);
    }
    this.arrived = now;
  }

  // The time to the next batch, over which the frames that wait are spread.
  left() {
    return Math.max(60, 1.15 * this.interval - (performance.now() - (this.arrived || 0)));
  }

  // Commands.

  act(name, more = {}) {
    const type = name === "play" && this.playing ? "pause" : name;
    if (["play", "pause", "step"].includes(type)) {
      this.preferred = true;
      this.hold(type === "play" ? "playing" : "paused");
    }
    if (type === "reset" || type === "seed") {
      this.held = this.held === "paused" ? null : this.held;
      this.scrub(null);
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

  drawTraces(now, at) {
    if (!this.tracesDirty || now - (this.traced || 0) <= TRACE_MS) return;
    this.traced = now;
    this.tracesDirty = false;
    this.traces.draw(this.theme, at);
  }
}
