// The live charts: lines with their 10-90 % range, the exact value, a noise band, marks, or stacked bars.

import { css, dashOf, make, number, rgb, sized, superscript, thousands } from "./theme.js";

const HEIGHT = 148;
const LEFT = 50;
const RIGHT = 10;
const TOP = 8;
const BOTTOM = 20;

export class Traces {
  constructor() {
    this.root = make("div", "pv-traces");
    this.cards = new Map();
  }

  adopt(traces, marks) {
    this.marks = marks || [];
    const kept = new Set(traces.map((trace) => trace.id));
    for (const [id, card] of this.cards) {
      if (!kept.has(id)) {
        card.root.remove();
        this.cards.delete(id);
      }
    }
    for (const trace of traces) {
      if (!this.cards.has(trace.id)) this.cards.set(trace.id, new Card(this.root));
      this.cards.get(trace.id).adopt(trace);
    }
  }

  draw(theme, cursor) {
    for (const card of this.cards.values()) card.draw(theme, this.marks, cursor);
  }
}

class Card {
  constructor(parent) {
    this.root = make("figure", "pv-trace");
    this.title = make("figcaption", "pv-title");
    this.canvas = make("canvas", "pv-chart");
    this.canvas.setAttribute("role", "img");
    this.root.append(this.title, this.canvas);
    parent.append(this.root);
  }

  adopt(trace) {
    this.trace = trace;
    const unit = [trace.unit, trace.log ? "log axis" : ""].filter(Boolean).join(", ");
    this.title.replaceChildren(make("span", "", trace.title), make("span", "pv-unit", unit));
    const last = (trace.lines || []).map((line) => (line.y && line.y.length ? number(line.y[line.y.length - 1]) : "n/a"));
    this.canvas.setAttribute("aria-label", `${trace.title}: latest ${last.join(", ")}`);
  }

  draw(theme, marks, cursor) {
    const width = Math.max(160, this.root.clientWidth);
    const bars = this.trace.bars;
    const height = bars ? TOP + 26 * Math.max(1, bars.rows.length) + BOTTOM : HEIGHT;
    this.theme = theme;
    this.width = width;
    this.context = sized(this.canvas, width, height);
    this.context.clearRect(0, 0, width, height);
    this.context.font = `11px ${theme.font}`;
    if (bars) return this.drawBars(bars, height);
    const empty = !this.measure();
    this.drawAxes(empty);
    if (empty) return;
    this.context.save();
    this.context.beginPath();
    this.context.rect(LEFT, TOP - 1, width - LEFT - RIGHT, HEIGHT - TOP - BOTTOM + 2);
    this.context.clip();
    this.drawBand();
    this.drawMarks(marks, cursor);
    for (const line of this.trace.lines) this.drawRange(line);
    for (const line of this.trace.lines) this.drawOwnExact(line);
    for (const line of this.trace.lines) this.drawLine(line);
    this.context.restore();
    this.drawExact();
  }

