// Beside the picture: how often each state was drawn, the energy of the shown trajectory, and what the shift promises.

import { ask } from "../pmpviz.player/ask.js";
import { columnWords, drawColumns } from "../pmpviz.player/columns.js";
import { ticks } from "../pmpviz.player/scale.js";
import { css, HANDLE, haloed, make, mix, number, sized, thousands } from "../pmpviz.player/theme.js";

export const ONE_HILL = 4; // lambda_1 up to which one well is guaranteed.
const COUNTS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"];
const countWords = (count) => COUNTS[count] ?? String(count);
export const counted = (count) => `${countWords(count)} well${count === 1 ? "" : "s"}`;
const TINTS = [0, 0, 0.16, 0.26, 0.36, 0.42, 0.48, 0.54, 0.6]; // Of so many wells; one has the colour of the promise.
const CLASS = 1.05; // Of the strips' heights before a class, so that all of them and the verdict are seen at once.
const LEAST = 180; // Pixels.
const [TALL, COUNT_TALL] = [78, 50]; // Of wells by shift, with what is promised and without.
const GUTTER = 36; // Left of a strip's plot, for the numbers of its axis.
const ENDS = "accepted if it ends in the blue";
const TERMS = {
  bars: "How often each configuration was drawn, all chains together, beside how often it ought to be: the lines.",
  energy: "H: energy of place plus that of motion. A trajectory is accepted if it ends below the line, which is drawn anew each time; otherwise the ball goes back to where it began. How many steps it has is drawn anew each time.",
  shift:
    "Above: how many wells there are at each shift, as counted: the crosses. Below: up to which shift a theorem promises " +
    "one, λ₁ ≤ 4. λ₁ says how strongly the spins hang together: the largest eigenvalue of the couplings W with the shift D " +
    "on their diagonal. " +
    "The theorem knows no fields: under them a well may last beyond it.",
};

class Strip {
  constructor(title, testid, height, words) {
    this.root = make("figure", "ls-strip");
    this.title = make("figcaption", "pv-title");
    this.head = make("span", "", title);
    this.note = make("span", "pv-unit");
    this.title.append(this.head, ask(words, title), this.note);
    this.canvas = make("canvas", "pv-chart");
    this.canvas.dataset.testid = testid;
    this.canvas.setAttribute("role", "img");
    this.root.append(this.title, this.canvas);
    this.tall = height;
  }

  begin(theme, scale) {
    [this.left, this.width] = this.room();
    this.canvas.style.marginLeft = `${this.left}px`;
    this.height = Math.round(this.tall * (scale > 1 ? CLASS : 1));
    const context = sized(this.canvas, this.width, this.height);
    context.clearRect(0, 0, this.width, this.height);
    context.font = `${11.5 * scale}px ${theme.font}`;
    context.setLineDash([]);
    return context;
  }

  // Where it begins in its column, and how wide it is.
  room() {
    return [0, Math.max(LEAST, this.root.clientWidth)];
  }

  say(note, words) {
    if (this.note.textContent !== note) this.note.textContent = note;
    this.canvas.setAttribute("aria-label", `${this.head.textContent}: ${words}`);
  }
}

export class Bars extends Strip {
  constructor() {
    super("How often, against exact p(s)", "landscape-bars", 132, TERMS.bars);
    this.of = make("div", "pv-note ls-of");
    this.root.append(this.of);
  }

  // `walk`: what the server has counted, or null.
  draw({ law, names, memory }, walk, inks, theme, scale) {
    const counts = walk ? walk.counts : law.map(() => 0);
    const of = walk ? `All ${thousands(walk.chains)} chains; the picture shows one.` : "";
    if (this.of.textContent !== of) this.of.textContent = of;
    const nearest = scale > 1 ? "Nearest; lines: exact" : "Nearest picture, against exact";
    this.head.textContent = memory ? nearest : "How often, against exact p(s)";
    const context = this.begin(theme, scale);
    const total = counts.reduce((a, b) => a + b, 0);
    const share = counts.map((count) => count / Math.max(1, total));
    const area = { left: GUTTER * scale, right: 0, bottom: 18 * scale, width: this.width, height: this.height };
    const columns = { names, law, rows: [{ values: share, colours: inks.map(css) }] };
    drawColumns(context, theme, area, columns, scale);
    const far = Math.max(...law.map((p, s) => Math.abs(p - share[s])));
    Object.assign(this.canvas.dataset, { draws: total, error: total ? far : "" });
    this.say(total ? `off by at most ${walk.far}` : "no draws yet", columnWords(columns, number));
  }
}

