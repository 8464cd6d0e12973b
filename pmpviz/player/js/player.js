// The live player: lanes of pictures that move, side by side.

import { one } from "./bar.js";
import { mounted } from "./component.js";
import { decode } from "./decode.js";
import { Edits } from "./edits.js";
import { drawSigns, Lane } from "./lane.js";
import { Live } from "./live.js";
import { Pointer } from "./pointer.js";
import { make, thousands } from "./theme.js";
import { Tools } from "./tools.js";
// What others import is asked for here too, at once: found one after the other they would be waited for in turn.
import "./bars.js";
import "./chart.js";
import "./curves.js";
import "./figure.js";
import "./knobs.js";
import "./layers.js";
import "./lines.js";
import "./marks.js";
import "./names.js";
import "./overlaps.js";
import "./painters.js";
import "./scale.js";
import "./told.js";
import "./traces.js";

const STEP_MS = 1500;
const LATE_MS = 1500;
const BESIDE = 700; // From this width on traces stand beside the pictures.
const GAP = 16; // Between lanes.
const FEW = 2; // More lanes than these take room from the traces beside them.
export const NARROWEST = 140; // A lane's least width.
const MUCH = 1.2; // So much more of a picture is worth another row of lanes.
const LOOK_BACK_MS = 200;
const SPARE = 28; // Pixels: a line of words and its margin.

export class Player extends Live {
  constructor(parent) {
    super(parent, "pv-root");
    this.steppedUntil = 0;
    this.tip = make("div", "pv-tip");
    this.tip.setAttribute("aria-hidden", "true");
    this.traces.send = (event) => this.post(event);
    this.root.append(this.tip);
    this.edits = new Edits(this.mount);
    this.tools = new Tools((name) => this.act(name));
    this.legend = make("div", "pv-legend pv-signs");
    this.stage.after(this.legend, this.tools.root);
    this.moved = new Map(); // Where nodes have been dragged to, and the event that says so: [x, y, number].
    this.pointer = new Pointer(this);
    this.wake();
  }

  end() {
    super.end();
    this.pointer.end();
  }

  themed() {
    super.themed();
    for (const lane of this.lanes) {
      lane.dirty = true;
      if (!lane.meta) continue;
      lane.drawKey(this.theme);
    }
    this.strips();
    this.legends();
    this.tracesDirty = true;
  }

  receive(bytes) {
    const update = this.read(bytes, decode);
    if (!update || !this.isNew(update)) return;
    this.adopt(update);
    this.wake();
  }

  // The other chains of a moment that is looked back at: of every lane, or of none.
  strips() {
    const known = this.lanes.filter((lane) => lane.meta);
    const kept = known.every((lane) => lane.moment(this.at));
    for (const lane of known) lane.drawStrip(this.theme, this.at, kept);
  }

  newLane(index) {
    const lane = new Lane(index);
    this.pointer.attach(lane);
    return lane;
  }

  adopt(update) {
    const now = performance.now();
    const fresh = update.epoch !== this.epoch;
    if (update.lanes.some((lane) => lane.frames.length)) this.arrive(now);
    this.takeHead(update, now);
    for (const lane of this.lanes) lane.credit = 0;
    let behind = false;
    update.lanes.forEach((meta, k) => {
      this.lanes[k].fit(meta);
      if (fresh) this.lanes[k].renew();
      if (!this.lanes[k].take(meta, update.epoch)) behind = true;
    });
    this.miss(behind, now);
    const stepped = now < this.steppedUntil;
    // What is told of a moment that is looked back at is no news of the run; what is of pictures that were missed waits.
    const missed = behind && !fresh;
    const frozen = missed || (this.held === "paused" && this.serverPlaying && !fresh && !stepped && this.at === null);
    this.words(update, frozen);
    // Charts come with the words of their pictures; what begins anew at once.
    if (fresh) this.chart(update);
    else if (update.traces && !frozen) this.traces.extend(update.traces);
    if (this.edits.adopt(update)) this.marked();
    this.written = update.written;
    this.settled(update);
    this.legends();
    this.pointer.answer(update);
    this.equip();
    this.takeRest(update);
    if (stepped || (this.held === "paused" && !this.serverPlaying)) this.skip();
  }

  // While the picture is frozen by hand only what is new in kind is adopted: a layer, a reference that arrived.
  words(update, frozen) {
    const layers = JSON.stringify(update.lanes.map((meta) => [meta.layer && meta.layer.name, meta.status]));
    if (!frozen || layers !== this.layers) {
      update.lanes.forEach((meta, k) => {
        this.lanes[k].adopt(meta, this.theme, update.alt, frozen);
      });
      this.strips();
    }
    this.layers = layers;
    this.traces.tell(update.lanes, update.kept || null);
    this.tracesDirty = true;
  }

  // What is done by hand.

