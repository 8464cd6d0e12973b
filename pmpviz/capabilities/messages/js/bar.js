// The bar of the message microscope (play, back, step, reset; share), the three ways of playing, and the timeline.

import { actionButton, showPlaying } from "../pmpviz.player/bar.js";
import { make } from "../pmpviz.player/theme.js";

export const MODES = [
  { id: "message", label: "Messages", title: "One message after the other", speeds: [0.5, 1, 2, 4, 8, 16], speed: 2, unit: "messages/s" },
  { id: "sweep", label: "Sweeps", title: "All messages of a sweep, on their way", speeds: [0.25, 0.5, 1, 2, 4], speed: 0.5, unit: "sweeps/s" },
  { id: "run", label: "Free run", title: "Sweep after sweep, without flights", speeds: [2, 5, 10, 30, 60], speed: 30, unit: "sweeps/s" },
];
const BUTTONS = [
  ["play", "Play", "Space", "Play or pause"],
  ["back", "Back", "B", "One message, or sweep, back"],
  ["step", "Step", "N", "One message, or sweep, on"],
  ["reset", "Reset", "", "Back to the start: all messages flat"],
  ["share", "Share", "S", "A link that shows this run"],
];

export class Bar {
  constructor(act) {
    this.act = act;
    this.root = make("div", "pv-bar mm-bar-row");
    this.root.setAttribute("role", "toolbar");
    this.root.setAttribute("aria-label", "Playing");
    this.buttons = Object.fromEntries(BUTTONS.map((entry) => [entry[0], actionButton(...entry, act)]));
    const { share, ...others } = this.buttons;
    const left = make("div", "pv-group");
    left.append(...Object.values(others));
    const right = make("div", "pv-group");
    right.append(this.modes(), this.choice(), share);
    this.root.append(left, right);
  }

  modes() {
    const group = make("div", "mm-modes");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "What a step is");
    this.modeButtons = MODES.map(({ id, label, title }, index) => {
      const button = make("button", "pv-button mm-mode", label);
      button.type = "button";
      button.title = title;
      button.dataset.mode = id;
      button.addEventListener("click", () => this.act("mode", index));
      group.append(button);
      return button;
    });
    return group;
  }

  choice() {
    this.select = make("select", "pv-select");
    this.select.setAttribute("aria-label", "Speed");
    this.select.addEventListener("change", () => this.act("speed", Number(this.select.value)));
    return this.select;
  }

  show(playing, mode, speed, sweeps, ended) {
    this.select.hidden = sweeps === 1 && MODES[mode].id === "run"; // It is played at once.
    showPlaying(this.buttons.play, playing, ended ? "Again" : "Play");
    this.modeButtons.forEach((button, index) => button.setAttribute("aria-pressed", String(index === mode)));
    if (this.mode !== mode) {
      this.mode = mode;
      this.select.replaceChildren(
        ...MODES[mode].speeds.map((value) => {
          const option = make("option", "", value === 1 ? `1 ${MODES[mode].unit.replace("s/", "/")}` : `${value} ${MODES[mode].unit}`);
          option.value = String(value);
          return option;
        }),
      );
    }
    if (document.activeElement !== this.select) this.select.value = String(speed);
  }
}

export class Timeline {
  constructor(scrub) {
    this.root = make("div", "pv-timeline");
    this.range = make("input", "pv-range");
    Object.assign(this.range, { type: "range", min: 0, max: 0, step: 1, value: 0 });
    this.range.setAttribute("aria-label", "Message");
    this.text = make("span", "pv-when mm-when");
    this.range.addEventListener("input", () => scrub(Number(this.range.value)));
    this.root.append(this.range, this.text);
  }

  // `told`: the message that is told, the last that has come or one that is on its way, which has not come yet.
  // `looping`: whether the last period is shown again and again; `rests`: whether it holds where nothing changes any more.
  show(head, told, replay, { looping, rests }) {
    const sweep = Math.min(replay.done(Math.max(told - 1, 0)) + 1, replay.sweeps);
    const start = replay.startOf(sweep - 1);
    const message = rests ? "nothing changes any more" : `message ${told - start} of ${replay.startOf(sweep) - start}`;
    const many = replay.sweeps > 1; // Of one sweep messages are counted alone.
    const first = replay.sweeps - replay.record.period + 1;
    const words = looping
      ? `sweep ${Math.max(first, sweep)}: the last ${replay.record.period} replayed`
      : told
        ? many ? `sweep ${sweep} of ${replay.sweeps}${rests ? ":" : ","} ${message}` : `${message}${told > head ? ", on its way" : ""}`
        : many ? `before sweep 1 of ${replay.sweeps}` : "before the first message";
    if (Number(this.range.max) !== replay.total) this.range.max = replay.total;
    if (Number(this.range.value) !== head) this.range.value = head;
    if (this.text.textContent === words) return;
    this.text.textContent = words;
    this.range.setAttribute("aria-valuetext", words);
  }
}
