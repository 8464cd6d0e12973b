// What stands beneath the small pictures.

import { enlarged, number } from "../pmpviz.player/theme.js";

const FEW = 2; // Sites with their numbers in them.

// The ends of a colour scale. Before a class captions are short, and two circles have their numbers in them.
export function ends(limit, count) {
  const most = number(Number(limit.toPrecision(2))); // As the circles have it.
  if (enlarged() > 1) return count > FEW ? `−${most} blue to ${most}` : "";
  return `blue −${most} to orange ${most}`;
}

// What a solver makes of the noise, as it was asked.
export function asked({ label, colour, energy: value, rounded, settled, picture, pending }, restless) {
  const rest = settled.startsWith("not") ? settled : restless && settled ? "settles once damped" : "";
  // Before a class captions are short.
  const short = enlarged() > 1 && rounded;
  const grey = short ? rounded.replace(/, grey[^;]*/, "") : `${rounded}energy `;
  const how = `${grey}${value === null ? "" : energy(value)}${rest ? `; ${rest}` : ""}`;
  const words = pending ? "solving …" : value === null ? "cannot run here" : how;
  return { title: label, colour, kind: "state", values: picture, words };
}

export function energy(value) {
  return value.toFixed(Math.abs(value) < 100 ? 2 : 1).replace("-", "−");
}
