// A lane as it stands on screen: up to which point of its path, how far on the way there, and what was known then.

import { lit } from "../pmpviz.player/theme.js";
import { heardAt } from "./found.js";

const [LONGEST, SHORTEST] = [700, 120]; // Of a step that is shown on its way, in ms.

// Of a lane at `now`, where one looks back at step `at`; steps follow each other in `pace` ms.
export function shownOf(lane, data, graph, { at, still, playing, pace, theme }, now) {
  if (!data || !lane.meta) return null;
  const frame = at === null ? lane.shown : lane.past(at);
  // Looking back, all is of that step, which the server adds to those of a long path; of its pictures some are kept.
  const last = placeOf(data.steps, at ?? (frame ? frame.sweep : 0));
  if (last !== lane.walked) {
    const onward = last === lane.walked + 1 && at === null && !still;
    const wanted = playing ? pace : LONGEST;
    lane.takes = onward && wanted > SHORTEST ? Math.min(LONGEST, 0.9 * wanted) : 0;
    lane.since = now;
    lane.walked = last;
  }
  const share = lane.takes ? Math.min(1, (now - lane.since) / lane.takes) : 1;
  const place = arrived({ share, last });
  const { label, short, step, marker, colour } = lane.meta;
  const newest = last === data.steps.length - 1;
  // Looking back, weights come with the answer of the server, which has kept those of the last steps.
  const past = at !== null && !newest && !data.weighed.has(data.steps[last]);
  const weights = past ? data.weights : weightsAt(data, place);
  const answer = { known: data.known, p1: data.p1, rho: graph && graph.rho };
  const found = at === null ? heardAt(lane, answer, data.steps[last]) : answer;
  const over = share >= 1 && lane.meta.status === "done" && newest;
  return {
    lane: Object.assign(data, { label, short, step, marker }),
    colour: lit(colour, theme),
    last,
    share,
    over,
    past,
    weights,
    found,
    averaged: averagedAt(data, found, data.steps[place], at),
    named: namedAt(lane, data, past ? [] : weights, over ? heaviest(weights) : data.found[place], place),
    meta: lane.meta,
    painter: lane.painter,
  };
}

// Up to which place of its path a walk has come: not yet where it is on its way to.
export function arrived({ share, last }) {
  return share < 1 ? last - 1 : last;
}

// The step to which it has come.
export function stepOf(walk) {
  return walk.lane.steps[arrived(walk)];
}

// The marginals after a step, with its number: of many variables those that came last. Of a moment that is looked back
// at there are none until the server has answered.
function averagedAt({ averages, known, p1 }, found, step, at) {
  if (step === 0 && found.p1) return { known: 0, p1: found.p1.map(() => 0.5) };
  if (step === known || at === known) return { known, p1 };
  if (averages.has(step)) return { known: step, p1: averages.get(step) };
  return at === null || !p1 ? found : { known: step, p1: p1.map(() => NaN), late: true };
}

// The configuration that is told of: the one found at a place of the path, or of a walk that is over the heaviest; where
// its picture is kept, with the step that found it and its weight.
function namedAt(lane, { steps, found }, weights, corner, place) {
  const first = corner >= 0 && corner !== found[place] ? found.indexOf(corner) : place;
  const frame = lane.past(steps[first] ?? -1) || lane.shown;
  return frame && { step: frame.sweep, bits: frame.bits, weight: corner >= 0 ? (weights[corner] ?? NaN) : NaN };
}

function heaviest(weights) {
  return weights.indexOf(Math.max(...weights));
}

// The weights of the corners at a place of the path.
function weightsAt({ steps, weighed, weights }, place) {
  if (place === steps.length - 1) return weights;
  return steps[place] ? (weighed.get(steps[place]) ?? weights) : []; // The beginning has no corner yet.
}

// The last place whose step is at most this one.
function placeOf(steps, step) {
  let last = 0;
  for (let k = 0; k < steps.length && steps[k] <= step; k++) last = k;
  return last;
}
