// Where a walk is not seen whole: its average so far beside the exact marginals, site by site; before a class also what
// was found, which it is an average of.

import { diamond } from "./key.js";
import { alike } from "./lines.js";
import { MOST_COLUMNS, Shares } from "./shares.js";
import { painterFor } from "../pmpviz.player/painters.js";
import { css, enlarged, make, number, readableOn, scaleColour } from "../pmpviz.player/theme.js";
import { drawKey } from "../pmpviz.player/traces.js";

const INK = { kind: "ink", low: 0, high: 1, plain: true }; // As configurations are drawn: their average lies between.
const [AROUND, ABOVE, APART] = [58, 40, 20]; // CSS pixels of a plain page: names of a row, the scale, between pictures.
const [LETTER, LEAST] = [12, 34]; // Of the numbers in sites, and how large a site is that has one.
const STOPS = 5; // Of the ramp.
const [NAME, KEY] = [13, 40]; // Of a name its letters, and the room of the key beside it.

export class Beside {
  constructor(wake) {
    this.button = make("button", "pv-button");
    this.button.type = "button";
    this.button.addEventListener("click", () => {
      this.away = !this.away;
      wake();
    });
    this.root = make("div", "wk-beside");
    this.root.dataset.testid = "walk-marginals";
    this.ramp = make("span", "pv-ramp");
    this.scale = make("div", "wk-scale");
    this.row = make("div", "wk-row");
    this.root.append(this.scale, this.row);
  }

  // Whether it stands in the walk's place: where it `can`, until one asks for the walk.
  covers(can) {
    const covered = Boolean(can && !this.away);
    this.root.hidden = !covered;
    this.button.hidden = !can;
    this.button.textContent = covered ? "Show the walk" : "Show marginals";
    return covered;
  }

  // `walks` as the scene has them; `all` asks for what they found, too, which is seen beside elsewhere.
  draw(exact, walks, theme, all, [width, height]) {
    const moment = walks.map(({ averaged, named }) => [averaged.known, averaged.late, all && [named?.step, named?.weight]]);
    const drawn = [moment, exact, width, height, theme.id, enlarged(), window.devicePixelRatio].join(" ");
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const stops = Array.from({ length: STOPS }, (_, k) => css(scaleColour(INK, k / (STOPS - 1), theme)));
    this.ramp.style.background = `linear-gradient(90deg, ${stops.join()})`;
    const apart = walks.length > 1 ? alike(walks.map(({ meta }) => meta)) : 0;
    const averages = walks.flatMap((walk) => picturesOf(walk, walks.length, exact, all, apart));
    // Small graphs beside each other look alike, where columns show how far each is off.
    const few = walks.length > 1 && walks[0].meta.geometry.nodes && exact.length <= MOST_COLUMNS;
    const pictures = few ? averages : [...averages, { names: ["exact"], feet: [""], values: exact, says: "The exact marginals" }];
    const painter = few ? new Shares(exact) : painterFor(walks[0].meta);
    painter.like = walks[0].painter; // Of layers it is the same layout: units are matched by where they are.
    this.drawScale(few);
    const [columns, ...room] = arranged(painter, pictures.length, width, height);
    this.row.style.gridTemplateColumns = `repeat(${columns}, auto)`;
    // Names of one form, and what stands beneath.
    const form = ["names", "feet"].map((of) => Math.max(...averages.map((each) => placeOf(each[of], room[0], theme))));
    this.row.replaceChildren(...pictures.map((picture) => shown(picture, painter, room, theme, form)));
    this.root.dataset.steps = walks.map(({ averaged }) => averaged.known).join(" ");
  }

  drawScale(few) {
    const line = make("span", "wk-exact");
    const words = few ? ["p(xᵢ = 1) of each site", line, "exact"] : ["p(xᵢ = 1) of each site: 0", this.ramp, "1"];
    this.scale.replaceChildren(...words.map((word) => (word instanceof Node ? word : make("span", "", word))));
  }
}

