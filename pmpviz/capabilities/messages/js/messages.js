// The message microscope: plays a recorded run of message passing, one message, sweep or free run at a time.

import { mounted, Stage } from "../pmpviz.player/component.js";
import { Bar, MODES, Timeline } from "./bar.js";
import { Beliefs } from "./beliefs.js";
import { HeatMap, Lines, power } from "./charts.js";
import { plain } from "./digits.js";
import { Equation } from "./equation.js";
import { frustrated, wish } from "./factor.js";
import { Graph } from "./graph.js";
import { Hands } from "./hands.js";
import { Knobs } from "../pmpviz.player/knobs.js";
import { Playhead } from "./playhead.js";
import { Replay, decodeRecording } from "./replay.js";
import { unbracketed } from "../pmpviz.player/sentences.js";
import { make, number, topOf } from "../pmpviz.player/theme.js";
// What others import is asked for here too, at once: found one after the other they would be waited for in turn.
import "./tip.js";
import "../pmpviz.player/bar.js";
import "../pmpviz.player/decode.js";

const ANNOUNCE_MS = 2500;
const EARLY_MS = 15000;
const TRAVEL = 0.72; // Of a message's time: the rest it stands at its end, to be read.
const [LOW, HIGH, CONTROLS, TITLES] = [110, 240, 150, 40];
const MARGIN = 12;
const LOWEST = 84; // Of the curves above the map.
const FEW_ROWS = 8; // Of the map, that stand beside a picture before a class.
const [HEAT, BESIDE_HEAT, CLASS_HEAT] = [300, 84, 48]; // How high its rows are together.
const FEW_BELIEFS = 7;
const RESIDUAL = "#D55E00";
const ERROR = "#0072B2";
const BETHE = "#A0522D";
const BETHE_MEANS =
  "What the beliefs say of log Z. Z is the sum of the weights of all states that are possible; weights are no " +
  "probabilities, and need not sum to 1. On a tree it is exact as soon as all messages towards one node, any one, are " +
  "what they will be: the others add nothing to it, though most beliefs still wait for them. On loops it is approximate.";
const DAMAGED = "This run arrived damaged; the last one is kept. Change a setting to send it again.";

class Microscope extends Stage {
  constructor(parent) {
    super(parent, "pv-root mm-root");
    this.repeating = ["step", "back"];
    this.player = new Playhead(this.still, !this.large);
    this.watched = 0;
    this.build();
    this.arrange();
    this.hands.listen();
  }

  build() {
    this.status = make("div", "mm-status");
    this.status.dataset.testid = "messages-status";
    this.verdict = make("div", "mm-verdict");
    this.brief = make("div", "mm-brief");
    this.foot = make("div", "mm-foot");
    this.canvas = make("canvas", "mm-canvas");
    this.canvas.dataset.testid = "messages-canvas";
    this.canvas.setAttribute("role", "img");
    this.legend = make("div", "mm-legend");
    this.stage = make("div", "mm-stage");
    this.stage.append(this.canvas, this.legend);
    this.graph = new Graph(this.canvas);
    this.hands = new Hands(this);
    this.equation = new Equation();
    this.residual = new Lines("Change and error", "The largest change that a message is asked for in a sweep, before damping, and the largest error of a belief.");
    this.bethe = new Lines("Bethe's log Z", BETHE_MEANS);
    this.beliefs = new Beliefs();
    this.heat = new HeatMap((edge, sweep) => this.pick(edge, sweep));
    this.timeline = new Timeline((event) => this.scrub(event));
    this.bar = new Bar((name, value) => this.act(name, value));
    // A run is recorded anew when a knob is let go.
    this.knobs = new Knobs((type, more) => more.done && this.post({ type, ...more }));
  }

  arrange() {
    this.side = make("div", "mm-side");
    this.side.append(this.beliefs.root, this.residual.root, this.bethe.root);
    const top = make("div", "mm-top");
    const left = make("div", "mm-left");
    left.append(this.stage, this.timeline.root, this.knobs.root, this.bar.root);
    top.append(left, this.side);
    this.root.append(this.trouble, this.status, this.verdict, top, this.equation.root, this.heat.root, this.hands.tip, this.spoken);
  }

  end() {
    super.end();
    this.hands.end();
  }

  // What the server sends.

  receive(bytes) {
    const record = this.read(bytes, decodeRecording, DAMAGED);
    if (!record) return;
    this.complain("");
    const mode = Math.max(0, MODES.findIndex(({ id }) => id === record.play));
    if (mode !== this.asked) this.player.setMode(mode);
    this.asked = mode;
    this.hands.takePlaces(record.places);
    this.knobs.adopt(record.knobs);
    this.wake();
    if (record.run !== this.run) this.adopt(record);
    else this.layout();
    this.hands.tellAgain();
  }

