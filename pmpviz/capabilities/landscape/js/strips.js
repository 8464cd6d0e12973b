// Beside the picture: how often each state was drawn, the energy of the shown trajectory, and what the shift promises.

import { ask } from "../pmpviz.player/ask.js";
import { columnWords, drawColumns } from "../pmpviz.player/columns.js";
import { css, haloed, make, mix, number, sized, thousands } from "../pmpviz.player/theme.js";

export const ONE_HILL = 4; // lambda_1 up to which one hill is guaranteed.
const LETTER = 19; // Height of a line of words with what is left free around it.
const NO_GAP = 0.7; // Of the shift's strip before a class, which has no gap.
const CLASS = 1.05; // Of the strips' heights before a class, so that all of them and the verdict are seen at once.
const TERMS = {
  bars: "How often each configuration was drawn, all chains together, beside how often it ought to be: the lines.",
  energy: "H: energy of place plus that of motion. A trajectory is accepted if it ends below the line, which is drawn anew each time; otherwise the ball goes back to where it began. How many steps it has is drawn anew each time.",
  shift:
    "λ₁: how strongly the spins hang together, the largest eigenvalue of couplings plus shift, W + D. By a theorem there " +
    "is one hill up to λ₁ = 4, the upright line. Where there is room the gap is drawn upwards: how fast Gibbs sampling of " +
    "one spin at a time forgets its start, as a share a step; level what it is, falling what the theorem guarantees of " +
    "it, (1 − λ₁/4)/n for n spins.",
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

  begin(theme, scale, share = 1) {
    this.width = Math.max(180, this.root.clientWidth);
    this.height = Math.round(this.tall * share * (scale > 1 ? CLASS : 1));
    const context = sized(this.canvas, this.width, this.height);
    context.clearRect(0, 0, this.width, this.height);
    context.font = `${11.5 * scale}px ${theme.font}`;
    context.setLineDash([]);
    return context;
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
    this.head.textContent = memory ? "Nearest picture" : "How often, against exact p(s)";
    const context = this.begin(theme, scale);
    const total = counts.reduce((a, b) => a + b, 0);
    const share = counts.map((count) => count / Math.max(1, total));
    const area = { left: 36 * scale, right: 0, bottom: 18 * scale, width: this.width, height: this.height };
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
    const x = (k) => 8 + (k / last) * (this.width - 16);
    const y = (h) => this.height / 2 - (h / reach) * (this.height / 2 - 6);
    const line = Math.max(0, y(roll.line));
    context.fillStyle = css(mix(theme.ground, [0, 114, 178], 0.14));
    context.fillRect(0, line, this.width, this.height - line);
    context.fillStyle = css(theme.text);
    context.fillRect(0, line - 1, this.width, 2);
    context.fillStyle = css(theme.rule);
    context.fillRect(0, y(0), this.width, 1);
    const seen = Math.floor(share * last + 1e-9);
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 2;
    context.beginPath();
    heights.slice(0, seen + 1).forEach((h, k) => context.lineTo(x(k), y(h)));
    context.stroke();
    heights.slice(0, seen + 1).forEach((h, k) => context.fillRect(x(k) - 2.5, y(h) - 2.5, 5, 5));
    this.name(context, `accepted if it ends below: start + ${number(roll.line)}`, line, heights.map((h, k) => [x(k), y(h)]), theme, scale);
    const change = heights[last];
    const end = roll.accepted ? "accepted" : "rejected";
    const way = `step ${seen} of ${last}`;
    this.say(share >= 1 ? `ΔH = ${number(change)}: ${end}` : way, `${last} of 1 to ${most} steps, change ${number(change)}, ${end}`);
  }

  wait(context, theme) {
    const words = "no trajectory yet";
    context.fillStyle = css(theme.rule);
    context.fillRect(0, this.height / 2, this.width, 1);
    context.textAlign = "center";
    haloed(context, theme, words, this.width / 2, this.height / 2 - 8, theme.soft);
    this.say("", words);
  }

  // The words stand above or beneath their line, at the end and on the side where the path is furthest away.
  name(context, words, line, path, theme, scale) {
    const wide = context.measureText(words).width + 12;
    const places = [14 * scale, -5 * scale].flatMap((under) => ["left", "right"].map((end) => ({ foot: line + under, end })));
    const ways = path.flatMap(([x, y], k) => (k ? between(path[k - 1], [x, y]) : [[x, y]]));
    const room = ({ foot, end }) => {
      const near = ways.filter(([x]) => (end === "left" ? x < wide : x > this.width - wide));
      return Math.min(this.height, ...near.map(([, y]) => Math.abs(y - (foot - 5 * scale))));
    };
    const inside = places.filter(({ foot }) => foot > 12 * scale && foot < this.height - 2);
    const { foot, end } = inside.reduce((best, other) => (room(other) > room(best) ? other : best), inside[0] || places[0]);
    context.textAlign = end;
    haloed(context, theme, words, end === "left" ? 6 : this.width - 6, foot, theme.soft);
  }
}

