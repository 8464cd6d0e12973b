// What a person has changed, as uprights with words: those that would overlap are one, and none is cut off.

import { linesIn } from "./names.js";
import { css, haloed } from "./theme.js";

const ROOM = 4;
const ROW = 12;

// What has several places, as lanes change at sweeps of their own, is told once.
const once = (texts) => [...new Set(texts)];

// Groups of marks [place in pixels, text] whose words, `width(text)` wide, would lie over each other: the words of each
// group, and where they stand. Words that are wider than the chart are shortened. A group is called by its last mark, by
// one with a true third entry, `slight`, only where there is no other.
export function grouped(marks, left, right, width) {
  const groups = [];
  for (const [x, text, slight] of [...marks].sort((a, b) => a[0] - b[0])) {
    const last = groups[groups.length - 1];
    if (last && x < last.from + width(label(last.texts)) + 2 * ROOM) last.texts[slight ? "unshift" : "push"](text);
    else groups.push({ from: x, xs: [], texts: [text] });
    groups[groups.length - 1].xs.push(x);
  }
  return groups.map(({ from, xs, texts }) => {
    let words = label(texts);
    const parts = words.split(", ");
    const wide = () => width(words) > right - left - 2 * ROOM;
    // Whole changes are left out first; the pointer tells all.
    for (let kept = parts.length - 1; kept > 0 && wide(); kept--) words = `${parts.slice(0, kept).join(", ")} …`;
    while (words.length > 2 && wide()) words = `${words.slice(0, -2)}…`;
    const at = Math.max(left + ROOM, Math.min(from + ROOM, right - ROOM - width(words)));
    return { xs, texts, words, at };
  });
}

// Where words may stand: in rows from the top, none of them where the exact line would strike them out, nor, lower down,
// where it has its name.
function rowsOf({ trace, y }, top, bottom) {
  const count = Math.max(3, Math.floor((bottom - top) / ROW));
  const heights = Array.from({ length: count }, (_, k) => top + ROW * (k + 1));
  const exact = Number.isFinite(trace.exact?.y) ? y.px(trace.exact.y) : NaN;
  const struck = (at) => exact > at - ROW && exact < at + ROOM;
  return heights.filter((at, k) => !(k < 3 ? struck(at) : Math.abs(at - exact) < 2 * ROW));
}

function label(all) {
  const texts = once(all);
  return texts.length > 1 ? `${texts[texts.length - 1]}, ${texts.length - 1} more` : texts[0];
}

export class Marks {
  constructor() {
    this.groups = [];
    this.heights = new Map(); // Where words stand, which stay there until a line comes.
    this.boxes = []; // [left, right, top, bottom] of what is written, which other names keep off.
  }

  draw(chart, marks, { left, right, top, bottom }) {
    const { context, theme } = chart;
    const known = marks.map(([sweep, ...more]) => [chart.x.px(sweep), ...more]).filter(([x]) => x >= left - 1 && x <= right + 1);
    this.groups = grouped(known, left, right, (text) => context.measureText(text).width);
    context.lineWidth = 1;
    context.strokeStyle = css(theme.soft);
    const placed = [];
    this.boxes = [];
    for (const { xs, words, at } of this.groups) {
      context.setLineDash([2, 3]);
      xs.forEach((x) => chart.upright(x));
      context.setLineDash([]);
      const end = at + context.measureText(words).width + ROOM;
      const rows = rowsOf(chart, top, bottom);
      const free = rows.filter((y) => !placed.some((other) => other.end > at && Math.abs(other.y - y) < ROW));
      const wanted = [...free.filter((y) => y === this.heights.get(words)), ...free];
      const y = wanted.find((y) => !linesIn(chart, [at, end], [y - ROW, y + ROOM])) ?? free[0] ?? rows[0];
      this.heights.set(words, y);
      placed.push({ end, y });
      this.boxes.push([at, end, y - ROW, y + ROOM]);
      context.textAlign = "left";
      haloed(context, theme, words, at, y, theme.soft);
      context.strokeStyle = css(theme.soft);
    }
  }

  // The words of all marks close to a place.
  at(px) {
    return once(this.groups.filter(({ xs }) => xs.some((x) => Math.abs(x - px) < 6)).flatMap(({ texts }) => texts));
  }
}
