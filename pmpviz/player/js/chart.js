// One live chart: lines with their ranges, the exact value, a noise band, marks, a second axis; or bars, or columns.
// Hovering gives values, a drawn box zooms, a double click shows everything again.

import { drawBars, namesHigh } from "./bars.js";
import { columnWords, drawColumns } from "./columns.js";
import { MARKER, drawLine, drawRange } from "./curves.js";
import { drawBands, drawExact, drawFarthest, drawOwnExact, exactsOf } from "./levels.js";
import { counts, shown } from "./lines.js";
import { Marks } from "./marks.js";
import { nameBand } from "./names.js";
import { grounded } from "./overlaps.js";
import { decades, number, scale, show, thousands, ticks, withZero } from "./scale.js";
import { css, enlarged, haloed, lit, make, sized, wrapped } from "./theme.js";
import { told } from "./told.js";

export const HEIGHT = 148;
const FONT = 11.5;
const [TOP, UPPER] = [8, 22]; // Without and with a second axis above.
const LEFT = 50;
const RIGHT = 10;
const BOTTOM = 20;
const APART = 6; // Pixels between words along an axis.
const ROW = 16; // Of words where there are no values.
const BOX = 6; // A pointer that moves less than this many pixels draws no box.
const NEAR = 1e-6; // Of a decade, or of a value: they come as 32-bit floats.

export class Chart {
  // `zoom(x, y)` is called with what a drawn box spans, and with nulls to show everything.
  constructor(parent, zoom) {
    this.root = make("figure", "pv-trace");
    this.title = make("figcaption", "pv-title");
    this.canvas = make("canvas", "pv-chart");
    this.canvas.setAttribute("role", "img");
    this.tip = make("div", "pv-tip");
    this.tip.setAttribute("aria-hidden", "true");
    this.tip.hidden = true;
    this.note = make("div", "pv-note");
    this.root.append(this.title, this.canvas, this.tip, this.note);
    parent.append(this.root);
    this.zoom = zoom;
    this.marks = new Marks();
    this.named = {}; // Where names stand.
    this.lines = [];
    this.listen();
  }

