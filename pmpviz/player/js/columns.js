// How often each state came, a column for each of those who drew, beside the exact probabilities.

import { css, lit } from "./theme.js";

const TOP = 8;
const APART = 12; // Pixels between names on their ends, and between heights.
const OUT = 0.5; // Of the highest: what stands out.

// Draws into `area` (left, right, bottom: what the axes and the names take; width, height); `large` enlarges the type.
// `columns` has the names, the exact law, and rows of shares with a colour, or with a colour for each state; where they
// are known, the shares in the long run, which are dashed, and what the axis goes up to.
export function drawColumns(context, theme, area, columns, large = 1) {
  const { names, law, rows } = columns;
  const high = columns.high || 1.08 * Math.max(...law, ...(columns.run || []), ...rows.map((row) => Math.max(...row.values)));
  const foot = area.height - area.bottom;
  const y = (p) => foot - (p / high) * (foot - TOP);
  if (area.left) drawHeights(context, theme, area, high, y, APART * large);
  const step = (area.width - area.left - area.right) / names.length;
  const upright = step > APART * large ? new Set(names.keys()) : standing(columns, step, APART * large);
  const named = names.every((name) => context.measureText(name).width < step - 2);
  names.forEach((name, k) => {
    const x = area.left + k * step;
    const wide = (0.76 * step) / Math.max(1, rows.length);
    rows.forEach((row, r) => {
      context.fillStyle = row.colours ? row.colours[k] : lit(row.colour, theme);
      const from = x + 0.12 * step + r * wide;
      context.fillRect(from, y(row.values[k]), Math.max(1, wide - (rows.length > 1 ? 1 : 0)), foot - y(row.values[k]));
    });
    context.fillStyle = css(theme.text);
    context.fillRect(x + 0.04 * step, y(law[k]) - large, 0.92 * step, 2 * large);
    if (columns.run) drawDashes(context, x + 0.04 * step, y(columns.run[k]), 0.92 * step, large);
    context.fillStyle = css(theme.soft);
    if (named) {
      context.textAlign = "center";
      context.fillText(name, x + step / 2, area.height - 5 * large);
    } else if (upright.has(k)) drawUpright(context, name, x + step / 2, foot + 4 * large);
  });
}

function drawDashes(context, x, y, wide, large) {
  context.strokeStyle = context.fillStyle;
  context.lineWidth = 2 * large;
  context.setLineDash([4 * large, 3 * large]);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + wide, y);
  context.stroke();
  context.setLineDash([]);
}

// Of more states than names have room for: those that stand out, the highest first, so far apart.
function standing({ names, law, rows }, step, apart) {
  const high = names.map((_, k) => Math.max(law[k], ...rows.map((row) => row.values[k])));
  const least = OUT * Math.max(...high);
  const chosen = [];
  for (const k of [...names.keys()].sort((a, b) => high[b] - high[a])) {
    if (high[k] >= least && chosen.every((other) => Math.abs(other - k) * step > apart)) chosen.push(k);
  }
  return new Set(chosen);
}

// A name that is too wide stands on its end.
function drawUpright(context, name, x, y) {
  context.save();
  context.translate(x, y);
  context.rotate(Math.PI / 2);
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(name, 0, 0);
  context.restore();
}

function drawHeights(context, theme, { left, right, width }, high, y, apart) {
  context.strokeStyle = css(theme.rule);
  context.fillStyle = css(theme.soft);
  context.lineWidth = 1;
  context.textAlign = "right";
  let tick = high > 0.5 ? 0.25 : high > 0.2 ? 0.1 : high > 0.08 ? 0.04 : 0.01;
  while (2 * tick <= high && y(0) - y(tick) < apart) tick *= 2;
  for (let p = 0; p <= high; p += tick) {
    context.fillText(String(Number(p.toFixed(2))), left - 5, y(p) + 4);
    context.beginPath();
    context.moveTo(left, Math.round(y(p)) + 0.5);
    context.lineTo(width - right, Math.round(y(p)) + 0.5);
    context.stroke();
  }
}

// In words: each state with its shares.
export function columnWords({ names, law, rows }, number) {
  return names
    .map((name, k) => `${name}: ${rows.map((row) => number(row.values[k])).join(", ")}, exactly ${number(law[k])}`)
    .join("; ");
}