  adopt(record) {
    const first = this.run === undefined;
    const sameGraph = this.record && JSON.stringify(this.record.factors) === JSON.stringify(record.factors);
    Object.assign(this, { record, run: record.run, replay: new Replay(record), cameSoFar: false });
    this.player.take(this.replay);
    if (first && !this.player.playing && pressedEarly()) this.player.toggle();
    this.graph.record = record;
    if (!sameGraph) this.watched = this.replay.total ? this.firstDown() : 0;
    this.heat.take(this.replay);
    this.equation.take(this.replay);
    this.beliefs.take(this.replay);
    this.takeLines(record);
    this.drawLegend();
    this.layout();
    if (first && !this.player.wanted) this.announce(`${this.still ? "Motion is reduced: press" : "Press"} Play, or Step.`);
    this.wake();
  }

  firstDown() {
    const event = this.record.toVariable.indexOf(1);
    return event < 0 ? 0 : this.record.edge[event];
  }

  takeLines(record) {
    const { sweeps, total: messages } = this.replay;
    const most = record.period ? `error, most in ${record.period} sweeps` : "error";
    const error = record.exact ? [{ label: most, colour: ERROR, dash: [6, 4], ...this.replay.errors() }] : [];
    // Two passes from flat messages change much, and are exact: how much tells nothing of them.
    const passes = record.schedule === "two_pass" && !record.damping && record.exact;
    const change = passes ? [] : [{ label: "change", colour: RESIDUAL, values: record.residual, at: (k) => k + 1 }];
    const marks = passes ? [] : [{ y: record.tolerance, label: `converged if change < ${power(record.tolerance)}` }];
    this.residual.call(passes ? "Largest error" : record.exact ? "Change and error" : "Change");
    this.residual.take([...change, ...error], { log: true, marks, sweeps, messages });
    if (record.bethe === null) return;
    const exact = record.logZ === null ? [] : [{ y: record.logZ, label: `exact log Z ${Number(record.logZ.toPrecision(5))}` }];
    this.bethe.take([{ label: "now", colour: BETHE, values: record.bethe, at: this.placesOf(record.bethe) }], { marks: exact, sweeps, messages });
  }

  // Where values after every message, or after every sweep, lie along the run.
  placesOf(values) {
    return values.length === this.replay.total + 1 ? (k) => this.replay.along(k) : (k) => k;
  }

  drawLegend() {
    const { limit, beyond, exact, variables, verdict } = this.record;
    this.verdict.textContent = this.large ? `${verdict} ${this.betheEnd()}` : verdict;
    const two = variables.every((variable) => variable.card === 2);
    const lines = two
      ? `Lines: messages, what one end says for the other's state: blue for 0, orange for 1, grey for neither; the stronger, the surer (full: a log-ratio of ±${plain(limit)}${beyond ? " and beyond" : ""}).`
      : "Lines: messages, in the colour of the state that they favour; thicker, the surer.";
    const states = two ? "Blue: state 0, orange: state 1, grey: neither." : "States: 0 blue, 1 orange, 2 green, and so on.";
    const words = [
      this.large ? states : lines,
      this.weights(),
    ];
    words.push(exact ? "Ring: belief; thin outer ring: exact." : "Ring: belief.");
    this.legend.textContent = words.filter(Boolean).join(" ");
    this.canvas.setAttribute("aria-label", this.record.alt);
  }

  // What tables of weights want of their variables, and where they do not get it.
  weights() {
    const { factors } = this.record;
    if (!factors.some(({ kind }) => kind === "table")) return "";
    if (!factors.some((_, factor) => wish(this.record, factor))) return "Squares: tables of weights.";
    const some = factors.some((_, factor) => this.graph.opposes(factor));
    return `Squares prefer equal neighbours${some ? ", violet ones different" : ""}; framed: its neighbours lean otherwise.`;
  }

  // Before a class there is no room for the curve of Bethe's log Z: where it ends is told.
  betheEnd() {
    const { bethe, logZ } = this.record;
    // Beneath the beliefs of many variables there is no room for it either.
    if (!bethe || !bethe.length || this.record.variables.length > FEW_BELIEFS) return "";
    const last = number(bethe[bethe.length - 1]);
    return `Bethe's log Z: ${last}${logZ === null ? "" : `; the exact one: ${number(logZ)}`}.`;
  }

  // What a person does.

  act(name, value) {
    if (!this.record) return;
    const { player } = this;
    if (name === "play") player.toggle();
    if (name === "step") player.step();
    if (name === "back") player.back();
    if (name === "reset") {
      player.stop();
      player.moveTo(0);
    }
    if (name === "mode") {
      player.setMode(value);
      this.asked = value;
      this.layout();
      this.post({ type: "mode", site: value });
    }
    if (["share", "undo", "redo"].includes(name)) this.post({ type: name });
    if (name === "speed") player.choose(value);
    this.wake();
  }

