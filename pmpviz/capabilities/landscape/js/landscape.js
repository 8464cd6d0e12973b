// The stage of the Landscape page: the hills, redrawn at once while the shift is dragged, and the ball on them.

import { mounted } from "../pmpviz.player/component.js";
import { unpack } from "../pmpviz.player/decode.js";
import { Live } from "../pmpviz.player/live.js";
import { css, make, mix, rgb } from "../pmpviz.player/theme.js";
import { Ground } from "./ground.js";
import { LAYERS, Picture } from "./scene.js";
import { Bars, Energy, Shift } from "./strips.js";
// What others import is asked for here too, at once: found one after the other they would be waited for in turn.
import "../pmpviz.player/bar.js";
import "../pmpviz.player/knobs.js";
import "../pmpviz.player/traces.js";

const BESIDE = 700; // From this width on the strips stand beside the picture.
const [LONGEST, SHORTEST] = [1600, 120]; // Of a roll that is shown on its way, in ms.
const [TURN_MS, GROW_MS] = [900, 700];
const AGREE_MS = 3000; // So long a hand's own value is shown without the server's.
const ZIGZAG = 8;
const CLASS = 1.6; // How much larger words are before a class.
const COORDINATES = ["Whitened", "A = I"];

class Landscape extends Live {
  constructor(parent) {
    super(parent, "pv-root ls-root");
    this.picture = new Picture();
    this.bars = new Bars();
    this.energy = new Energy();
    this.shift = new Shift((value, done) => this.act("knob", { name: "extra", value, done }));
    this.layer = LAYERS.length - 1;
    this.turn = null;
    this.grown = 1;
    this.arrange();
  }

  arrange() {
    this.layers = this.choices(LAYERS, "What is drawn", (k) => this.show(k));
    this.frames = this.choices(COORDINATES, "Coordinates", (k) => this.choose(k));
    const head = make("div", "ls-head");
    head.append(this.layers, this.frames);
    this.view = make("div", "ls-view");
    this.view.append(head, this.picture.canvas);
    this.head = head;
    this.stage.append(this.view);
    this.timeline.root.remove();
    this.knobs.root.after(this.shift.root);
    this.side.prepend(this.bars.root, this.energy.root);
  }

  choices(names, label, chosen) {
    const root = make("div", "ls-choices");
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", label);
    names.forEach((name, k) => {
      const button = make("button", "pv-button pv-tool", name);
      button.type = "button";
      button.addEventListener("click", () => chosen(k));
      root.append(button);
    });
    return root;
  }

  press(root, chosen) {
    [...root.children].forEach((button, k) => button.setAttribute("aria-checked", k === chosen));
  }

  // What the server sends.

  receive(bytes) {
    const update = this.read(bytes, (whole) => unpack(whole).meta);
    if (!update || !this.isNew(update)) return;
    const now = performance.now();
    const fresh = update.epoch !== this.epoch;
    this.takeHead(update, now);
    this.scene = update.scene || this.scene;
    this.pace = update.speed.value ? 1000 / update.speed.value : 0;
    const [lane] = update.lanes;
    if (lane) this.takeWalk(lane, fresh, now);
    this.agree(now);
    this.traces.adopt(update.traces, update.marks);
    this.tracesDirty = true;
    this.takeRest(update);
    this.wake();
  }

  takeWalk(lane, fresh, now) {
    this.walk = lane.walk;
    this.colour = this.theme.dark ? css(mix(rgb(lane.colour), [255, 255, 255], 0.25)) : lane.colour;
    const { rolls } = lane.walk;
    if (fresh || !rolls.length) this.shown = null;
    const newest = rolls[rolls.length - 1];
    // Behind by more than two rolls, or not told one by one: the newest is shown.
    const behind = this.shown && newest && newest.number > this.shown.number + 2;
    if (newest && (!this.shown || behind || this.hurried())) this.begin(newest, now);
  }

  hurried() {
    return this.still || !this.playing || !this.pace || 0.9 * this.pace < SHORTEST;
  }

  begin(roll, now) {
    const same = this.shown && this.shown.number === roll.number;
    this.shown = roll;
    if (!same) this.since = now;
  }

  // Settings that a hand has chosen hold until the server has them.
  agree(now) {
    if (!this.scene) return;
    const late = now - (this.chosenAt || 0) > AGREE_MS;
    if (this.own !== undefined && (late || Math.abs(this.own - this.scene.extra) < 1e-9)) this.own = undefined;
    if (this.plain === this.scene.plain || late || this.plain === undefined) this.plain = this.scene.plain;
  }

  newLane() {
    const root = make("div");
    root.hidden = true;
    return { root, canvas: root, ring: [], forget() {} };
  }

  scrub() {}

  // What a person does.

