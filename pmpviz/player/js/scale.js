// Axes of the charts: from values to pixels and back, and their ticks.

import { number, seconds, superscript, thousands } from "./theme.js";

export { number, thousands };

// `px(value)` and `value(px)` between two ends of values and of pixels.
export function scale(ends, pixels, log) {
  const [f, back] = log ? [Math.log10, (v) => 10 ** v] : [(v) => v, (v) => v];
  const [low, high] = ends.map(f);
  const [from, to] = pixels;
  return {
    ends,
    log: Boolean(log),
    px: (value) => from + ((f(value) - low) / (high - low)) * (to - from),
    value: (px) => back(low + ((px - from) / (to - from)) * (high - low)),
  };
}

// A log axis with room for what is of the very beginning, at its left end.
export function withZero(axis) {
  return { ...axis, zero: true, px: (value) => axis.px(value > 0 ? value : axis.ends[0]) };
}

// A place on the axis `name` in words.
export function show(name, value) {
  return name === "seconds" ? (value ? seconds(value) : "0 s") : thousands(value);
}

export function ticks([low, high], wanted) {
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push([k * step, tick(k * step, step)]);
  // By one value alone nothing is measured.
  return found.length > 1 || wanted > 16 ? found : ticks([low, high], 2 * wanted);
}

function tick(value, step) {
  if (Math.abs(value) < step / 1e6) return "0";
  if (Math.abs(value) >= 1000) return thousands(value);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return digits > 4 ? number(value) : value.toFixed(digits).replace("-", "−");
}

export function decades([low, high]) {
  const [first, last] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
  const step = Math.ceil((last - first) / 5) || 1;
  const found = [];
  for (let k = first; k <= last; k += step) found.push([10 ** k, `10${superscript(k)}`]);
  return found;
}
