// The signs of the walk's picture, and what they are, told along its upper edge.

import { marker } from "../pmpviz.player/curves.js";
import { css } from "../pmpviz.player/theme.js";

const LINE = 17; // From one row to the next.
const [LEFT, TOP, WORDS, APART] = [14, 16, 11, 18];
const LEAST_DELTA = 0.1; // Drawn towards the centre by less a polytope is not seen to be.
export const DOTS = [1, 3]; // Of its edges.
const SPARE = true; // Left out where there is no room.
const STAYS = "dotted: barrier, μ stays inside";
const DASHES = [3, 3]; // Of a target, not a corner that has a weight.

export function disc(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
}

export function diamond(context, x, y, reach) {
  context.beginPath();
  for (const [a, b] of [[0, -1], [1, 0], [0, 1], [-1, 0]]) context.lineTo(x + reach * a, y + reach * b);
  context.closePath();
}

// A corner of some weight: a disc that lets what is under it through.
export function weighed(context, x, y, radius) {
  context.globalAlpha = 0.3;
  disc(context, x, y, radius);
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.stroke();
}

// Where all configurations have one weight: the start, and the centre that a barrier draws to.
export function cross(context, x, y, reach) {
  context.beginPath();
  context.moveTo(x - reach, y);
  context.lineTo(x + reach, y);
  context.moveTo(x, y - reach);
  context.lineTo(x, y + reach);
  context.stroke();
}

export function target(context, x, y, radius) {
  context.setLineDash(DASHES);
  disc(context, x, y, radius);
  context.stroke();
  context.setLineDash([]);
}

// Of the walks as they stand on screen, in the colour of one, in that of words of several: along the upper edge, above
// what is drawn, up to `room`.
export function drawKey(scene, walks, room) {
  if (!walks.length) return;
  const { context, theme, data, scale } = scene;
  const colour = walks.length > 1 ? css(theme.text) : walks[0].colour;
  const signs = [
    [`μ: ${data.means} so far`, (x, y) => marker(context, walks.length > 1 ? "circle" : walks[0].lane.marker, x, y, 5 * scale)],
    walks.some(({ lane }) => lane.climbs) && ["named by this MAP call", (x, y) => target(context, x, y, 5.5 * scale)],
    walks.some(({ lane }) => lane.climbs) && ["averaged; larger: heavier", (x, y) => weighed(context, x, y, 5.5 * scale)],
    shared(data) && [`${shared(data)}: opposite states`, () => {}, SPARE],
    walks.some((walk) => barrierOf(data, walk)) && [STAYS, (x, y) => stays(context, x, y, 6 * scale), SPARE],
  ];
  context.font = `${12 * scale}px ${theme.font}`;
  context.textAlign = "left";
  let [x, y] = [LEFT * scale, TOP * scale];
  for (const [words, draw, spare] of signs.filter(Boolean)) {
    const wide = WORDS * scale + context.measureText(words).width;
    const full = x > LEFT * scale && x + wide > room;
    if (full && spare && y > TOP * scale) continue; // A third row would lie over a corner's name.
    if (full) [x, y] = [LEFT * scale, y + LINE * scale];
    context.fillStyle = context.strokeStyle = colour;
    draw(x, y);
    scene.write(words, x + WORDS * scale, y + 4 * scale, theme.soft);
    x += wide + APART * scale;
  }
}

// The name of a corner at which two configurations lie, where there is one.
const shared = ({ marginal }) => marginal?.names?.find((name) => name.includes(" "))?.replace(" ", " · ");

// How far the polytope is drawn towards its centre, where that is seen: the walk stays within.
export function barrierOf({ marginal }, { lane, last }) {
  return marginal && lane.delta && lane.delta[last] > LEAST_DELTA ? lane.delta[last] : 0;
}

function stays(context, x, y, reach) {
  context.lineWidth = 1;
  context.setLineDash(DOTS);
  context.beginPath();
  for (const [a, b] of [[-1, 0.8], [0, -0.9], [1, 0.8], [-1, 0.8]]) context.lineTo(x + reach * a, y + reach * b);
  context.stroke();
  context.setLineDash([]);
}
