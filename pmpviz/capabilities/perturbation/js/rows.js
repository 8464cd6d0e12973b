// What a question is about, a bar a row: how often each solver missed the best state, how many attempts go on.

import { make } from "../pmpviz.player/theme.js";

export class Rows {
  constructor() {
    this.root = make("figure", "at-rows");
    this.title = make("figcaption", "pv-title");
    this.list = make("div", "at-row-list");
    this.root.append(this.title, this.list);
  }

  // `rows` is { title, bars: [{ name, share, count, colour }] }, or null.
  draw(rows) {
    this.root.hidden = !rows;
    const told = JSON.stringify(rows);
    if (told === this.told) return;
    this.told = told;
    this.title.textContent = rows ? rows.title : "";
    this.list.replaceChildren(...(rows ? rows.bars : []).flatMap(({ name, share, count, colour }) => {
      const track = make("span", "at-row-track");
      const bar = make("span", "at-row-bar");
      Object.assign(bar.style, { width: `${100 * share}%`, background: colour });
      track.append(bar);
      return [make("span", "at-row-name", name), track, make("span", "at-row-count", count)];
    }));
  }
}
