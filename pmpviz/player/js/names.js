// Where a name stands in a chart: the exact line's and the noise band's, out of the curves' way.

import { haloed } from "./theme.js";

const NAME = 14; // Pixels: the height of a name in the chart.

// Above the lines, so that none strikes it out, and where it strikes out none: as before, else where there are fewest.
// Where only its beginning finds such a place, or has the room, that stands alone.
export function nameBand(chart, area) {
  const { band } = chart.trace;
  if (!band || !band.label) return;
  const floor = Math.min(chart.y.px(chart.y.log ? Math.max(band.low, chart.y.ends[0]) : band.low), area.bottom);
  const roof = Math.max(chart.y.px(band.high), area.top);
  const inside = floor - roof > 2 * NAME ? [roof + NAME - 3] : [];
  const across = ["left", "right", "middle"];
  const fits = chart.context.measureText(band.label).width < area.right - area.left - 8;
  // Above its band a name points down to it.
  const above = roof - 6;
  const told = (words) => (y) => (y === above && inside.length ? `↓ ${words}` : words);
  const named = (words, must) =>
    write(chart, area, "band", told(words), across, [floor - 5, ...inside, above], floor - 5, chart.theme.soft, must);
  if (!fits || !named(band.label, false)) named(band.label.split(":")[0], true);
}

// Above or beneath the line that begins at `from`.
export function nameExact(chart, area, from, y) {
  const across = from > area.left ? ["right"] : ["right", "left", "middle"];
  const { label } = chart.trace.exact;
  if (write(chart, area, "exact", () => label, across, [y - 7, y + 16], y + 16, chart.theme.text)) return;
  // Where curves lie along the line, its name stands off it, with a piece of it.
  const edges = [area.top + NAME + 2, area.bottom - 5];
  write(chart, area, "exact", () => `— ${label}`, ["right", "middle", "left"], edges, y + 16, chart.theme.text, true);
}

// Whether it is written: where it would strike out a curve, only if it `must` be.
function write(chart, area, key, told, across, heights, otherwise, colour, must = key !== "exact") {
  const wide = Math.max(...heights.map((y) => chart.context.measureText(told(y)).width));
  const [left, right] = [area.left + 5, area.right - 5 - wide];
  const at = { left, right, middle: (left + right) / 2 };
  const inside = heights.filter((y) => y - NAME > area.top && y < area.bottom - 2);
  const places = (inside.length ? inside : [otherwise]).flatMap((y) => across.map((name) => [at[name], y]));
  const struck = places.map(([x, y]) => linesIn(chart, [x - 2, x + wide + 2], [y - NAME - 3, y + 5]));
  const before = (chart.named[key] || {}).place;
  const least = Math.min(...struck);
  if (least && !must) return false;
  const kept = struck[before] === 0 ? before : struck.indexOf(least);
  chart.named[key] = { place: kept, at: places[kept] };
  chart.context.textAlign = "left";
  haloed(chart.context, chart.theme, told(places[kept][1]), ...places[kept], colour);
  return true;
}

// How many lines pass through a box.
export function linesIn(chart, [left, right], [top, bottom]) {
  const through = (line) => {
    let [before, y0] = [NaN, NaN];
    for (let i = 0; i < (line.y || []).length; i++) {
      const [x, y] = [chart.x.px(line.x[i]), chart.y.px(line.y[i])];
      const [from, to] = [Math.max(left, before), Math.min(right, x)];
      if (from <= to || (Number.isNaN(before) && x >= left && x <= right)) {
        const at = (px) => (x > before ? y0 + ((y - y0) * (px - before)) / (x - before) : y);
        const [a, b] = [at(from), at(to)];
        if (Math.max(a, b) >= top && Math.min(a, b) <= bottom) return true;
      }
      [before, y0] = [x, y];
    }
    return false;
  };
  return chart.lines.filter((line) => line.x && through(line)).length;
}
