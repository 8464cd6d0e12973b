// The factor graph: circles for variables, squares for factors, and the messages that travel between them.

import { plain, signed } from "./digits.js";
import { frustrated, wish } from "./factor.js";
import { drawPill, pill, rowsOf, separate } from "./pills.js";
import { impossible } from "./replay.js";
import { css, enlarged, mix, OPPOSED, scaleColour, sized } from "../pmpviz.player/theme.js";

const MARGIN = 40;
const STRETCH = 1.5;
const NEAR = 9;
const BESIDE = 8; // Pixels between a message's line and its number.
const MANY = 16; // Variables, of which more are drawn small.
const WHOLE = { apart: 4, beyond: 7, exact: 3.5, ring: 8, thin: 2.5, arrow: 4, line: 1.25, disc: 5, least: 13, most: 27, square: 7 };
const SMALL = { apart: 1.5, beyond: 4, exact: 2, ring: 4, thin: 1.5, arrow: 1.5, line: 0.75, disc: 3, least: 4, most: 13, square: 2.5 };
const FADED = 0.35;
const FLAT = 0.4; // Of the text's colour: what prefers no state is a message, and seen.
const FEW = 4; // Messages in flight at once, of which each carries its number.
const MOST_WORDS = 26; // Messages in flight at once that still carry their numbers.

export class Graph {
  constructor(canvas) {
    this.canvas = canvas;
  }

  // Where everything is, in CSS pixels.
  fit(record, width, height, moved = new Map()) {
    this.large = enlarged();
    Object.assign(this, { record, width, height, form: record.variables.length > MANY ? SMALL : WHOLE });
    const nodes = [...record.variables, ...record.factors];
    const box = (name) => [Math.min(...nodes.map((n) => n[name])), Math.max(...nodes.map((n) => n[name]))];
    const [left, right] = box("x");
    const [top, bottom] = box("y");
    const across = (width - 2 * MARGIN * this.large) / Math.max(right - left, 1e-6);
    const up = (height - 2 * MARGIN * this.large) / Math.max(bottom - top, 1e-6);
    const least = Math.min(across, up);
    const [sx, sy] = [Math.min(across, STRETCH * least), Math.min(up, STRETCH * least)];
    const place = ({ x, y }) => [width / 2 + (x - (left + right) / 2) * sx, height / 2 + (y - (top + bottom) / 2) * sy];
    this.variables = record.variables.map(place);
    this.factors = record.factors.map(place);
    const apart = closest(this.variables);
    const near = Math.min(...record.edgeFactor.map((f, e) => far(this.factors[f], this.variables[record.edgeVariable[e]])), 1e3);
    this.radius = Math.max(this.form.least, Math.min(this.form.most * (0.5 + 0.5 * this.large), 0.34 * apart, (this.form === SMALL ? 0.38 : 0.5) * near));
    this.room = 0.45 * (near - this.radius); // Of a factor's name, to either side.
    this.half = Math.max(this.form.square, Math.min(12 * this.large, 0.45 * this.radius, 0.24 * near + 2));
    this.move(moved);
  }

  // Variables stand where they were dragged to; a factor moves by the mean of what its variables move by.
  move(moved) {
    const shift = this.variables.map(() => [0, 0]);
    for (const [variable, [x, y]] of moved) {
      const at = this.inside(x * this.width, y * this.height);
      shift[variable] = [at[0] - this.variables[variable][0], at[1] - this.variables[variable][1]];
      this.variables[variable] = at;
    }
    this.record.factors.forEach(({ scope }, factor) => {
      const [x, y] = this.factors[factor];
      const mean = (axis) => scope.reduce((sum, variable) => sum + shift[variable][axis], 0) / Math.max(1, scope.length);
      this.factors[factor] = this.inside(x + mean(0), y + mean(1));
    });
  }

  inside(x, y) {
    const keep = (at, most) => Math.min(most - this.radius - 2, Math.max(this.radius + 2, at));
    return [keep(x, this.width), keep(y, this.height)];
  }

  // Whether a factor would rather have its two variables differ.
  opposes(factor) {
    return wish(this.record, factor) < 0;
  }

