// The stage of the Frank-Wolfe page: the walk through the polytope, played; beside it what each step found.

import { ask } from "../pmpviz.player/ask.js";
import { mounted } from "../pmpviz.player/component.js";
import { Player } from "../pmpviz.player/player.js";
import { css, enlarged, HANDLE, make, sized, thousands, topOf } from "../pmpviz.player/theme.js";
import { decodeWalk } from "./decoded.js";
import { Edges, givenPicture, Marginals } from "./found.js";
import { isNewest, Lines, sentence } from "./lines.js";
import { HELP, MEANINGS, SHARE } from "./meanings.js";
import { Scene } from "./scene.js";
import { arrived, shownOf, stepOf } from "./shown.js";
import { Sites } from "./sites.js";
// What others import is asked for here too, at once: found one after the other they would be waited for in turn.
import "./axes.js";
import "./beside.js";
import "./camera.js";
import "./exact.js";
import "./key.js";
import "./solid.js";
import "../pmpviz.player/bar.js";
import "../pmpviz.player/chart.js";
import "../pmpviz.player/curves.js";
import "../pmpviz.player/decode.js";
import "../pmpviz.player/figure.js";
import "../pmpviz.player/knobs.js";
import "../pmpviz.player/lane.js";
import "../pmpviz.player/layers.js";
import "../pmpviz.player/live.js";
import "../pmpviz.player/painters.js";
import "../pmpviz.player/pointer.js";
import "../pmpviz.player/raster.js";

const BESIDE = 700; // From this width on what was found stands beside the walk.
const MARGIN = 12;
const WALK_HIGH = 230; // Beneath the sites.
const [ALONE_HIGH, SITES_HIGH] = [190, 150]; // The sites of one lane, and of several.
const LEAST_HIGH = 240; // Of a walk.
const SQUARE = 0.85; // Of its width a picture's height, at least.
const APART = 1; // Lanes are computed in turn: while they go on together none is further ahead.
const RENEWED = "Back to the start, as soon as the step in hand is done.";
const RUN_TO = "Run to";
const NEW_RHO = [": a tighter objective, a new climb, the gap jumps", ": a tighter objective, a new climb", ": a tighter objective", ""]; // What a mark is, as far as there is room.
const BEGINNING = "The beginning, where all configurations are alike.";

class Walk extends Player {
  constructor(parent) {
    super(parent);
    this.root.classList.add("wk-root");
    this.scene = new Scene(() => this.wake(), (step) => this.scrub(step));
    this.caption = make("div", "wk-caption");
    this.meanings = make("div", "wk-caption wk-meanings");
    this.meanings.append(make("span", "", "Terms:"));
    for (const [word, meaning] of MEANINGS) {
      const entry = make("span", "", word);
      entry.append(ask(meaning, word));
      this.meanings.append(entry);
    }
    this.steps = new Lines();
    this.lines = this.steps.root;
    this.ticks = make("canvas", "wk-ticks");
    this.ticks.setAttribute("role", "img");
    this.ticks.title = `ρ: ${SHARE}`;
    this.marginals = new Marginals();
    this.edges = new Edges();
    this.choice = this.layerControl();
    this.arrange();
  }

  arrange() {
    this.below = make("div", "wk-below");
    this.below.append(this.marginals.root, this.edges.root);
    this.stage.replaceWith(this.scene.root);
    this.timeline.root.before(this.ticks);
    this.main.append(this.lines, this.caption, this.meanings, this.below);
    this.side.prepend(this.stage, this.legend, this.choice);
    this.given = make("div", "wk-given");
    this.bar.root.after(this.given);
  }

  layerControl() {
    const label = make("label", "wk-layer", "Sites show ");
    this.chooser = make("select", "pv-select");
    this.chooser.addEventListener("change", () => {
      this.post({ type: "mode", site: this.goals.length + this.chooser.selectedIndex });
    });
    label.append(this.chooser);
    return label;
  }

  newLane(index) {
    const lane = new Sites(index);
    this.pointer.attach(lane);
    return lane;
  }

  // What the server sends.

  receive(bytes) {
    const update = this.read(bytes, decodeWalk);
    if (!update || !this.isNew(update)) return;
    this.adopt(update);
    this.wake();
  }

