// What the pointer on a chart is told: the place, and every line's value there. `chart` has its trace, scales and lines.

import { one } from "./bar.js";
import { number, show, thousands } from "./scale.js";

const LEAST = 1e-3; // A smaller value is told by its power of ten.
const HERE = 0.5; // Pixels: a point that is no further from the pointer is the one under it.

// The place, or the point of a line that this pixel is of, and what each line is at its point nearest to it.
export function told(chart, px) {
  const found = values(chart, px);
  const here = found.find(({ x }) => Math.abs(chart.x.px(x) - px) <= HERE);
  const at = ({ x }) => show(chart.trace.x, x);
  const head = at(here || { x: chart.x.value(px) });
  const unit = chart.trace.x === "seconds" ? "" : `${one(chart.trace.x)} `;
  const words = found.map((each) => (at(each) === head ? each.words : `${each.words}, at ${unit}${at(each)}`));
  return [`${chart.trace.x} ${head}`, ...words];
}

// "name value (least to most)" of each line at the point nearest to a place, and where that is.
function values(chart, px) {
  const all = chart.lines;
  const lines = all.filter((line) => !line.faint || !all.some((other) => other.dots && other.lane === line.lane));
  return lines.flatMap((line) => {
    if (!line.x || !line.x.length) return [];
    let near = 0;
    for (let i = 1; i < line.x.length; i++) {
      if (Math.abs(chart.x.px(line.x[i]) - px) < Math.abs(chart.x.px(line.x[near]) - px)) near = i;
    }
    if (!Number.isFinite(line.y[near])) return [];
    const name = lines.length > 1 && line.name ? `${line.name}: ` : "";
    const range = line.least && line.most ? [line.least, line.most] : line.low && line.high ? [line.low, line.high] : null;
    const value = (line.own || line.y)[near]; // Beneath a log axis' foot the line is drawn at it.
    return [{ x: line.x[near], words: `${name}${fine(chart.y, value)}${ranged(chart.y, range, near)}` }];
  });
}

// Between which two values it lies, where these are printed apart; at most the second of a range that is open below.
function ranged(scale, range, near) {
  if (!range || range.some((ends) => Number.isNaN(ends[near]))) return "";
  const [low, high] = range.map((ends) => fine(scale, ends[near]));
  if (range[0][near] === -Infinity) return ` (at most ${high})`;
  return low === high ? "" : ` (${low} to ${high})`;
}

// As many digits as tell apart what is seen apart along a linear axis, three at least.
function fine({ log, ends }, value) {
  const span = ends ? Math.abs(ends[1] - ends[0]) : 0;
  const more = log || !span || !value ? 0 : Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(span));
  if (!Number.isFinite(value) || more < 1 || Math.abs(value) < LEAST) return number(value);
  const [whole, part] = String(Math.abs(Number(value.toPrecision(Math.min(9, 3 + more))))).split(".");
  return `${value < 0 ? "−" : ""}${thousands(Number(whole))}${part ? `.${part}` : ""}`;
}
