// The stage of a run on the server: lanes, a bar, a timeline and curves, and what the server says of them.

import { Bar, Timeline } from "./bar.js";
import { Knobs } from "./knobs.js";
import { LOW, Room } from "./room.js";
import { ASKS, STARTING, brief, withPlay } from "./sentences.js";
import { make, topOf } from "./theme.js";
import { Traces } from "./traces.js";

const HOLD_MS = 3000;
const TRACE_MS = 100;
const ASK_MS = 1000;
const [WORDS_MS, MISSED_MS] = [2500, 10000]; // No words wait longer for their pictures, or for those that were missed.
const SEEN = 0.6; // What of the pictures, or of the window, is seen of what begins by itself.
const BEGUN_MS = 400; // Who presses Play as it begins by itself has not seen that it did, and means play.
const REDUCED = "Motion is reduced: press Play, or Step for one sweep.";
const WAITS = "Starting again under the new settings: what is dimmed is of those before.";
const BEFORE = "of the settings before";
const NONE = { sweep: -1, number: -1 };

// Brings `newLane(index)` and `scrub(at)` too.
export class Live extends Room {
  constructor(parent, name) {
    super(parent, name);
    this.lanes = [];
    this.epoch = -1;
    this.at = null; // Where the person looks back to.
    this.spokenOf = null; // And of which moment was spoken last.
    this.held = null; // What the person has asked for, until the server agrees.
    this.playing = false;
    this.interval = 500;
    this.untold = []; // What was found at pictures that are yet to be shown.
    this.renewed = ""; // What is said after a reset until it is done, on a page where that takes seconds.
    this.stage = make("div", "pv-stage");
    this.bar = new Bar((type, more) => this.act(type, more));
    this.timeline = new Timeline((at) => this.scrub(at));
    this.knobs = new Knobs((type, more) => this.act(type, more));
    this.traces = new Traces();
    this.said = make("div", "pv-said");
    this.main = make("div", "pv-main");
    this.main.append(this.trouble, this.stage, this.timeline.root, this.knobs.root, this.bar.root, this.said);
    this.side = make("div", "pv-side");
    this.side.append(this.traces.root, this.foot());
    this.body = make("div", "pv-body");
    this.body.append(this.main, this.side);
    this.root.append(this.body, this.spoken);
    // What is written beside the pictures after they were laid out may be hidden by their height.
    this.observer.observe(this.side);
    this.showMore(false);
  }

  // Beneath the traces: the others, and what leaves the page.
  foot() {
    const foot = make("div", "pv-foot");
    this.more = make("button", "pv-button pv-more");
    this.more.type = "button";
    this.more.addEventListener("click", () => this.showMore(this.side.classList.contains("pv-few")));
    foot.append(this.more, this.bar.outlets);
    return foot;
  }

  showMore(all) {
    this.side.classList.toggle("pv-few", !all);
    this.countMore();
    this.tracesDirty = true;
    this.wake();
  }

  countMore() {
    const few = this.side.classList.contains("pv-few");
    const others = this.traces.cards.size - this.fewTraces();
    this.more.hidden = others < 1;
    this.more.textContent = few ? `${others} more trace${others > 1 ? "s" : ""}` : "Fewer traces";
    this.more.setAttribute("aria-expanded", !few);
  }

  look() {
    super.look();
    if (this.gone) return;
    this.miss(this.behind, performance.now());
    this.holdRoom();
    this.stand();
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
    this.untold = [];
    for (const lane of this.lanes) lane.forget();
  }

  // Where class mode was asked for here, what stands above has another height now: the stage is brought back.
  enlarge() {
    const before = this.large;
    super.enlarge();
    if (before === false && this.large) this.showMore(false);
    if (!this.switching || before === this.large) return;
    this.switching = false;
    if (topOf(this.root) > LOW * window.innerHeight) this.root.scrollIntoView({ block: "start" });
    else this.root.closest("[data-testid=stMain]")?.scrollTo(0, 0); // With its question.
  }

