// The stage of the learning page: what the models dream, and beside it the filters that it is made of.

import { actionButton } from "../pmpviz.player/bar.js";
import { mounted } from "../pmpviz.player/component.js";
import { bit, decode, opened } from "../pmpviz.player/decode.js";
import { NARROWEST, Player } from "../pmpviz.player/player.js";
import { css, make, number, sized, thousands } from "../pmpviz.player/theme.js";
import { Filters } from "./filters.js";

const SIDE_BY_SIDE = 440; // From this width on the filters of one lane stand beside its samples.
const GAP = 16;
const RACED = { verdict: 560, beneath: 640 }; // Letters of what will be said of two.
const SEEN = 180; // So high are samples of which strokes are seen.
const FIVE = 322; // As wide as five filters in a row.
// What the words of the charts and of the verdict mean, by the beginning of a chart's name.
const TERMS = {
  filter: "Filter: the weights of a hidden unit to the pixels; blue ones are below 0, orange ones above.",
  likelihood:
    "Log-likelihood: the natural logarithm of the probability that the model gives a picture, in nats, on average. " +
    "Higher is better; where pictures are so many times more probable, the average is higher by the logarithm of that. " +
    "Held-out pictures are not learned from; independent pixels have the right share of ink each, and know nothing of " +
    "each other. Where it cannot be summed out it is estimated by annealing, on average too high. " +
    "The band is three standard errors of each estimate alone, of the chains that it had: what all of them missed is " +
    "not in it, so that the curve may jump by more. Where it reaches the edge of the chart it is not known how much more it is. " +
    "It may fall by more than its band and rise again: a model that learns from persistent chains does so itself.",
  mmd: "MMD²: how far apart samples and pictures are, mostly in the means of their pixels. The band is what noise gives.",
};

class Learning extends Player {
  constructor(parent) {
    super(parent);
    this.root.classList.add("ln-root");
    this.panels = make("div", "ln-panels");
    this.filters = [];
    this.data = make("figure", "ln-data");
    this.row = make("canvas");
    this.data.append(make("figcaption", "", "the data"), this.row);
    this.best = actionButton("best", "Back to the best", "", "", (name) => this.act(name));
  }

  themed() {
    super.themed();
    this.drawData();
    for (const panel of this.filters) if (panel.meta) panel.draw(this.theme);
  }

  receive(bytes) {
    const update = this.read(bytes, opening);
    if (!update || !this.isNew(update)) return;
    this.others = update.more;
    this.longest = update.longest;
    const raced = update.lanes.length > 1;
    this.verdictLetters = raced ? RACED.verdict : 0;
    this.letters = raced ? RACED.beneath : 0;
    this.adopt(update);
    this.propose(update.offer);
    this.explain();
    this.pass();
    this.adoptFilters(update.lanes);
    this.pictures = update.data;
    this.layout();
    this.wake();
  }

  // A stop at what was better stands beside the verdict; its room is there before, so that nothing moves when it comes.
  propose(words) {
    const [row, after] = this.large ? [this.more.parentNode, this.more] : [this.bar.root, null];
    if (this.best.parentNode !== row) row.insertBefore(this.best, after && after.nextSibling);
    this.best.title = words;
    this.best.style.visibility = words ? "" : "hidden";
  }

  explain() {
    for (const [id, card] of this.traces.cards) card.title.title = TERMS[id.split("-")[0]] || "";
    const verdict = this.said.querySelector(".pv-verdict");
    if (verdict) verdict.title = Object.values(TERMS).join(" ");
  }

  // Words wait for the pictures of their update, and curves end where the words on screen do.
  tellDue() {
    const waiting = [...this.untold];
    super.tellDue();
    const told = waiting[waiting.length - this.untold.length - 1];
    // Words that waited for no picture are of the one on screen.
    if (told) this.toldTo = told.due.map((due, k) => (due === -Infinity ? (this.lanes[k].shown?.sweep ?? due) : due));
  }

  forget() {
    super.forget();
    this.toldTo = undefined;
  }

