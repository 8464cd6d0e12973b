// What a person has changed, as uprights with words: those that would overlap are one, and none is cut off.

import { css, haloed } from "./theme.js";

const ROOM = 4;

// Groups of marks [place in pixels, text] whose words, `width(text)` wide, would lie over each other: the words of each
// group, and where they stand. Words that are wider than the chart are shortened.
export function grouped(marks, left, right, width) {
  const groups = [];
  for (const [x, text] of [...marks].sort((a, b) => a[0] - b[0])) {
    const last = groups[groups.length - 1];
    if (last && x < last.from + width(label(last.texts)) + 2 * ROOM) last.texts.push(text);
    else groups.push({ from: x, xs: [], texts: [text] });
    groups[groups.length - 1].xs.push(x);
  }
  return groups.map(({ from, xs, texts }) => {
    let words = label(texts);
    while (words.length > 2 && width(words) > right - left - 2 * ROOM) words = `${words.slice(0, -2)}…`;
    const at = Math.max(left + ROOM, Math.min(from + ROOM, right - ROOM - width(words)));
    return { xs, texts, words, at };
  });
}

function label(texts) {
  return texts.length > 1 ? `${texts[texts.length - 1]} (+${texts.length - 1})` : texts[0];
}

export class Marks {
  constructor() {
    this.groups = [];
  }

  draw(chart, marks, { left, right, top }) {
    const { context, theme } = chart;
    const placed = marks.map(([sweep, text]) => [chart.x.px(sweep), text]).filter(([x]) => x >= left - 1 && x <= right + 1);
    this.groups = grouped(placed, left, right, (text) => context.measureText(text).width);
    context.lineWidth = 1;
    context.strokeStyle = css(theme.soft);
    let [end, row] = [-Infinity, 0];
    for (const { xs, words, at } of this.groups) {
      context.setLineDash([2, 3]);
      xs.forEach((x) => chart.upright(x));
      context.setLineDash([]);
      row = at < end ? (row + 1) % 3 : 0;
      end = at + context.measureText(words).width + ROOM;
      context.textAlign = "left";
      haloed(context, theme, words, at, top + 12 + 12 * row, theme.soft);
      context.strokeStyle = css(theme.soft);
    }
  }

  // The words of all marks close to a place.
  at(px) {
    return this.groups.filter(({ xs }) => xs.some((x) => Math.abs(x - px) < 6)).flatMap(({ texts }) => texts);
  }
}
