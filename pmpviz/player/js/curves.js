// The curves of a chart: their bands, lines and markers. `chart` has the context, the scales `x` and `y`, and all lines.

import { covered } from "./overlaps.js";
import { dashOf } from "./theme.js";

const UNDER = 6; // Pixels: the width of a line that another one covers.
export const MARKER = 4; // Pixels: its radius.
const FEW = 60; // Of so few values each is marked.
const EACH = 12; // Of so few points of any curve each has its marker.
const BETWEEN = 90; // Pixels between the markers of a line.
const TURN = 9; // Pixels of a dash, and from one line's marker to the next one's, of lines along the foot of a log axis.

// The 10-90 % band of the chains, and the range of the line itself within its bins.
export function drawRange(chart, line) {
  if (!line.x || line.ghost) return;
  const bands = chart.lines.filter((other) => other.low && !other.ghost).length;
  fill(chart, line, line.low, line.high, bands > 1 ? 0.07 : 0.16);
  fill(chart, line, line.least, line.most, line.faint || bands > 1 ? 0.14 : 0.24);
}

function fill(chart, line, low, high, alpha) {
  if (!low || !high) return;
  const { context } = chart;
  const [bottom, top] = chart.y.ends; // A band may be open above or below.
  const at = (v) => chart.y.px(Math.min(Math.max(v, bottom), top));
  context.fillStyle = line.colour;
  context.globalAlpha = alpha;
  for (const [from, until] of stretches(line)) {
    context.beginPath();
    for (let i = from; i < until; i++) context.lineTo(chart.x.px(line.x[i]), at(high[i]));
    for (let i = until - 1; i >= from; i--) context.lineTo(chart.x.px(line.x[i]), at(low[i]));
    context.fill();
  }
  context.globalAlpha = 1;
}

// Whether settings changed between a point and the one before it, of values that do not follow each other then.
function parted(line, i) {
  return Boolean(line.breaks?.some((sweep) => line.x[i - 1] <= sweep && sweep < line.x[i]));
}

// Places [from, until) of points that follow each other.
function stretches(line) {
  const begins = Array.from(line.x.keys()).filter((i) => i === 0 || parted(line, i));
  return begins.map((from, k) => [from, begins[k + 1] ?? line.x.length]);
}

export function drawLine(chart, line) {
  if (!line.x || !line.y) return;
  const { context } = chart;
  context.strokeStyle = context.fillStyle = line.colour;
  const under = !line.faint && !line.ghost && covered(line, chart.lines, (x) => chart.x.px(x), (y) => chart.y.px(y));
  context.lineWidth = line.faint || line.ghost ? 1 : under ? UNDER : 1.75;
  context.globalAlpha = line.faint || under ? 0.45 : line.ghost ? 0.6 : 1;
  context.lineJoin = "round";
  context.setLineDash(line.faint ? [] : dashOf(line.dash));
  context.beginPath();
  const places = [];
  for (let i = 0; i < line.x.length; i++) {
    const bad = !Number.isFinite(line.y[i]) || (chart.y.log && line.y[i] <= 0) || (chart.x.log && !chart.x.zero && line.x[i] <= 0);
    const place = bad ? null : [chart.x.px(line.x[i]), chart.y.px(line.y[i])];
    if (place && places.length && places[places.length - 1] && !along(line, i) && !parted(line, i)) context.lineTo(...place);
    else if (place) context.moveTo(...place);
    places.push(place);
  }
  context.stroke();
  if (line.under) drawFoot(context, line, places);
  context.setLineDash([]);
  if (line.dots && line.low && !line.ghost) drawErrors(chart, line, places);
  if (!line.faint) drawMarkers(chart.context, line, aside(line, places));
  context.globalAlpha = 1;
}

// Whether a line goes along the foot of a log axis from its point before this one to it, where others do, too.
function along(line, i) {
  return line.turns > 1 && i > 0 && line.under[i - 1] && line.under[i];
}

// Lines along the foot lie on each other: they take turns, a dash of each after the other.
function drawFoot(context, line, places) {
  context.setLineDash([TURN, TURN * (line.turns - 1)]);
  for (let i = 1; i < places.length; i++) {
    if (!along(line, i) || !places[i - 1] || !places[i]) continue;
    context.lineDashOffset = places[i - 1][0] - TURN * line.turn;
    context.beginPath();
    context.moveTo(...places[i - 1]);
    context.lineTo(...places[i]);
    context.stroke();
  }
  context.lineDashOffset = 0;
}

// Of few estimates the bar of each, up to the chart's edge where it has no end.
function drawErrors(chart, line, places) {
  if (places.length >= FEW) return;
  const { context } = chart;
  const [bottom, top] = chart.y.ends;
  const at = (value) => chart.y.px(Math.min(Math.max(value, bottom), top));
  context.lineWidth = 1;
  context.beginPath();
  places.forEach((place, i) => {
    if (!place) return;
    context.moveTo(place[0], at(line.low[i]));
    context.lineTo(place[0], at(line.high[i]));
  });
  context.stroke();
}

// Where markers stand: of lines along the foot side by side, each on its own line, where they would lie on each other.
function aside(line, places) {
  if (!(line.turns > 1)) return places;
  let begun = null;
  return places.map((place, i) => {
    if (!along(line, i) || !place) begun = place;
    return place && line.under[i] && line.shared[i] ? [Math.max(begun?.[0] ?? 0, place[0] - TURN * line.turn), place[1]] : place;
  });
}

// At the end and now and then before it, so that lines can be told apart without colour; of few draws at each.
function drawMarkers(context, line, places) {
  const shown = places.filter(Boolean);
  const size = line.ghost ? 3 : MARKER;
  if (line.dots && shown.length < FEW) shown.forEach((place) => marker(context, line.marker, ...place, 2.5));
  if (shown.length <= EACH) return shown.forEach((place) => marker(context, line.marker, ...place, size));
  let next = -Infinity;
  shown.forEach((place, k) => {
    if (k < shown.length - 1 && place[0] < next) return;
    if (k < shown.length - 1 && k === 0) return (next = place[0] + BETWEEN / 2);
    marker(context, line.marker, ...place, size);
    next = place[0] + BETWEEN;
  });
}

export function marker(context, kind, x, y, size) {
  const sides = { square: 4, triangle: 3, diamond: 4, cross: 4, star: 5 }[kind] || 24;
  const turn = kind === "square" ? Math.PI / 4 : -Math.PI / 2;
  context.beginPath();
  for (let k = 0; k < sides; k++) {
    const angle = turn + (2 * Math.PI * k) / sides;
    context.lineTo(x + size * Math.cos(angle), y + size * Math.sin(angle));
  }
  context.fill();
}
