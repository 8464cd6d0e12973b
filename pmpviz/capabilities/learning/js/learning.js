// The stage of the learning page: what the models dream, and beside it the filters that it is made of.

import { mounted } from "../pmpviz.player/component.js";
import { decode, opened } from "../pmpviz.player/decode.js";
import { Player } from "../pmpviz.player/player.js";
import { make } from "../pmpviz.player/theme.js";
import { Filters } from "./filters.js";

const SIDE_BY_SIDE = 440; // From this width on the filters of one lane stand beside its samples.
const GAP = 16;
const FIVE = 322; // As wide as five filters in a row.

class Learning extends Player {
  constructor(parent) {
    super(parent);
    this.root.classList.add("ln-root");
    this.panels = make("div", "ln-panels");
    this.filters = [];
  }

  themed() {
    super.themed();
    for (const panel of this.filters) if (panel.meta) panel.draw(this.theme);
  }

  receive(bytes) {
    const update = this.read(bytes, opening);
    if (!update || !this.isNew(update)) return;
    this.adopt(update);
    this.adoptFilters(update.lanes);
    this.layout();
    this.wake();
  }

  adoptFilters(lanes) {
    while (this.filters.length > lanes.length) this.filters.pop().end();
    lanes.forEach((meta, k) => {
      if (this.filters[k] && this.filters[k].lane !== this.lanes[k]) this.filters[k].end();
      if (!this.filters[k] || this.filters[k].lane !== this.lanes[k]) {
        this.filters[k] = new Filters(this.lanes[k], () => this.wake());
        this.panels.append(this.filters[k].root);
      }
      this.filters[k].adopt(meta.filters, meta.label, this.theme);
    });
  }

  // Beside the samples of one lane, beneath those of two.
  layout() {
    if (!this.filters) return;
    const beside = this.lanes.length === 1 && this.main.clientWidth >= SIDE_BY_SIDE;
    if (beside && this.panels.parentNode !== this.stage) this.stage.append(this.panels);
    if (!beside && this.panels.parentNode !== this.main) this.stage.after(this.panels);
    this.beside = beside;
    super.layout();
    this.panels.style.gridTemplateColumns = beside ? "minmax(0, 1fr)" : this.stage.style.gridTemplateColumns;
    for (const panel of this.filters) panel.fit(beside ? this.lanes[0].root.offsetHeight : 0);
  }

  columns() {
    if (!this.beside) return super.columns();
    const room = this.main.clientWidth - GAP;
    const wide = Math.min(FIVE, Math.floor(room / 2));
    return { template: `minmax(0, 1fr) ${wide}px`, rows: 1, each: room - wide, high: this.high(1) };
  }

  play(passed, now) {
    const moving = super.play(passed, now);
    for (const panel of this.filters || []) panel.show(this.theme, this.at);
    return moving;
  }
}

// An update with the arrays of its filters read.
function opening(bytes) {
  const update = decode(bytes);
  const { some } = opened(bytes);
  for (const { filters } of update.lanes) {
    filters.weight = some(filters.weight, Int8Array);
    filters.bias = some(filters.bias, Float32Array);
    filters.limit = some(filters.limit, Float32Array);
  }
  return update;
}

export default mounted(Learning);
