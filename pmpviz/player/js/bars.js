// Stacked bars of a chart: a row a lane, with names on the left and a legend beneath.

import { css, lit, rgb } from "./theme.js";

const TOP = 8;
const RIGHT = 10;
const STEP = 26;

const LINE = 16; // Of names beneath the bars.
const [BOX, SWATCH] = [13, 9];
const APART = 11;

// How high the names beneath the bars are: a line, or as many as they need.
export function namesHigh(context, font, bars, width) {
  context.font = font;
  return 4 + LINE * Math.max(1, namesIn(context, bars, width).length);
}

// The names in lines of [name, place among them, its left end], from the left end of the bars where there is room.
function namesIn(context, bars, width, left = 4) {
  const names = [...bars.names, ...(bars.noise ? ["noise ┆"] : []), ...(bars.low ? ["total |"] : [])];
  const wide = names.map((name, k) => (k < bars.names.length ? BOX : 0) + context.measureText(name).width);
  const all = wide.reduce((sum, each) => sum + APART + each, -APART);
  const first = left + all > width ? 4 : left;
  const lines = [[]];
  let at = first;
  names.forEach((name, k) => {
    if (at + wide[k] > width && lines[lines.length - 1].length) {
      lines.push([]);
      at = first;
    }
    lines[lines.length - 1].push([name, k, at]);
    at += wide[k] + APART;
  });
  return lines;
}

export function drawBars(chart, bars, height) {
  const { context, theme, width } = chart;
  const left = Math.min(0.45 * width, 16 + Math.max(60, ...bars.rows.map((row) => context.measureText(row.label).width)));
  const sum = (row) => row.values.reduce((all, v) => all + Math.max(0, v || 0), 0);
  const full = Math.max(1e-12, bars.full || 0, ...bars.rows.map(sum));
  const across = (width - left - RIGHT) / (full + (bars.low || 0));
  const zero = left + (bars.low || 0) * across; // What is negative stands to the left of it.
  const shade = (colour, k) => {
    if (bars.colours) return bars.colours[k];
    return css(rgb(lit(colour, theme)).map((v, i) => Math.round(v + (theme.ground[i] - v) * Math.min(0.8, 0.24 * k))));
  };
  bars.rows.forEach((row, r) => {
    let [x, under] = [zero, zero];
    const y = TOP + r * STEP;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = css(theme.text);
    context.fillText(fitted(context, row.label, left - 12), left - 8, y + STEP / 2);
    row.values.forEach((value, k) => {
      const wide = Math.abs(value || 0) * across;
      context.fillStyle = shade(row.colour, k);
      if (value < 0) under -= wide;
      context.fillRect(value < 0 ? under : x, y + 3, Math.max(0, wide - 1), STEP - 6);
      if (value > 0) x += wide;
    });
    const total = row.values.reduce((all, value) => all + (value || 0), 0);
    context.fillStyle = css(theme.text);
    if (bars.low) context.fillRect(Math.round(zero + total * across) - 1, y + 1, 2, STEP - 2);
  });
  context.textBaseline = "alphabetic";
  if (bars.noise) drawNoise(chart, zero + bars.noise * across, bars.rows.length);
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
  const lines = namesIn(context, bars, width, left);
  if (bars.colours && lines[0][0][2] < left) return; // The legend beneath the picture has them.
  context.textAlign = "left";
  lines.forEach((line, row) => {
    const y = height - 6 - LINE * (lines.length - 1 - row);
    for (const [name, k, at] of line) {
      const box = k < bars.names.length ? BOX : 0;
      // In the colours of all rows, side by side.
      const each = SWATCH / Math.max(1, bars.rows.length);
      bars.rows.forEach((row, r) => {
        context.fillStyle = shade(row.colour, k);
        if (box) context.fillRect(at + r * each, y - 8, each, SWATCH);
      });
      context.fillStyle = css(theme.soft);
      context.fillText(name, at + box, y);
    }
  });
}