  act(name, more) {
    if (name === "knob" && more.name === "extra") {
      this.own = more.value;
      this.chosenAt = performance.now();
    }
    super.act(name, more);
  }

  show(layer) {
    this.layer = layer;
    this.grown = layer === 1 && !this.still ? 0 : 1;
    this.wake();
  }

  choose(k) {
    this.plain = k === 1;
    this.chosenAt = performance.now();
    this.post({ type: "mode", site: k });
    this.wake();
  }

  // Drawing.

  themed() {
    super.themed();
    this.tracesDirty = true;
  }

  layout() {
    const width = this.root.clientWidth;
    if (!width) return;
    this.body.classList.toggle("pv-beside", width >= BESIDE);
    if (this.large) this.energy.root.after(this.shift.root);
    else this.knobs.root.after(this.shift.root);
    const high = this.high(1) - this.head.offsetHeight - 8;
    this.sidelong = Math.round(Math.max(240, Math.min(this.main.clientWidth, high)));
    this.tracesDirty = true;
    this.wake();
  }

  play(passed, now) {
    if (!this.scene) return false;
    const moving = this.move(passed, now);
    const scale = this.large ? CLASS : 1;
    const extra = this.own === undefined ? this.scene.extra : this.own;
    const shape = JSON.stringify([extra, this.turn, this.scene]);
    if (shape !== this.shape) this.ground = new Ground(this.scene, extra, this.turn);
    this.shape = shape;
    const still = this.own === undefined && this.walk;
    const share = this.share(now);
    this.picture.draw(this.ground, this.sidelong, this.theme, this.drawn(still, share), scale);
    const inks = this.picture.inks;
    this.bars.draw(this.scene, still ? this.walk.counts : this.scene.law.map(() => 0), inks, this.theme, scale);
    this.energy.root.hidden = this.scene.gibbs;
    if (!this.scene.gibbs) this.energy.draw(still && this.shown, share, this.colour, this.theme, scale);
    this.shift.draw(this.scene, extra, this.theme, scale);
    this.frames.hidden = this.scene.gibbs;
    this.press(this.layers, this.layer);
    this.press(this.frames, this.plain ? 1 : 0);
    this.report(extra);
    this.drawTraces(now, null);
    return moving || this.tracesDirty;
  }

  // The turn of the picture, the swelling of the Gaussians, and the ball; whether more is to come.
  move(passed, now) {
    const goal = this.plain ? 1 : 0;
    if (this.turn === null || this.still) this.turn = goal;
    this.turn += Math.sign(goal - this.turn) * Math.min(Math.abs(goal - this.turn), passed / TURN_MS);
    this.grown = Math.min(1, this.grown + passed / GROW_MS);
    if (this.shown && this.walk && this.share(now) >= 1 && now - this.since >= this.pause()) {
      const next = this.walk.rolls.find((roll) => roll.number === this.shown.number + 1);
      if (next) this.begin(next, now);
    }
    return this.turn !== goal || this.grown < 1 || (Boolean(this.shown) && (this.playing || this.share(now) < 1));
  }

  // From a roll's beginning to the next, in ms.
  pause() {
    return this.hurried() ? 0 : Math.min(LONGEST, this.pace);
  }

  share(now) {
    const takes = 0.65 * this.pause();
    return this.shown && takes ? Math.min(1, Math.max(0, (now - this.since) / takes)) : 1;
  }

  drawn(still, share) {
    const { scene } = this;
    const flat = scene.states[0].length > 2;
    const rolls = still && scene.gibbs && this.shown ? this.walk.rolls.filter((roll) => roll.number <= this.shown.number) : [];
    const plain = flat ? ["first principal axis of Bz", "second"] : ["(Bz)₁", "(Bz)₂"];
    return {
      layer: this.layer,
      grown: this.grown,
      names: scene.names,
      landings: still ? this.walk.landings.slice(0, -1) : null,
      zigzag: rolls.length ? rolls.slice(-ZIGZAG) : null,
      roll: still ? this.shown : null,
      share,
      colour: this.colour,
      axes: this.plain ? plain : flat ? ["first principal axis", "second"] : ["z₁", "z₂"],
    };
  }

  report(extra) {
    const { hills } = this.picture.survey;
    const shown = { extra, hills, turn: this.turn.toFixed(2), layer: this.layer, roll: this.shown ? this.shown.number : 0 };
    Object.assign(this.picture.canvas.dataset, shown);
    const words = `${this.scene.names.length} Gaussians, ${hills} hill${hills === 1 ? "" : "s"}, shift ${extra} beyond the least`;
    this.picture.canvas.setAttribute("aria-label", `The landscape of the relaxation: ${words}.`);
  }
}

export default mounted(Landscape);
