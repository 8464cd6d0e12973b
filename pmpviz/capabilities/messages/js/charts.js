// Heat map of the messages, and lines over sweeps.

import { ratioOf } from "./graph.js";
import { css, enlarged, haloed, make, mix, number, scaleColour, sized, superscript, word } from "../pmpviz.player/theme.js";

const GUTTER = 84;
const FOOT = 22;
const TOP = 5; // Room for half a label above the first row.
const MOST_ROWS = 160;
const NAMED = 11; // Pixels of a row that has its name beside it.
// Below this a change or an error is drawn at the foot of its chart: it is rounding.
const FLOOR = 1e-8;
const TICK = 18; // Pixels that a power of ten takes on an axis.
const EDGE = 12; // Right of the last sweep, so that its number fits.

// log m(k) - log m(0) of every message to a variable: a column a sweep, a row a message and state k.
export class HeatMap {
  constructor(pick) {
    this.root = make("figure", "mm-figure");
    this.title = make("figcaption", "pv-title");
    this.title.append(make("span"), make("span", "pv-unit mm-scale"));
    this.canvas = make("canvas", "pv-chart mm-heat");
    this.canvas.setAttribute("role", "img");
    this.canvas.dataset.testid = "messages-heat";
    this.under = make("div", "mm-under");
    this.root.append(this.title, this.canvas, this.under);
    this.canvas.addEventListener("pointerdown", (event) => this.picked(event, pick));
    this.canvas.addEventListener("pointermove", (event) => this.pointed(event));
    this.canvas.addEventListener("pointerleave", () => this.say(""));
  }

  take(replay) {
    this.replay = replay;
    const { record } = replay;
    this.rows = [];
    for (const edge of followed(replay)) {
      for (let k = 1; k < replay.card(record.edgeVariable[edge]); k++) this.rows.push({ edge, state: k });
    }
    this.left = Math.max(0, this.rows.length - MOST_ROWS);
    this.rows = this.rows.slice(0, MOST_ROWS);
    this.values = new Float64Array(this.rows.length * (replay.sweeps + 1));
    for (let sweep = 0; sweep <= replay.sweeps; sweep++) {
      replay.go(replay.startOf(sweep));
      this.rows.forEach(({ edge, state }, row) => {
        this.values[sweep * this.rows.length + row] = ratioOf(replay.message(edge, true), state);
      });
    }
    this.coloured = null;
    this.say("");
  }

  call(words) {
    this.title.firstChild.textContent = words;
  }

  // So wide, its rows together so high, or up to twice as high where each then has room for its name.
  fit(width, high) {
    this.large = enlarged();
    this.width = width / this.large;
    const least = NAMED * this.rows.length <= 2 * high ? NAMED : 3;
    this.cell = Math.max(least, Math.min(18, Math.floor(high / this.rows.length)));
    this.height = TOP + this.cell * this.rows.length + FOOT;
    this.step = (this.width - GUTTER - EDGE) / Math.max(1, this.replay.sweeps);
  }

  draw(view, theme) {
    const context = sized(this.canvas, this.width * this.large, this.height * this.large);
    context.scale(this.large, this.large);
    context.clearRect(0, 0, this.width, this.height);
    const { limit } = this.replay.record;
    const played = this.replay.done(view.head);
    context.fillStyle = css(mix(theme.ground, theme.rule, 0.35));
    context.fillRect(GUTTER, TOP, this.width - GUTTER - EDGE, this.cell * this.rows.length);
    this.colour(theme);
    context.imageSmoothingEnabled = false;
    const column = (from, count) => [this.at(from), TOP, this.at(from + count) - this.at(from), this.cell * this.rows.length];
    if (played) context.drawImage(this.image, 0, 0, played, this.rows.length, ...column(0, played));
    const fresh = this.freshRows(view.head, played);
    this.rows.forEach(({ edge }, row) => {
      if (!fresh.has(edge)) return;
      const [x, y, wide] = column(played, 1);
      context.drawImage(this.image, played, row, 1, 1, x, y + row * this.cell, wide, this.cell);
    });
    this.frame(context, view, theme, played);
    this.title.lastChild.textContent = `−${number(limit)} blue, 0, orange +${number(limit)}`;
    const words = `Heat map of ${this.rows.length} messages over ${played} sweeps of ${this.replay.sweeps}.`;
    if (this.canvas.getAttribute("aria-label") !== words) this.canvas.setAttribute("aria-label", words);
  }

