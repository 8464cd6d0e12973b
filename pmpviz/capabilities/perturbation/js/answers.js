// The perturbation that is shown, as small pictures: noise, field, and what each solver makes of it.

import { css, make, mix, number, scaleColour, sized } from "../pmpviz.player/theme.js";

const GREY = [138, 138, 134];
const [ABREAST, FEWEST] = [700, 6]; // From this width on, and as for so many at least.
// Before a class, of two spins and of more, so that the chart beneath is in sight with them.
const [SMALL, LARGE, CLASS, CLASS_MANY] = [96, 150, 110, 108];
const OF_TWO = 0.13; // Of the window's height, of each of two rows above a chart.

const [FEW_NODES, APART, LETTER] = [64, 0.46, 12]; // Whose circles are kept apart, by how much; the least letters in them.

export class Answers {
  constructor() {
    this.root = make("div", "at-panels");
    this.panels = [];
  }

  // `rows` are { title, words, values, kind, colour }; null values are not known. All stand in one row, each up to
  // `high` pixels, where that is given.
  draw(rows, shape, theme, scale, high = 0) {
    const abreast = high && this.root.clientWidth >= ABREAST;
    this.root.style.gridTemplateColumns = abreast ? `repeat(${Math.max(FEWEST, rows.length)}, minmax(0, 1fr))` : "";
    // What solvers make of the noise stands in a row of its own, where six have no room side by side.
    const narrow = this.root.clientWidth < 3 * SMALL;
    const parted = rows.length === 6 && rows[0].title === "field" && !abreast && !narrow;
    this.root.classList.toggle("at-parted", parted);
    const large = parted ? Math.max(SMALL, Math.min(LARGE, OF_TWO * window.innerHeight)) : LARGE;
    while (this.panels.length > rows.length) this.panels.pop().root.remove();
    while (this.panels.length < rows.length) {
      this.panels.push(panel());
      this.root.append(this.panels[this.panels.length - 1].root);
    }
    rows.forEach((row, k) => {
      const { head, key, words, canvas, root } = this.panels[k];
      head.textContent = row.title;
      key.style.background = row.colour || "";
      key.hidden = !row.colour;
      if (words.textContent !== row.words) words.textContent = row.words;
      const many = !high && shape.nodes?.length !== 4;
      const most = abreast ? high : scale === 1 ? large : many ? CLASS_MANY : CLASS;
      const side = Math.max(Math.min(SMALL, most), Math.min(most, root.clientWidth));
      canvas.dataset.panel = row.title;
      canvas.dataset.values = row.values ? [...row.values].slice(0, 36).map((v) => v.toFixed(2)).join() : "";
      canvas.setAttribute("aria-label", `${row.title}: ${row.words}`);
      (shape.cols ? lattice : graph)(canvas, row, shape, side, theme);
    });
  }
}

function panel() {
  const root = make("figure", "at-panel");
  const caption = make("figcaption");
  const [key, head] = [make("span", "at-key"), make("span")];
  caption.append(key, head);
  const canvas = make("canvas");
  canvas.setAttribute("role", "img");
  const words = make("div", "at-under");
  root.append(caption, canvas, words);
  return { root, head, key, canvas, words };
}

// Paper over grey to ink, or blue over the ground to orange.
function colourOf({ kind, limit }, value, theme) {
  if (Number.isNaN(value)) return theme.paper;
  if (kind === "share") return scaleColour({ kind: "sequential", low: 0, high: 1 }, value, theme);
  if (kind === "field") return scaleColour({ kind: "diverging", low: -limit, high: limit }, value, theme);
  return value < 0.5 ? mix(theme.paper, GREY, 2 * value) : mix(GREY, theme.ink, 2 * value - 1);
}

function lattice(canvas, row, { rows, cols }, side, theme) {
  const cell = Math.max(2, Math.floor(side / Math.max(rows, cols)));
  const context = sized(canvas, cell * cols, cell * rows);
  context.fillStyle = css(theme.rule);
  context.fillRect(0, 0, cell * cols, cell * rows);
  if (!row.values) return;
  const gap = cell >= 8 ? 1 : 0;
  row.values.forEach((value, site) => {
    context.fillStyle = css(colourOf(row, value, theme));
    context.fillRect((site % cols) * cell, Math.floor(site / cols) * cell, cell - gap, cell - gap);
  });
}

