// Stacked bars of a chart: a row a lane, with names on the left and a legend beneath.

import { css, lit, rgb } from "./theme.js";

const TOP = 8;
const RIGHT = 10;
const STEP = 26;

export function drawBars(chart, bars, height) {
  const { context, theme, width } = chart;
  const left = Math.min(0.45 * width, 16 + Math.max(60, ...bars.rows.map((row) => context.measureText(row.label).width)));
  const sum = (row) => row.values.reduce((all, v) => all + Math.max(0, v || 0), 0);
  const full = Math.max(1e-12, bars.full || 0, ...bars.rows.map(sum));
  const across = (width - left - RIGHT) / full;
  const shade = (colour, k) => {
    if (bars.colours) return bars.colours[k];
    return css(rgb(lit(colour, theme)).map((v, i) => Math.round(v + (theme.ground[i] - v) * Math.min(0.8, 0.24 * k))));
  };
  bars.rows.forEach((row, r) => {
    let x = left;
    const y = TOP + r * STEP;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = css(theme.text);
    context.fillText(fitted(context, row.label, left - 12), left - 8, y + STEP / 2);
    row.values.forEach((value, k) => {
      const wide = Math.max(0, value || 0) * across;
      context.fillStyle = shade(row.colour, k);
      context.fillRect(x, y + 3, Math.max(0, wide - 1), STEP - 6);
      x += wide;
    });
  });
  context.textBaseline = "alphabetic";
  if (bars.noise) drawNoise(chart, left + bars.noise * across, bars.rows.length);
  drawNames(chart, bars, left, height, shade);
}

function fitted(context, text, width) {
  let words = text;
  while (words.length > 2 && context.measureText(words).width > width) words = `${words.slice(0, -2)}…`;
  return words;
}

// Up to here bars are of no account.
function drawNoise({ context, theme }, x, rows) {
  context.strokeStyle = css(theme.text);
  context.lineWidth = 1;
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, TOP);
  context.lineTo(Math.round(x) + 0.5, TOP + rows * STEP);
  context.stroke();
  context.setLineDash([]);
}

function drawNames({ context, theme, width }, bars, left, height, shade) {
  const names = bars.noise ? [...bars.names, "noise ┆"] : bars.names;
  const wide = names.reduce((all, name) => all + 24 + context.measureText(name).width, 0);
  if (bars.colours && left + wide > width) return; // The legend beneath the picture has them.
  let at = left + wide > width ? Math.max(4, width - wide) : left;
  context.textAlign = "left";
  names.forEach((name, k) => {
    const box = k < bars.names.length ? 13 : 0;
    context.fillStyle = shade(css(theme.text), k);
    if (box) context.fillRect(at, height - 14, 9, 9);
    context.fillStyle = css(theme.soft);
    context.fillText(name, at + box, height - 6);
    at += 11 + box + context.measureText(name).width;
  });
}
