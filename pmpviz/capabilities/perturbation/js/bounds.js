// Before a class, where the page's own chart of them is out of sight: what maxima under noise say of log Z.

import { number, scale as scaled, ticks } from "../pmpviz.player/scale.js";
import { css, haloed, make, sized } from "../pmpviz.player/theme.js";

const [ROW, FOOT, HEAD, SIDE] = [20, 17, 17, 6]; // Pixels on a page that is not enlarged: of an estimate, around them.
const [FONT, MARK, WHISKER] = [11.5, 3.5, 3.5];
const ROOM = 0.08; // On both sides of the values.

export class Bounds {
  constructor() {
    this.root = make("figure", "at-bounds");
    this.canvas = make("canvas", "pv-chart");
    this.canvas.setAttribute("role", "img");
    this.root.append(make("figcaption", "pv-title", "Bounds on log Z: means, with 95 % bars"), this.canvas);
  }

  // `rows` are { name, mean, error, colour, open }; `exact` is log Z, or null.
  draw(rows, exact, theme, large) {
    this.root.hidden = !rows.length;
    if (!rows.length) return;
    const width = Math.max(200, this.root.clientWidth) / large;
    const height = HEAD + ROW * rows.length + FOOT;
    const context = sized(this.canvas, width * large, height * large);
    context.scale(large, large);
    context.clearRect(0, 0, width, height);
    context.font = `${FONT}px ${theme.font}`;
    const x = across(rows, exact, width);
    drawGround(context, theme, x, width, height);
    if (exact !== null) drawExact(context, theme, x.px(exact), height, `log Z = ${number(exact)}`, width);
    const line = exact === null ? null : x.px(exact);
    rows.forEach((row, k) => drawRow(context, theme, row, x, HEAD + ROW * (k + 0.5), width, line));
    const words = rows.map(({ name, mean, error }) => `${name} ${number(mean)} ± ${number(error)}`);
    this.canvas.setAttribute("aria-label", [...words, ...(exact === null ? [] : [`exactly ${number(exact)}`])].join("; "));
  }
}

function across(rows, exact, width) {
  const ends = [...rows.flatMap(({ mean, error }) => [mean - error, mean + error]), ...(exact === null ? [] : [exact])];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const room = ROOM * (high - low || 1);
  return scaled([low - room, high + room], [SIDE, width - SIDE], false);
}

function drawGround(context, theme, x, width, height) {
  context.strokeStyle = css(theme.rule);
  context.fillStyle = css(theme.soft);
  context.lineWidth = 1;
  context.strokeRect(SIDE + 0.5, HEAD + 0.5, width - 2 * SIDE - 1, height - HEAD - FOOT - 1);
  context.textAlign = "center";
  for (const [value, text] of ticks(x.ends, 4)) {
    const at = Math.min(Math.max(x.px(value), SIDE + context.measureText(text).width / 2), width - SIDE - 2);
    context.fillText(text, at, height - 4);
  }
}

function drawExact(context, theme, at, height, words, width) {
  context.strokeStyle = context.fillStyle = css(theme.text);
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(at, HEAD);
  context.lineTo(at, height - FOOT);
  context.stroke();
  const half = context.measureText(words).width / 2;
  context.textAlign = "center";
  context.fillText(words, Math.min(Math.max(at, half), width - half), HEAD - 5);
}

// Where a name of some length begins: at the left end, beside its mark or at the right end, the first place at which it
// lies neither on the mark nor on the line of log Z.
export function nameAt(long, [from, to], line, width) {
  const free = (start) => (start + long <= from || start >= to) && (line === null || start + long < line - 2 || start > line + 2);
  const places = [SIDE + 5, to + MARK, from - MARK - long, width - SIDE - 5 - long];
  const inside = places.filter((start) => start >= SIDE && start + long <= width - SIDE);
  return inside.find(free) ?? SIDE + 5;
}

function drawRow(context, theme, { name, mean, error, colour, open }, x, y, width, line) {
  const long = context.measureText(name).width;
  const start = nameAt(long, [x.px(mean - error) - 2 * MARK, x.px(mean + error) + 2 * MARK], line, width);
  // What bounds nothing is pale, as its mark is hollow.
  const bounds = !name.endsWith("no bound");
  context.textAlign = "left";
  haloed(context, theme, name, start, y + 4, bounds ? theme.text : theme.soft);
  context.globalAlpha = bounds ? 1 : 0.55;
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x.px(mean - error), y);
  context.lineTo(x.px(mean + error), y);
  for (const end of [mean - error, mean + error]) {
    context.moveTo(x.px(end), y - WHISKER);
    context.lineTo(x.px(end), y + WHISKER);
  }
  context.stroke();
  context.beginPath();
  context.arc(x.px(mean), y, MARK, 0, 2 * Math.PI);
  if (open) context.fillStyle = css(theme.ground);
  context.fill();
  context.stroke();
  context.globalAlpha = 1;
}