export class Shift extends Strip {
  constructor(dragged) {
    super("Guaranteed", "landscape-shift", 92, TERMS.shift);
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

  extra(event) {
    const { low, high } = this.scene;
    const share = (event.clientX - this.canvas.getBoundingClientRect().left) / this.width;
    return Number((low + Math.min(1, Math.max(0, share)) * (high - low)).toPrecision(3));
  }

  // Left of the mark one hill is guaranteed, and Gibbs sampling has a gap of at least the falling line.
  draw(scene, extra, theme, scale) {
    const plain = scale > 1; // Before a class without the gap.
    const context = this.begin(theme, scale, plain ? NO_GAP : 1);
    this.scene = scene;
    const { low, high, values, gap } = scene;
    const n = scene.states[0].length;
    const x = (value) => ((value - low) / (high - low)) * this.width;
    const foot = 16 * scale;
    const y = (value) => this.height - foot - (value / (1.4 * gap)) * (this.height - foot - 4);
    const mark = ONE_HILL - values[0];
    const sure = Math.max(0, x(mark));
    context.fillStyle = css(mix(theme.ground, [0, 114, 178], 0.2));
    context.fillRect(0, 0, sure, this.height - foot);
    context.fillStyle = css(mix(theme.ground, [230, 159, 0], 0.16));
    context.fillRect(sure, 0, this.width - sure, this.height - foot);
    context.strokeStyle = css(theme.text);
    context.lineWidth = 2;
    if (!plain) this.line(context, [0, y(gap)], [this.width, y(gap)]);
    const top = y((1 - (values[0] + low) / ONE_HILL) / n);
    if (mark > low) {
      context.setLineDash([5, 4]);
      if (!plain) this.line(context, [0, top], [x(mark), y(0)]);
      context.setLineDash([]);
      this.line(context, [x(mark), 0], [x(mark), this.height - foot]);
    }
    context.fillStyle = css(theme.accent);
    context.fillRect(x(extra) - 2, 0, 4, this.height - foot);
    const largest = values[0] + extra;
    const own = cents(values[0]) === "0" ? "" : ` + ${cents(values[0])}`;
    const link = `λ₁ = shift${own} = ${cents(largest)}`;
    // Words beyond the mark are not of the part that they stand in: they point back at the shift.
    if (plain) this.now(context, `now ${cents(extra)}`, x(extra), 20 * scale, theme);
    else this.words(context, { sure, gap, y, mark, low, top, at: x(extra) }, theme, scale);
    this.foot(context, mark > low ? { mark, sure } : null, low, theme, plain);
    const bound = Math.max(0, (1 - largest / ONE_HILL) / n);
    const promise = largest <= ONE_HILL ? `one hill for sure, gap ≥ ${number(bound)}` : "no guarantee";
    this.head.textContent = mark > low ? `Guaranteed: one hill up to shift ${number(mark)}` : "Guaranteed: nothing, at any shift";
    this.say(`${link}: ${promise}`, `exact gap of Gibbs sampling ${number(gap)}`);
  }

  words(context, { sure, gap, y, mark, low, top, at }, theme, scale) {
    this.beside(context, [`exactly ${number(gap)}`], y(gap) + 13 * scale, [sure, at], theme);
    this.beside(context, ["↑ gap: how fast one-spin Gibbs forgets", "↑ gap of one-spin Gibbs", "↑ gap"], y(gap) - 5 * scale, [sure, at], theme);
    context.textAlign = "left";
    // Beneath the falling line there is room for as much as ends before it comes down.
    const room = (words) => sure * (1 - (LETTER * scale) / Math.max(1, y(0) - top)) - 12 - context.measureText(words).width;
    const told = ["one hill, gap at least (1 − λ₁/4)/n", "one hill, gap at least this", "gap at least this", "at least", "≥"].find((text) => room(text) > 0);
    if (mark > low && told) haloed(context, theme, told, 6, this.height - 16 * scale - 5);
  }

  // Beside its upright line, on the right where there is room.
  now(context, words, at, foot, theme) {
    const right = at + 16 + context.measureText(words).width < this.width;
    context.textAlign = right ? "left" : "right";
    haloed(context, theme, words, at + (right ? 8 : -8), foot);
  }

  // In as many words as fit between the upright lines, or else beside the last of them.
  beside(context, choices, foot, uprights, theme) {
    const wide = (words) => context.measureText(words).width + 8;
    const ends = [this.width, ...uprights].filter((x) => x > 0).sort((a, b) => b - a);
    const rooms = ends.map((end, k) => [end, end - (ends[k + 1] ?? 0)]);
    const fits = choices.flatMap((words) => rooms.filter(([, room]) => room > wide(words) + 8).map(([end]) => [words, end]));
    const [words, end] = fits[0] || [choices[choices.length - 1], this.width];
    context.textAlign = "right";
    haloed(context, theme, words, end - 6, foot);
  }

  // The shift at the left end, where λ₁ is 4, and where there is room what it means to be right of it.
  foot(context, at, low, theme, plain) {
    const base = this.height - 3;
    const wide = (words) => context.measureText(words).width;
    const least = at ? number(low) : `shift ${number(low)}`;
    const told = at ? `shift ${number(at.mark)}${plain ? "" : `: λ₁ = ${ONE_HILL}`}` : "";
    const from = at ? Math.max(wide(least) + 8, Math.min(at.sure, this.width) - wide(told) / 2) : 0;
    context.fillStyle = css(theme.soft);
    context.textAlign = "left";
    context.fillText(least, 0, base);
    if (at) context.fillText(told, Math.min(from, this.width - wide(told)), base);
    const choices = at ? ["more hills possible →", "more hills →"] : [plain ? "at no shift" : "λ₁ ≥ 4 at every shift"];
    const rest = choices.find((words) => from + wide(told) + 8 < this.width - wide(words));
    context.textAlign = "right";
    if (rest) context.fillText(rest, this.width, base);
  }

  line(context, from, to) {
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...to);
    context.stroke();
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
