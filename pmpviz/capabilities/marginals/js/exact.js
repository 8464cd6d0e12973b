// The exact marginals in the walk's picture.

import { css } from "../pmpviz.player/theme.js";
import { diamond } from "./key.js";

const REACH = 10;

// On top of the ways, and hollow; a walk's point comes over it, smaller, and is seen where it ends there.
export function drawExact({ context, theme, data, camera, spots }) {
  if (!data.exact) return;
  const [x, y] = camera.place(data.exact);
  for (const [colour, width] of [[theme.ground, 5], [theme.text, 2]]) {
    context.strokeStyle = css(colour);
    context.lineWidth = width;
    diamond(context, x, y, REACH);
    context.stroke();
  }
  spots.push({ at: [x, y], point: data.exact, words: "exact marginals", rank: 3 });
}

// Its name where the least is, in lines of this height.
export function nameExact(scene, line) {
  const { context, theme, data, scale } = scene;
  if (!data.exact) return;
  const [x, y] = scene.camera.place(data.exact);
  const words = "exact";
  const wide = context.measureText(words).width;
  const places = [[14, 5], [-14 - wide, 5], [-wide / 2, 24 * scale], [-wide / 2, -15]];
  const named = (scene.labels || []).map((label) => scene.boxOf(label));
  const struck = (left, down) => named.some(([l, t, w]) => left < l + w && l < left + wide && Math.abs(t + 4 - down) < line);
  const met = (left, down) => scene.spots.filter(({ at }) => covers(at, left, down, wide, line)).length;
  const near = ([left, down]) => met(x + left, y + down) + (struck(x + left, y + down) ? scene.spots.length : 0);
  const [left, down] = places.reduce((best, place) => (near(place) < near(best) ? place : best));
  context.textAlign = "left";
  scene.write(words, x + left, y + down, theme.text);
}

// Whether a place lies under words that begin there.
function covers([x, y], left, base, wide, high) {
  return x > left - 4 && x < left + wide + 4 && y > base - high && y < base + 4;
}