  scrub(event) {
    this.player.moveTo(event);
    this.wake();
  }

  // The event of a cell of the heat map, shown as it was worked out.
  pick(edge, sweep) {
    const { record } = this;
    this.watched = edge;
    for (let event = record.ends[sweep - 1] - 1; event >= this.replay.startOf(sweep - 1); event--) {
      if (record.edge[event] !== edge || !record.toVariable[event]) continue;
      this.player.stop();
      return this.scrub(event + 1);
    }
    this.wake();
  }

  // Playing.

  play(passed) {
    if (!this.record) return false;
    if (this.player.moving) this.player.advance(passed / 1000);
    this.draw();
    return this.player.moving;
  }

  // Drawing.

  layout() {
    const width = this.root.clientWidth;
    if (!width || !this.record) return;
    const wide = width >= 700;
    this.root.classList.toggle("mm-wide", wide);
    this.root.classList.toggle("mm-many", this.record.variables.length > 16);
    const room = this.stage.clientWidth;
    this.placeVerdict();
    this.placeHeat(wide);
    this.keepRoom();
    const most = this.large ? this.roomFor() : Math.min(0.46 * window.innerHeight, 520, wide ? this.roomFor() : Infinity);
    const high = Math.max(260, Math.min(0.78 * room, most));
    this.graph.fit(this.record, room, high, this.hands.moved);
    this.heat.call(this.heatBeside ? "Messages" : "All messages to variables");
    this.heat.fit(this.heat.root.clientWidth, !this.heatBeside ? HEAT : this.large ? CLASS_HEAT : BESIDE_HEAT);
    this.chartHeight = wide ? this.fillingHeight(high) : LOW;
    this.wake();
  }

  // The room of the longest that will be said above the picture, so that it stays where it is.
  keepRoom() {
    const { status, record } = this;
    const said = status.textContent;
    status.style.minHeight = "";
    const high = record.milestones.map(([sweep, , template]) => {
      status.textContent = this.filled(template, Math.max(sweep, 1));
      return status.offsetHeight;
    });
    status.textContent = said;
    status.style.minHeight = `${Math.max(...high)}px`;
  }

  // How high the picture may be for the bar beneath it to be seen with it.
  roomFor() {
    const rest = this.bar.root.getBoundingClientRect().bottom - this.canvas.getBoundingClientRect().bottom;
    return window.innerHeight - topOf(this.canvas) - rest - MARGIN;
  }

  enlarge() {
    const before = this.large;
    super.enlarge();
    if (this.record && before !== this.large) this.drawLegend();
    // The button lies beneath the window: a class begins with the question.
    if (before === false && this.large) this.root.closest("[data-testid=stMain]")?.scrollTo(0, 0);
  }

  // What is said of the whole run stands beneath the charts before a class, above the picture elsewhere. Until the run
  // has ended the message that is being worked out stands there, whose box lies below the window.
  placeVerdict() {
    if (this.large && !this.foot.isConnected) {
      this.foot.append(this.brief, this.verdict);
      this.side.append(this.foot);
    }
    if (!this.large && this.foot.isConnected) {
      this.status.after(this.verdict);
      this.foot.remove();
    }
    this.withBethe = this.record.bethe !== null && !this.large;
    this.bethe.root.hidden = !this.withBethe;
  }

  // The map of a free run, in which no message is worked out, stands beside the picture before a class, and where no curve
  // of Bethe's log Z has the place: in it an oscillation is seen, of which the curves tell only how large it is.
  placeHeat(wide) {
    const room = this.large || this.record.bethe === null;
    this.heatBeside = room && wide && this.player.way === "run" && this.heat.rows.length <= FEW_ROWS;
    this.root.classList.toggle("mm-mapped", this.heatBeside);
    const [into, before] = this.heatBeside ? [this.side, this.large ? this.foot : null] : [this.root, this.large ? this.equation.root : this.hands.tip];
    if (this.heat.root.parentNode !== into || this.heat.root.nextSibling !== before) into.insertBefore(this.heat.root, before);
  }

  // Charts beside the picture are as high as the room under the beliefs, so that both columns end together.
  fillingHeight(high) {
    const charts = this.withBethe ? 2 : 1;
    if (this.large) {
      const rest = this.side.offsetHeight - this.residual.canvas.offsetHeight;
      return Math.max(this.heatBeside ? LOWEST : LOW, Math.min(2 * HIGH, window.innerHeight - topOf(this.side) - rest - MARGIN));
    }
    const map = this.heatBeside ? this.heat.root.offsetHeight : 0;
    const room = high + CONTROLS + this.knobs.root.offsetHeight - this.beliefs.root.offsetHeight - map - charts * TITLES;
    return Math.max(LOW, Math.min(HIGH, room / charts));
  }

