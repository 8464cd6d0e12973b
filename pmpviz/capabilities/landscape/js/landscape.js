// The stage of the Landscape page: the hills, redrawn at once while the shift is dragged, and the ball on them.

import { ask } from "../pmpviz.player/ask.js";
import { choiceButtons } from "../pmpviz.player/bar.js";
import { mounted } from "../pmpviz.player/component.js";
import { unpack } from "../pmpviz.player/decode.js";
import { Live } from "../pmpviz.player/live.js";
import { lit, make } from "../pmpviz.player/theme.js";
import { Ground } from "./ground.js";
import { Due } from "./due.js";
import { Key } from "./key.js";
import { MemoryGround, MemoryPicture, Spins } from "./memory.js";
import { along, LAYERS, Picture, REGIONS, SUM, topped } from "./scene.js";
import { Bars, counted, Energy, Shift } from "./strips.js";
import { COORDINATES, hillWords, MEANING, SCALES } from "./words.js";
// What others import is asked for here too, at once: found one after the other they would be waited for in turn.
import "../pmpviz.player/knobs.js";
import "../pmpviz.player/traces.js";

const BESIDE = 700; // From this width on the strips stand beside the picture.
const ABREAST = 440; // From this width on the spins stand beside their landscape.
const APART = 12;
const CAPTION = 24;
const LEAST_TRACE = 84; // Its height, in px.
const [LONGEST, SHORTEST] = [1600, 120]; // Of a roll that is shown on its way, in ms.
const [TURN_MS, GROW_MS] = [900, 700];
const AGREE_MS = 15000; // So long a hand's own value is shown without the server's, however slow that is.
const ANEW = "Starting again under the new setting …";
const ZIGZAG = 8;
const [KEY, GAP] = [7, 0.75]; // Width of the signs' column beside the picture, at least, and what parts them, in rem.
const LEAST = 240; // Of the picture.
const CLASS = 1.6; // How much larger words are before a class.

class Landscape extends Live {
  constructor(parent) {
    super(parent, "pv-root ls-root");
    const canvas = make("canvas", "ls-canvas");
    canvas.dataset.testid = "landscape-canvas";
    canvas.setAttribute("role", "img");
    this.pictures = [new Picture(canvas), new MemoryPicture(canvas)];
    this.picture = this.pictures[0];
    this.spins = new Spins();
    this.own = {}; // What a hand has dragged and the server does not have yet.
    this.bars = new Bars();
    this.due = new Due();
    this.energy = new Energy();
    this.shift = new Shift((value, done) => this.act("knob", { name: "extra", value, done }));
    this.layer = null; // None has been chosen.
    this.turn = null;
    this.grown = 1;
    this.arrange();
  }

  arrange() {
    this.layers = choiceButtons("ls-choices", LAYERS, "What is drawn", (k) => this.show(k));
    this.frames = choiceButtons("ls-choices", COORDINATES, "Coordinates", (k) => this.choose(k));
    MEANING.forEach((words, k) => (this.frames.children[k].title = words));
    const head = make("div", "ls-head");
    const scales = make("span", "ls-choices");
    scales.append(this.frames, (this.asked = ask(SCALES, "the coordinates")));
    head.append(this.layers, scales);
    this.view = make("div", "ls-view");
    const pair = make("div", "ls-pair");
    const land = make("figure", "ls-figure");
    this.caption = make("figcaption", "pv-title");
    land.append(this.picture.canvas, this.caption);
    this.pictureKey = new Key();
    pair.append(land, this.spins.root, this.pictureKey.root);
    this.view.append(head, pair);
    this.head = head;
    this.stage.append(this.view);
    this.timeline.root.remove();
    this.knobs.root.after(this.shift.root);
    this.side.prepend(this.bars.root, this.energy.root);
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
    // Another landscape is on its way: this one is no answer to what the page asks.
    this.root.classList.toggle("ls-waits", Boolean(update.waits));
    this.waits = Boolean(update.waits);
    this.elsewhere = Boolean(update.anew);
    this.scene = update.scene || this.scene;
    this.drawsFirst = Boolean(update.draws_first);
    this.longest = update.longest;
    this.pace = update.speed.value ? 1000 / update.speed.value : 0;
    const [lane] = update.lanes;
    if (lane) this.takeWalk(lane, fresh, now);
    this.due.take(newestOf(this.walk), update.said, this.walk, fresh || !this.walk);
    this.agree(update, now);
    this.curves = update.traces;
    this.marks = update.marks;
    this.showCurves();
    const due = this.scene && this.due.at(this.seen(this.share(now)));
    this.takeRest({ ...update, said: due ? due.words : update.said });
    this.wake();
  }