export class Energy extends Strip {
  constructor() {
    super("Energy H", "landscape-energy", 120, TERMS.energy);
  }

  // `most`: how many steps a trajectory may have.
  draw(roll, share, colour, most, theme, scale) {
    const context = this.begin(theme, scale);
    if (!roll || !roll.energy.length) return this.wait(context, theme);
    const heights = roll.energy.map((value) => value - roll.energy[0]);
    const reach = Math.max(0.25, ...heights.map(Math.abs), Math.min(roll.line, 2)) * 1.15;
    const last = heights.length - 1;
    this.head.textContent = `Energy H over ${last} step${last === 1 ? "" : "s"}`;
    const left = GUTTER * scale;
    const x = (k) => left + 8 + (k / last) * (this.width - left - 16);
    const y = (h) => this.height / 2 - (h / reach) * (this.height / 2 - 6);
    const line = Math.max(0, y(roll.line));
    context.fillStyle = css(mix(theme.ground, [0, 114, 178], theme.dark ? 0.5 : 0.18));
    context.fillRect(left, line, this.width - left, this.height - line);
    context.fillStyle = css(theme.text);
    context.fillRect(left, line - 1, this.width - left, 2);
    this.axis(context, ticks([-reach, reach], 3), y, left, theme, scale);
    const seen = Math.floor(share * last + 1e-9);
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 2;
    context.beginPath();
    heights.slice(0, seen + 1).forEach((h, k) => context.lineTo(x(k), y(h)));
    context.stroke();
    heights.slice(0, seen + 1).forEach((h, k) => context.fillRect(x(k) - 2.5, y(h) - 2.5, 5, 5));
    this.name(context, [`${ENDS}, below start + ${number(roll.line)}`, ENDS], line, heights.map((h, k) => [x(k), y(h)]), theme, scale);
    const change = heights[last];
    const end = roll.accepted ? "accepted" : "rejected";
    const way = `step ${seen} of ${last}`;
    this.say(share >= 1 ? `ΔH = ${number(change)}: ${end}` : way, `${last} of 1 to ${most} steps, change ${number(change)}, ${end}`);
  }

  // Energies as counted from the start's, which has no zero of its own.
  axis(context, marks, y, left, theme, scale) {
    context.textAlign = "right";
    for (const [h, words] of marks) {
      context.fillStyle = css(theme.rule);
      context.fillRect(left, y(h), this.width - left, 1);
      const foot = Math.min(this.height - 2, Math.max(11 * scale, y(h) + 4 * scale));
      context.fillStyle = css(theme.soft);
      context.fillText(h ? `${h > 0 ? "+" : ""}${words}` : "start", left - 4, foot);
    }
  }

  wait(context, theme) {
    const words = "no trajectory yet";
    context.fillStyle = css(theme.rule);
    context.fillRect(0, this.height / 2, this.width, 1);
    context.textAlign = "center";
    haloed(context, theme, words, this.width / 2, this.height / 2 - 8, theme.soft);
    this.head.textContent = "Energy H";
    this.say("", words);
  }