  draw(view, theme) {
    const context = sized(this.canvas, this.width, this.height);
    context.clearRect(0, 0, this.width, this.height);
    Object.assign(this, { context, theme, view });
    this.record.edgeFactor.forEach((_, edge) => this.edge(edge));
    this.record.factors.forEach((factor, index) => this.factor(factor, index));
    this.record.variables.forEach((variable, index) => this.variable(variable, index));
    this.fly(view);
  }

  // Ends of one of the two lines between a factor and a variable, from sender to receiver.
  line(edge, down) {
    const from = this.factors[this.record.edgeFactor[edge]];
    const to = this.variables[this.record.edgeVariable[edge]];
    const length = far(from, to) || 1;
    const [ux, uy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    const side = down ? this.form.apart : -this.form.apart;
    const at = (start, along) => [start[0] + ux * along - uy * side, start[1] + uy * along + ux * side];
    const ends = [at(from, this.half + 2), at(to, -this.radius - this.form.beyond)];
    return down ? ends : ends.reverse();
  }

  edge(edge) {
    const { context, theme, view } = this;
    if (view.watched === edge) this.glow(edge);
    if (this.opposes(this.record.edgeFactor[edge])) this.dashes(edge);
    for (const down of [true, false]) {
      const message = view.replay.message(edge, down);
      const [colour, strength] = messageColour(message, this.record.limit);
      const [from, to] = this.line(edge, down);
      context.strokeStyle = css(mix(mix(theme.ground, theme.text, FLAT), colour, Math.min(1, 4 * strength)));
      context.lineWidth = this.form.line * (1 + 2.2 * strength);
      context.beginPath();
      context.moveTo(...from);
      context.lineTo(...to);
      context.stroke();
      this.arrow(from, to, context.strokeStyle, this.form.arrow * (1 + 0.75 * strength));
    }
  }

  // Between the two messages: their factor is a negative coupling.
  dashes(edge) {
    const { context, theme } = this;
    context.strokeStyle = css(theme.dark ? OPPOSED.dark : OPPOSED.light);
    context.lineWidth = 2;
    context.setLineDash([5, 4]);
    context.beginPath();
    context.moveTo(...this.factors[this.record.edgeFactor[edge]]);
    context.lineTo(...this.variables[this.record.edgeVariable[edge]]);
    context.stroke();
    context.setLineDash([]);
  }

  glow(edge) {
    const { context, theme } = this;
    // Of no state's colour.
    context.strokeStyle = css(mix(theme.ground, theme.text, 0.14));
    context.lineWidth = 18;
    context.lineCap = "round";
    context.beginPath();
    context.moveTo(...this.factors[this.record.edgeFactor[edge]]);
    context.lineTo(...this.variables[this.record.edgeVariable[edge]]);
    context.stroke();
    context.lineCap = "butt";
  }

  arrow(from, to, colour, size) {
    const { context } = this;
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
    const wing = (turn) => [to[0] - size * Math.cos(angle + turn), to[1] - size * Math.sin(angle + turn)];
    context.fillStyle = colour;
    context.beginPath();
    context.moveTo(...to);
    context.lineTo(...wing(0.5));
    context.lineTo(...wing(-0.5));
    context.fill();
  }

  factor(factor, index) {
    const { context, theme, half } = this;
    const [x, y] = this.factors[index];
    const named = half >= WHOLE.square;
    const [name, wide] = named ? this.named(factor, index) : ["", half];
    const opposed = this.opposes(index);
    context.fillStyle = css(opposed ? (theme.dark ? OPPOSED.dark : OPPOSED.light) : theme.ink);
    context.fillRect(x - wide, y - half, 2 * wide, 2 * half);
    if (frustrated(this.view.replay, index, this.view.head)) this.frame(x, y, wide, half, theme.text);
    if (this.view.pointed === index) this.frame(x, y, wide, half, theme.accent);
    if (!named) return;
    context.fillStyle = css(opposed && !theme.dark ? [255, 255, 255] : theme.paper);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(name, x, y + 0.5);
  }

  // As words and formulas name it, where there is room for as much, and how wide its square is.
  named({ label }, index) {
    const { context, half } = this;
    const choices = [[`f${index + 1}`, label].filter(Boolean).join(" "), label || `f${index + 1}`].map((name) => {
      context.font = `600 ${(name.length > 2 ? 10 : 11.5) * this.large}px ${this.theme.font}`;
      return [name, Math.max(half, context.measureText(name).width / 2 + 4), context.font];
    });
    const [name, wide, font] = choices.find(([, wide]) => wide <= Math.max(half, this.room)) || choices[1];
    context.font = font;
    return [name, wide];
  }

  frame(x, y, wide, half, colour) {
    const off = half > 6 ? 4 : 2;
    this.context.strokeStyle = css(colour);
    this.context.lineWidth = 2;
    this.context.strokeRect(x - wide - off, y - half - off, 2 * (wide + off), 2 * (half + off));
  }

  variable(variable, index) {
    const { context, theme, radius, view } = this;
    const [x, y] = this.variables[index];
    const clamped = variable.evidence >= 0;
    const held = clamped ? mix(theme.ground, stateColour(variable.evidence), FADED) : theme.ground;
    const { exact: off, ring, thin, least, beyond } = this.form;
    disc(context, x, y, radius + beyond - 1, css(theme.ground));
    disc(context, x, y, radius, css(held));
    const exact = view.replay.exact(index);
    if (exact) this.ring(x, y, radius + off, thin, exact);
    const wide = Math.min(ring, radius > 18 || least < 13 ? ring : 5);
    this.ring(x, y, radius - wide / 2, wide, view.replay.belief(index, view.head));
    if (view.hovered === index) this.circle(x, y, radius + beyond - 1, theme.accent, 1.5);
    if (radius >= WHOLE.least) this.name(variable, x, y, clamped);
  }

  name(variable, x, y, clamped) {
    const { context, theme, radius } = this;
    context.fillStyle = css(theme.text);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = `600 ${radius > 20 * this.large ? 13 * this.large : Math.min(11.5 * this.large, 0.8 * radius)}px ${theme.font}`;
    const words = clamped ? `= ${variable.evidence}` : variable.name;
    context.fillText(words, x, y + 0.5);
    if (!clamped) return;
    this.circle(x, y, radius - 9, theme.text, 1.5);
  }

  circle(x, y, radius, colour, width) {
    const { context } = this;
    context.strokeStyle = css(colour);
    context.lineWidth = width;
    context.beginPath();
    context.arc(x, y, Math.max(1, radius), 0, 2 * Math.PI);
    context.stroke();
  }

  // Shares of the states, the last one first from the top, clockwise.
  ring(x, y, radius, width, shares) {
    const { context } = this;
    let from = -Math.PI / 2;
    for (let k = shares.length - 1; k >= 0; k--) {
      const to = from + 2 * Math.PI * shares[k];
      context.strokeStyle = css(stateColour(k));
      context.lineWidth = width;
      context.beginPath();
      context.arc(x, y, radius, from, to);
      context.stroke();
      from = to;
    }
  }

  // Messages on their way: few with their numbers, many as dots.
  fly({ flying, share, replay }) {
    const { context, theme, record } = this;
    const pills = [];
    for (const event of flying) {
      const [from, to] = this.line(record.edge[event], Boolean(record.toVariable[event]));
      const message = replay.sent(event);
      const [colour] = messageColour(message, record.limit);
      const rows = rowsOf(message, messageText(message), plain);
      const own = rows.length > 1 ? rows.map((_, k) => stateColour(k)) : null;
      const one = pill(context, theme, from, rows, colour, own, this.large);
      // A number that would cover its arrow is left out.
      if (flying.length > MOST_WORDS || (flying.length > FEW && far(from, to) < 1.4 * one.wide)) {
        disc(context, ...between(from, to, share), this.form.disc * (0.5 + 0.5 * this.large), css(colour));
        continue;
      }
      disc(context, ...between(from, to, share), this.form.disc * (0.5 + 0.5 * this.large), css(colour));
      [one.x, one.y] = beside(from, to, one, between(...shortened(from, to, one.wide / 2 - 4, one.high / 2 - 4), share));
      pills.push(one);
    }
    separate(pills, this.width, this.height);
    for (const each of pills) drawPill(context, theme, each);
  }

  // What is under a point: a variable, else a factor and the nearest edge.
  find(x, y) {
    const variable = (this.variables || []).findIndex((at) => far(at, [x, y]) <= this.radius + this.form.beyond - 2);
    if (variable >= 0) return { variable, edge: -1, factor: -1 };
    const factor = (this.factors || []).findIndex((at) => Math.max(Math.abs(at[0] - x), Math.abs(at[1] - y)) <= this.half + 4);
    let [edge, least] = [-1, NEAR];
    (this.record ? this.record.edgeFactor : []).forEach((factor, index) => {
      const away = toSegment([x, y], this.factors[factor], this.variables[this.record.edgeVariable[index]]);
      if (away < least) [edge, least] = [index, away];
    });
    return { variable: -1, edge, factor };
  }
}

// Blue for state 0 and orange for state 1, as messages have them; more states in the colours of labels.
export function stateColour(state) {
  if (state === 0) return [0, 114, 178];
  if (state === 1) return [213, 94, 0];
  return scaleColour({ kind: "labels" }, LATER[(state - 2) % LATER.length]);
}

const LATER = [2, 3, 6, 5, 8, 1, 7];

// (colour, strength from 0 to 1): of two states by the log-ratio, of more by the best one and its lead.
export function messageColour(message, limit) {
  if (message.length === 2) {
    const ratio = ratioOf(message, 1);
    const strength = Math.min(1, Math.abs(ratio) / limit);
    return [stateColour(ratio > 0 ? 1 : 0), strength];
  }
  const sorted = [...message].sort((a, b) => b - a);
  const lead = sorted[0] - sorted[1];
  return [stateColour(message.indexOf(sorted[0])), Math.min(1, lead / limit)];
}

// log m(k) - log m(0); infinite where one of the two is impossible.
export function ratioOf(message, state) {
  if (impossible(message[0])) return impossible(message[state]) ? 0 : Infinity;
  return impossible(message[state]) ? -Infinity : message[state] - message[0];
}

export function messageText(message) {
  if (message.length === 2) return signed(ratioOf(message, 1));
  if (message.length > 5) return `best ${message.indexOf(Math.max(...message))}`;
  return [...message].map((value) => (impossible(value) ? "−∞" : plain(value))).join("  ");
}

function disc(context, x, y, radius, colour) {
  context.fillStyle = colour;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

function far(a, b) {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

function closest(places) {
  let least = 200;
  places.forEach((a, i) => places.slice(i + 1).forEach((b) => (least = Math.min(least, far(a, b)))));
  return least;
}

function between(from, to, share) {
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
}

// The way of a label of this half width and height: it stops where it would cover what it comes from or goes to.
function shortened(from, to, wide, high) {
  const length = far(from, to) || 1;
  const [ux, uy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  const room = Math.min(0.42 * length, Math.abs(ux) * wide + Math.abs(uy) * high);
  return [
    [from[0] + ux * room, from[1] + uy * room],
    [to[0] - ux * room, to[1] - uy * room],
  ];
}

// A label's place beside its message's line, on the outer side: it covers neither the line nor the factor.
function beside(from, to, { wide, high }, [x, y]) {
  const length = far(from, to) || 1;
  const [nx, ny] = [-(to[1] - from[1]) / length, (to[0] - from[0]) / length];
  const off = (Math.abs(nx) * wide + Math.abs(ny) * high) / 2 + BESIDE;
  return [x + nx * off, y + ny * off];
}

function toSegment(point, a, b) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const along = ((point[0] - a[0]) * dx + (point[1] - a[1]) * dy) / (dx * dx + dy * dy || 1);
  const t = Math.max(0, Math.min(1, along));
  return far(point, [a[0] + t * dx, a[1] + t * dy]);
}