  listen() {
    const at = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top].map((at) => at / this.large);
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.button || !this.x || this.trace.bars) return;
      this.box = { from: at(event), to: at(event) };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (this.box) this.box.to = at(event);
      this.pointed = at(event);
      this.again();
    });
    this.canvas.addEventListener("pointerup", () => this.boxed());
    this.canvas.addEventListener("pointerleave", () => {
      this.pointed = null;
      this.again();
    });
    this.canvas.addEventListener("dblclick", () => this.zoom(null, null));
  }

  // A box that is low, or has no point in it, spans sweeps alone.
  boxed() {
    const { from, to } = this.box || {};
    this.box = null;
    if (!from || !this.x || Math.abs(to[0] - from[0]) < BOX) return this.again();
    const x = [from[0], to[0]].map((at) => this.x.value(at)).sort((a, b) => a - b);
    const y = [from[1], to[1]].map((at) => this.y.value(at)).sort((a, b) => a - b);
    const tall = Math.abs(to[1] - from[1]) > 4 * BOX;
    this.zoom(x, tall && this.holds(x, y) ? y : null);
  }

  // Whether there is a point of a line in the box.
  holds(x, y) {
    const within = (value, [low, high]) => value >= low && value <= high;
    const lines = this.lines.filter((line) => line.x && line.y);
    return lines.some((line) => line.x.some((at, i) => within(at, x) && within(line.y[i], y)));
  }

  adopt(trace) {
    this.trace = trace;
    const unit = [trace.unit, trace.log ? "log axis" : ""].filter(Boolean).join(", ");
    this.unit = make("span", "pv-unit", unit);
    this.all = make("span", "pv-unit", "double click: everything");
    this.title.replaceChildren(make("span", "", trace.title), this.all, this.unit);
    this.title.title = trace.help || "";
    if (this.note.textContent !== (trace.note || "")) this.note.textContent = trace.note || "";
    this.hint();
    this.name(trace.lines || []);
  }

  // Of what is drawn, for those who do not see it.
  name(lines) {
    const { trace } = this;
    const solid = lines.filter((line) => !line.faint && !line.ghost);
    const last = solid.map((line) => (line.y && line.y.length ? number(line.y[line.y.length - 1]) : "n/a"));
    const words = trace.columns ? columnWords(trace.columns, number) : `latest ${last.join(", ")}`;
    this.canvas.setAttribute("aria-label", `${trace.title}: ${words}`);
  }

  // The height of the chart itself, without a second axis above it; 0 where it is folded away.
  drawnHigh() {
    const above = this.trace?.upper ? UPPER - TOP : 0;
    return Math.max(0, this.canvas.offsetHeight - above * enlarged());
  }

  // The way back from a zoom, in the place of what the axes are.
  hint() {
    const { x, y } = (this.drawn && this.drawn[3]) || {};
    this.unit.hidden = Boolean(x || y) && !this.trace.bars && !this.trace.columns;
    this.all.hidden = !this.unit.hidden;
  }

  // `view` is what is zoomed into, `x` and `y`, or null each; `heads` is how far each lane's pictures are.
  draw(theme, marks, cursor, view) {
    this.drawn = [theme, marks, cursor, view];
    this.lines = shown(this.trace, view.heads).map((line) => ({ ...line, colour: lit(line.colour, theme) }));
    this.name(this.lines);
    this.hint();
    this.large = enlarged();
    const width = Math.max(160, this.root.clientWidth) / this.large;
    const bars = this.trace.bars;
    this.theme = theme;
    this.width = width;
    this.top = this.trace.upper ? UPPER : TOP;
    const foot = bars ? namesHigh(this.canvas.getContext("2d"), `${FONT}px ${theme.font}`, bars, width) : 0;
    const height = bars ? 8 + 26 * Math.max(1, bars.rows.length) + foot : (this.high || HEIGHT) + this.top - TOP;
    this.height = height;
    this.context = sized(this.canvas, width * this.large, height * this.large);
    this.context.scale(this.large, this.large);
    this.context.clearRect(0, 0, width, height);
    this.context.font = `${FONT}px ${theme.font}`;
    this.x = null;
    if (bars) return drawBars(this, bars, height);
    if (this.trace.columns) return this.drawStates(this.trace.columns);
    const empty = !this.measure(view || {});
    this.lines = grounded(this.lines);
    this.drawAxes(empty);
    if (empty) return;
    this.context.save();
    this.context.beginPath();
    const last = view && view.x ? 0 : MARKER; // The markers at the ends of a line are whole.
    const under = !view?.y && this.grounded() ? MARKER : 1; // So are those that stand at the foot.
    this.context.rect(LEFT - last, this.top - 1, width - LEFT - RIGHT + 2 * last, height - this.top - BOTTOM + 1 + under);
    this.context.clip();
    drawBands(this);
    const { lines } = this;
    for (const line of lines) drawRange(this, line);
    for (const line of lines) drawOwnExact(this, line);
    // The first lane, of which a question mostly is, on top.
    for (const line of [...lines].sort((a, b) => depth(a) - depth(b))) drawLine(this, line);
    this.drawMarks(marks, cursor);
    this.context.restore();
    if (nameBand(this, this.area())) drawFarthest(this); // A line that nothing names would tell nothing.
    drawExact(this);
    this.drawPointed();
  }

  // Whether something lies beneath the foot of a log axis.
  grounded() {
    return this.lines.some((line) => line.under);
  }

  // Names of states on their end take their length.
  drawStates(columns) {
    const { context, theme, width, height } = this;
    const longest = Math.max(...columns.names.map((name) => context.measureText(name).width));
    const inside = longest < (width - LEFT - RIGHT) / columns.names.length - 2;
    const area = { left: LEFT, right: RIGHT, bottom: inside ? BOTTOM : longest + 10, width, height };
    drawColumns(context, theme, area, columns);
  }

  again() {
    if (this.drawn) this.draw(...this.drawn);
  }

  measure(view) {
    const { log, xlog, span } = this.trace;
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    const see = (value) => {
      if (!Number.isFinite(value) || (log && value <= 0)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    const zero = xlog && !view.x && this.lines.some((line) => line.x && line.x[0] === 0);
    const inside = (x) => Number.isFinite(x) && !(xlog && !zero && x <= 0) && (!view.x || (x >= view.x[0] && x <= view.x[1]));
    for (const line of this.lines) {
      if (!line.x || !line.y) continue;
      for (let i = 0; i < line.y.length; i++) {
        if (!inside(line.x[i])) continue;
        if (!xlog || line.x[i] > 0) [left, right] = [Math.min(left, line.x[i]), Math.max(right, line.x[i])];
        if (line.cut) continue; // What it leaves the axes by is cut off, as its words say.
        see(line.y[i]);
        for (const name of ["low", "high", "least", "most"]) if (line[name]) see(line[name][i]);
      }
      if (Number.isFinite(line.exact)) see(line.exact);
    }
    for (const { y, since = -Infinity, until = Infinity, chance = 0 } of exactsOf(this.trace)) {
      if (!view.x || (since <= view.x[1] && until >= view.x[0])) [y - chance, y + chance].forEach(see);
    }
    if (this.trace.band) [this.trace.band.low, this.trace.band.high].forEach(see);
    if (!(low <= high)) return false;
    if (Number.isFinite(left) && view.end > right) right = view.end;
    if (span) [left, right] = [Math.min(left, span[0]), Math.max(right, span[1])];
    if (view.x) [left, right] = view.x;
    // Where a run began, which a first sweep is short of, and the middle of a first bin.
    else if (!xlog && left > 0 && (left < 0.02 * right || (left <= 1 && this.trace.x === "sweeps"))) left = 0;
    if (!(left < right)) [left, right] = !Number.isFinite(left) ? [0, 1] : around(left, xlog);
    const across = [LEFT, this.width - RIGHT];
    this.x = zero ? withZero(scale([left / 2, right], across, true)) : scale([left, right], across, xlog);
    const ends = [this.height - BOTTOM, this.top];
    if (view.y && (!log || view.y[0] > 0)) this.y = scale(view.y, ends, log);
    else if (log) {
      const [first, last] = [10 ** Math.floor(Math.log10(low) + NEAR), 10 ** Math.ceil(Math.log10(high) - NEAR)];
      this.y = scale([first, last > first ? last : 10 * first], ends, true);
    } else {
      // Curves come in 32 bits: what is the same but for these is no range, whose ticks would all read alike.
      const far = high - low > NEAR * Math.abs(high) ? high - low : 0;
      // What lies within a least span is not made to look like much.
      const short = Math.max(0, (this.trace.least || 0) - (high - low)) / 2;
      const room = Math.max(short, (far || Math.abs(high) || 1) * 0.07);
      this.y = scale([low - room, high + room], ends, false);
    }
    return true;
  }

  drawAxes(empty) {
    const { context, theme, width, top, height } = this;
    context.lineWidth = 1;
    context.strokeStyle = css(theme.rule);
    context.fillStyle = css(theme.soft);
    context.strokeRect(LEFT + 0.5, top + 0.5, width - LEFT - RIGHT - 1, height - top - BOTTOM - 1);
    if (empty) {
      context.textAlign = "center";
      const zoomed = this.drawn[3] && this.drawn[3].x;
      const words = zoomed ? "nothing in this stretch" : this.trace.empty || "no values yet";
      const lines = wrapped(context, words, width - LEFT - RIGHT - 24);
      const first = height / 2 - (ROW * (lines.length - 1)) / 2;
      lines.forEach((line, k) => context.fillText(line, (LEFT + width - RIGHT) / 2, first + ROW * k));
      return;
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    const whole = this.y.log && this.y.ends[1] / this.y.ends[0] >= 10;
    const foot = whole && this.grounded() ? this.y.ends[0] * (1 + NEAR) : -Infinity; // What is below stands there, too.
    for (const [value, text] of whole ? decades(this.y.ends) : ticks(this.y.ends, 4)) {
      const y = Math.round(this.y.px(value)) + 0.5;
      context.fillText(value <= foot ? `≤ ${text}` : text, LEFT - 6, y);
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(width - RIGHT, y);
      context.stroke();
    }
    context.textBaseline = "alphabetic";
    this.drawAcross();
    if (this.trace.upper) this.drawUpper();
  }

  // The ends of the axis and what it counts; of a log axis its decades, and their numbers where these have room.
  drawAcross() {
    const { context, width, height, trace } = this;
    const name = trace.xlog ? `${trace.x}, log axis` : trace.x;
    const inner = trace.xlog ? decades(this.x.ends).filter(([v]) => v >= this.x.ends[0] && v <= this.x.ends[1]) : [];
    for (const [value] of inner) {
      const x = Math.round(this.x.px(value)) + 0.5;
      context.beginPath();
      context.moveTo(x, this.top);
      context.lineTo(x, height - BOTTOM);
      context.stroke();
    }
    const taken = [];
    // From its left edge on, unless it touches another one; those that come first have it.
    const write = (words, left) => {
      const right = left + context.measureText(words).width;
      if (taken.some(([from, to]) => left < to + APART && right > from - APART)) return;
      taken.push([left, right]);
      context.fillText(words, left, height - 6);
    };
    const wide = (words) => context.measureText(words).width;
    context.textAlign = "left";
    const last = show(trace.x, this.x.ends[1]);
    write(show(trace.x, this.x.zero ? 0 : this.x.ends[0]), LEFT);
    write(last, width - RIGHT - wide(last));
    for (const [value] of inner) write(show(trace.x, value), this.x.px(value) - wide(show(trace.x, value)) / 2);
    // Its numbers say what it counts, where none is left to.
    write(name, (LEFT + width - RIGHT - wide(name)) / 2);
  }

  // The second axis: where the first, tenth, hundredth ... draw ended.
  drawUpper() {
    const { context } = this;
    const { x, y, label } = this.trace.upper;
    if (!x || !x.length) return;
    const seen = [...x.keys()].filter((i) => x[i] >= this.x.ends[0] && x[i] <= this.x.ends[1]);
    if (!seen.length) return;
    const [first, last] = [y[seen[0]], y[seen[seen.length - 1]]];
    const wanted = ticks([first - 1e-9, Math.max(last, first + 1)], 4).filter(([n]) => n >= 1 && Number.isInteger(n));
    context.textAlign = "left";
    context.fillText(label, 4, 12);
    context.textAlign = "center";
    for (const [n] of wanted) {
      const at = seen.find((i) => y[i] >= n);
      if (at === undefined) continue;
      const px = Math.round(this.x.px(x[at])) + 0.5;
      if (px > this.width - RIGHT - 8 || px < LEFT + 6) continue;
      context.fillText(thousands(n), px, 12);
      context.beginPath();
      context.moveTo(px, this.top - 5);
      context.lineTo(px, this.top);
      context.stroke();
    }
  }

  // Within the axes.
  area() {
    return { left: LEFT, right: this.width - RIGHT, top: this.top, bottom: this.height - BOTTOM };
  }

  drawMarks(marks, cursor) {
    if (!counts(this.trace.x)) return;
    this.marks.draw(this, marks, this.area());
    this.context.strokeStyle = css(this.theme.accent);
    if (cursor !== null) this.upright(this.x.px(cursor));
  }

  upright(px) {
    const at = Math.round(px) + 0.5;
    this.context.beginPath();
    this.context.moveTo(at, this.top);
    this.context.lineTo(at, this.height - BOTTOM);
    this.context.stroke();
  }

  // The values under the pointer, and the box that is being drawn.
  drawPointed() {
    const at = this.pointed;
    this.tip.hidden = !(at && at[0] >= LEFT && at[0] <= this.width - RIGHT && at[1] <= this.height);
    if (this.tip.hidden) return;
    const { context, theme } = this;
    context.strokeStyle = css(theme.soft);
    context.lineWidth = 1;
    this.upright(at[0]);
    if (this.box) {
      const { from, to } = this.box;
      const tall = Math.abs(to[1] - from[1]) > 4 * BOX;
      const [top, high] = tall ? [from[1], to[1] - from[1]] : [this.top, this.height - BOTTOM - this.top];
      context.fillStyle = css(theme.accent);
      context.globalAlpha = 0.15;
      context.fillRect(from[0], top, to[0] - from[0], high);
      context.globalAlpha = 1;
    }
    const words = [...told(this, at[0]), ...this.marks.at(at[0])];
    this.tip.replaceChildren(...words.map((text) => make("div", "", text)));
    const [px, wide] = [at[0] * this.large, this.tip.offsetWidth];
    const left = px + 14 + wide > this.width * this.large ? px - 14 - wide : px + 14;
    const under = this.canvas.offsetTop + this.height * this.large; // The curves and the axis stay in sight.
    Object.assign(this.tip.style, { left: `${Math.max(0, left)}px`, top: `${under}px` });
  }
}

// From the back: what was kept, then the lanes, the last one first.
function depth({ ghost, lane }) {
  return ghost ? -1e3 : -Number(lane) || 0;
}

// An axis of a single place: from where a run began.
function around(at, log) {
  if (log) return [at, at * 10];
  return at > 0 ? [0, at] : [at, at + 1];
}