function graph(canvas, row, { nodes: given, edges }, side, theme) {
  const n = given.length / 2;
  const nodes = n === 2 ? given : filling(given);
  const radius = radiusOf(nodes, n, side);
  const high = n === 2 ? Math.round(0.55 * side) : side;
  const context = sized(canvas, side, high);
  context.clearRect(0, 0, side, high);
  const room = side - 2 * radius - 10;
  const at = (v) => [radius + 5 + nodes[2 * v] * room, n === 2 ? high / 2 : radius + 5 + nodes[2 * v + 1] * room];
  context.strokeStyle = css(theme.soft);
  context.globalAlpha = Math.max(0.1, Math.min(0.7, 120 / (edges.length + 1)));
  context.beginPath();
  for (let e = 0; e + 1 < edges.length; e += 2) {
    context.moveTo(...at(edges[e]));
    context.lineTo(...at(edges[e + 1]));
  }
  context.stroke();
  context.globalAlpha = 1;
  for (let v = 0; v < n; v++) {
    const [x, y] = at(v);
    const colour = row.values ? colourOf(row, row.values[v], theme) : theme.rule;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = css(colour);
    context.fill();
    context.strokeStyle = css(theme.text);
    context.stroke();
  }
  if (row.values) labels(context, row, n, at, radius, theme);
}

// Places as far apart as the picture's square has room.
function filling(nodes) {
  const ends = [0, 1].map((axis) => {
    const own = Array.from(nodes).filter((_, k) => k % 2 === axis);
    return [Math.min(...own), Math.max(...own)];
  });
  const span = Math.max(1e-6, ...ends.map(([low, high]) => high - low));
  return Array.from(nodes, (v, k) => 0.5 + (v - (ends[k % 2][0] + ends[k % 2][1]) / 2) / span);
}

// Circles do not lie on one another.
function radiusOf(nodes, n, side) {
  const usual = Math.min(n <= 3 ? 0.19 : 0.13, 0.34 / Math.sqrt(n)) * side;
  if (n === 2 || n > FEW_NODES) return Math.max(3, usual);
  let near = 1;
  for (let v = 0; v < n; v++) {
    for (let w = 0; w < v; w++) near = Math.min(near, Math.hypot(nodes[2 * v] - nodes[2 * w], nodes[2 * v + 1] - nodes[2 * w + 1]));
  }
  return Math.max(3, Math.min(usual, (APART * near * (side - 10)) / (1 + 2 * APART * near)));
}

// Circles have their numbers in them where every one of them can be read.
function labels(context, row, n, at, radius, theme) {
  // Of two spins all fields end at one place, so that noise and field are seen to differ by the model's own.
  const short = (value) => Number(n === 2 && Math.abs(value) < 10 ? value.toFixed(2) : value.toPrecision(2));
  const words = Array.from(row.values, (value) => number(row.kind === "field" ? short(value) : value));
  let size = Math.max(LETTER, Math.min(26, 0.85 * radius));
  const wide = () => {
    context.font = `600 ${size}px ${theme.font}`;
    return Math.max(...words.map((text) => context.measureText(text).width)) > 1.75 * radius;
  };
  while (wide()) if ((size -= 1) < LETTER) return;
  context.textAlign = "center";
  for (let v = 0; v < n; v++) {
    const colour = colourOf(row, row.values[v], theme);
    const bright = colour[0] * 0.3 + colour[1] * 0.59 + colour[2] * 0.11 > 140;
    context.fillStyle = bright ? "#1C1B19" : "#FBFAF7";
    context.fillText(words[v], at(v)[0], at(v)[1] + 0.35 * size);
  }
}

export function limitOf(values) {
  return Math.max(1e-9, ...[...values].map(Math.abs));
}

