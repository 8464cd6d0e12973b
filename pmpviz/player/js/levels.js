// The levels of a chart: the band of the noise, and exact values with what chance does to them.

import { nameExact } from "./names.js";
import { css } from "./theme.js";

// Of the noise, and of chance about the exact value from where this is the law.
export function drawBands(chart) {
  const { band, exact } = chart.trace;
  const { left } = chart.area();
  const from = ({ since }) => (since ? Math.max(left, chart.x.px(since)) : left);
  if (band) shade(chart, from(band), chart.y.log ? Math.max(band.low, chart.y.ends[0]) : band.low, band.high);
  if (exact?.chance) shade(chart, from(exact), exact.y - exact.chance, exact.y + exact.chance);
}

// The farthest that chance came in many trials.
export function drawFarthest(chart) {
  const { band } = chart.trace;
  const { left, right, top, bottom } = chart.area();
  const y = chart.y.px(band?.most);
  if (!(y > top && y < bottom)) return;
  const { context, theme } = chart;
  context.strokeStyle = css(theme.soft);
  context.lineWidth = 1;
  context.setLineDash([1, 4]);
  context.beginPath();
  context.moveTo(left, y);
  context.lineTo(right, y);
  context.stroke();
  context.setLineDash([]);
}

// From a place on to the right edge, between two values.
function shade(chart, from, low, high) {
  const { context, theme } = chart;
  const { right, top, bottom } = chart.area();
  const within = (y) => Math.min(Math.max(y, top), bottom);
  const [above, beneath] = [within(chart.y.px(high)), within(chart.y.px(low))];
  context.fillStyle = css(theme.text);
  context.globalAlpha = 0.09;
  context.fillRect(from, above, Math.max(0, right - from), beneath - above);
  context.globalAlpha = 1;
}

// The exact value, and those of earlier settings, each over its own stretch.
export function exactsOf({ exact }) {
  return exact ? [...(exact.earlier || []), exact].filter(({ y }) => Number.isFinite(y)) : [];
}

export function drawExact(chart) {
  const { exact } = chart.trace;
  const area = chart.area();
  for (const each of exactsOf(chart.trace)) {
    const y = chart.y.px(each.y);
    if (y < area.top || y > area.bottom) continue;
    const place = (at) => Math.min(Math.max(chart.x.px(at), area.left), area.right);
    const from = each.since ? place(each.since) : area.left;
    drawLevel(chart, from, each.until === undefined ? area.right : place(each.until), y);
    // Just after a change the new law's has no length: its name would stand at the old one's line.
    if (each === exact && from < area.right - 1) nameExact(chart, area, from, y);
  }
}

function drawLevel({ context, theme }, from, to, y) {
  context.strokeStyle = context.fillStyle = css(theme.text);
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(from, y);
  context.lineTo(to, y);
  context.stroke();
}

// What a line comes to, across the chart in its colour.
export function drawOwnExact(chart, line) {
  if (!Number.isFinite(line.exact)) return;
  const { context } = chart;
  const { left, right } = chart.area();
  context.strokeStyle = line.colour;
  context.lineWidth = 1.25;
  context.setLineDash([5, 3]);
  context.beginPath();
  context.moveTo(left, chart.y.px(line.exact));
  context.lineTo(right, chart.y.px(line.exact));
  context.stroke();
  context.setLineDash([]);
}