  heads() {
    const of = this.lanes.map((_, k) => (this.untold.length ? (this.toldTo?.[k] ?? -Infinity) : Infinity));
    return { seconds: false, of };
  }

  // Numbers that few ask for stand behind a sign.
  tell(sentences) {
    super.tell(sentences);
    const soft = this.said.querySelector(".pv-soft");
    const old = this.said.querySelector(".pv-badge");
    if (!soft || !this.others) return old && old.remove();
    if (!old) soft.append(" ", make("span", "pv-badge", "more numbers"));
    this.said.querySelector(".pv-badge").title = this.others;
  }

  // Epochs beneath a picture are those of the picture, not of what is computed by now.
  pass() {
    for (const lane of this.lanes) {
      const { meta, sub } = lane;
      const shown = this.at === null ? lane.shown : lane.past(this.at);
      if (!meta || !shown || !sub.firstChild) continue;
      const epochs = meta.passes * shown.sweep;
      sub.firstChild.textContent = `${epochs < 100 ? number(epochs) : thousands(Math.round(epochs))} epochs`;
    }
  }

  drawTimeline() {
    if (this.lanes.some((lane) => lane.ring.length)) super.drawTimeline();
    else this.timeline.show(0, 0, null, "iteration");
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
    this.placeData();
    this.keep(this.large && this.longest ? [this.longest] : []);
    super.layout();
    this.drawData();
    this.panels.style.gridTemplateColumns = beside ? "minmax(0, 1fr)" : this.stage.style.gridTemplateColumns;
    for (const panel of this.filters) panel.fit(beside ? this.room() : 0, this.large);
  }

  // Before a class, where the data beneath the page are folded away, a row of them stands beneath the samples.
  placeData() {
    const root = this.large && this.beside && this.pictures ? this.lanes[0].root : null;
    if (this.data.parentNode === root) return;
    if (root) root.append(this.data);
    else this.data.remove();
  }

  // As large as the samples are.
  drawData() {
    if (!this.data.isConnected) return;
    const { bits, rows, cols } = this.pictures;
    const wide = this.lanes[0].canvas.clientWidth;
    const context = sized(this.row, wide, (wide * rows) / cols);
    context.fillStyle = css(this.theme.paper);
    context.fillRect(0, 0, wide, (wide * rows) / cols);
    context.fillStyle = css(this.theme.ink);
    const unit = wide / cols;
    for (let i = 0; i < rows * cols; i++) {
      if (bit(bits, i)) context.fillRect((i % cols) * unit, Math.floor(i / cols) * unit, unit + 0.5, unit + 0.5);
    }
  }

  // Beside the samples filters are as high as these; before a class, where no words stand beneath that come and go, as
  // the window leaves room for.
  room() {
    const { root, canvas } = this.lanes[0];
    if (!this.large) return root.offsetHeight;
    return Math.max(root.offsetHeight, this.high(1) + root.offsetHeight - canvas.offsetHeight);
  }

  columns() {
    if (!this.beside) return this.sideBySide() || super.columns();
    const room = this.main.clientWidth - GAP;
    const wide = Math.min(FIVE, Math.floor(room / 2));
    return { template: `minmax(0, 1fr) ${wide}px`, rows: 1, each: room - wide, high: this.high(1) };
  }

  // Lanes whose filters lie beneath them, as high as the columns are wide: how many columns there are goes by the width
  // alone, as by a height that they change it would never come to rest.
  sideBySide() {
    const count = this.lanes.length;
    const each = Math.floor((this.main.clientWidth - GAP * (count - 1)) / count);
    if (count < 2 || each < NARROWEST) return null;
    const high = this.high(1, SEEN);
    return { template: `repeat(${count}, minmax(0, 1fr))`, rows: 1, each, high, size: this.lanes[0].size(each, high) };
  }

  play(passed, now) {
    const moving = super.play(passed, now);
    if (this.filters) this.pass();
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
  if (update.data) update.data.bits = some(update.data.bits, Uint8Array);
  return update;
}

export default mounted(Learning);
