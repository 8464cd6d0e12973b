// What the server sends of the walks, read.

import { decode, opened } from "../pmpviz.player/decode.js";

const NUMBERS = ["gap", "objective", "low", "high", "delta", "error", "maximum"];

// An update with the arrays of its walks read.
export function decodeWalk(bytes) {
  const update = decode(bytes);
  const { some } = opened(bytes);
  update.exactP1 = some(update.exact_p1, Float32Array);
  const walk = update.walk;
  if (!walk) return update;
  for (const lane of walk.lanes) {
    for (const name of ["path", "corners", "weights", "p1", ...NUMBERS]) lane[name] = some(lane[name], Float32Array);
    lane.weighed = new Map(lane.weighed.map(([step, weights]) => [step, some(weights, Float32Array)]));
    lane.averages = new Map(lane.averages.map(([step, p1]) => [step, some(p1, Float32Array)]));
    for (const name of ["steps", "found"]) lane[name] = some(lane[name], Int32Array);
  }
  if (!walk.graph) return update;
  for (const name of ["nodes", "rho"]) walk.graph[name] = some(walk.graph[name], Float32Array);
  walk.graph.edges = some(walk.graph.edges, Int32Array);
  return update;
}