  draw() {
    const { replay, player } = this;
    const { head, flight } = player;
    if (player.single() >= 0) this.watched = this.record.edge[player.single()];
    const told = this.eventShown();
    this.equation.show(told, this.when());
    replay.go(head);
    const flying = flight ? range(flight.from, flight.to) : [];
    const share = flight ? smooth(Math.min(1, flight.share / TRAVEL)) : 0;
    const down = Boolean(this.record.toVariable[told]); // Of what is explained, which may go to a factor.
    const view = { replay, head, down, watched: this.lit(told), hovered: this.hands.hovered, pointed: this.hands.pointed, flying, share };
    this.graph.draw(view, this.theme);
    this.beliefs.draw(view);
    this.heat.draw(view, this.theme);
    const along = replay.along(head);
    this.residual.draw(this.residual.root.clientWidth, this.chartHeight, along, this.theme);
    if (this.withBethe) this.bethe.draw(this.bethe.root.clientWidth, this.chartHeight, along, this.theme);
    this.timeline.show(head, flight ? flight.to : head, replay, player);
    this.bar.show(player.playing, player.mode, player.speeds[player.mode], replay.sweeps, head > 0 && head >= replay.total);
    this.write(replay.done(head));
  }

  // The message whose equation is shown: in flight, else the last one; of many, the one that is watched.
  eventShown() {
    const { flight, head, way } = this.player;
    if (flight) {
      const of = range(flight.from, flight.to).find((event) => this.record.edge[event] === this.watched);
      return of === undefined ? flight.from : of;
    }
    if (way === "message") return head - 1;
    const last = this.replay.lastOn(this.watched, true, head);
    return last < 0 ? head - 1 : last;
  }

  // The edge that is lit is that of the message which is told; before there is one, that which is watched as sweeps go by.
  lit(told) {
    if (told >= 0) return this.record.edge[told];
    return this.player.way === "message" ? -1 : this.watched;
  }

  when() {
    if (this.player.flight) return "on its way";
    const event = this.eventShown();
    if (event < 0) return "";
    return this.replay.sweeps > 1 ? `as sent in sweep ${this.replay.done(event) + 1}` : "as sent";
  }

  // Before a class without what stands in brackets.
  filled(template, played) {
    const { record, player, replay } = this;
    return (this.large ? unbracketed(template) : template)
      .replace("{residual}", () => number(record.residual[played - 1]))
      .replace("{sent}", () => player.head - replay.startOf(played))
      .replace("{right}", () => (player.head ? replay.right(player.head) : 0));
  }

  write(played) {
    const { record, canvas, player } = this;
    const milestone = player.milestone();
    const [, status, template] = milestone;
    // Nothing of how the run ends is told before it has come so far.
    this.cameSoFar = this.cameSoFar || milestone === record.milestones[record.milestones.length - 1];
    const under = milestone !== record.milestones[record.milestones.length - 1];
    const working = this.large && player.way !== "run" && under;
    // Nor while it is played once more: what is said of the end would be taken for what is seen.
    const ended = this.cameSoFar && !(under && player.moving);
    this.verdict.style.visibility = ended && !working ? "" : "hidden";
    if (this.large) this.brief.replaceChildren(...(working ? this.equation.brief() : []));
    const words = this.filled(template, played);
    if (this.status.textContent !== words) this.status.textContent = words;
    this.status.dataset.status = status;
    Object.assign(canvas.dataset, {
      looping: player.looping,
      lit: this.lit(this.eventShown()),
      ended,
      frustrated: record.factors.reduce((count, _, factor) => count + frustrated(this.replay, factor, player.head), 0),
      sweep: played,
      event: player.head,
      residual: played ? record.residual[played - 1] : "",
      status,
      period: status === "oscillating" ? record.period : "",
      error: this.replay.error(player.head),
      mode: player.way,
      playing: player.playing,
      run: record.run,
      total: this.replay.total,
      flying: player.flight ? player.flight.to - player.flight.from : 0,
    });
    this.announce(words, ANNOUNCE_MS);
  }
}

export default mounted(Microscope);

// Whether Space was pressed before there was a picture to play.
function pressedEarly() {
  const early = window.pmpvizSpace && performance.now() - window.pmpvizSpace < EARLY_MS;
  window.pmpvizSpace = 0;
  return Boolean(early);
}

function range(from, to) {
  return Array.from({ length: to - from }, (_, k) => from + k);
}

function smooth(share) {
  return share * share * (3 - 2 * share);
}