// What was found, where it is asked for, and the average of that.
function picturesOf({ lane, meta, colour, averaged, named, over }, count, exact, all, apart) {
  const off = averaged.p1.reduce((sum, p, site) => sum + Math.abs(p - exact[site]), 0) / exact.length;
  const feet = Number.isFinite(off) ? [`${number(off)} off on average`, `${number(off)} off`] : [""]; // Until it is known.
  const average = { names: count > 1 ? [lane.label, lane.short, lane.short.slice(apart)] : ["μ: average so far", lane.short], feet, values: averaged.p1, meta, colour, says: `Marginals of ${lane.label}: ${feet[0]}` };
  if (!all || count > 1 || !named) return [average];
  const { step, bits, weight } = named;
  const part = Number.isFinite(weight) ? `${number(100 * weight)} % of the average` : "";
  const heaviest = over && part ? "heaviest: " : "";
  return [{ names: [`${heaviest}${lane.step} ${step}'s`], feet: [part], bits, says: `Found by ${lane.step} ${step}` }, average];
}

// How many stand in a row, and the room of each, so that they are as large as can be.
function arranged(painter, count, width, height) {
  const scale = enlarged();
  const choices = Array.from({ length: count }, (_, k) => {
    const [columns, rows] = [k + 1, Math.ceil(count / (k + 1))];
    const each = (width - APART * scale * (columns + 1)) / columns;
    const high = (height - ABOVE * scale) / rows - AROUND * scale;
    const [w, h] = painter.fit(Math.max(1, each), Math.max(1, high));
    return [columns, each, high, w * h];
  });
  return choices.reduce((best, one) => (one[3] > best[3] ? one : best)).slice(0, 3);
}

function shown({ names, feet, values, bits, meta, colour, says }, painter, [width, height], theme, form) {
  const root = make("figure", "wk-one");
  root.style.maxWidth = `${width + APART / 2}px`; // A longer name wraps.
  const head = make("figcaption", "wk-one-head");
  const canvas = make("canvas", "");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", says);
  if (meta) head.append(keyOf(meta, theme));
  if (values && !meta) head.append(exactKey(theme));
  const [name, foot] = [names, feet].map((words, k) => words[Math.min(form[k], words.length - 1)]);
  head.append(make("span", "", name));
  root.append(head, canvas, make("div", "wk-one-foot", foot));
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = painter.fit(Math.floor(width * ratio), Math.floor(height * ratio));
  Object.assign(canvas, { width: w, height: h });
  Object.assign(canvas.style, { width: `${w / ratio}px`, height: `${h / ratio}px` });
  painter.paint(canvas, bits, values ? { ...INK, values, colour } : null, theme);
  if (values) writeIn(canvas, painter, values, theme, enlarged() * ratio);
  return root;
}

// Where the first words are that have room, the longest ones; else the last.
function placeOf(words, width, theme) {
  const place = words.findIndex((each) => fits(each, width, theme));
  return place < 0 ? words.length - 1 : place;
}

// Whether a name has room beside its lane's key.
function fits(name, width, theme) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `${NAME * enlarged()}px ${theme.font}`;
  return context.measureText(name).width + KEY * enlarged() < width;
}

// In each site its number, where there is room.
function writeIn(canvas, painter, values, theme, scale) {
  if (!painter.middle || painter.grain() < LEAST * scale) return;
  const context = canvas.getContext("2d");
  context.font = `${LETTER * scale}px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  values.forEach((value, site) => {
    if (!Number.isFinite(value)) return;
    context.fillStyle = css(readableOn(scaleColour(INK, value, theme)));
    context.fillText(value.toFixed(2), ...painter.middle(site));
  });
}

function keyOf(meta, theme) {
  const key = make("canvas", "pv-key");
  drawKey(key, meta, theme);
  return key;
}

// The sign of the exact point in the walk's picture.
function exactKey(theme) {
  const key = make("canvas", "");
  Object.assign(key, { width: 28, height: 28 });
  Object.assign(key.style, { width: "0.875rem", height: "0.875rem" });
  const context = key.getContext("2d");
  context.lineWidth = 3;
  context.strokeStyle = css(theme.text);
  diamond(context, 14, 14, 11);
  context.stroke();
  return key;
}
