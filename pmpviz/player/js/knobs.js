// The knobs that a page's question is about, beneath the picture: what is dragged is told while it is dragged.

import { make } from "./theme.js";

const STOPS = 400;
const TELL_MS = 140;
const HELD_MS = 8000; // So long a value that was told is kept from an answer to an earlier one, however late that comes.

export class Knobs {
  constructor(act) {
    this.act = act;
    this.root = make("div", "pv-knobs");
    this.knobs = new Map();
  }

  // `answered`: whether these are the server's values after all that was told.
  adopt(knobs, answered = true) {
    const shape = JSON.stringify(knobs.map(({ value, ...rest }) => rest));
    if (shape !== this.shape) this.build(knobs);
    this.shape = shape;
    for (const { name, value } of knobs) this.knobs.get(name).show(value, answered);
  }

  build(knobs) {
    this.knobs = new Map(knobs.map((knob) => [knob.name, new Knob(knob, this.act)]));
    this.root.replaceChildren(...[...this.knobs.values()].map((knob) => knob.root));
  }
}

class Knob {
  constructor(knob, act) {
    this.knob = knob;
    this.act = act;
    this.root = make("label", "pv-knob");
    this.root.title = knob.help;
    this.range = make("input", "pv-turn");
    const whole = knob.scale === "int" && knob.high - knob.low <= STOPS;
    Object.assign(this.range, { type: "range", min: 0, max: whole ? knob.high - knob.low : STOPS, step: 1 });
    this.range.setAttribute("aria-label", knob.label);
    this.range.dataset.knob = knob.name;
    this.value = make("span", "pv-knob-value");
    this.root.append(make("span", "pv-knob-name", knob.label), this.range, this.value);
    this.range.addEventListener("input", () => this.dragged(false));
    this.range.addEventListener("change", () => this.dragged(true));
  }

  // The server's value, but not while a hand is on the knob: it would be drawn back to what has been before.
  show(value, answered) {
    if (this.held && performance.now() - this.held < (answered ? 5 * TELL_MS : HELD_MS)) return;
    this.range.value = this.place(value);
    this.say(value);
  }

  dragged(done) {
    const now = performance.now();
    const value = this.at(Number(this.range.value));
    this.held = now;
    this.say(value);
    clearTimeout(this.later);
    if (done || now - (this.told || 0) >= TELL_MS) return this.tell(value, done);
    this.later = setTimeout(() => this.tell(value, false), TELL_MS);
  }

  tell(value, done) {
    this.told = performance.now();
    this.act("knob", { name: this.knob.name, value, done });
  }

  say(value) {
    this.value.textContent = words(value);
    this.range.setAttribute("aria-valuetext", words(value));
  }

  at(place) {
    const { low, high, scale } = this.knob;
    const share = place / Number(this.range.max);
    if (scale === "log") return Number((low * (high / low) ** share).toPrecision(3));
    const value = low + share * (high - low);
    return scale === "int" ? Math.round(value) : Number(value.toPrecision(3));
  }

  place(value) {
    const { low, high, scale } = this.knob;
    const share = scale === "log" ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return Math.round(Math.min(1, Math.max(0, share)) * Number(this.range.max));
  }
}

function words(value) {
  return String(Number(value.toPrecision(3))).replace("-", "−");
}