  // All cells as a small picture, a pixel each, made once for each run and theme.
  colour(theme) {
    if (this.coloured === theme.id) return;
    this.coloured = theme.id;
    const { limit } = this.replay.record;
    const [wide, high] = [this.replay.sweeps, this.rows.length];
    this.image = Object.assign(make("canvas"), { width: wide, height: Math.max(1, high) });
    const pixels = this.image.getContext("2d").createImageData(wide, Math.max(1, high));
    const words = new Uint32Array(pixels.data.buffer);
    const scale = { kind: "diverging", low: -limit, high: limit };
    for (let sweep = 1; sweep <= wide; sweep++) {
      for (let row = 0; row < high; row++) {
        const value = Math.max(-limit, Math.min(limit, this.values[sweep * high + row]));
        words[row * wide + sweep - 1] = word(scaleColour(scale, value, theme));
      }
    }
    this.image.getContext("2d").putImageData(pixels, 0, 0);
  }

  // Edges whose message of the sweep that is going on has been sent.
  freshRows(head, played) {
    const { record } = this.replay;
    const fresh = new Set();
    for (let event = this.replay.startOf(played); event < head; event++) {
      if (record.toVariable[event]) fresh.add(record.edge[event]);
    }
    return fresh;
  }

  at(sweep) {
    return Math.round(GUTTER + sweep * this.step);
  }

  frame(context, view, theme, played) {
    context.font = `11px ${theme.font}`;
    context.textBaseline = "middle";
    const every = Math.ceil(NAMED / this.cell);
    this.rows.forEach(({ edge, state }, row) => {
      const watched = view.down && edge === view.watched && (state === 1 || this.cell > 10);
      if (!watched && row % every) return;
      context.textAlign = "right";
      context.fillStyle = css(watched ? theme.text : theme.soft);
      context.font = `${watched ? "600 " : ""}11px ${theme.font}`;
      if (watched || !this.crowds(view, row, every)) context.fillText(this.label(edge, state), GUTTER - 8, TOP + (row + 0.5) * this.cell);
    });
    context.font = `11px ${theme.font}`;
    context.fillStyle = css(theme.soft);
    for (const sweep of ticks(this.replay.sweeps)) {
      context.textAlign = "center";
      context.fillText(String(sweep), this.at(sweep - 0.5), this.height - FOOT / 2 + 1);
    }
    // The sweep that is going on, or the last one.
    const now = view.head > this.replay.startOf(played) ? played : played - 1;
    if (now < 0) return;
    context.strokeStyle = css(theme.text);
    context.lineWidth = 1;
    context.strokeRect(this.at(now) + 0.5, TOP + 0.5, Math.max(2, this.at(now + 1) - this.at(now) - 1), this.cell * this.rows.length - 1);
  }

  // Whether a label would touch that of the watched message.
  crowds(view, row, every) {
    const near = view.down ? this.rows.findIndex(({ edge }) => edge === view.watched) : -1;
    return near >= 0 && near !== row && Math.abs(near - row) < every;
  }

  label(edge, state) {
    const { record } = this.replay;
    const name = record.variables[record.edgeVariable[edge]].name;
    const of = this.replay.card(record.edgeVariable[edge]) > 2 ? `=${state}` : "";
    return `f${record.edgeFactor[edge] + 1} → ${name}${of}`;
  }

  locate(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top].map((at) => at / this.large);
    const row = Math.floor((y - TOP) / this.cell);
    const sweep = Math.floor((x - GUTTER) / this.step) + 1;
    return this.rows[row] && sweep >= 1 && sweep <= this.replay.sweeps ? { row, sweep } : null;
  }

  picked(event, pick) {
    const found = this.locate(event);
    if (found) pick(this.rows[found.row].edge, found.sweep);
  }

  pointed(event) {
    const found = this.locate(event);
    if (!found) return this.say("");
    const { edge, state } = this.rows[found.row];
    const value = this.values[found.sweep * this.rows.length + found.row];
    this.say(`${this.label(edge, state)}, sweep ${found.sweep}: log m(${state}) − log m(0) = ${Number.isFinite(value) ? number(value) : "∞"}`);
  }

  say(words) {
    const more = this.left ? ` The first ${MOST_ROWS} of ${MOST_ROWS + this.left} rows.` : "";
    this.under.textContent = words || `Columns are sweeps. Click a cell to see that message being worked out.${more}`;
  }
}