  // The head of an update, before its lanes.
  takeHead(update, now) {
    this.epoch = update.epoch;
    if (update.begun !== this.begun) this.forget();
    this.begun = update.begun;
    this.root.classList.toggle("pv-waits", Boolean(update.waits) || this.leaves);
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
    this.enlarge();
    this.placeSaid();
    this.bar.adopt(update.bar, update.speed, this.playing, update.unit, update.whose);
    this.resting = Boolean(update.trouble) && !update.lanes.length;
    this.bar.rest(this.resting);
    this.bar.resting = update.again ? "Again" : "Play"; // What has come to its end begins anew.
    if (this.bar.buttons.class) this.bar.buttons.class.firstChild.textContent = this.large ? "Leave class mode" : "Class mode";
    this.knobs.adopt(update.knobs || [], this.answered(update));
    this.say(update);
    if (update.waits) for (const { status } of this.lanes) if (status) status.textContent = BEFORE;
    this.countMore();
    // Who looks back, or is live again, hears of it at once.
    if (update.looks !== this.spokenOf) this.announced = null;
    this.spokenOf = update.looks;
    this.announce(update.announce);
    this.layout();
    this.prefer(update);
    this.open(update);
  }

  // What `opens` begins once it is seen: however long its page took to come, its beginning is watched.
  open(update) {
    if (this.opened || !update.lanes.length) return;
    this.opened = true;
    if (!update.opens || this.playing) return;
    if (this.still) this.spoken.textContent = REDUCED;
    else this.beginSeen();
  }

  // Its pictures may stand far down their page; what a hand has begun, or stopped, needs no other beginning.
  beginSeen() {
    const opening = new IntersectionObserver((seen) => {
      const { boundingClientRect: all, intersectionRect: found } = seen[seen.length - 1];
      if (!this.gone && found.height < SEEN * Math.min(all.height, window.innerHeight)) return;
      opening.disconnect();
      if (this.gone || this.playing || this.preferred) return;
      this.act("play");
      this.openedAt = performance.now();
    }, { threshold: [0.1, 0.2, 0.3, 0.4, 0.5, SEEN] });
    opening.observe(this.stage);
  }

  // What was found waits for the pictures that it was found at; nothing waits where none are to come. Of what is
  // measured now and then these are the last ones that were measured.
  say(update) {
    const measured = update.lanes.map((lane) => lane.measured);
    const newest = (queue) => (queue?.length ? this.moment(queue[queue.length - 1]) : -Infinity);
    // Pictures that were missed are yet to come.
    const coming = (k) => (this.behind ? newest(update.lanes[k]?.frames) : -Infinity);
    const due = this.lanes.map(({ queue }, k) => measured[k] ?? Math.max(newest(queue), coming(k)));
    if (update.waits || update.epoch !== this.saidEpoch || this.at !== null) this.untold = [];
    this.saidEpoch = update.epoch;
    const waits = this.lanes.some((lane) => lane.shown) ? WAITS : STARTING; // What is not there is not dimmed.
    // What is said of the wait ends with it, and not when the first picture of what follows has come.
    const at = this.waited && !update.waits && update.lanes.length ? -Infinity : performance.now();
    this.waited = Boolean(update.waits) || !update.lanes.length;
    this.untold.push({ said: update.waits ? [waits] : update.said || [], due, measured, at, of: update.of, update });
    this.tellDue();
  }

  tellDue() {
    const waits = ({ queue, shown }) => this.at === null && (queue?.length || (this.behind && shown));
    const shown = this.lanes.map((lane) => (waits(lane) ? this.moment(lane.shown || NONE) : Infinity));
    // Where a hand holds pictures that go on coming it holds the words.
    const most = this.behind ? MISSED_MS : WORDS_MS;
    const old = this.held === "paused" && this.serverPlaying ? -Infinity : performance.now() - most;
    const told = this.untold.findLastIndex(({ due, at }) => at < old || due.every((sweep, k) => !(shown[k] < sweep)));
    if (told < 0) return;
    const { said, measured, of, update } = this.untold[told];
    this.untold.splice(0, told + 1);
    this.measured = measured;
    this.toldOf = of;
    this.tell(said);
    this.chart(update);
    this.dim();
  }

  // The charts of an update whose words are told, with what is counted in them.
  chart() {}

  // Where the server tells of the moment that is looked back at: until it does, what stands there is of another one.
  dim() {
    const shown = this.at === null ? null : this.shownSweep?.();
    this.said.classList.toggle("pv-late", this.toldOf !== undefined && this.toldOf !== shown);
  }