  // The longest of the words that fit stand above or beneath their line, or at the plot's own edges: at the end and at the
  // height where the path is furthest away.
  name(context, choices, line, path, theme, scale) {
    const words = scale === 1 && choices.find((choice) => context.measureText(choice).width + 12 < this.width - GUTTER) || choices[choices.length - 1];
    const wide = context.measureText(words).width + 12;
    const left = GUTTER * scale;
    const feet = [line + 14 * scale, line - 5 * scale, this.height - 6, 14 * scale];
    const places = feet.flatMap((foot) => ["left", "right"].map((end) => ({ foot, end })));
    const ways = path.flatMap(([x, y], k) => (k ? between(path[k - 1], [x, y]) : [[x, y]]));
    const room = ({ foot, end }) => {
      const near = ways.filter(([x]) => (end === "left" ? x < left + wide : x > this.width - wide));
      return Math.min(this.height, ...near.map(([, y]) => Math.abs(y - (foot - 5 * scale))));
    };
    const inside = places.filter(({ foot }) => foot > 12 * scale && foot < this.height - 2 && Math.abs(foot - 5 * scale - line) > 8 * scale);
    const { foot, end } = inside.reduce((best, other) => (room(other) > room(best) ? other : best), inside[0] || places[0]);
    context.textAlign = end;
    haloed(context, theme, words, end === "left" ? left + 6 : this.width - 6, foot, theme.soft);
  }
}

