// The line of each lane beneath the walk: what it knows at the step on screen.

import { make, number, thousands } from "../pmpviz.player/theme.js";
import { drawKey } from "../pmpviz.player/traces.js";

const [LED, KNOWN] = [184, 72]; // Letters of where an exact walk was led and what it knows; of what others know, without their name.
const WITHIN = 1.96; // Standard errors of a 95 % bar.
const FEW = 4; // Letters of a corner's name that is told.

export class Lines {
  constructor() {
    this.root = make("div", "wk-lines");
    this.root.dataset.testid = "walk-words";
  }

  // What is told of each lane, beside its sign; whether that has taken more room than it had.
  tell(text, metas, theme, large) {
    const written = JSON.stringify([text, theme.id]);
    if (written === this.written) return false;
    this.written = written;
    this.root.replaceChildren(...text.map((words, k) => {
      const line = make("div", "wk-line");
      const key = make("canvas", "pv-key");
      drawKey(key, metas[k], theme);
      line.append(key, make("span", "", words));
      return line;
    }));
    return this.hold(text, metas, large);
  }

  // The room of the longest that may be told is kept from the start on, before a class that of what once was: the walk
  // above does not pulse.
  hold(text, metas, large) {
    const shape = `${large} ${this.root.clientWidth} ${text.length}`;
    this.root.style.minHeight = "";
    if (shape !== this.shape) this.high = large ? 0 : this.longest(text, metas);
    this.shape = shape;
    const before = this.high;
    this.high = Math.max(before, this.root.offsetHeight);
    this.root.style.minHeight = `${this.high}px`;
    return this.high > before;
  }

  longest(text, metas) {
    const spans = [...this.root.querySelectorAll("span")];
    spans.forEach((span, k) => {
      span.textContent = "letters ".repeat((spans.length === 1 && metas[k].sure ? LED : text[k].indexOf(":") + KNOWN) / 8);
    });
    const high = this.root.offsetHeight;
    spans.forEach((span, k) => (span.textContent = text[k]));
    return high;
  }
}

// Lines of more than two lanes, and of several before a class, begin with what tells them apart alone, so that none is
// broken; before a class each has its gap alone. Beside lanes without a gap a bound is what all are compared by.
// A gap is of the point that the step was taken from, and μ of the one that it led to.
export function sentence({ lane, last }, { metas, raced, large, exact, done, closed, anew, corners }) {
  const step = lane.steps[last];
  const corner = lane.found[last];
  const many = raced && (large || metas.length > 2);
  const named = many ? lane.short.slice(alike(metas)) : lane.label;
  const led = corner >= 0 && !raced && metas[0].sure;
  const lastRho = lane.changes?.length ? " after the last ρ" : "";
  const again = anew ? ", and μ averaged once more" : ""; // It is another point than the gap is of.
  const ended = closed && isNewest({ lane, last }) ? `, small enough${lastRho}: done${again}` : "";
  const words = [led ? `${lane.step} ${thousands(step)}: ${bestOf(lane, last, large, corners || [])}` : `${named}: ${thousands(step)} ${lane.step}${step === 1 ? "" : "s"}`];
  if (corner >= 0 && !raced && !led) words.push(`found corner ${lane.names[corner]}`);
  const byBound = raced && Number.isFinite(lane.high[last]) && metas.some((meta) => !meta.sure);
  if (Number.isFinite(lane.gap[last]) && !byBound) words.push(`gap ${(done && isNewest({ lane, last })) || (large && raced) ? "" : "before the step "}${digits(lane.gap[last], 3)}${ended}`);
  if (large && raced && words.length > 1) return words.join(", ");
  const [low, high] = [lane.low[last], lane.high[last]];
  const known = exact === null || raced ? "" : `; exactly ${digits(exact, 5)}`;
  const least = Number.isFinite(low) && !(large && (led || byBound)) ? `${digits(low, 5)} ≤ ` : "";
  const best = !raced && step > 1 ? "so far " : ""; // The gap before is of this step alone.
  const told = Number.isFinite(high) ? `${best}${least}log Z ≤ ${digits(high, 5)}` : estimate(lane, last) || (raced && metas.some((meta) => meta.sure) ? "no bound" : "");
  return [words.join(", "), told && told + known].filter(Boolean).join("; ");
}

// Where a step led, and why elsewhere than the one before: of the corner that an exact MAP call found. Configurations
// that share a corner of the picture, as "011 100", are one, and named as it is.
function bestOf({ steps, found, names, changes }, last, large, corners) {
  const cornerOf = (name) => corners.find((corner) => corner.split(" ").includes(name))?.replace(" ", " · ") ?? name;
  const [now, before] = [found[last], found[last - 1]].map((place) => cornerOf(names[place]));
  // A long name tells nobody anything: the picture does.
  const short = names[found[last]].length <= FEW;
  const best = short ? `the best corner is ${now}` : "one configuration is the best";
  if (steps[last] === 1) return `from the start ${best}`;
  if (steps[last] !== steps[last - 1] + 1) return `from μ ${best}`; // Of a long path not all is kept.
  const changed = changes.includes(steps[last]);
  const cause = changed ? "ρ changed" : "μ moved";
  if (now === before) return `${changed ? `${cause}, ` : ""}the best ${short ? `corner is still ${now}` : "configuration is the same"}`;
  if (!short) return `${cause}, so another configuration is the best`;
  const opposite = !large && [...now].every((own, k) => own !== before[k]);
  return `${cause}, so the best ${large ? "" : "corner "}turned from ${before} to ${opposite ? "its opposite " : ""}${now}`;
}

// How many letters of the lanes' names are the same words, and tell none apart; what a number is of is not left out.
export function alike(metas) {
  const names = metas.map(({ short }) => short);
  let count = 0;
  while (names.every((name) => count < name.length && name[count] === names[0][count])) count += 1;
  let words = names[0].lastIndexOf(" ", count - 1) + 1;
  if (names.some((name) => /^\d/.test(name.slice(words)))) words = words > 1 ? names[0].lastIndexOf(" ", words - 2) + 1 : 0;
  return names.every((name) => name.length > words) ? words : 0;
}

// Of a method that bounds nothing, what it makes of log Z at its last estimate.
function estimate(lane, last) {
  const at = (name) => lane[name].subarray(0, last + 1).findLast(Number.isFinite);
  if (at("error") === undefined) return at("maximum") === undefined ? "" : `mean maximum ${digits(at("maximum"), 5)}`;
  return `log Z ≈ ${digits(at("objective"), 5)} ± ${digits(WITHIN * at("error"), 2)}`;
}

export function isNewest({ lane, last }) {
  return last === lane.steps.length - 1;
}

function digits(value, count) {
  return Math.abs(value) < 1e-3 ? number(value) : String(Number(value.toPrecision(count))).replace("-", "−");
}
