// How high the pictures of a stage and the traces beside them may be, so that all of it is seen at once.

import { HEIGHT } from "./chart.js";
import { Stage } from "./component.js";
import { brief } from "./sentences.js";
import { enlarged, make, topOf } from "./theme.js";

const FEW_TRACES = 2; // As in player.css; one before a class.
export const LOW = 0.5; // A stage that begins lower in the window is scrolled to.
const MARGIN = 12;
const GAP = 8;
const TITLE = 40; // What stands above and beneath a trace.
const [LEAST_TRACE, MOST_TRACE] = [100, 230];
const [CLASS_LEAST, CLASS_MOST] = [90, 300]; // The same before a class, where one trace stands alone.
const QUESTION = 56;
const [LOWEST_HIGH, LEAST_HIGH] = [84, 110]; // Of several rows, of one.
const MOST_HIGH = 720;
const [LINES, FEWER, LOW_WINDOW] = [3, 2, 800]; // Of a verdict, at least; in a lower window fewer of several lanes.

// Brings `main`, `stage`, `lanes`, `said`, `side`, `traces` and `more` too, and `countMore()`.
export class Room extends Stage {
  constructor(parent, name) {
    super(parent, name);
    this.floor = 0; // Pixels that what is said is to have at least.
    this.letters = 0; // Of what will stand beneath the verdict, where that is known.
    this.verdictLetters = 0; // Of the verdict itself, where it will take more than a few lines.
  }

  // What came above later, or a window of another height, leaves the stage another room.
  stand() {
    const room = window.innerHeight - topOf(this.main);
    if (Math.abs(room - this.stood) < 1) return;
    this.stood = room;
    this.layout();
  }

  // How high pictures in so many rows may be for all of the stage to be seen at once; so high that they are worth
  // looking at before the last words are.
  high(rows, worth = rows === 1 ? 0 : LEAST_HIGH) {
    const top = topOf(this.main);
    const below = this.main.offsetHeight - this.stage.offsetHeight;
    const around = Math.max(0, ...this.lanes.map((lane) => lane.root.offsetHeight - lane.canvas.offsetHeight));
    // A stage low on its page is scrolled to, with its question at the top of the window.
    const above = top > LOW * window.innerHeight ? QUESTION : top;
    const left = (under) => (window.innerHeight - above - under - MARGIN) / rows - around - GAP;
    if (left(below) >= worth) return Math.max(LEAST_HIGH, Math.min(MOST_HIGH, left(below)));
    // In a low window what is found is to be seen, if not what is computed.
    const rest = this.said.children.length > 1 ? this.said.lastChild.offsetHeight : 0;
    return Math.max(rows === 1 ? LEAST_HIGH : LOWEST_HIGH, Math.min(worth, left(below - rest)));
  }

  // How many are seen before the others are asked for.
  fewTraces() {
    return this.large ? 1 : FEW_TRACES;
  }

  // Traces beside the pictures are as high as these leave room for.
  spread() {
    const few = this.side.classList.contains("pv-few");
    this.countMore();
    // Before a class a button that would be cut at the window's edge is left out.
    if (this.large && few && this.sideBySide && this.leftHigh(few) < CLASS_LEAST) this.more.hidden = true;
    const [least, most] = this.large ? [CLASS_LEAST, CLASS_MOST] : [this.fitting(HEIGHT), this.fitting(MOST_TRACE)];
    const before = this.traces.high;
    this.traces.high = few && this.sideBySide ? Math.min(most, Math.max(least, this.leftHigh(few))) : HEIGHT;
    this.tracesDirty = this.tracesDirty || Math.abs(this.traces.high - before) > 1;
  }

  // What titles, words and buttons as they stand now leave to each trace.
  leftHigh(few) {
    const count = Math.min(this.traces.cards.size, few ? this.fewTraces() : Infinity);
    const seen = window.innerHeight - MARGIN - this.seenFrom(this.side);
    const room = this.large ? seen : Math.min(this.main.offsetHeight, seen);
    return (room - this.side.offsetHeight + this.traces.drawnHigh()) / count / enlarged();
  }

  // Before a class alone, where what else stands beside the pictures is folded away.
  spreadBeforeClass() {
    if (this.large) this.spread();
    else this.fitTraces();
  }

  // Of a page that gives its traces one height.
  fitTraces() {
    const beside = this.side.classList.contains("pv-few") && this.sideBySide;
    this.traces.high = beside ? this.fitting(HEIGHT) : HEIGHT;
  }

  // So much, or less where the window is too low for the traces beside the pictures.
  fitting(most) {
    const count = Math.max(1, Math.min(this.traces.cards.size, this.large ? FEW_TRACES : this.fewTraces()));
    const room = (window.innerHeight - MARGIN - this.seenFrom(this.traces.root)) / count - TITLE;
    return Math.min(most, Math.max(LEAST_TRACE, room));
  }

  // Where something stands in the window: a stage low on its page is scrolled to, with its question above it.
  seenFrom(element) {
    const top = topOf(this.main);
    return topOf(element) - (top > LOW * window.innerHeight ? top - QUESTION * enlarged() : 0);
  }

  // Whether traces stand beside the pictures.
  get sideBySide() {
    return this.side.offsetTop < this.main.offsetTop + this.main.offsetHeight / 2;
  }

  // The room of the longest that is to be found is kept from the start on.
  keep(long) {
    const room = JSON.stringify([long, this.large, this.said.parentNode.clientWidth]);
    if (room === this.reserved) return;
    this.reserved = room;
    const words = (text, k) => (this.large && !k ? brief(text) : text);
    this.floor = long.length ? this.roomOf(long.map((text, k) => make("p", k ? "pv-soft" : "pv-verdict", words(text, k)))) : 0;
    this.holdRoom();
  }

  // Nothing above or beneath moves while words come and go: a verdict has the room of a few lines from the start on, and
  // what words once needed they keep.
  holdRoom() {
    const [verdict, ...soft] = this.said.children;
    if (!verdict || this.leaves) return;
    this.said.style.minHeight = "";
    const lines = this.lanes.length > 1 && window.innerHeight < LOW_WINDOW ? FEWER : LINES;
    const shape = [this.large, this.said.parentNode.clientWidth, this.lanes.length, lines, this.letters, this.verdictLetters].join();
    if (shape !== this.shape) {
      const long = make("p", "pv-verdict", "letters ".repeat(this.verdictLetters / 8));
      const short = make("p", "pv-verdict");
      short.append(...Array.from({ length: lines }, () => make("br")));
      const beneath = this.letters ? [make("p", "pv-soft", "letters ".repeat(this.letters / 8))] : soft.map((words) => words.cloneNode(true));
      this.needed = this.large ? 0 : Math.max(...[short, long].map((verdict) => this.roomOf([verdict, ...beneath])));
    }
    this.shape = shape;
    const { paddingTop, paddingBottom } = getComputedStyle(this.said);
    this.needed = Math.max(this.needed, this.floor, this.said.offsetHeight - parseFloat(paddingTop) - parseFloat(paddingBottom));
    this.said.style.minHeight = `${this.needed}px`;
  }

  // How high such paragraphs are beneath the pictures.
  roomOf(paragraphs) {
    const trial = this.said.cloneNode();
    trial.style.cssText = `position: absolute; visibility: hidden; width: ${this.said.parentNode.clientWidth}px`;
    trial.append(...paragraphs);
    this.said.parentNode.append(trial);
    const high = trial.offsetHeight;
    trial.remove();
    return high;
  }
}