  adopt(update) {
    this.data = update.walk;
    this.exact = update.exact;
    this.exactP1 = update.exactP1;
    this.pace = update.speed.value ? 1000 / update.speed.value : 0;
    this.goals = update.goals;
    this.waiting = Boolean(update.waits);
    this.learnWords(update);
    this.renewed = update.sites_first ? RENEWED : ""; // Of many sites a step takes seconds.
    [this.verdictLetters, this.letters] = update.letters;
    this.root.classList.toggle("wk-many", update.lanes.length > 3);
    // Before the stage is laid out: a title with a ? may take a line more.
    for (const trace of update.traces || []) trace.help = HELP[trace.id] || "";
    super.adopt(update);
    this.caption.textContent = update.words;
    this.scene.canvas.setAttribute("aria-label", `The walk through the polytope. ${update.announce}`);
    this.meanings.hidden = !update.walks; // What does not walk has none of these, no gap and no ρ.
    this.meanings.lastChild.hidden = !update.reweighs;
    this.putFirst(Boolean(update.sites_first));
    if (update.given) this.given.replaceChildren(...update.given.map(givenPicture));
    this.given.hidden = !this.large || !update.sites_first;
    this.buildGoals();
    for (const button of this.bar.root.querySelectorAll("[data-goal]")) button.hidden = ![update.walks, update.reweighs, true][button.dataset.goal];
    this.buildLayers(update.layer);
    this.tellBeneath(this.walks || []);
  }

  // What is said of each step, until other settings or the exact answer change it.
  learnWords({ run, begun, exact, said_at: saidAt }) {
    const of = JSON.stringify([run, begun, exact]);
    if (of !== this.saidOf) this.saidAt = new Map();
    this.saidOf = of;
    for (const [step, words] of saidAt) this.saidAt.set(step, words);
  }

  // A walk that is over plays on until its end is on screen, whatever the last update that came in time says.
  settle(update, now) {
    this.over = Boolean(update.over);
    const began = this.serverPlaying || (this.held === "playing" && this.answered(update));
    super.settle({ ...update, playing: this.over ? began && this.held !== "paused" : update.playing }, now);
  }

  atEnd() {
    return !(this.walks || []).some((walk) => walk.share < 1 || !isNewest(walk)) && !this.lanes.some(({ queue }) => queue.length);
  }

  // The verdict is of the point to which the step on screen led.
  tell(sentences) {
    this.general = sentences;
    this.tellStep(this.walks || []);
  }

  tellStep(walks) {
    const general = this.general || [];
    if (this.waiting || !walks.length) return super.tell(general);
    const step = Math.max(...walks.map(stepOf));
    if (!step && walks.some((walk) => walk.last || !isNewest(walk))) return super.tell([BEGINNING]);
    super.tell(this.saidAt.get(step) || general);
  }

  lead() {
    return this.at === null ? "" : "Looking back: ";
  }

  // Beside Play, what play may run on to.
  buildGoals() {
    const bar = this.bar.root;
    if (bar.querySelector("[data-goal]")) return;
    const group = make("span", "wk-goals", RUN_TO);
    bar.insertBefore(group, this.bar.buttons.reset || null);
    this.goals.forEach(([words, title], k) => {
      const button = make("button", "pv-button", words);
      Object.assign(button, { type: "button", title });
      button.setAttribute("aria-label", `${RUN_TO} ${words}`);
      button.dataset.goal = k;
      button.addEventListener("click", () => {
        this.hold("playing");
        this.post({ type: "mode", site: k });
      });
      group.append(button);
    });
  }

  buildLayers([names, chosen]) {
    if (this.chooser.length !== names.length) this.chooser.replaceChildren(...names.map((name) => new Option(name, name)));
    if (document.activeElement !== this.chooser) this.chooser.value = names.includes(chosen) ? chosen : names[0];
  }

  // Of a model of many sites their picture stands first, and the walk beneath it.
  putFirst(sites) {
    if (sites === Boolean(this.sitesFirst)) return;
    this.sitesFirst = sites;
    this.trouble.after(sites ? this.stage : this.scene.root);
    this.side.prepend(...(sites ? [] : [this.stage]), this.legend, this.choice);
    if (sites) this.main.append(this.scene.root);
    this.layout();
  }

  // Drawing.