  takeWalk(lane, fresh, now) {
    this.walk = lane.walk;
    this.colour = lit(lane.colour, this.theme);
    const { rolls } = lane.walk;
    if (fresh || !rolls.length) this.shown = null;
    const newest = rolls[rolls.length - 1];
    if (!newest) return;
    const behind = this.shown ? newest.number - this.shown.number : Infinity;
    if (behind > 0) this.arrive(now);
    if (behind) this.stepped = behind === 1 && !this.playing && !this.still;
    if (!this.shown || this.still || !this.playing) this.begin(newest, now);
    // Of many rolls an update those that are told are shown, one after the other; of few the newest, if it runs late.
    else if (behind > (this.hurried() ? rolls.length : 2)) this.begin(this.hurried() ? rolls[0] : newest, now);
  }

  hurried() {
    return !this.pace || 0.9 * this.pace < SHORTEST;
  }

  begin(roll, now) {
    const same = this.shown && this.shown.number === roll.number;
    this.shown = roll;
    if (!same) this.since = now;
  }

  // Whether what the server has counted is of another setting than the picture's.
  get anew() {
    return this.elsewhere || Object.keys(this.own).length > 0;
  }

  // Curves of another setting than the picture's are taken away.
  showCurves() {
    const curves = this.curves || [];
    this.traces.adopt(this.anew ? curves.map((curve) => ({ ...curve, lines: [], empty: "starting again" })) : curves, this.marks);
    this.tracesDirty = true;
  }

  // The verdict begins with what is seen: how many hills there are, and from which shift on. Where the question is how
  // states are drawn that comes first, and the hills beneath it.
  tell(sentences) {
    super.tell(this.withHills(sentences));
  }

  // The verdict's room is kept for the longest of it, or the picture would shrink in mid-run.
  keepRoom() {
    this.keep(this.large || !this.longest ? [] : this.withHills(this.longest));
  }

  // How often states come is a trace, too.
  fewTraces() {
    return this.body.classList.contains("ls-wide") ? super.fewTraces() : 1;
  }

  // Traces leave what stands beneath them seen.
  fitting(most) {
    return Math.min(most, Math.max(LEAST_TRACE, super.fitting(Infinity) - this.side.lastChild.offsetHeight / 2));
  }

  withHills(sentences) {
    const [found, ...rest] = sentences;
    if (this.waits || !this.scene || !this.picture.survey) return sentences;
    const hills = hillWords(this.picture.survey, this.ground, { ...this.scene, ...this.own });
    if (this.drawsFirst && !this.anew) return [found, [hills, ...rest].filter(Boolean).join(" ")];
    return [[hills, this.anew ? ANEW : found].filter(Boolean).join(" "), ...rest];
  }

  // Settings that a hand has chosen hold until the server has them.
  agree(update, now) {
    if (!this.scene) return;
    const late = (this.answered(update) && !update.anew) || now - (this.chosenAt || 0) > AGREE_MS;
    for (const [name, value] of Object.entries(this.own)) {
      if (late || Math.abs(value - this.scene[name]) < 1e-9) delete this.own[name];
    }
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
    if (name === "knob" && this.scene && more.name in this.scene && more.name !== "side") {
      this.own[more.name] = more.value;
      this.chosenAt = performance.now();
      this.showCurves();
    }
    super.act(name, more);
  }

