// How often each state was the best, against the exact law, in the colours of the map.

import { drawColumns } from "../pmpviz.player/columns.js";
import { css, make, mix, number, rgb, sized } from "../pmpviz.player/theme.js";

const [HEIGHT, CLASS_HEIGHT, CLASS_FEW, FEW] = [170, 124, 150, 4]; // Of so few states the pictures above are low.
const ALONE = 0.48; // Of the window, where they have the column before a class.
const [TALL, LOWER] = [900, 0.35]; // Of each pixel that a window is lower than this they give up a share.
const FONT = 11.5;
const [LEFT, RIGHT, BOTTOM] = [36, 8, 22];

export class Bars {
  constructor() {
    this.root = make("figure", "at-bars");
    this.title = make("figcaption", "pv-title");
    this.head = make("span");
    this.count = make("span", "pv-unit");
    this.title.append(this.head, this.count);
    this.canvas = make("canvas", "pv-chart");
    this.canvas.dataset.testid = "atlas-bars";
    this.canvas.setAttribute("role", "img");
    this.words = make("div", "at-words");
    this.root.append(this.title, this.canvas, this.words);
  }

  // The first `shown` samples; grey without `colours`.
  draw(samples, shown, colours, theme, scale, alone = false) {
    this.root.hidden = !samples;
    if (!samples) return;
    const { law, names, regions, places } = samples;
    const run = shown >= samples.few ? samples.run : null; // What samples have not shown is not given away.
    this.name(run);
    [this.left, this.bottom] = [LEFT, BOTTOM].map((v) => Math.round(v * scale));
    const counts = new Float64Array(law.length);
    for (let k = 0; k < shown; k++) counts[places[k]] += 1;
    const share = counts.map((count) => count / Math.max(1, shown));
    const [width, plain] = [Math.max(200, this.root.clientWidth), alone ? ALONE * window.innerHeight : highOf(names.length, scale)];
    const font = `${FONT * scale}px ${theme.font}`;
    const column = (width - this.left - RIGHT) / names.length;
    // Where not even names on their ends have a place, none is written, and no room is kept for them.
    const readable = samples.readable && column >= FONT * scale;
    const longest = this.longest(readable ? names : [], font);
    // Names that are too wide stand on their ends, in full.
    const upright = longest + 2 > column;
    const bottom = upright ? Math.ceil(longest + 8 * scale) : this.bottom;
    const height = plain + bottom - this.bottom;
    const context = sized(this.canvas, width, height);
    context.clearRect(0, 0, width, height);
    context.font = font;
    const inks = names.map((_, k) => css(colours ? mix(rgb(colours[regions[k]]), theme.ground, 0.15) : theme.soft));
    const columns = { names: readable ? names : names.map(() => ""), law: law.slice(0, names.length) };
    columns.rows = [{ values: share.slice(0, names.length), colours: inks }];
    columns.run = run;
    drawColumns(context, theme, { left: this.left, right: RIGHT, bottom, width, height }, columns, scale);
    this.say(samples, share, shown);
    this.words.hidden = scale > 1 && !colours; // Where the bars are beside the question.
  }

  longest(names, font) {
    const context = this.canvas.getContext("2d");
    context.font = font;
    return Math.max(0, ...names.map((name) => context.measureText(name).width));
  }

  name(run) {
    const words = run ? "Lines: exact law; dashes: long run" : "States' shares; lines: exact law";
    if (this.head.textContent !== words) this.head.textContent = words;
  }

  say({ law, floors, names, most, points }, share, shown) {
    const distance = share.reduce((sum, p, k) => sum + Math.abs(p - law[k]), 0) / 2;
    const floor = floors.findLast(([count]) => count <= shown)?.[1];
    const all = floor === undefined ? "" : `; as many exact draws would be ${number(floor)} off on average`;
    const more = law.length > names.length ? ` The likeliest ${names.length} of ${law.length} are drawn.` : "";
    const words = shown ? `Total variation to the exact law ${number(distance)}${all}.${more}` : "";
    if (this.words.textContent !== words) this.words.textContent = words;
    const of = points && this.whole && shown < most ? ` of ${most}: more come` : "";
    this.count.textContent = of ? `${shown}${of}` : `${shown} sample${shown === 1 ? "" : "s"}`;
    this.canvas.dataset.samples = shown;
    this.canvas.setAttribute("aria-label", `${this.head.textContent}: ${words}`);
  }
}

function highOf(states, scale) {
  if (scale > 1) return states > FEW ? CLASS_HEIGHT : CLASS_FEW;
  return HEIGHT - LOWER * Math.max(0, TALL - window.innerHeight);
}