  layout() {
    const width = this.root.clientWidth;
    if (!width || !this.lanes.length) return;
    this.body.classList.toggle("pv-beside", width >= BESIDE);
    const room = this.main.clientWidth;
    this.scene.scale = enlarged();
    if (this.sitesFirst) return this.layoutSites(width);
    const most = this.large ? this.roomFor(this.bar.root) : Math.min(0.5 * window.innerHeight, 620, this.roomFor(this.lines));
    this.scene.resize(room, Math.round(Math.max(LEAST_HIGH, Math.min(0.82 * room, most))));
    const across = this.lanes.length;
    this.root.classList.toggle("wk-many", across > 2);
    this.stage.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
    const each = Math.floor((this.side.clientWidth - 16 * (across - 1)) / across);
    for (const lane of this.lanes) lane.fitName(each);
    this.level();
    for (const lane of this.lanes) {
      lane.resize(each, across > 2 ? Math.min(SITES_HIGH, each) : across > 1 ? SITES_HIGH : ALONE_HIGH);
    }
    this.laidOut(width);
  }

  layoutSites(width) {
    this.scene.resize(this.main.clientWidth, WALK_HIGH);
    const { template, each, high } = this.columns();
    this.stage.style.gridTemplateColumns = template;
    for (const lane of this.lanes) lane.fitName(each);
    this.level();
    for (const lane of this.lanes) lane.resize(each, Math.max(high, SQUARE * each));
    this.laidOut(width);
  }

  laidOut(width) {
    this.spreadBeforeClass();
    if (this.width !== width) this.tracesDirty = true;
    this.width = width;
    this.wake();
  }

  // How high the walk may be for what ends lowest beneath it to be seen with it.
  roomFor(lowest) {
    const below = lowest.getBoundingClientRect().bottom - this.scene.root.getBoundingClientRect().bottom;
    return window.innerHeight - topOf(this.main) - below - MARGIN;
  }

  // Before a class the verdict stands beneath the curve.
  placeSaid() {
    super.placeSaid();
    if (this.lines.previousSibling !== this.said) this.said.after(this.lines);
  }

  play(passed, now) {
    const moving = (this.walks || []).some((walk) => walk.share < 1);
    const more = super.play(passed, now) || moving; // What waits for an arrival is drawn after it.
    if (!this.data) return more;
    const walks = this.lanes.map((lane, k) => shownOf(lane, this.data.lanes[k], this.data.graph, this, now)).filter(Boolean);
    this.walks = walks;
    if (walks.length === this.lanes.length) this.lanes.forEach((lane, k) => this.come(lane, stepOf(walks[k])));
    this.drawTimeline(); // Its number is of the step to which they have come.
    this.scene.draw(this.data, walks, this.theme, { exact: this.sitesFirst ? null : this.exactP1, large: this.large });
    this.caption.hidden = this.scene.covered;
    this.write(walks);
    this.tellStep(walks);
    this.tellBeneath(walks);
    if (this.over && this.serverPlaying && this.atEnd()) this.rested(now);
    this.drawTicks(walks);
    this.below.hidden = !this.marginals.draw(this.exactP1, walks, this.theme) & !this.edges.draw(this.data.graph, walks, this.theme);
    return more || walks.some((walk) => walk.share < 1);
  }

  // The sites beside the walk are of the step to which it has come, at once.
  come(lane, step) {
    if (lane.comes(step)) lane.paint(this.theme, this.at, this.edits);
  }

  rested(now) {
    super.settle({ playing: false }, now);
    this.bar.show(this.playing);
  }

  // Words are of each step, and wait for no later one.
  hurry() {}

  // What is said is of one moment of all lanes: none is shown ahead of what the others have done that go on with it.
  advance(passed) {
    if (this.held === "paused" || this.lanes.some((lane) => lane.fresh)) return super.advance(passed);
    const going = this.lanes.filter(({ meta }) => meta.status !== "done").map(newest);
    const least = Math.min(...going);
    // Where a busy server is late a lane makes up to the steps of a second in one turn.
    const far = this.pace ? Math.max(APART, 1000 / this.pace) : APART;
    const together = this.serverPlaying && Math.max(...going) - least <= far;
    const due = this.lanes.map(({ queue }) => queue.filter(({ sweep }) => !together || sweep <= least));
    const sweeps = [...new Set(due.flat().map(({ sweep }) => sweep))].sort((a, b) => a - b);
    this.credit = sweeps.length ? (this.credit || 0) + (passed * sweeps.length) / this.left() : 0;
    const count = Math.min(sweeps.length, Math.floor(this.credit));
    this.credit -= count;
    if (count) {
      this.lanes.forEach((lane, k) => {
        if (lane.pass(due[k].filter(({ sweep }) => sweep <= sweeps[count - 1]).length)) lane.dirty = true;
      });
    }
    return count < sweeps.length || (this.playing && this.lanes.some((lane) => lane.moves()));
  }

