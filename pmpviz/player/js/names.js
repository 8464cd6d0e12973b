// Where a name stands in a chart: the exact line's at that line, the noise band's at its band, out of the curves' way.

import { haloed, thousands } from "./theme.js";

const NAME = 14; // Pixels: the height of a name in the chart.
const FAINT = 0.5; // Of a line: what a faint one counts where a name strikes it out.
const NAMES = 10; // Of a line: what a name counts, which cannot be read beneath another one.

// Above the lines, so that none strikes it out, and where it strikes out none: as before, else where there are fewest.
// Where only its beginning finds such a place, or has the room, that stands alone. Whether the farthest that chance came
// is named, too.
export function nameBand(chart, all) {
  const { band } = chart.trace;
  const area = band?.since ? { ...all, left: Math.min(Math.max(all.left, chart.x.px(band.since)), all.right) } : all;
  chart.boxes = [...((chart.marks && chart.marks.boxes) || [])];
  if (!band || !band.label) return false;
  const floor = Math.min(chart.y.px(chart.y.log ? Math.max(band.low, chart.y.ends[0]) : band.low), area.bottom);
  const roof = Math.max(chart.y.px(band.high), area.top);
  const inside = floor - roof > 2 * NAME ? [roof + NAME - 3] : [];
  const fits = chart.context.measureText(band.label).width < area.right - area.left - 8;
  // Above its band a name points down to it.
  const above = roof - 6;
  const told = (words) => (y) => (y === above && inside.length ? `↓ ${words}` : words);
  const [across, heights] = [[0, 1, 0.5, 0.25, 0.75], [floor - 5, ...inside, above]];
  const named = (words, must) =>
    write(chart, area, { key: "band", told: told(words), across, heights, colour: chart.theme.soft, must });
  if (!fits || !named(band.label, false)) named(band.label.split(":")[0], true);
  const farthest = chart.y.px(band.most);
  if (!(farthest > area.top && farthest < area.bottom)) return false;
  for (const words of [`by chance 1 in ${thousands(1000)} is above`, `1 in ${thousands(1000)} is above`]) {
    const room = chart.context.measureText(words).width < area.right - area.left - 8;
    const at = { key: "farthest", told: () => words, across, heights: [farthest - 4, farthest + 13], colour: chart.theme.soft, must: false };
    if (room && write(chart, area, at)) return true;
  }
  return false;
}

// Above or beneath the line that begins at `from`; where it would strike out a curve on both sides, a line further off,
// or what it is alone, without what chance does to it.
export function nameExact(chart, area, from, y) {
  const left = Math.min(Math.max(area.left, from - 5), area.right);
  const [over, under] = [y - 24, y + 33];
  const told = (words) => (at) => `${{ [over]: "↓ ", [under]: "↑ " }[at] || ""}${words}`;
  const [across, heights] = [[1, 0.75, 0.5, 0.25, 0], [y - 7, y + 16, over, under]];
  const named = (words, must) =>
    write(chart, { ...area, left }, { key: "exact", told: told(words), across, heights, colour: chart.theme.text, must });
  const { label } = chart.trace.exact;
  const alone = label.split("; ")[0];
  const fits = chart.context.measureText(label).width < area.right - left - 8; // Else it would begin over the axis.
  if (alone === label || !fits || !named(label, false)) named(alone, true);
}

// Whether it is written, `across` the room in these shares: where it would strike out a curve, only if it `must` be, and
// never over another name.
function write(chart, area, { key, told, across, heights, colour, must }) {
  const wide = Math.max(...heights.map((y) => chart.context.measureText(told(y)).width));
  const right = area.right - 5 - wide;
  const left = Math.min(area.left + 5, right);
  const inside = heights.filter((y) => y - NAME > area.top && y < area.bottom - 2);
  const rows = inside.length ? inside : heights.slice(-1);
  const places = rows.flatMap((y) => across.map((share) => [left + share * (right - left), y]));
  const boxes = places.map(([x, y]) => [x - 2, x + wide + 2, y - NAME - 3, y + 5]);
  const struck = boxes.map((box) => linesIn(chart, box.slice(0, 2), box.slice(2)) + namesIn(chart.boxes, box));
  const before = (chart.named[key] || {}).place;
  const least = Math.min(...struck);
  if (least >= (must ? NAMES : FAINT)) return false;
  const kept = struck[before] === least ? before : struck.indexOf(least);
  chart.named[key] = { place: kept, at: places[kept] };
  chart.boxes = [...(chart.boxes || []), boxes[kept]];
  chart.context.textAlign = "left";
  haloed(chart.context, chart.theme, told(places[kept][1]), ...places[kept], colour);
  return true;
}

// What the names in a box count.
function namesIn(boxes, [left, right, top, bottom]) {
  const met = ([a, b, c, d]) => a < right && b > left && c < bottom && d > top;
  return NAMES * (boxes || []).filter(met).length;
}

// How many lines pass through a box, a faint one for less.
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
  const passing = chart.lines.filter((line) => line.x && through(line));
  return passing.reduce((sum, line) => sum + (line.faint ? FAINT : 1), 0);
}