  marked() {
    for (const lane of this.lanes) lane.dirty = true;
    this.wake();
  }

  // A tool may be in hand now, or another one.
  equip() {
    const tool = this.pointer.equip();
    const painting = tool !== "none" || this.edits.any();
    // What the first stroke brings, or a layer, has its room before.
    this.root.classList.toggle("pv-painting", painting);
    const shown = this.tools.show(painting);
    // What comes beneath the pictures by a hand, and a layer's scale, take the room of the other chains there, and none
    // of the pictures'.
    const byHand = this.root.classList.contains("pv-by-hand");
    const scaled = this.lanes.some(({ legend }) => legend.childElementCount);
    const now = (painting || scaled) && (byHand || Boolean(this.laid));
    if (now && !byHand) {
      const strip = Math.max(0, ...this.lanes.map((lane) => lane.strip.offsetHeight));
      this.root.style.setProperty("--pv-strip", `${strip}px`);
    }
    this.root.classList.toggle("pv-by-hand", now);
    if (shown || now !== byHand) this.layout();
  }

  legends() {
    const [clamped, field] = [this.edits.clamped !== null, this.edits.field.length > 0];
    const known = this.lanes.filter((lane) => lane.meta);
    for (const lane of known) lane.drawLegend(this.theme, this.at);
    if (known.length) drawSigns(this.legend, known[0].meta, this.theme, clamped, field, this.ofPictures(known));
  }

  // Of how many chains each picture is one, and what short names are short for.
  ofPictures(lanes) {
    const { chains } = lanes[0].meta;
    const one = chains > 1 ? [`each picture: one of ${thousands(chains)} chains`] : [];
    return [...one, ...(this.written || [])];
  }

  // A node is drawn elsewhere in every lane; `placed` tells the server.
  place(site, [x, y], number = 0) {
    this.moved.set(site, [x, y, number]);
    for (const { painter } of this.lanes) {
      if (painter && painter.nodes && 2 * site < painter.nodes.length) painter.nodes.set([x, y], 2 * site);
    }
    this.marked();
  }

  placed(site) {
    const [x, y] = this.moved.get(site);
    this.post({ type: "place", site, x, y });
    this.moved.set(site, [x, y, this.number]);
  }

  // Nodes stay where they were dragged to until the server has heard of it.
  settled({ answered }) {
    for (const [site, [x, y, number]] of this.moved) {
      if (number && answered && answered[0] === this.mount && answered[1] >= number) this.moved.delete(site);
      else this.place(site, [x, y], number);
    }
  }

  // Commands.

  act(name, more) {
    if (name === "clear") this.edits.wipe(this.number + 1);
    if (name === "clear") this.marked();
    if (name === "step" && this.at === null) this.steppedUntil = performance.now() + STEP_MS;
    super.act(name, more);
  }

  post(event) {
    super.post({ ...event, sweep: this.shownSweep() });
  }

  scrub(at) {
    this.at = at;
    for (const lane of this.lanes) lane.dirty = true;
    this.strips();
    this.legends();
    this.tracesDirty = true;
    this.dim();
    clearTimeout(this.looking);
    this.looking = setTimeout(() => this.tellLook(at), LOOK_BACK_MS);
    this.wake();
  }

  // Words and numbers that the server makes are of the moment that is looked back at, too.
  tellLook(at) {
    if (this.gone || at !== this.at || at === (this.lookedAt ?? null)) return;
    this.lookedAt = at;
    this.post({ type: at === null ? "live" : "look" });
  }

  shownSweep() {
    return Math.max(0, ...this.shownSweeps());
  }

  // Of the pictures on screen: between two that were kept one looks at the former.
  shownSweeps() {
    return this.lanes.map((lane) => (this.at === null ? lane.shown : lane.past(this.at))?.sweep ?? 0);
  }

  // After a step, and when the server has stopped, the newest frame is shown at once: what the dialogs speak of.
  skip() {
    if (performance.now() < this.steppedUntil && this.lanes.some((lane) => lane.queue.length)) this.at = null;
    for (const lane of this.lanes) lane.dirty = lane.pass(lane.queue.length) || lane.dirty;
  }

  // Drawing.

  layout() {
    const width = this.root.clientWidth;
    if (!width || !this.lanes.length) return;
    // Under a hand a picture stays as large as it is.
    if (this.pointer.busy && this.width === width) return;
    this.body.classList.toggle("pv-beside", width >= BESIDE);
    this.body.classList.toggle("pv-many", this.lanes.length > FEW);
    const { template, rows, each, high } = (this.laid = this.steady(this.columns(), width));
    this.stage.style.gridTemplateColumns = template;
    this.root.classList.toggle("pv-rows", rows > 1);
    for (const lane of this.lanes) lane.fitName(each);
    this.level();
    for (const lane of this.lanes) lane.resize(each, high);
    this.spread();
    if (this.width !== width) this.tracesDirty = true;
    this.width = width;
    this.wake();
  }

