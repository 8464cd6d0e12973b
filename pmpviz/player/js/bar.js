// The bar (play, step, reset, new seed, speed), what leaves the page (share, code, export), and the timeline.

import { make, number, thousands } from "./theme.js";

const ACTIONS = {
  step: ["Step", "N", "One sweep of every lane"],
  reset: ["Reset", "", "Back to sweep 0 with the same seed"],
  seed: ["New seed", "", "Start again with another seed"],
  share: ["Share", "S", "A link that shows this run"],
  code: ["Code", "", "A script that gives these numbers"],
  export: ["Export", "", "Samples, traces, picture or animation"],
  class: ["Class mode", "", "Larger, and without the side bar: for a projector"],
};
const OUTLETS = ["share", "code", "export", "class"];
const ONE = { calls: "call", draws: "draw", iterations: "iteration", steps: "step", sweeps: "sweep", trajectories: "trajectory" };

export function one(unit) {
  return ONE[unit] || unit;
}

// A button that says its key; `act` is given its name.
export function actionButton(name, text, key, title, act) {
  const button = make("button", `pv-button pv-${name}`);
  button.type = "button";
  button.title = key ? `${title} (${key})` : title;
  button.dataset.action = name;
  button.append(make("span", "pv-label", text));
  if (key) {
    button.setAttribute("aria-keyshortcuts", key);
    const hint = make("kbd", "pv-kbd", key);
    hint.setAttribute("aria-hidden", "true");
    button.append(hint);
  }
  button.addEventListener("click", () => act(name));
  return button;
}

// A group of buttons; `chosen` is given the place of the one that is pressed.
export function choiceButtons(kind, names, label, chosen) {
  const root = make("div", kind);
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

export function showPlaying(button, playing, resting = "Play") {
  const text = playing ? "Pause" : resting;
  if (button && button.firstChild.textContent !== text) button.firstChild.textContent = text;
}

export class Bar {
  constructor(act) {
    this.act = act;
    this.root = make("div", "pv-bar");
    this.root.setAttribute("role", "toolbar");
    this.root.setAttribute("aria-label", "Run");
    this.outlets = make("div", "pv-outlets");
    this.buttons = {};
    this.resting = "Play"; // What it says while nothing plays.
  }

  // `whose` pace the speed is, where not that of all.
  adopt(names, speed, playing, unit, whose = "") {
    this.whose = whose && `${whose} `;
    const shape = JSON.stringify([names, speed && speed.options, unit, whose]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.build(names, speed, unit);
    }
    if (this.speed && speed && document.activeElement !== this.speed) this.speed.value = String(speed.value);
    this.show(playing);
  }

  build(names, speed, unit) {
    this.root.replaceChildren();
    this.outlets.replaceChildren();
    this.buttons = {};
    this.speed = null;
    this.unit = unit || "sweeps";
    for (const name of names) {
      const into = OUTLETS.includes(name) ? this.outlets : this.root;
      if (name === "play") into.append(this.button("play", "Play", "Space", "Play or pause"));
      else if (ACTIONS[name]) into.append(this.button(name, ...ACTIONS[name]));
    }
    if (speed && speed.options.length) this.root.append(this.choice(speed, this.unit));
  }

  button(name, text, key, title) {
    const words = title.replace("sweep", one(this.unit));
    this.buttons[name] = actionButton(name, text, key, words, this.act);
    return this.buttons[name];
  }

  choice(speed, unit) {
    const label = make("label", "pv-speed");
    label.append(make("span", "", "Speed"));
    this.speed = make("select", "pv-select");
    for (const value of speed.options) {
      const option = make("option", "", value ? `${this.whose}${number(value)} ${value === 1 ? one(unit) : unit}/s` : "as fast as it goes");
      option.value = String(value);
      this.speed.append(option);
    }
    this.speed.addEventListener("change", () => this.act("speed", { speed: Number(this.speed.value) }));
    label.append(this.speed);
    return label;
  }

  show(playing) {
    showPlaying(this.buttons.play, playing, this.resting);
  }

  // Where nothing can run, play and step wait for another choice.
  rest(resting) {
    for (const name of ["play", "step"]) if (this.buttons[name]) this.buttons[name].disabled = resting;
  }
}

export class Timeline {
  constructor(scrub) {
    this.root = make("div", "pv-timeline");
    this.range = make("input", "pv-range");
    Object.assign(this.range, { type: "range", min: 0, max: 0, step: 1, value: 0 });
    this.range.setAttribute("aria-label", "Look back");
    this.text = make("span", "pv-when");
    this.live = make("button", "pv-button pv-live", "Live");
    this.live.type = "button";
    this.live.title = "Back to the newest frame";
    this.range.addEventListener("input", () => {
      this.state = null;
      scrub(Number(this.range.value));
    });
    this.live.addEventListener("click", () => scrub(null));
    this.root.append(this.range, this.text, this.live);
  }

  // From the first to the last that was shown; `computed` is how far the run is, where the picture is still behind.
  // `tell(at)` are the words for a place on it, `widest` such words that take the most room.
  show(first, last, sweep, word = "sweep", computed = last, tell = (at) => `${word} ${thousands(at)}`, widest = null) {
    const state = `${first} ${last} ${sweep} ${word} ${computed} ${tell(sweep === null ? last : sweep)}`;
    if (state === this.state) return;
    this.state = state;
    this.range.min = first;
    this.range.max = Math.max(last, first);
    const at = sweep === null ? last : sweep;
    if (Number(this.range.value) !== at) this.range.value = at;
    this.range.setAttribute("aria-valuetext", `${tell(at)}${sweep === null ? ", live" : ""}`);
    this.range.disabled = last <= first;
    const far = computed > last ? ` of ${tell(computed).replace(`${word} `, "")} computed` : "";
    this.text.textContent = sweep === null ? `${tell(last)}${far}` : `looking back: ${tell(sweep)}`;
    // As wide as the words of one who looks back, and of a picture that was behind once: the handle must not move away
    // from under the hand.
    this.trails = this.trails || computed > last;
    const trailing = this.trails ? ` of ${tell(computed).replace(`${word} `, "")} computed` : "";
    const [before, place] = ["looking back: ", widest ?? tell(computed)];
    this.text.dataset.widest = trailing.length > before.length ? `${place}${trailing}` : `${before}${place}`;
    this.live.disabled = sweep === null;
  }
}