  // Beside and beneath each picture stands to which step it has come and what is known of it, and that a walk is done
  // with its last one.
  tellBeneath(walks) {
    if (this.waiting || walks.length < this.lanes.length) return;
    this.lanes.forEach((lane, k) => {
      const sub = new Map(lane.meta.subs).get(stepOf(walks[k])) ?? lane.meta.sub;
      const status = this.at === null && lane.queue.length ? "" : lane.meta.status;
      if (lane.sub.title !== sub || lane.status.textContent !== status) lane.say({ ...lane.meta, sub, status });
      if (this.at === null) lane.counter.textContent = `${lane.meta.step} ${thousands(stepOf(walks[k]))}`;
    });
  }

  // What those lanes count that have got so far; where they count different things it is steps.
  unit(at) {
    const counted = this.lanes.filter((lane) => lane.last.sweep >= at).map(({ meta }) => meta?.step || "step");
    return new Set(counted).size === 1 ? counted[0] : "step";
  }

  // Lanes that have come to their end are not behind the others.
  telling() {
    const most = this.shownSweep();
    const come = this.at === null ? Math.max(0, ...(this.walks || []).map(stepOf)) : most;
    const tell = (at) => `${this.unit(at)} ${thousands(at)}`;
    return [(at) => tell(at === (this.at ?? most) ? come : at)];
  }

  // Curves end where the picture has arrived.
  heads() {
    const place = (lane, walk) => (walk && (walk.share < 1 || lane.queue.length || this.behind) ? stepOf(walk) : Infinity);
    return { seconds: false, of: this.lanes.map((lane, k) => place(lane, (this.walks || [])[k])) };
  }

  // What was known at the step to which the picture has come.
  write(moving) {
    const walks = moving.map((walk) => ({ ...walk, last: arrived(walk) }));
    const metas = this.lanes.map(({ meta }) => meta);
    const seen = { metas, raced: walks.length > 1, large: this.large, exact: this.exact, corners: this.data?.marginal?.names };
    const text = walks.map((walk, k) => sentence(walk, { ...seen, done: metas[k].status === "done", closed: metas[k].closed && !seen.raced, anew: metas[k].anew }));
    // Before a class they stand beneath the curve.
    if (this.steps.tell(text, metas, this.theme, this.large) && this.large) this.spreadBeforeClass();
  }

  // Where rho changed, on the axis of the timeline.
  drawTicks(walks) {
    const range = this.timeline.range;
    const [low, high] = [Number(range.min), Number(range.max)];
    const changes = walks.flatMap(({ lane, colour }) => lane.changes.filter((call) => call <= high).map((call) => [call, colour]));
    this.ticks.hidden = this.meanings.hidden; // Of walks their room is kept: the bar stays where it is when they come.
    const wide = range.clientWidth || 200;
    const scale = enlarged();
    const context = sized(this.ticks, this.main.clientWidth, 16 * scale);
    context.clearRect(0, 0, this.main.clientWidth, 16 * scale);
    if (!changes.length) return this.ticks.setAttribute("aria-label", "ρ has not changed");
    for (const [call, colour] of changes) {
      const x = HANDLE + ((call - low) / Math.max(1, high - low)) * (wide - 2 * HANDLE);
      context.fillStyle = colour;
      context.fillRect(Math.round(x) - 1, 16 * scale - 10, 2, 10);
    }
    context.font = `${11.5 * scale}px ${this.theme.font}`;
    context.fillStyle = css(this.theme.soft);
    const said = NEW_RHO.map((why) => `mark${changes.length === 1 ? "" : "s"}: edges weighted anew (ρ)${why}`);
    const fits = (words) => context.measureText(words).width < this.main.clientWidth - wide - 10;
    context.fillText(said.find(fits) || said[said.length - 1], wide + 10, 13 * scale);
    this.ticks.setAttribute("aria-label", `rho changed at ${changes.map(([call]) => call).join(", ")}`);
  }
}

export default mounted(Walk);

// The last step of a lane that has come here.
function newest({ queue, shown }) {
  return (queue[queue.length - 1] || shown)?.sweep ?? 0;
}