  // Two pictures have no dots' Gaussians.
  drawnLayer() {
    const memory = Boolean(this.scene.memory);
    return this.layer === null ? (memory ? REGIONS : SUM) : Math.max(memory ? SUM : 0, this.layer);
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
    const memory = Boolean(this.scene && this.scene.memory);
    this.body.classList.toggle("pv-beside", width >= BESIDE);
    this.body.classList.toggle("ls-wide", memory);
    if (this.large && !memory) this.energy.root.after(this.shift.root);
    else this.knobs.root.after(this.shift.root);
    this.body.classList.toggle("ls-gibbs", Boolean(this.scene && this.scene.gibbs));
    this.keepRoom();
    const high = this.high(1) - this.head.offsetHeight - 8;
    const room = this.main.clientWidth;
    const half = Math.max(160, Math.min((room - APART) / 2, high - CAPTION - (this.large ? 0 : this.keyHigh())));
    const most = memory && room >= ABREAST ? half : Math.max(LEAST, Math.min(room - this.keyRoom(room), high));
    // A spin has whole pixels of the screen.
    const grain = memory ? this.scene.side / (window.devicePixelRatio || 1) : 1;
    this.sidelong = Math.floor(most / grain) * grain;
    this.pictureKey.root.style.maxWidth = !memory && this.keyRoom(room) ? `calc(${room - this.sidelong - 1}px - ${GAP}rem)` : "";
    this.spreadBeforeClass();
    this.tracesDirty = true;
    this.wake();
  }

  // What a row of them takes beneath the pictures.
  keyHigh() {
    return this.pictureKey.root.offsetHeight + APART;
  }

  // How much of the room the signs take beside the picture, where they do not stand beneath it.
  keyRoom(room) {
    const wide = (KEY + GAP) * parseFloat(getComputedStyle(document.documentElement).fontSize) + 1;
    return room - wide < LEAST ? 0 : wide;
  }

  play(passed, now) {
    if (!this.scene) return false;
    const moving = this.move(passed, now);
    const scale = this.large ? CLASS : 1;
    const scene = { ...this.scene, ...this.own };
    const shape = JSON.stringify([this.turn, scene]);
    if (shape !== this.shape) this.ground = new (scene.memory ? MemoryGround : Ground)(scene, this.turn);
    this.shape = shape;
    this.picture = this.pictures[scene.memory ? 1 : 0];
    const still = !this.anew && this.walk;
    const share = this.share(now);
    const due = this.due.at(this.seen(share));
    this.picture.draw(this.ground, this.sidelong, this.theme, this.drawn(still, share), scale);
    const inks = this.picture.inks;
    this.pictureKey.draw(this.scene, this.drawnLayer(), this.colour || "", inks, this.theme);
    this.bars.draw(this.scene, (still && due.walk) || null, inks, this.theme, scale);
    this.energy.root.hidden = this.scene.gibbs;
    if (!this.scene.gibbs) this.energy.draw(still && this.shown, share, this.colour, this.scene.most, this.theme, scale);
    this.beside(scene, still && this.shown, share, scale);
    this.frames.hidden = this.asked.hidden = this.scene.gibbs;
    this.press(this.layers, this.drawnLayer());
    this.press(this.frames, this.plain ? 1 : 0);
    this.report(scene);
    this.tell(due ? due.words : []);
    this.drawTraces(now, null);
    return moving || this.tracesDirty;
  }

  // What the shift promises; of two remembered pictures, which have only one, the spins.
  beside(scene, roll, share, scale) {
    const memory = Boolean(scene.memory);
    this.shift.root.hidden = memory;
    this.caption.hidden = !memory;
    const under = memory && this.body.classList.contains("pv-beside");
    if (under !== (this.energy.root.parentElement === this.main)) (under ? this.knobs : this.bars).root.after(this.energy.root);
    this.spins.root.hidden = !memory;
    this.pictureKey.root.hidden = memory && this.large; // A class has no room for a row more.
    [...this.layers.children].forEach((button, k) => (button.hidden = memory && k < 2));
    if (!memory) return this.shift.draw(this.scene, scene.extra, this.theme, scale);
    this.spins.draw(this.ground, roll, roll && along(roll, share), share >= 1, this.sidelong, this.theme);
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
    if (this.stepped) return LONGEST;
    if (!this.hurried()) return this.still || !this.playing ? 0 : Math.min(LONGEST, this.pace);
    const { rolls } = this.walk;
    const waiting = rolls.length ? rolls[rolls.length - 1].number - this.shown.number : 0;
    return waiting && this.playing ? this.left() / waiting : 0;
  }