  measure() {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    const see = (value) => {
      if (!Number.isFinite(value) || (this.trace.log && value <= 0)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    for (const line of this.trace.lines || []) {
      if (!line.x || !line.y) continue;
      for (let i = 0; i < line.y.length; i++) {
        if (Number.isFinite(line.x[i])) [left, right] = [Math.min(left, line.x[i]), Math.max(right, line.x[i])];
        see(line.y[i]);
        if (line.low && line.high) [line.low[i], line.high[i]].forEach(see);
      }
      if (Number.isFinite(line.exact)) see(line.exact);
    }
    if (this.trace.exact) see(this.trace.exact.y);
    if (this.trace.band) [this.trace.band.low, this.trace.band.high].forEach(see);
    if (!(low <= high)) return false;
    if (!(left < right)) [left, right] = Number.isFinite(left) ? [left, left + 1] : [0, 1];
    this.x = [left, right];
    if (this.trace.log) {
      this.y = [10 ** Math.floor(Math.log10(low) + 1e-9), 10 ** Math.ceil(Math.log10(high) - 1e-9)];
      if (this.y[0] === this.y[1]) this.y[1] *= 10;
    } else {
      const room = (high - low || Math.abs(high) || 1) * 0.07;
      this.y = [low - room, high + room];
    }
    return true;
  }

  px(x) {
    return LEFT + ((x - this.x[0]) / (this.x[1] - this.x[0])) * (this.width - LEFT - RIGHT);
  }

  py(y) {
    const f = this.trace.log ? Math.log10 : (v) => v;
    const [low, high] = this.y.map(f);
    return HEIGHT - BOTTOM - ((f(y) - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  }

  drawAxes(empty) {
    const { context, theme, width } = this;
    context.lineWidth = 1;
    context.strokeStyle = css(theme.rule);
    context.fillStyle = css(theme.soft);
    context.strokeRect(LEFT + 0.5, TOP + 0.5, width - LEFT - RIGHT - 1, HEIGHT - TOP - BOTTOM - 1);
    if (empty) {
      context.textAlign = "center";
      context.fillText(this.trace.empty || "no values yet", (LEFT + width - RIGHT) / 2, HEIGHT / 2);
      return;
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const [value, text] of this.trace.log ? decades(this.y) : ticks(this.y, 4)) {
      const y = Math.round(this.py(value)) + 0.5;
      context.fillText(text, LEFT - 6, y);
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(width - RIGHT, y);
      context.stroke();
    }
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    const show = (v) => (this.trace.x === "seconds" ? `${number(v)} s` : thousands(v));
    context.fillText(show(this.x[0]), LEFT, HEIGHT - 6);
    context.textAlign = "center";
    context.fillText(this.trace.x, (LEFT + width - RIGHT) / 2, HEIGHT - 6);
    context.textAlign = "right";
    context.fillText(show(this.x[1]), width - RIGHT, HEIGHT - 6);
  }

  drawBand() {
    const band = this.trace.band;
    if (!band) return;
    const { context, theme } = this;
    const low = this.trace.log ? Math.max(band.low, this.y[0]) : band.low;
    const [top, bottom] = [this.py(band.high), this.py(low)];
    context.fillStyle = css(theme.text);
    context.globalAlpha = 0.09;
    context.fillRect(LEFT, top, this.width, bottom - top);
    context.globalAlpha = 1;
    context.fillStyle = css(theme.soft);
    context.textAlign = "left";
    context.fillText(band.label || "", LEFT + 5, Math.min(bottom - 4, HEIGHT - BOTTOM - 4));
  }

  drawExact() {
    const exact = this.trace.exact;
    if (!exact || !Number.isFinite(exact.y)) return;
    const { context, theme, width } = this;
    const y = this.py(exact.y);
    context.strokeStyle = context.fillStyle = css(theme.text);
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(LEFT, y);
    context.lineTo(width - RIGHT, y);
    context.stroke();
    context.textAlign = "right";
    context.lineWidth = 3;
    context.strokeStyle = css(theme.ground);
    const at = y < TOP + 18 ? y + 13 : y - 5;
    context.strokeText(exact.label, width - RIGHT - 4, at);
    context.fillText(exact.label, width - RIGHT - 4, at);
  }

  // What a line comes to, across the chart in its colour.
  drawOwnExact(line) {
    if (!Number.isFinite(line.exact)) return;
    const { context, width } = this;
    context.strokeStyle = line.colour;
    context.lineWidth = 1.25;
    context.setLineDash([5, 3]);
    context.beginPath();
    context.moveTo(LEFT, this.py(line.exact));
    context.lineTo(width - RIGHT, this.py(line.exact));
    context.stroke();
    context.setLineDash([]);
  }

  drawMarks(marks, cursor) {
    if (this.trace.x === "seconds") return;
    const { context, theme } = this;
    context.lineWidth = 1;
    context.setLineDash([2, 3]);
    context.strokeStyle = css(theme.soft);
    context.fillStyle = css(theme.soft);
    marks.forEach(([sweep, text], k) => {
      this.upright(sweep);
      const near = this.px(sweep) > this.width - 120;
      context.textAlign = near ? "right" : "left";
      context.fillText(text, this.px(sweep) + (near ? -4 : 4), TOP + 11 + 12 * (k % 3));
    });
    context.setLineDash([]);
    context.strokeStyle = css(theme.accent);
    if (cursor !== null) this.upright(cursor);
  }

  upright(x) {
    const at = Math.round(this.px(x)) + 0.5;
    this.context.beginPath();
    this.context.moveTo(at, TOP);
    this.context.lineTo(at, HEIGHT - BOTTOM);
    this.context.stroke();
  }

  drawRange(line) {
    if (!line.low || !line.high || !line.x) return;
    const { context } = this;
    const floor = (v) => (this.trace.log ? Math.max(v, this.y[0]) : v);
    context.fillStyle = line.colour;
    context.globalAlpha = 0.16;
    context.beginPath();
    for (let i = 0; i < line.x.length; i++) context.lineTo(this.px(line.x[i]), this.py(floor(line.high[i])));
    for (let i = line.x.length - 1; i >= 0; i--) context.lineTo(this.px(line.x[i]), this.py(floor(line.low[i])));
    context.fill();
    context.globalAlpha = 1;
  }

  drawLine(line) {
    if (!line.x || !line.y) return;
    const { context } = this;
    context.strokeStyle = context.fillStyle = line.colour;
    context.lineWidth = 1.75;
    context.lineJoin = "round";
    context.setLineDash(dashOf(line.dash));
    context.beginPath();
    let pen = false;
    for (let i = 0; i < line.x.length; i++) {
      const good = Number.isFinite(line.y[i]) && !(this.trace.log && line.y[i] <= 0);
      if (good && pen) context.lineTo(this.px(line.x[i]), this.py(line.y[i]));
      else if (good) context.moveTo(this.px(line.x[i]), this.py(line.y[i]));
      pen = good;
    }
    context.stroke();
    context.setLineDash([]);
    const end = line.x.length - 1;
    if (pen) this.marker(line.marker, this.px(line.x[end]), this.py(line.y[end]));
  }

  marker(kind, x, y) {
    const { context } = this;
    const sides = { square: 4, triangle: 3, diamond: 4, cross: 4, star: 5 }[kind] || 24;
    const turn = kind === "square" ? Math.PI / 4 : -Math.PI / 2;
    context.beginPath();
    for (let k = 0; k < sides; k++) {
      const angle = turn + (2 * Math.PI * k) / sides;
      context.lineTo(x + 4 * Math.cos(angle), y + 4 * Math.sin(angle));
    }
    context.fill();
  }

  drawBars(bars, height) {
    const { context, theme, width } = this;
    const total = Math.max(1e-12, ...bars.rows.map((row) => row.values.reduce((a, v) => a + Math.max(0, v || 0), 0)));
    const step = 26;
    const left = 96;
    const shade = (colour, k) => {
      if (bars.colours) return bars.colours[k];
      const c = rgb(colour);
      return css(c.map((v, i) => Math.round(v + (theme.ground[i] - v) * Math.min(0.8, 0.24 * k))));
    };
    bars.rows.forEach((row, r) => {
      let x = left;
      const y = TOP + r * step;
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillStyle = css(theme.text);
      context.fillText(row.label.slice(0, 16), left - 8, y + step / 2);
      row.values.forEach((value, k) => {
        const wide = (Math.max(0, value || 0) / total) * (width - left - RIGHT);
        context.fillStyle = shade(row.colour, k);
        context.fillRect(x, y + 3, Math.max(0, wide - 1), step - 6);
        x += wide;
      });
    });
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    context.fillStyle = css(theme.soft);
    let at = left;
    const wide = bars.names.reduce((sum, name) => sum + 27 + context.measureText(name).width, 0);
    if (bars.colours && left + wide > width) return; // The legend beneath the picture has them.
    bars.names.forEach((name, k) => {
      context.fillStyle = shade(css(theme.text), k);
      context.fillRect(at, height - 14, 9, 9);
      context.fillStyle = css(theme.soft);
      context.fillText(name, at + 13, height - 6);
      at += 27 + context.measureText(name).width;
    });
  }
}

function ticks([low, high], wanted) {
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push([k * step, tick(k * step, step)]);
  return found;
}

function tick(value, step) {
  if (Math.abs(value) < step / 1e6) return "0";
  if (Math.abs(value) >= 1000) return thousands(value);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return digits > 4 ? number(value) : value.toFixed(digits).replace("-", "−");
}

function decades([low, high]) {
  const [first, last] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
  const step = Math.ceil((last - first) / 5) || 1;
  const found = [];
  for (let k = first; k <= last; k += step) found.push([10 ** k, `10${superscript(k)}`]);
  return found;
}
