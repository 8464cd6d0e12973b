// The names of the axes of the walk's picture, and the numbers at their ends.

import { css, number } from "../pmpviz.player/theme.js";

const UNITLESS = /^principal/; // Numbers along such a direction say nothing by themselves.
const ROUNDING = 1e-5; // Of the width of the box, and of that the least.
// Along which edge of the box each is told.
const AXES = [[null, 0, 0], [1, null, 0], [0, 0, null]];
const LONG = 150; // An axis that is seen so long has its numbers at its ends, else beside its name.
const ENDS = [0.14, 0.86]; // Where along it.

// Writes them outside of the box, none over another: `scene.axes` has where each begins, at which height, how wide.
export function drawAxes(scene) {
  const { data, camera, theme, context, scale, width, height } = scene;
  const { box, names } = data;
  context.fillStyle = css(theme.soft);
  names.forEach((name, k) => {
    const along = (share) => camera.place(AXES[k].map((end, j) => (end === null ? box[0][j] + share * (box[1][j] - box[0][j]) : box[end][j])));
    const [x, y] = along(0.5);
    const out = [x - width / 2, y - height / 2];
    const far = Math.hypot(...out) || 1;
    context.textAlign = Math.abs(out[0]) < 0.3 * far ? "center" : out[0] > 0 ? "left" : "right";
    const write = (words, [across, down], [right, lower]) => {
      const [left, base] = [across + (right * out[0]) / far, down + (lower * out[1]) / far];
      scene.axes.push(scene.write(words, ...scene.clear(words, left, base), theme.soft));
    };
    const ends = UNITLESS.test(name) ? [] : endsOf(box, k);
    const [from, to] = [along(0), along(1)];
    const long = ends.length && Math.hypot(to[0] - from[0], to[1] - from[1]) > LONG * scale;
    write(ends.length && !long ? `${name}: ${ends.join(" to ")}` : name, [x, y], [16, 22]);
    if (long) ends.forEach((end, side) => write(end, along(ENDS[side]), [9, 15]));
  });
}

// What is 0 but for rounding is 0.
function endsOf(box, k) {
  const wide = box[1][k] - box[0][k];
  return box.map((corner) => number(Math.abs(corner[k]) < ROUNDING * Math.max(ROUNDING, wide) ? 0 : corner[k]));
}