// Edges in the order in which news travels: after a message comes one that it goes into, so that what goes round a
// loop draws diagonals.
function followed(replay) {
  const { edgeVariable } = replay.record;
  const order = [];
  const seen = new Set();
  for (let start = 0; start < replay.edges; start++) {
    for (let edge = start; edge !== undefined && !seen.has(edge); ) {
      seen.add(edge);
      order.push(edge);
      const beyond = replay.byVariable[edgeVariable[edge]]
        .filter((out) => out !== edge)
        .flatMap((out) => replay.byFactor[replay.record.edgeFactor[out]].filter((next) => next !== out));
      edge = beyond.find((next) => !seen.has(next));
    }
  }
  return order;
}

function ticks(sweeps) {
  const step = [1, 2, 5, 10, 20, 50, 100].find((size) => sweeps / size <= 10) || 100;
  const found = [1];
  for (let sweep = step; sweep <= sweeps; sweep += step) if (sweep > 1) found.push(sweep);
  return found;
}

// A few lines over sweeps, drawn as far as the run has been played.
export class Lines {
  constructor(name, help) {
    this.root = make("figure", "mm-figure");
    this.title = make("figcaption", "pv-title");
    this.keys = make("span", "pv-unit");
    this.title.append(make("span", "", name), this.keys);
    this.title.title = help;
    this.canvas = make("canvas", "pv-chart");
    this.canvas.setAttribute("role", "img");
    this.root.append(this.title, this.canvas);
    this.name = name;
  }

  call(name) {
    this.name = this.title.firstChild.textContent = name;
  }

  // lines: [{label, colour, dash, values, at: sweep of values[k]}], marks: [{y, label}]; `at` may fall within a sweep.
  // Of one sweep its `messages` are counted.
  take(lines, { log = false, marks = [], sweeps, messages }) {
    Object.assign(this, { lines, log, marks, sweeps, messages: sweeps === 1 ? messages : null });
    const seen = [...lines.flatMap((line) => [...line.values]), ...marks.map((mark) => mark.y)].filter(Number.isFinite);
    const known = log ? seen.map((value) => Math.max(value, FLOOR)) : seen;
    this.low = Math.min(...known);
    this.high = Math.max(...known);
    if (log) {
      this.low = Math.max(10 ** Math.floor(Math.log10(this.low)), FLOOR);
      this.high = Math.max(10 ** Math.ceil(Math.log10(this.high)), 10 * this.low);
    } else {
      const room = Math.max(0.12 * (this.high - this.low), 0.05);
      this.low -= room;
      this.high += room;
    }
  }

  y(value) {
    const scale = this.log ? (v) => Math.log10(Math.max(v, FLOOR)) : (v) => v;
    const share = (scale(value) - scale(this.low)) / (scale(this.high) - scale(this.low));
    return 6 + (1 - Math.max(0, Math.min(1, share))) * (this.height - FOOT - 10);
  }

  x(sweep) {
    return 44 + (sweep / Math.max(1, this.sweeps)) * (this.width - 54);
  }

  draw(width, height, played, theme) {
    const large = enlarged();
    Object.assign(this, { width: width / large, height: height / large });
    const context = sized(this.canvas, width, height);
    context.scale(large, large);
    context.clearRect(0, 0, width, height);
    this.axes(context, theme);
    for (const line of this.lines) this.line(context, line, played, theme);
    for (const mark of this.marks) this.mark(context, mark, theme);
    this.legend(played, theme);
  }