  // Pictures stand at one height, however many lines the names above them take.
  level() {
    const heads = this.lanes.map(({ head }) => head);
    for (const head of heads) head.style.minHeight = "";
    const highest = Math.max(...heads.map((head) => head.offsetHeight));
    for (const head of heads) head.style.minHeight = `${highest}px`;
  }

  // Words that come and go beside a picture do not make it pulse: it grows again only where there is room to spare.
  steady(wanted, width) {
    const { kind, rows, cols } = this.lanes[0].meta?.geometry || {};
    const stage = [width, window.innerHeight, this.large, this.lanes.length, kind, rows, cols].join();
    const laid = this.laid?.stage === stage ? this.laid : null;
    const pulses = laid && wanted.size > laid.size && this.lanes[0].size(wanted.each, wanted.high - SPARE) <= laid.size;
    return pulses ? laid : { ...wanted, stage };
  }

  // As many lanes side by side as make the pictures largest.
  columns() {
    const byHand = this.root.classList.contains("pv-by-hand");
    this.root.classList.toggle("pv-unhanded", byHand && !this.large); // Before a class no hand paints.
    const found = this.widest();
    this.root.classList.remove("pv-unhanded");
    return found;
  }

  widest() {
    const [room, count] = [this.main.clientWidth, this.lanes.length];
    const choices = this.lanes.map((_, row) => {
      const rows = row + 1;
      const columns = Math.ceil(count / rows);
      const each = Math.floor((room - GAP * (columns - 1)) / columns);
      const high = this.high(rows);
      return { template: `repeat(${columns}, minmax(0, 1fr))`, rows, each, high, size: this.lanes[0].size(each, high) };
    });
    const wide = choices.filter(({ each, rows }) => each >= NARROWEST || rows === count);
    return wide.reduce((best, other) => (other.size > MUCH * best.size ? other : best));
  }

  play(passed, now) {
    const moving = this.advance(passed);
    for (const lane of this.lanes) {
      const repeat = this.playing && this.at === null && lane.moves();
      if (lane.dirty || repeat) lane.paint(this.theme, this.at, this.edits);
    }
    this.drawTimeline();
    this.drawTraces(now, this.at === null ? null : this.shownSweep());
    return moving || this.tracesDirty;
  }

  tellDue() {
    this.hurry();
    super.tellDue();
  }

  chart({ traces, marks }) {
    if (traces) this.traces.adopt(traces, marks);
    this.tracesDirty = true;
  }

  // Pictures for which words have waited long are passed over, so that no words are of later ones.
  hurry() {
    const late = this.untold.findLast(({ at }) => at > -Infinity && at < performance.now() - LATE_MS);
    if (!late || this.held === "paused") return;
    this.lanes.forEach((lane, k) => {
      const count = lane.queue.findLastIndex((frame) => this.moment(frame) <= late.due[k]) + 1;
      lane.dirty = lane.pass(count) || lane.dirty;
    });
  }

  // Frames that wait are spread over the time to the next batch; those that can't be shown are passed over.
  advance(passed) {
    let waiting = false;
    const left = this.left();
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
    if (!rings.length) return this.timeline.show(0, 0, null, one(this.bar.unit || "sweeps"));
    const first = Math.min(...rings.map((ring) => ring[0].sweep));
    const last = Math.max(...rings.map((ring) => ring[ring.length - 1].sweep));
    if (this.at !== null && this.at < first) this.at = first;
    const computed = Math.max(last, ...this.lanes.map((lane) => lane.queue[lane.queue.length - 1]?.sweep ?? 0));
    this.timeline.show(first, last, this.at, this.unit(computed), computed, ...this.telling(computed));
  }

  // What a place on the timeline is a number of.
  unit() {
    return this.lanes[0].meta?.step || "sweep";
  }

  // The words for a place on the timeline, those that take the most room, and of lanes that go on in steps, each at a
  // pace of its own, where the slowest and the fastest are.
  telling(computed) {
    const step = this.lanes[0].meta?.step;
    const sweeps = this.shownSweeps();
    const [least, most] = [Math.min(...sweeps), Math.max(...sweeps)];
    const both = (from, to) => `${step}s ${thousands(from)} to ${thousands(to)}`;
    const alike = step && this.lanes.every(({ meta }) => meta?.step === step);
    const now = alike && least < most ? both(least, most) : `${step || "sweep"} ${thousands(most)}`;
    const tell = (at) => (at === (this.at ?? most) ? now : `${step || "sweep"} ${thousands(at)}`);
    return [tell, alike && sweeps.length > 1 ? both(computed, computed) : undefined];
  }
}

export default mounted(Player);
