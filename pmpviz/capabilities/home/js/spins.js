// Perturb-and-max-product by hand: five spins with a noise bar each, and the histogram that their states fall into.

import { mounted, Stage } from "../pmpviz.player/component.js";
import { opened } from "../pmpviz.player/decode.js";
import { enlarged, make } from "../pmpviz.player/theme.js";
import { Histogram } from "./histogram.js";
import { Net } from "./net.js";
import { NoiseBar } from "./noise_bar.js";
import { SPINS, signed } from "./signs.js";

const WIDE = 760;
const SLOWEST = 7; // Sweeps a second, unless settling would then take longer than this:
const LONGEST = 2.4;
const FALL_SECONDS = 0.45;
const legend = (edges) =>
  `Lines pull two spins alike (whole) or apart (dashed), ${strengths(edges) > 1 ? "the thicker the more strongly" : "all equally strongly"}. Dots are messages, what a spin hears from a neighbour: up orange, down blue; a sweep sends them all once. The number in a spin is the sum of its field, the noise and all messages: above 0 it is up. Point at it for each.`;
const strengths = (edges) => new Set(edges.map(([, , J]) => Math.abs(J))).size;

const BRIEF =
  "Draw or drag noise: its best state falls into a bar. " +
  "Dashed lines pull apart, others alike; dots, messages: orange up, blue down. Numbers: field + noise + messages.";

class Spins extends Stage {
  constructor(parent) {
    super(parent, "fs-root");
    this.bar = { buttons: {} };
    this.head = 0; // Sweeps shown, with the part of the next one that its messages have travelled.
    this.fall = null; // How far the state has fallen towards the histogram, 0 to 1.
    this.spoke = 0; // Number of the last event about noise: an older answer's noise is not the one on screen.
    this.stage = make("div", "fs-stage");
    this.canvas = make("canvas", "fs-canvas");
    this.canvas.setAttribute("role", "img");
    this.net = new Net(this.canvas);
    this.bars = Array.from({ length: SPINS }, (_, spin) => new NoiseBar(spin, (value, done) => this.turned(spin, value, done)));
    this.hovered = -1;
    this.canvas.addEventListener("pointermove", (event) => this.point(this.net.find(event.offsetX, event.offsetY)));
    this.canvas.addEventListener("pointerleave", () => this.point(-1));
    this.stage.append(this.canvas, ...this.bars.map((bar) => bar.root));
    this.histogram = new Histogram();
    this.said = make("div", "fs-said");
    this.arrange();
  }

  arrange() {
    const [left, right] = [make("div", "fs-left"), make("div", "fs-right")];
    this.status = make("div", "fs-status");
    this.legend = make("div", "fs-legend");
    left.append(this.choice(), this.stage, this.status, this.legend, make("div", "fs-brief", BRIEF));
    right.append(this.histogram.root, this.buttons(), this.said);
    const body = make("div", "fs-body");
    body.append(left, right);
    this.root.append(this.trouble, body, this.spoken);
  }

  choice() {
    this.models = make("div", "fs-models");
    this.models.setAttribute("role", "radiogroup");
    this.models.setAttribute("aria-label", "Model");
    return this.models;
  }

  buttons() {
    const row = make("div", "fs-buttons");
    const button = (name, words, title, event) => {
      const made = make("button", `pv-button fs-${name}`, words);
      made.type = "button";
      made.title = title;
      made.addEventListener("click", () => this.post(event));
      row.append(made);
      return made;
    };
    this.one = button("draw", "Draw noise", "One random noise at every spin: one sample", { type: "step" });
    this.many = button("more", "1 000 more", "A thousand random noises, each settled as this one", { type: "knob", name: "more", done: true });
    button("over", "Start over", "Empty the histogram", { type: "reset" });
    return row;
  }

  // No keys: Space and N are the race's, below.
  key() {}

  turned(spin, value, done) {
    this.land();
    if (!this.held) this.head = 0;
    this.held = !done;
    this.post({ type: "knob", name: "noise", site: spin, value, done });
    this.spoke = this.number;
    this.wake();
  }

  receive(bytes) {
    const update = this.read(bytes, decodeSpins);
    if (!update) return;
    this.complain("");
    const { drops = null, model = null } = this.update || {};
    const fresh = update.drops !== drops;
    if (fresh) this.land();
    if (fresh && this.due) this.write();
    this.update = update;
    this.fit(update);
    if (fresh || update.model !== model) this.begin(update, model);
    else this.head = Math.min(this.head, update.moments - 1);
    this.wake();
  }

