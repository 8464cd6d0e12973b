// Messages on their way, with their numbers: labels that keep apart from one another.

import { impossible } from "./replay.js";
import { css, mix } from "../pmpviz.player/theme.js";

const ROUNDS = 24;
const LINE = 15;
const GAP = 3;

// A label of these rows of words around a point; `colours` are those of the states, one a row.
export function pill(context, theme, [x, y], rows, colour, colours, large) {
  context.font = `600 ${12 * large}px ${theme.font}`;
  const mark = colours ? 10 * large : 0;
  const wide = Math.max(...rows.map((words) => context.measureText(words).width)) + mark + 14;
  return { x, y, wide, high: LINE * large * rows.length + 7, rows, colour, colours, mark, large };
}

// Pushes labels that cover one another apart, each pair the shorter way, and all into the picture.
export function separate(pills, width, height) {
  for (let round = 0; round < ROUNDS; round++) {
    let moved = false;
    pills.forEach((one, k) => pills.slice(k + 1).forEach((other) => (moved = push(one, other) || moved)));
    for (const each of pills) {
      each.x = Math.max(each.wide / 2 + 2, Math.min(width - each.wide / 2 - 2, each.x));
      each.y = Math.max(each.high / 2 + 2, Math.min(height - each.high / 2 - 2, each.y));
    }
    if (!moved) return;
  }
}

function push(one, other) {
  const across = (one.wide + other.wide) / 2 + GAP - Math.abs(one.x - other.x);
  const up = (one.high + other.high) / 2 + GAP - Math.abs(one.y - other.y);
  if (across <= 0 || up <= 0) return false;
  const axis = across < up ? "x" : "y";
  const step = ((axis === "x" ? across : up) / 2) * (one[axis] <= other[axis] ? 1 : -1);
  one[axis] -= step;
  other[axis] += step;
  return true;
}

export function drawPill(context, theme, { x, y, wide, high, rows, colour, colours, mark, large }) {
  context.fillStyle = css(theme.ground);
  context.strokeStyle = css(mix(theme.soft, colour, 0.9));
  context.lineWidth = 2.5;
  context.beginPath();
  context.roundRect(x - wide / 2, y - high / 2, wide, high, Math.min(11 * large, high / 2));
  context.fill();
  context.stroke();
  context.font = `600 ${12 * large}px ${theme.font}`;
  context.textBaseline = "middle";
  context.textAlign = colours ? "right" : "center";
  rows.forEach((words, k) => {
    const at = y + (k - (rows.length - 1) / 2) * LINE * large + 0.5;
    context.fillStyle = css(theme.text);
    context.fillText(words, colours ? x + wide / 2 - 7 : x, at);
    if (!colours) return;
    context.fillStyle = css(colours[k]);
    context.fillRect(x - wide / 2 + 6, at - 4, mark - 3, 8);
  });
}

// The labels of an event's message: of two states one number, of up to five one a state.
export function rowsOf(message, words, plain) {
  if (message.length === 2 || message.length > 5) return [words];
  return [...message].map((value) => (impossible(value) ? "−∞" : plain(value)));
}
