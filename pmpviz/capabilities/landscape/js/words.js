// The hills of the density in words, as the wells that a ball knows: how many, where, and from which shift or
// temperature on; and what the coordinates are.

import { enlarged, number } from "../pmpviz.player/theme.js";
import { summitFrom } from "./ground.js";
import { ONE_HILL, counted } from "./strips.js";

export const COORDINATES = ["Round", "Stretched"];
export const SCALES =
  "A landscape in two coordinates. Round: whitened, every Gaussian is a circle, and the ball rolls alike along every way. Stretched: A = I, " +
  "the fields that the spins feel, stretched as couplings and shift are; the narrow way limits the ball's step.";
export const MEANING = [
  "The ball's own coordinates z, in which every Gaussian is round",
  "The fields Bz that the spins feel, stretched as W + D is",
];

const DRAG = "Drag the shift: it parts at";
const NEAR = 0.06; // Of shifts that are as good as one.

// How many wells there are and where, and from which shift on, beside what is guaranteed.
export function hillWords(survey, ground, scene) {
  const { hills } = survey;
  const many = counted(hills).replace(/^./, (letter) => letter.toUpperCase());
  if (scene.memory) return memoryWords(many, hills, scene);
  const { extra, stretches, low, values, product, names } = scene;
  if (!scene.counted) return "";
  const [parts] = stretches.find(([, count]) => count > 1) || [null];
  const where = hills === 1 ? "" : `, ${listed(hillsAt(survey, ground).map((state) => names[state]))},`;
  const now = `${many}${where} at shift ${number(extra)}${product ? ", the product of one for each spin" : ""}`;
  if (parts === null) return hills === 1 ? `${now}, as at any other of the slider.` : `${now}.`;
  if (hills > 1 && stretches.every(([, count]) => count > 1)) return `${now}: more than one at any shift of the slider.`;
  if (parts <= low) return hills === 1 ? `${now}.` : `${now}: more than one already at the slider's least shift, ${low}.`;
  const from = Number(parts.toPrecision(2));
  if (hills === 1 && Math.abs(extra - from) < NEAR) return `${now}, about where it parts.`;
  // Before a class the strip tells the rest, and what parting costs has the room; where it is asked how states are drawn
  // nothing is said of what is guaranteed.
  if (enlarged() > 1 || scene.how) return hills === 1 ? `${now}: nothing to cross; it parts at about ${from}.` : `${now}; up to about ${from} it is one.`;
  return `${now}${hills === 1 ? ": nothing to cross" : ""}. ${partingWords(hills, from, Number((ONE_HILL - values[0]).toPrecision(2)), low)}`;
}

function partingWords(hills, from, sure, low) {
  const begun = hills === 1 ? `${DRAG} about ${from}` : `Up to about ${from} it is one well`;
  if (Math.abs(from - sure) < NEAR) return `${begun}, ${hills === 1 ? "up to which one well is guaranteed" : "as is guaranteed"}.`;
  return `${begun}; one well is guaranteed ${sure < low ? "at no shift" : `up to ${sure} only`}.`;
}

// Along the sum and the difference of two pictures the landscape is a product: each parts at a temperature of its own.
function memoryWords(many, hills, { groups, temperature, cue }) {
  const now = `${many} at T = ${number(temperature)}`;
  if (cue) return `${now}, tilted by the cue towards A.`;
  const overlap = (groups[0] - groups[1]) / (groups[0] + groups[1]);
  const [first, second] = [1, -1].map((sign) => number(1 + sign * Math.abs(overlap)));
  if (hills === 1) return `${now}: nothing is remembered above T = ${first}.`;
  if (hills > 2) return `${now}: A, B and their negatives have one each, below T = ${second}.`;
  const pair = overlap < 0 ? ["A and −B", "B and −A"] : ["A and B", "their negatives"];
  return `${now}: ${pair[0]} share one, ${pair[1]} the other. Only below T = ${second} has each its own.`;
}

// Each hill's state, in their own order: of those whose Gaussians' middles lie on its slopes the likeliest.
function hillsAt({ heights, cells, tops }, ground) {
  const places = ground.means.map((mean) => ground.pixel(mean, 1));
  const owners = tops.map(() => -1);
  places.forEach((place, state) => {
    const hill = nearest(summitFrom(heights, cells, place), tops);
    if (owners[hill] < 0 || ground.law[state] > ground.law[owners[hill]]) owners[hill] = state;
  });
  return owners.map((state, hill) => (state < 0 ? nearest(tops[hill], places) : state)).sort((a, b) => a - b);
}

function nearest([x, y], places) {
  const away = places.map(([u, v]) => Math.hypot(u - x, v - y));
  return away.indexOf(Math.min(...away));
}

function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}
