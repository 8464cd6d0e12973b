// The live charts side by side, with one legend: which line is whose, and the curves that are kept behind them.

import { Chart, HEIGHT } from "./chart.js";
import { marker } from "./curves.js";
import { counts, shown } from "./lines.js";
import { dashOf, lit, make, sized } from "./theme.js";

export class Traces {
  // `send(event)` tells the server what is zoomed into, kept and dropped; it is left out where nobody listens.
  constructor(send) {
    this.root = make("div", "pv-traces");
    this.legend = make("div", "pv-lines");
    this.cards = new Map();
    this.send = send || null;
    this.spans = {}; // What is zoomed into, by what an axis counts.
    this.marks = [];
    this.keys = []; // Of the legend: each with the style of its line.
    this.keyed = null; // The theme in which they are drawn.
    this.high = HEIGHT; // Of a chart, its axes included.
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
      if (!this.cards.has(trace.id)) {
        const card = new Chart(this.root, (x, y) => this.zoom(card, x, y));
        this.cards.set(trace.id, card);
      }
      this.cards.get(trace.id).adopt(trace);
    }
    const order = traces.map((trace) => this.cards.get(trace.id).root);
    if (order.some((root, k) => this.root.children[k] !== root)) this.root.append(...order);
  }

  // Only the lines that end at the pictures on screen, however far they go: the rest waits until `adopt`.
  extend(traces) {
    for (const { id, x, title, lines } of traces) {
      const trace = this.cards.get(id)?.trace;
      const ends = counts(x) || (lines || []).every((line) => line.begun !== undefined);
      if (trace?.lines && ends && trace.x === x && trace.title === title) trace.lines = lines;
    }
  }

  // `kept` is null where curves cannot be kept.
  tell(lanes, kept) {
    const state = JSON.stringify([lanes.map((lane) => [lane.label, lane.short, lane.colour, lane.dash, lane.marker]), kept]);
    if (state === this.told) return;
    this.told = state;
    this.keyed = null;
    this.keys = [];
    const own = lanes.map((lane, k) => this.entry(lane, lanes.length > 1 ? inBoth(lane) : lane.label, kept && ["keep", k, "Keep this curve behind the next run"]));
    const old = (kept || []).map((curve, k) => this.entry(curve, curve.name, ["drop", k, "Take this curve away"]));
    this.legend.replaceChildren(...(kept || lanes.length > 1 ? own : []), ...old);
    if (this.legend.children.length) this.root.before(this.legend);
    else this.legend.remove();
  }

  entry(style, name, action) {
    const entry = make("span", "pv-line");
    const key = make("canvas", "pv-key");
    entry.append(key, make("span", "", name));
    this.keys.push([key, style]);
    if (action && this.send) {
      const [type, lane, title] = action;
      const button = make("button", "pv-small", type === "keep" ? "keep" : "×");
      Object.assign(button, { type: "button", title });
      button.dataset.action = type;
      button.setAttribute("aria-label", `${title}: ${name}`);
      button.addEventListener("click", () => this.send({ type, lane }));
      entry.append(button);
    }
    return entry;
  }

  // Charts over the same axis are zoomed together; of sweeps the server sends the finer bins.
  zoom(card, x, y) {
    this.spans[card.trace.x] = x;
    for (const other of this.cards.values()) {
      if (other.trace.x === card.trace.x && !x) other.span = null;
    }
    card.span = y;
    if (card.trace.x === "sweeps" && this.send) this.send({ type: "zoom", window: x });
    for (const other of this.cards.values()) this.show(other);
  }

  // `heads` is how far the pictures of each lane are.
  draw(theme, cursor, heads) {
    this.drawn = [theme, cursor, heads];
    if (theme.id !== this.keyed) this.keys.forEach(([key, style]) => drawKey(key, style, theme));
    this.keyed = theme.id;
    this.ends = this.commonEnds(heads);
    for (const card of this.cards.values()) this.show(card);
  }

  // Charts of one axis end at one place, though what is compared now and then was compared last before.
  commonEnds(heads) {
    const ends = {};
    for (const { trace } of this.cards.values()) {
      for (const { x } of shown(trace, heads)) {
        if (x?.length) ends[trace.x] = Math.max(ends[trace.x] ?? -Infinity, x[x.length - 1]);
      }
    }
    return ends;
  }

  // The height of what is drawn of the charts in view, without what stands around them.
  drawnHigh() {
    const high = [...this.cards.values()].map((card) => card.drawnHigh());
    return high.reduce((sum, each) => sum + each, 0);
  }

  show(card) {
    if (!this.drawn || !card.root.clientWidth) return; // One that is folded away is drawn when it is shown.
    const [theme, cursor, heads] = this.drawn;
    card.high = this.high;
    card.draw(theme, this.marks, cursor, { x: this.spans[card.trace.x] || null, y: card.span || null, heads, end: this.ends?.[card.trace.x] });
  }
}

// A name with its short one, which stands where there is little room.
function inBoth({ label, short }) {
  return short && !label.includes(short) ? `${label} (${short})` : label;
}

// A piece of a lane's line with its marker.
export function drawKey(canvas, { colour, dash, marker: kind }, theme) {
  const context = sized(canvas, 60, 20); // Sharp before a class, too, where it is as much larger as its name is.
  Object.assign(canvas.style, { width: "1.875rem", height: "0.625rem" });
  context.scale(2, 2);
  context.clearRect(0, 0, 30, 10);
  context.strokeStyle = context.fillStyle = lit(colour, theme);
  context.lineWidth = 2.5;
  context.setLineDash(dashOf(dash));
  context.beginPath();
  context.moveTo(0, 5);
  context.lineTo(30, 5);
  context.stroke();
  context.setLineDash([]);
  marker(context, kind, 15, 5, 4.5);
}