  share(now) {
    const takes = this.hurried() && !this.stepped ? 0 : 0.65 * this.pause();
    return this.shown && takes ? Math.min(1, Math.max(0, (now - this.since) / takes)) : 1;
  }

  // Up to which trajectory words and bars may go: of two pictures they tell where the shown ball stopped.
  seen(share) {
    const rolls = this.stepped || (this.playing && !this.still && !this.hurried());
    const shows = this.scene.memory && this.shown && rolls;
    return shows ? this.shown.number - (share < 1) : Infinity;
  }

  // Curves of the shown spins end at the trajectory after which they are shown.
  heads() {
    if (!this.scene || !this.scene.memory || !this.shown) return super.heads();
    return { seconds: false, of: [this.shown.number - (this.share(performance.now()) < 1)] };
  }

  drawn(still, share) {
    const { scene } = this;
    if (scene.memory) return this.remembered(still, share);
    const flat = scene.states[0].length > 2;
    const plain = flat ? ["first principal axis of Bz", "second"] : ["(Bz)₁", "(Bz)₂"];
    return {
      layer: this.drawnLayer(),
      grown: this.grown,
      names: scene.names,
      landings: still ? this.walk.landings.slice(0, -1) : null,
      zigzag: still ? this.zigzag() : null,
      roll: still ? this.shown : null,
      share,
      colour: this.colour,
      axes: this.plain ? plain : flat ? ["first principal axis", "second"] : ["z₁", "z₂"],
    };
  }

  // The last ways of block Gibbs.
  zigzag() {
    if (!this.scene.gibbs || !this.shown) return null;
    return this.walk.rolls.filter((roll) => roll.number <= this.shown.number).slice(-ZIGZAG);
  }

  remembered(still, share) {
    const { scene, colour } = this;
    return {
      layer: this.drawnLayer(),
      names: scene.names,
      landings: still ? this.walk.landings.slice(0, -1) : null,
      zigzag: still ? this.zigzag() : null,
      roll: still ? this.shown : null,
      share,
      colour,
      axes: this.plain ? ["Bz along A", "Bz along B"] : ["z along A", "z along B"],
    };
  }

  report({ extra, temperature }) {
    const { hills } = this.picture.survey;
    if (this.scene.memory) return this.reportMemory(hills, temperature);
    const shown = { extra, hills, turn: this.turn.toFixed(2), layer: this.drawnLayer(), roll: this.shown ? this.shown.number : 0 };
    Object.assign(this.picture.canvas.dataset, shown);
    const words = `${this.scene.names.length} Gaussians, ${counted(hills)}, shift ${extra} beyond the least`;
    this.picture.canvas.setAttribute("aria-label", `The landscape of the relaxation: ${words}.`);
  }

  reportMemory(hills, temperature) {
    const { ball } = this.picture;
    const shown = { temperature, hills, ball, turn: this.turn.toFixed(2), roll: this.shown ? this.shown.number : 0 };
    Object.assign(this.picture.canvas.dataset, shown);
    const told = topped(hills); // Of λ₁ the words beneath speak.
    if (this.caption.textContent !== told) this.caption.textContent = told;
    const words = `two remembered pictures at temperature ${temperature}, ${counted(hills)}`;
    this.picture.canvas.setAttribute("aria-label", `The landscape of ${words}.`);
  }
}

export default mounted(Landscape);

function newestOf(walk) {
  return walk && walk.rolls.length ? walk.rolls[walk.rolls.length - 1].number : 0;
}
