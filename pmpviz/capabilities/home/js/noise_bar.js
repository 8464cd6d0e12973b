// The noise of a spin: a bar that is dragged up and down, or moved by the arrow keys.

import { make } from "../pmpviz.player/theme.js";
import { signed } from "./signs.js";

const TELL_MS = 120;
const STEP = 0.25;
const KEYS_MS = 600; // Keys rest for so long before what they did counts as done.

export class NoiseBar {
  constructor(spin, tell) {
    this.tell = tell;
    this.value = 0;
    this.root = make("div", "fs-bar");
    this.root.dataset.spin = spin;
    this.root.tabIndex = 0;
    this.root.title = "Drag, or use the arrow keys";
    this.root.setAttribute("role", "slider");
    this.root.setAttribute("aria-orientation", "vertical");
    this.root.setAttribute("aria-label", `Noise of spin ${spin + 1}`);
    this.fill = make("div", "fs-fill");
    this.knob = make("div", "fs-knob");
    this.words = make("div", "fs-value");
    const track = make("div", "fs-track");
    track.append(make("div", "fs-zero"), this.fill);
    this.root.append(track, this.knob, this.words);
    this.root.addEventListener("pointerdown", (event) => this.down(event));
    this.root.addEventListener("pointermove", (event) => this.move(event));
    this.root.addEventListener("pointerup", () => this.up());
    this.root.addEventListener("pointercancel", () => this.up());
    this.root.addEventListener("keydown", (event) => this.key(event));
  }

  place([x, y, side]) {
    Object.assign(this.root.style, { left: `${x}px`, top: `${y}px` });
    this.root.classList.toggle("fs-words-left", side < 0);
  }

  // The server's noise; a hand on the bar knows better.
  show(value, most) {
    this.most = most;
    this.root.setAttribute("aria-valuemin", -most);
    this.root.setAttribute("aria-valuemax", most);
    if (!this.held && !this.typed) this.set(value);
  }

  set(value) {
    this.value = Math.max(-this.most, Math.min(this.most, value));
    const half = 50 * (this.value / this.most);
    Object.assign(this.fill.style, { top: `${50 - Math.max(0, half)}%`, height: `${Math.abs(half)}%` });
    this.fill.classList.toggle("fs-minus", this.value < 0);
    this.knob.style.top = `${50 - half}%`;
    this.words.textContent = signed(this.value);
    this.root.setAttribute("aria-valuenow", this.value.toFixed(2));
    this.root.setAttribute("aria-valuetext", signed(this.value));
  }

  down(event) {
    if (event.button !== 0 || !this.most) return;
    event.preventDefault();
    this.root.focus({ preventScroll: true });
    this.root.setPointerCapture(event.pointerId);
    this.held = true;
    this.move(event);
  }

  move(event) {
    if (!this.held) return;
    const box = this.root.getBoundingClientRect();
    this.set(this.most * (1 - (2 * (event.clientY - box.top)) / box.height));
    this.soon(TELL_MS, false);
  }

  up() {
    if (!this.held) return;
    this.held = false;
    this.say(true);
  }

  key(event) {
    const way = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 4, PageDown: -4 }[event.key];
    if (!way || !this.most) return;
    event.preventDefault();
    this.set(Math.round((this.value + way * STEP) / STEP) * STEP);
    clearTimeout(this.later);
    this.soon(TELL_MS, false);
    this.typed = true;
    clearTimeout(this.rested);
    this.rested = setTimeout(() => this.rest(), KEYS_MS);
  }

  rest() {
    this.typed = false;
    this.say(true);
  }

  // At most so often while it moves, and once more where it has come to.
  soon(wait, done) {
    const left = wait - (performance.now() - (this.told || 0));
    clearTimeout(this.later);
    if (left <= 0) return this.say(done);
    this.later = setTimeout(() => this.say(done), left);
  }

  say(done) {
    clearTimeout(this.later);
    this.told = performance.now();
    this.tell(Number(this.value.toFixed(3)), done);
  }
}
