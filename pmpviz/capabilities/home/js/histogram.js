// The 32 states, the likeliest first: how often each was drawn beside its exact probability.

import { css, enlarged, make, mix, number, sized, thousands } from "../pmpviz.player/theme.js";
import { arrows, isUp, SPINS } from "./signs.js";

const HEIGHT = 230;
const CLASS_SHARE = 0.3; // Of the window, at most, before a class.
const LEFT = 34;
const CELL = 8; // Of a state's picture beneath its bar.
const PMP = [213, 94, 0];
const GROWTH_MS = 100;
const ARRIVED = 0.004; // Of the height, less than a pixel.
const MOST_RINGS = 6;
const STATES = "Under a bar its state: spins 1 to 5 from above, filled is up.";

export class Histogram {
  constructor() {
    this.root = make("figure", "fs-histogram");
    const title = make("figcaption", "fs-title", "The 32 states, the likeliest first");
    const key = make("span", "fs-key");
    this.hand = make("span", "");
    this.hand.append(make("i", "fs-ring"), "by hand");
    key.append(make("i", "fs-drawn"), "drawn ", make("i", "fs-exact"), "exact ", this.hand);
    title.append(key);
    this.canvas = make("canvas", "fs-states");
    this.canvas.setAttribute("role", "img");
    this.tip = make("div", "fs-tip", STATES);
    this.root.append(title, this.canvas, this.tip);
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.textContent = STATES));
  }

  // Takes what has fallen, but for the one of `pending` (draw or hand) that is still to fall; another model begins anew.
  take(update, pending, anew) {
    if (anew) this.shares = this.top = null;
    this.update = update;
    this.counts = [...update.counts];
    this.own = [...update.own_counts];
    this.pending = pending;
    if (pending === "draw") this.counts[update.state] -= 1;
    if (pending === "hand") this.own[update.state] -= 1;
    this.nameRings();
  }

  land() {
    if (!this.pending) return;
    (this.pending === "draw" ? this.counts : this.own)[this.update.state] += 1;
    this.pending = null;
    this.nameRings();
  }

  // Rings are named once there is one.
  nameRings() {
    this.hand.hidden = !this.own.some(Boolean);
  }

  get drawn() {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  column(place) {
    const wide = (this.width - this.left - 2) / this.update.order.length;
    return [this.left + place * wide, wide];
  }

  // The bars on their way to what they should be; whether they have still to go.
  grow(passed) {
    const drawn = Math.max(1, this.drawn);
    const wanted = this.update.order.map((state) => this.counts[state] / drawn);
    const top = 1.08 * Math.max(...this.update.exact, ...wanted);
    const share = 1 - Math.exp(-passed / GROWTH_MS);
    const to = (now, then) => (Math.abs(then - now) < ARRIVED * top ? then : now + (then - now) * share);
    this.shares = wanted.map((then, place) => to(this.shares ? this.shares[place] : then, then));
    this.top = to(this.top || top, top);
    return this.top !== top || this.shares.some((now, place) => now !== wanted[place]);
  }

  draw(passed, theme, state, fall) {
    if (!this.update) return false;
    const moving = this.grow(passed);
    this.width = this.root.clientWidth;
    this.large = enlarged();
    this.left = LEFT * this.large;
    this.height = this.large > 1 ? Math.min(HEIGHT * this.large, CLASS_SHARE * window.innerHeight) : HEIGHT;
    const base = this.height - SPINS * CELL - 8;
    const context = sized(this.canvas, this.width, this.height);
    context.clearRect(0, 0, this.width, this.height);
    Object.assign(this, { context, theme, base });
    this.axis();
    this.update.order.forEach((each, place) => this.state(each, place, each === state));
    if (fall !== null && fall > 0) this.drop(this.update.order.indexOf(this.update.state), fall);
    this.canvas.setAttribute("aria-label", `${thousands(this.drawn)} draws in 32 states, total variation ${number(this.update.distance)}`);
    return moving;
  }

  y(share) {
    return this.base - (share / this.top) * (this.base - 8);
  }

  axis() {
    const { context, theme } = this;
    const step = [0.02, 0.05, 0.1, 0.2, 0.5].find((each) => this.top / each <= 5) || 1;
    context.font = `${12 * this.large}px ${theme.font}`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.lineWidth = 1;
    for (let tick = 0; tick <= this.top; tick += step) {
      context.strokeStyle = css(theme.rule);
      context.beginPath();
      context.moveTo(this.left, this.y(tick) + 0.5);
      context.lineTo(this.width, this.y(tick) + 0.5);
      context.stroke();
      context.fillStyle = css(theme.soft);
      context.fillText(String(Number(tick.toFixed(2))), this.left - 6, this.y(tick));
    }
  }

  state(state, place, now) {
    const { context, theme } = this;
    const [x, wide] = this.column(place);
    const y = this.y(this.shares[place]);
    if (now) {
      context.fillStyle = css(mix(theme.ground, theme.text, 0.12));
      context.fillRect(x, 0, wide, this.height);
    }
    context.fillStyle = css(PMP);
    context.fillRect(x + 2, y, wide - 4, this.base - y);
    context.fillStyle = css(theme.text);
    context.fillRect(x + 0.5, this.y(this.update.exact[state]) - 1, wide - 1, 2.5);
    this.rings(x + wide / 2, this.own[state]);
    const side = Math.min(CELL, wide - 3);
    for (let spin = 0; spin < SPINS; spin++) {
      const [left, top] = [x + (wide - side) / 2, this.base + 6 + spin * CELL];
      context.fillStyle = css(isUp(state, spin) ? theme.ink : theme.paper);
      context.fillRect(left, top, side, CELL - 1);
      context.strokeStyle = css(theme.soft);
      context.lineWidth = 0.75;
      context.strokeRect(left, top, side, CELL - 1);
    }
  }

  rings(x, count) {
    const { context, theme } = this;
    for (let k = 0; k < Math.min(count, MOST_RINGS); k++) this.ring(x, this.base - 8 - 12 * k);
    if (count <= MOST_RINGS) return;
    context.fillStyle = css(theme.text);
    context.textAlign = "center";
    context.fillText(String(count), x, this.base - 12 * MOST_RINGS - 10);
  }

  ring(x, y) {
    const { context, theme } = this;
    context.beginPath();
    context.arc(x, y, 5, 0, 2 * Math.PI);
    context.fillStyle = css(theme.ground);
    context.fill();
    context.strokeStyle = css(theme.text);
    context.lineWidth = 1.75;
    context.stroke();
  }

  drop(place, fall) {
    const { context } = this;
    const [x, wide] = this.column(place);
    const end = this.pending === "hand" ? this.base - 8 : this.y(this.shares[place]);
    const y = 6 + (end - 6) * Math.min(1, fall) ** 2;
    if (this.pending === "hand") return this.ring(x + wide / 2, y);
    context.fillStyle = css(PMP);
    context.beginPath();
    context.arc(x + wide / 2, y, 5, 0, 2 * Math.PI);
    context.fill();
  }

  point(event) {
    if (!this.update) return;
    const place = Math.floor((event.offsetX - this.left) / this.column(0)[1]);
    const state = this.update.order[place];
    if (state === undefined) return;
    const [count, own] = [this.counts[state], this.own[state]];
    const shown = `drawn ${number(count / Math.max(1, this.drawn))} (${thousands(count)} of ${thousands(this.drawn)})`;
    this.tip.textContent = `spins 1 to 5 ${arrows(state)}: exact ${number(this.update.exact[state])}, ${shown}${own ? `, by hand ${own}` : ""}`;
  }
}
