// What the pointer on a chart is told: the place, and every line's value there. `chart` has its trace, scales and lines.

import { one } from "./bar.js";
import { number, show } from "./scale.js";

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
    const words = range ? ` (${number(range[0][near])} to ${number(range[1][near])})` : "";
    const value = (line.own || line.y)[near]; // Beneath a log axis' foot the line is drawn at it.
    return [{ x: line.x[near], words: `${name}${number(value)}${words}` }];
  });
}