  // What was found, and what is being computed.
  tell(found) {
    this.sentences = found;
    const sentences = this.leaves ? [this.renewed] : found;
    // A page that has nothing to show yet waits for one button: which, is seen.
    this.root.classList.toggle("pv-asks", !this.playing && !this.leaves && ASKS.test(found[0] || ""));
    const lead = this.leaves ? "" : this.lead();
    const text = `${this.large} ${this.playing} ${lead}${sentences.join("\n")}`;
    if (this.told === text) return;
    this.told = text;
    const said = (text) => (this.playing && ASKS.test(text) ? STARTING : withPlay(text));
    const words = (text, k) => (k ? said(text) : lead + (this.large ? brief(said(text)) : said(text)));
    const paragraphs = sentences.map((text, k) => make("p", k ? "pv-soft" : "pv-verdict", words(text, k)));
    this.said.replaceChildren(...paragraphs.filter((paragraph) => paragraph.textContent));
    this.holdRoom();
    this.said.title = this.large ? sentences[0] || "" : "";
  }

  // Before what was found, where that is of another moment than the pictures.
  lead() {
    return "";
  }

  // Before a class the verdict stands beneath the trace, so that the pictures have its room.
  placeSaid() {
    const before = this.large ? this.traces.root : this.bar.root;
    if (before.nextSibling !== this.said) before.after(this.said);
  }

  // Where motion is not wanted, what starts to play by itself goes in steps.
  prefer(update) {
    if (this.preferred || !update.playing) return;
    this.preferred = true;
    if (!this.still) return;
    this.act("pause");
    this.spoken.textContent = REDUCED;
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
    if (this.resting && ["play", "step"].includes(name)) return;
    if (name === "step" && this.goOn()) return;
    if (name === "play" && this.playing && performance.now() - this.openedAt < BEGUN_MS) return;
    const type = name === "play" && this.playing ? "pause" : name;
    if (["play", "pause", "step"].includes(type)) {
      this.preferred = true;
      this.hold(type === "play" ? "playing" : "paused");
    }
    this.switching = type === "class";
    if (type === "reset" || type === "seed") {
      this.held = this.held === "paused" ? null : this.held;
      this.scrub(null);
    }
    if (this.renewed && (type === "reset" || type === "seed")) this.setOut();
    this.post({ type, ...more });
    this.wake();
  }

  // Where a step takes seconds, in which the server answers nothing: what stands there is of before the reset.
  setOut() {
    this.leaving = this.begun;
    this.root.classList.add("pv-waits");
    this.tell(this.sentences || []);
  }

  get leaves() {
    return this.leaving !== undefined && this.leaving === this.begun;
  }

  // A step while one looks back is one to the next picture that was kept; the newest one is left by a new step.
  goOn() {
    const later = this.at === null ? [] : this.lanes.map((lane) => this.next(lane)).filter((at) => at !== null);
    if (!later.length) return false;
    if (this.playing) {
      this.hold("paused");
      this.post({ type: "pause" });
    }
    this.scrub(Math.min(...later));
    return true;
  }

  // The moment of a lane's first picture after the one on screen.
  next(lane) {
    const found = lane.ring.find((frame) => this.moment(frame) > this.at);
    return found ? this.moment(found) : null;
  }

  moment(frame) {
    return frame.sweep;
  }

  hold(wish) {
    this.held = wish;
    this.heldAt = performance.now();
    this.playing = wish === "playing";
    this.root.dataset.playing = this.playing;
    this.bar.show(this.playing);
    this.tell(this.sentences || []);
    if (this.playing) this.scrub(null);
  }

  // How far each lane's pictures are: while later ones wait, curves give nothing of them away.
  heads() {
    return { seconds: false, of: this.headsBy((frame) => frame.sweep) };
  }

  // Pictures that were missed are asked for, and wait as well.
  headsBy(place) {
    return this.lanes.map(({ queue, shown }) => ((queue?.length || this.behind) && shown ? place(shown) : Infinity));
  }

  drawTraces(now, at) {
    this.tellDue();
    const heads = { ...this.heads(), measured: this.measured };
    const head = [heads.of, heads.measured].join();
    const moved = head !== this.headed;
    this.tracesDirty = this.tracesDirty || moved;
    if (!this.tracesDirty || now - (this.traced || 0) <= TRACE_MS) return;
    this.traced = now;
    this.tracesDirty = false;
    this.headed = head;
    this.traces.draw(this.theme, at, heads);
  }
}