export class Shift extends Strip {
  constructor(dragged) {
    super("Wells by shift", "landscape-shift", TALL, TERMS.shift);
    this.canvas.classList.add("ls-shift");
    const tell = (event, done) => this.scene && dragged(this.extra(event), done);
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.held = true;
      tell(event, false);
    });
    this.canvas.addEventListener("pointermove", (event) => this.held && tell(event, false));
    this.canvas.addEventListener("pointerup", (event) => {
      this.held = false;
      tell(event, true);
    });
  }

  // Beneath the way of the knob that turns the same, where that stands above it.
  room() {
    const knob = this.root.parentElement?.querySelector("[data-knob='extra']");
    if (!knob || knob.clientWidth < LEAST) return super.room();
    const from = knob.getBoundingClientRect().left - this.root.getBoundingClientRect().left;
    return [from + HANDLE, knob.clientWidth - 2 * HANDLE];
  }

  extra(event) {
    const { low, high } = this.scene;
    const share = (event.clientX - this.canvas.getBoundingClientRect().left) / this.width;
    return Number((low + Math.min(1, Math.max(0, share)) * (high - low)).toPrecision(3));
  }

  // How many wells there are, and beneath it how far one is promised; where it is asked how states are drawn, that alone.
  draw(scene, extra, theme, scale) {
    this.tall = scene.how ? COUNT_TALL : TALL;
    const context = this.begin(theme, scale);
    this.scene = scene;
    const { low, high, values, stretches } = scene;
    const x = (value) => Math.min(this.width, Math.max(0, ((value - low) / (high - low)) * this.width));
    const foot = this.height - 16 * scale;
    const split = scene.how ? foot : foot - 20 * scale;
    const mark = ONE_HILL - values[0];
    const sure = [0, 114, 178];
    const parts = stretches.map(([from, count], k) => [x(from), k + 1 < stretches.length ? x(stretches[k + 1][0]) : this.width, count]);
    for (const [left, right, count] of parts) {
      context.fillStyle = css(count === 1 ? mix(theme.ground, sure, 0.2) : mix(theme.ground, [230, 159, 0], TINTS[count] ?? 0.6));
      context.fillRect(left, 0, right - left, split);
    }
    if (!scene.how) this.promised(context, [x(mark), mark > low], [split, foot], sure, theme);
    context.fillStyle = css(theme.text);
    for (const [left] of parts.slice(1)) context.fillRect(left - 1, 0, 2, split);
    this.mark = x(extra);
    context.fillStyle = css(theme.accent);
    context.fillRect(this.mark - 2, 0, 4, foot);
    for (const [left, right, count] of parts) {
      this.within(context, [counted(count), countWords(count), String(count)], [left, right], split / 2, theme);
    }
    if (!scene.how) this.promise(context, mark, [x(mark), (split + foot) / 2], theme, scale);
    const known = !scene.how && mark > low && mark < high ? [[mark, scale > 1 ? cents(mark) : `${cents(mark)}: λ₁ = ${ONE_HILL}`]] : [];
    this.foot(context, [...known, ...stretches.slice(1).map(([from]) => [from, cents(Number(from.toPrecision(2)))])], x, theme);
    this.describe(values[0], extra, stretches);
  }

  // Beneath the counts, as far as one well is promised, a band.
  promised(context, [at, known], [split, foot], sure, theme) {
    context.fillStyle = css(mix(theme.ground, sure, 0.34));
    context.fillRect(0, split, at, foot - split);
    context.fillStyle = css(theme.text);
    context.fillRect(0, split, this.width, 1);
    if (known) context.fillRect(at - 1, split, 2, foot - split);
  }

  // How far one well is promised; before a class without the symbol, which only the note explains.
  promise(context, mark, [at, middle], theme, scale) {
    const { low } = this.scene;
    const up = scale > 1 ? [] : [`one well is guaranteed up to λ₁ = ${ONE_HILL}`];
    const beyond = scale > 1 ? [] : [`beyond λ₁ = ${ONE_HILL} one well is not guaranteed`];
    const nothing = mark > low ? [...beyond, "one well is not guaranteed", "maybe several wells", "maybe several"] : ["one well is guaranteed at no shift"];
    if (mark > low) this.within(context, [...up, "one well is guaranteed", "surely one well", "surely one"], [0, at], middle, theme);
    this.within(context, nothing, [at, this.width], middle, theme);
  }

  // In words: the largest eigenvalue at this shift, and for those who do not see the strip all of it.
  describe(value, extra, stretches) {
    const own = cents(value) === "0" ? "" : ` + ${cents(value)}`;
    const largest = value + extra;
    const told = stretches.map(([from, count]) => `${countWords(count)} from shift ${cents(from)} on`).join(", ");
    if (this.scene.how) return this.say("more wells, more for the ball to cross", `wells: ${told}`);
    this.say(`Up to λ₁ = ${ONE_HILL} one well is guaranteed; the largest eigenvalue λ₁ = shift${own} = ${cents(largest)}`, `wells: ${told}`);
  }

  // The first of the choices that fits between two uprights, on the wider side of the marker of the shift where that is
  // between them; where none fits there, the first that fits over it.
  within(context, choices, [left, right], middle, theme) {
    const clear = this.mark > left && this.mark < right ? [[left, this.mark - 2], [this.mark + 2, right]] : [[left, right]];
    const wider = clear.reduce((best, side) => (side[1] - side[0] > best[1] - best[0] ? side : best));
    const fits = ([from, to]) => choices.find((choice) => context.measureText(choice).width + 8 < to - from);
    const [from, to] = fits(wider) ? wider : [left, right];
    const words = fits([from, to]);
    if (!words) return;
    context.textAlign = "center";
    context.textBaseline = "middle";
    haloed(context, theme, words, (from + to) / 2, middle + 1);
    context.textBaseline = "alphabetic";
  }

  // Shifts beneath their uprights and at both ends, the first ones first, where they do not meet.
  foot(context, marks, x, theme) {
    const base = this.height - 3;
    const taken = [];
    context.fillStyle = css(theme.soft);
    context.textAlign = "left";
    const ends = [this.scene.low, this.scene.high].map((end) => [end, cents(end)]);
    for (const [at, words] of [...marks, ...ends]) {
      const wide = context.measureText(words).width;
      const left = Math.min(Math.max(x(at) - wide / 2, 0), this.width - wide);
      if (taken.some(([from, to]) => left < to + 8 && left + wide > from - 8)) continue;
      taken.push([left, left + wide]);
      context.fillText(words, left, base);
    }
  }
}

// The shift is told in hundredths, and what is added to it: to fewer digits the sum would look wrong.
function cents(value) {
  return String(Number(value.toFixed(2))).replace("-", "−");
}

// Places along the straight way from one place to another, the last one with them.
function between(from, to, count = 8) {
  return Array.from({ length: count }, (_, k) => (k + 1) / count).map((share) => from.map((at, axis) => at + share * (to[axis] - at)));
}
