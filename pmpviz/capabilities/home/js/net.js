// Five spins on a ring: couplings as lines, messages on their way, and what each spin has come to.

import { css, enlarged, haloed, mix, OPPOSED, sized } from "../pmpviz.player/theme.js";
import { isUp, signColour, signed, SPINS } from "./signs.js";

const RADIUS = 21;
const BAR = 92; // Height of a noise bar, as in the style sheet.
const BESIDE = 44; // From the middle of a spin to that of its bar.
const RAISED = 42; // The bar of the spin at the top, off the line beside it.
const NEAR = 26;
const ASIDE = 9; // From a line to the messages along it.
const LARGEST = 1.6; // Of a message, drawn full.
const [LOW, HIGH, CLASS_HIGH] = [320, 380, 310]; // Of the picture; before a class it keeps what is beneath it in sight.
const TRAVEL = 0.8; // Of a sweep: the rest messages stand at their ends.

export class Net {
  constructor(canvas) {
    this.canvas = canvas;
  }

  fit(update, width) {
    const large = enlarged();
    const height = large * (large > 1 ? CLASS_HIGH : Math.max(LOW, Math.min(HIGH, 0.85 * width)));
    Object.assign(this, { width, height, large, radius: RADIUS * large, beside: large > 1 ? 1.3 * BESIDE : BESIDE });
    const across = Math.min((width / 2 - this.beside - large * (large > 1 ? 50 : 58)) / Math.sin(0.4 * Math.PI), 0.6 * height);
    const [top, bottom] = [large * (BAR / 2 + RAISED + 2), height - large * (BAR / 2 + 2)];
    const up = (bottom - top) / (1 + Math.cos(0.2 * Math.PI));
    this.places = Array.from({ length: SPINS }, (_, spin) => {
      const turn = (2 * Math.PI * spin) / SPINS - Math.PI / 2;
      return [width / 2 + across * Math.cos(turn), top + up + up * Math.sin(turn)];
    });
  }

  // Middle of a spin's bar, and on which side of it the words stand.
  barAt(spin) {
    const [x, y] = this.places[spin];
    const side = x < this.width / 2 - 1 ? -1 : 1;
    return [x + side * this.beside, spin ? y : y - RAISED * this.large, side];
  }

  // The spin under a point, or -1.
  find(x, y) {
    return (this.places || []).findIndex((at) => Math.hypot(at[0] - x, at[1] - y) < NEAR * this.large);
  }

  // The number of the state decoded at this moment.
  state({ update, moment }) {
    let state = 0;
    for (let spin = 0; spin < SPINS; spin++) state = 2 * state + (update.totals[moment * SPINS + spin] > 0 ? 1 : 0);
    return state;
  }

  draw(view) {
    const context = sized(this.canvas, this.width, this.height);
    context.clearRect(0, 0, this.width, this.height);
    Object.assign(this, { context, view, theme: view.theme });
    for (const edge of view.update.edges) this.edge(...edge);
    view.update.directed.forEach(([from, to], k) => this.message(from, to, k));
    const state = this.state(view);
    for (let spin = 0; spin < SPINS; spin++) this.spin(spin, isUp(state, spin));
    this.canvas.setAttribute("aria-label", `Five spins joined by six lines, ${[...state.toString(2).padStart(SPINS, "0")].map((b) => (b === "1" ? "up" : "down")).join(", ")}`);
  }

  edge(i, j, J) {
    const { context, theme } = this;
    // As couplings are everywhere: violet and dashed where they pull apart. Orange and blue are for up and down.
    context.strokeStyle = css(J < 0 ? (theme.dark ? OPPOSED.dark : OPPOSED.light) : mix(theme.ground, theme.text, 0.55));
    context.lineWidth = 1.5 + 7 * Math.abs(J);
    context.setLineDash(J < 0 ? [9, 6] : []);
    context.beginPath();
    context.moveTo(...this.places[i]);
    context.lineTo(...this.places[j]);
    context.stroke();
    context.setLineDash([]);
  }

  // A message stands beside the end of its line; the next one comes along the line.
  message(from, to, k) {
    const { update, moment, share } = this.view;
    const many = update.directed.length;
    const value = (at) => update.messages[Math.min(at, update.moments - 1) * many + k];
    const [start, end] = this.track(from, to);
    const under = moment < update.moments - 1;
    if (under) {
      const way = Math.min(1, share / TRAVEL);
      this.disc(start.map((s, axis) => s + (end[axis] - s) * way), value(moment + 1));
    } else {
      this.disc(end, value(moment));
      if (to === this.view.hovered) this.number(end, value(moment), from, to);
    }
  }

  track(from, to) {
    const [a, b] = [this.places[from], this.places[to]];
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
    const [ux, uy] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
    const at = (along) => [a[0] + ux * along - uy * ASIDE, a[1] + uy * along + ux * ASIDE];
    return [at(this.radius + 4), at(length - this.radius - 12)];
  }

  disc([x, y], value) {
    const { context, theme } = this;
    const share = Math.min(1, Math.abs(value) / LARGEST);
    context.fillStyle = css(value === 0 ? theme.soft : signColour(value, theme));
    context.beginPath();
    context.arc(x, y, this.large * (2 + 5.5 * share), 0, 2 * Math.PI);
    context.fill();
  }

  number([x, y], value, from, to) {
    const { context, theme } = this;
    const [a, b] = [this.places[from], this.places[to]];
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
    const [ux, uy] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
    context.font = `${12 * this.large}px ${theme.font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    const words = signed(value);
    // Behind the disc and off the line.
    const [tx, ty] = [x - 21 * ux - 9 * uy, y - 21 * uy + 9 * ux];
    haloed(context, theme, words, tx, ty, theme.soft);
  }

  spin(spin, up) {
    const { context, theme } = this;
    const { update, moment } = this.view;
    const { large, radius } = this;
    const [x, y] = this.places[spin];
    context.fillStyle = css(theme.ground);
    circle(context, x, y, radius + 4);
    context.fill();
    context.fillStyle = css(up ? theme.ink : theme.paper);
    context.strokeStyle = css(theme.ink);
    context.lineWidth = 2;
    circle(context, x, y, radius);
    context.fill();
    context.stroke();
    context.fillStyle = css(up ? theme.paper : theme.ink);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = `700 ${20 * large}px ${theme.font}`;
    context.fillText(up ? "↑" : "↓", x, y - 5 * large);
    context.font = `600 ${11 * large}px ${theme.font}`;
    context.fillText(signed(update.totals[moment * SPINS + spin]), x, y + 11 * large);
    // Its number, as it is counted beneath the bars, on the side that lines and messages leave free.
    const above = y < 0.6 * this.height ? -1 : 1;
    haloed(context, theme, String(spin + 1), x, y + above * (radius + 12 * large), theme.soft);
  }
}

function circle(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
}