  // Another draw settles from its first sweep on, and falls; of a thousand the end is shown.
  begin(update, model) {
    const whole = update.last === "many" || this.still;
    this.head = whole ? update.moments - 1 : 0;
    this.fall = whole ? null : 0;
    const before = update.model === model ? null : update;
    const total = fallen(update);
    // Of what has been emptied nothing is said any more, nor of another model.
    if (total < this.total || before) this.said.style.visibility = "hidden";
    this.total = total;
    this.histogram.take(update, this.fall === null ? null : update.last, before);
    this.due = this.fall === null;
    this.said.classList.toggle("fs-late", this.due && update.last === "many");
  }

  fit(update) {
    const [mount, number] = update.answered;
    if ((mount === this.mount ? number : 0) >= this.spoke) this.bars.forEach((bar, spin) => bar.show(update.noise[spin], update.most));
    this.one.disabled = this.many.disabled = update.full;
    if (this.shape !== update.model) this.drawModels(update);
    this.shape = update.model;
    this.layout();
  }

  drawModels({ models, model, edges }) {
    this.legend.textContent = legend(edges);
    this.models.replaceChildren(
      ...models.map(([id, label], index) => {
        const button = make("button", "pv-button fs-model", label);
        button.type = "button";
        button.dataset.model = id;
        button.setAttribute("role", "radio");
        button.setAttribute("aria-checked", String(id === model));
        button.addEventListener("click", () => this.post({ type: "mode", site: index }));
        return button;
      }),
    );
  }

  point(spin) {
    if (spin === this.hovered) return;
    this.hovered = spin;
    this.wake();
  }

  // What is falling has fallen.
  land() {
    if (this.fall === null) return;
    this.fall = null;
    this.histogram.land();
    this.due = true;
  }

  play(passed) {
    if (!this.update) return false;
    const seconds = passed / 1000;
    const end = this.update.moments - 1;
    this.head = Math.min(end, this.head + seconds * Math.max(SLOWEST, end / LONGEST));
    if (this.head >= end && this.fall !== null && !this.held) {
      this.fall += seconds / FALL_SECONDS;
      if (this.fall >= 1) this.land();
    }
    const moving = this.draw(passed);
    if (this.due && !moving) this.write();
    return this.head < end || this.fall !== null || moving;
  }

  layout() {
    if (!this.update || !this.root.clientWidth) return;
    this.root.classList.toggle("fs-wide", this.root.clientWidth >= WIDE);
    this.net.fit(this.update, this.stage.clientWidth);
    this.bars.forEach((bar, spin) => bar.place(this.net.barAt(spin)));
    this.wake();
  }

  draw(passed) {
    const { update } = this;
    const view = { update, moment: Math.floor(this.head), share: this.head % 1, theme: this.theme, hovered: this.hovered };
    this.net.draw(view);
    const settled = this.head >= update.moments - 1;
    const moving = this.histogram.draw(passed, this.theme, settled ? update.state : this.net.state(view), this.fall);
    const sweep = view.moment;
    const rest = settled ? `At rest after ${sweep} sweeps: ${found(update)}` : `Max-product, sweep ${sweep}`;
    const words = this.hovered < 0 ? rest : sum(update, this.hovered, sweep);
    if (this.status.textContent !== words) this.status.textContent = words;
    Object.assign(this.root.dataset, { sweep, settled, state: this.net.state(view), model: update.model });
    return moving;
  }

  // What is said once the picture has come to it, with bars that have grown.
  write() {
    this.due = false;
    const { said, distance } = this.update;
    this.said.style.visibility = "";
    this.said.classList.remove("fs-late");
    this.said.replaceChildren(...said.map(([words, verdict]) => make("p", verdict ? "fs-verdict" : "", words)));
    Object.assign(this.root.dataset, { total: this.total, distance });
    this.announce(said[0][0]);
  }
}

// How often anything has fallen into the histogram since it was empty.
function fallen({ counts, own_counts }) {
  return [...counts, ...own_counts].reduce((sum, count) => sum + count, 0);
}

function found({ state, best }) {
  return `${state === best ? "" : "not "}the best of 32 states${enlarged() > 1 ? "" : " under this noise"}`; // A class has no room.
}

// What a spin's total is made of.
function sum({ own, noise, totals }, spin, moment) {
  const total = totals[moment * SPINS + spin];
  const heard = total - own[spin] - noise[spin];
  const [field, push, pull, all] = [own[spin], noise[spin], heard, total].map((value) => signed(value, 2));
  return `Spin ${spin + 1}: own field ${field}, noise ${push}, messages ${pull}: ${all}, ${total > 0 ? "up" : "down"}`;
}

function decodeSpins(bytes) {
  const { meta, some } = opened(bytes);
  if (!Array.isArray(meta.exact)) throw new Error("incomplete update");
  meta.messages = some(meta.messages, Float32Array);
  meta.totals = some(meta.totals, Float32Array);
  meta.moments = meta.totals.length / SPINS;
  return meta;
}

export default mounted(Spins);
