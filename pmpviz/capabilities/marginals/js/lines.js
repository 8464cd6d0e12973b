// The line of each lane beneath the walk: what it knows at the step on screen.

import { number, thousands } from "../pmpviz.player/theme.js";

const WITHIN = 1.96; // Standard errors of a 95 % bar.
const FEW = 4; // Letters of a corner's name, that of the one before is told too.

// Lines of more than two lanes, and of several before a class, begin with what tells them apart alone, so that none is
// broken; before a class each has its gap alone.
// A gap is of the point that the step was taken from, and μ of the one that it led to.
export function sentence({ lane, last }, { metas, raced, large, exact, done, closed, corners }) {
  const step = lane.steps[last];
  const corner = lane.found[last];
  const many = raced && (large || metas.length > 2);
  const named = many ? lane.short.slice(alike(metas)) : lane.label;
  const led = corner >= 0 && !raced && metas[0].sure;
  const lastRho = lane.changes?.length ? " after the last ρ" : "";
  const ended = closed && isNewest({ lane, last }) ? `, small enough${lastRho}: done` : "";
  const words = [led ? `${lane.step} ${thousands(step)}: ${uphill(lane, last, large, corners || [])}` : `${named}: ${thousands(step)} ${lane.step}${step === 1 ? "" : "s"}`];
  if (corner >= 0 && !raced && !led) words.push(`found corner ${lane.names[corner]}`);
  if (Number.isFinite(lane.gap[last])) words.push(`gap ${(done && isNewest({ lane, last })) || (large && raced) ? "" : "before the step "}${digits(lane.gap[last], 3)}${ended}`);
  if (large && raced && words.length > 1) return words.join(", ");
  const [low, high] = [lane.low[last], lane.high[last]];
  const known = exact === null || raced ? "" : `; exactly ${digits(exact, 5)}`;
  const least = Number.isFinite(low) && !(large && led) ? `${digits(low, 5)} ≤ ` : "";
  const told = Number.isFinite(high) ? `${least}log Z ≤ ${digits(high, 5)}` : estimate(lane, last);
  return [words.join(", "), told && told + known].filter(Boolean).join("; ");
}

// Where a step led, and why elsewhere than the one before: of the corner that an exact MAP call found. Configurations
// that share a corner of the picture, as "011 100", are one.
function uphill({ steps, found, names, changes }, last, large, corners) {
  const [now, before] = [names[found[last]], names[found[last - 1]]];
  if (steps[last] === 1) return `uphill from the start leads to corner ${now}`;
  if (steps[last] !== steps[last - 1] + 1) return `uphill from μ leads to corner ${now}`; // Of a long path not all is kept.
  const cause = changes.includes(steps[last]) ? "ρ changed" : "μ moved";
  const shared = corners.find((corner) => [now, before].every((name) => corner.split(" ").includes(name)));
  if (now === before || shared) return `${cause}, uphill still leads to corner ${shared ? shared.replace(" ", " · ") : now}`;
  const from = before.length > FEW ? "" : `from ${large ? "" : "corner "}${before} `;
  const opposite = from && !large && [...now].every((state, k) => state !== before[k]);
  return `${cause}, so uphill turned ${from}to ${opposite ? "its opposite " : from ? "" : "corner "}${now}`;
}

// How many letters of the lanes' names are the same words, and tell none apart; what a number is of is not left out.
function alike(metas) {
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