  axes(context, theme) {
    context.font = `11.5px ${theme.font}`;
    context.textBaseline = "middle";
    for (const value of this.log ? decades(this.low, this.high, (this.height - FOOT) / TICK) : [this.low, (this.low + this.high) / 2, this.high]) {
      context.strokeStyle = css(theme.rule);
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(44, Math.round(this.y(value)) + 0.5);
      context.lineTo(this.width - 10, Math.round(this.y(value)) + 0.5);
      context.stroke();
      context.fillStyle = css(theme.soft);
      context.textAlign = "right";
      context.fillText(this.log ? power(value) : value.toFixed(2).replace("-", "−"), 38, this.y(value));
    }
    context.textAlign = "center";
    for (const sweep of [0, ...ticks(this.sweeps).slice(this.sweeps > 5 ? 1 : 0)]) {
      context.fillText(String(sweep * (this.messages || 1)), this.x(sweep), this.height - FOOT / 2 + 2);
    }
    context.textAlign = "right";
    context.fillText(this.messages ? "sent" : "sweep", 38, this.height - FOOT / 2 + 2);
  }

  mark(context, { y, label }, theme) {
    context.strokeStyle = css(theme.text);
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(44, this.y(y));
    context.lineTo(this.width - 10, this.y(y));
    context.stroke();
    context.font = `11.5px ${theme.font}`;
    context.textAlign = "left";
    const at = this.y(y) + (this.y(y) < 20 ? 11 : -11);
    haloed(context, theme, label, this.clearest(context.measureText(label).width, at), at);
  }

  // Where words so wide at this height are farthest from all curves: at the left end or at the right one.
  clearest(wide, at) {
    const far = (from) => {
      const under = this.lines.flatMap((line) => [...line.values].filter((_, k) => {
        const x = this.x(line.at(k));
        return x > from - 8 && x < from + wide + 8;
      }));
      return Math.min(...under.filter(Number.isFinite).map((value) => Math.abs(this.y(value) - at)), this.height);
    };
    const ends = [48, this.width - 14 - wide];
    return far(ends[0]) >= far(ends[1]) ? ends[0] : ends[1];
  }

  line(context, { values, at, colour, dash }, played, theme) {
    context.strokeStyle = colour || css(theme.text);
    context.lineWidth = 2;
    context.setLineDash(dash || []);
    context.beginPath();
    const last = shownAt(values, at, played);
    for (let k = 0, drawn = 0; k <= last; k++) {
      if (!Number.isFinite(values[k])) continue;
      if (drawn++) context.lineTo(this.x(at(k)), this.y(values[k]));
      else context.moveTo(this.x(at(k)), this.y(values[k]));
    }
    context.stroke();
    context.setLineDash([]);
    if (last < 0 || !Number.isFinite(values[last])) return;
    context.fillStyle = context.strokeStyle;
    context.beginPath();
    context.arc(this.x(at(last)), this.y(values[last]), 3, 0, 2 * Math.PI);
    context.fill();
  }

  legend(played, theme) {
    const now = this.lines.map(({ label, values, at }) => {
      const last = shownAt(values, at, played);
      return `${label} ${last < 0 ? "–" : this.words(values[last])}`;
    });
    const words = `${this.name}: ${now.join(", ")}`;
    if (this.canvas.getAttribute("aria-label") === words && this.keys.childElementCount) return;
    this.canvas.setAttribute("aria-label", words);
    this.keys.replaceChildren(
      ...this.lines.map(({ colour, dash }, index) => {
        const key = make("span", dash ? "mm-key mm-dashed" : "mm-key", now[index]);
        key.style.setProperty("--mm-colour", colour || css(theme.text));
        return key;
      }),
    );
  }

  words(value) {
    if (this.log && value < FLOOR) return `< ${power(FLOOR)}`;
    return this.log ? brief(value) : number(value);
  }
}

// The last of the values that the run has come to; -1 for none.
function shownAt(values, at, played) {
  let last = -1;
  while (last + 1 < values.length && at(last + 1) <= played + 1e-9) last++;
  return last;
}

// A power of ten.
export function power(value) {
  return `10${superscript(Math.round(Math.log10(value)))}`;
}

// Two significant digits.
export function brief(value) {
  return number(Number(value.toPrecision(2)));
}

// At most five, and of a low chart so many as have room.
function decades(low, high, room) {
  const [from, to] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
  const step = Math.max(1, Math.ceil((to - from) / Math.max(1, Math.min(5, Math.floor(room) - 1))));
  const found = [];
  for (let power = from; power <= to; power += step) found.push(10 ** power);
  return found;
}
