// A configuration as square pixels, one a site: lattices, images, chains.

import { bit, stateAt } from "./decode.js";
import { css, heldColour, mix, scaleColour, stateColours, unmetColour, word } from "./theme.js";

export function cleared(canvas) {
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  return context;
}

// Pixels of a site up to which a mark on it is a larger part of it, to be seen at all.
const SMALL = 8;

// Of ink in the states' colours under couplings that are drawn; the share of a site that the line of one takes.
const [PALE, DIM] = [0.06, 0.3];
const WALL = 0.24;

export const faint = (theme) => [PALE, DIM].map((share) => mix(theme.paper, theme.ink, share));

// Which site each pixel of the smallest true picture shows; -1 is the gap between planes.
function rasterMap(geometry, n) {
  const rows = geometry.rows || 1;
  const cols = geometry.cols || n;
  const planes = geometry.planes || 1;
  const across = Math.ceil(Math.sqrt(planes));
  const bricks = geometry.offset === "triangular" || (geometry.kind === "hex" && geometry.offset !== "honeycomb");
  const size = bricks ? 2 : 1;
  const wide = cols * size + (bricks ? 1 : 0);
  const high = rows * size;
  const width = across * wide + (across - 1) * size;
  const height = Math.ceil(planes / across) * high + (Math.ceil(planes / across) - 1) * size;
  const map = new Int32Array(width * height).fill(-1);
  for (let site = 0; site < Math.min(n, rows * cols * planes); site++) {
    const plane = Math.floor(site / (rows * cols));
    const row = Math.floor(site / cols) % rows;
    const slant = bricks ? Math.floor((row + 1) / 2) : 0;
    const col = (((site % cols) - slant) % cols + cols) % cols;
    const x = (plane % across) * (wide + size) + col * size + (bricks ? row % 2 : 0);
    const y = Math.floor(plane / across) * (high + size) + row * size;
    for (let i = 0; i < size * size; i++) map[(y + Math.floor(i / size)) * width + x + (i % size)] = site;
  }
  return { map, width, height, size };
}

export class RasterPainter {
  constructor(lane) {
    Object.assign(this, rasterMap(lane.geometry, lane.n));
    this.states = lane.states;
    this.scratch = document.createElement("canvas");
    this.fine = 0;
  }

  // Device pixels of the canvas and of one picture pixel, for the room there is.
  fit(width, height) {
    const cell = Math.min(width / this.width, height / this.height);
    this.cell = cell >= 1 ? Math.floor(cell) : cell;
    return [Math.max(1, Math.round(this.width * this.cell)), Math.max(1, Math.round(this.height * this.cell))];
  }

  prepare(fine) {
    if (this.fine === fine) return;
    this.fine = fine;
    this.scratch.width = this.width * fine;
    this.scratch.height = this.height * fine;
    this.image = this.scratch.getContext("2d").createImageData(this.scratch.width, this.scratch.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.filled = null;
  }

  paint(canvas, bits, layer, theme) {
    this.draw(cleared(canvas), canvas.width, canvas.height, bits, layer, theme);
  }

  // The picture at the context's origin.
  draw(context, width, height, bits, layer, theme) {
    if (layer && layer.kind === "bonds") return this.bonds(context, width, height, bits, layer, theme);
    const dotted = layer && !layer.plain && this.size === 1 && this.cell >= 6;
    this.prepare(dotted ? 3 : 1);
    if (layer && (this.filled !== layer || this.ground !== theme.id)) this.fill(layer, theme);
    if (!layer || dotted) this.spins(bits, stateColours(this.states, theme).map(word));
    this.scratch.getContext("2d").putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.scratch, 0, 0, width, height);
    if (layer && layer.kind === "labels" && this.cell >= 4) this.outlines(context, layer.values, theme);
  }

  // Faint states, and between two neighbours whose coupling is not met a red line: one across the rim is at the side.
  bonds(context, width, height, bits, { values }, theme) {
    const { map, width: cols, cell } = this;
    const high = map.length / cols;
    this.prepare(1);
    this.spins(bits, faint(theme).map(word));
    this.scratch.getContext("2d").putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.scratch, 0, 0, width, height);
    context.fillStyle = css(unmetColour(theme));
    const wide = Math.max(1, Math.round(WALL * cell));
    const [before, n] = [Math.floor(wide / 2), map.length];
    let [unmet, count] = [0, 0];
    const tell = (coupling, a, b) => {
      if (!coupling) return false;
      count += 1;
      const costs = (bit(bits, a) === bit(bits, b)) === coupling < 0;
      unmet += costs;
      return costs;
    };
    for (let site = 0; site < n; site++) {
      const [x, y] = [site % cols, Math.floor(site / cols)];
      const [right, below] = [x + 1 < cols ? site + 1 : site + 1 - cols, y + 1 < high ? site + cols : x];
      if (tell(values[site], site, right)) {
        context.fillRect(x + 1 < cols ? (x + 1) * cell - before : width - wide, y * cell - before, wide, cell + wide);
      }
      if (tell(values[n + site], site, below)) {
        context.fillRect(x * cell - before, y + 1 < high ? (y + 1) * cell - before : height - wide, cell + wide, wide);
      }
    }
    this.costly = count ? unmet / count : 0;
  }

  spins(bits, colours) {
    const { map, pixels, width, fine, states } = this;
    const planes = states ? states.planes : 1;
    this.filled = fine === 3 ? this.filled : null;
    for (let p = 0; p < map.length; p++) {
      const site = map[p];
      const colour = site < 0 ? 0 : colours[stateAt(bits, site, planes)];
      if (fine === 1) pixels[p] = colour;
      else if (site >= 0) pixels[(3 * Math.floor(p / width) + 1) * 3 * width + 3 * (p % width) + 1] = colour;
    }
  }

  fill(layer, theme) {
    this.filled = layer;
    this.ground = theme.id;
    const { map, pixels, width, fine } = this;
    const colours = Array.from(layer.values, (value) => word(scaleColour(layer, value, theme)));
    for (let p = 0; p < pixels.length; p++) {
      const x = Math.floor((p % (width * fine)) / fine);
      const site = map[Math.floor(p / (width * fine * fine)) * width + x];
      pixels[p] = site < 0 ? 0 : colours[site];
    }
  }

  outlines(context, values, theme) {
    const { map, width, height, cell } = this;
    context.fillStyle = css(theme.ink);
    const differ = (a, b) => a >= 0 && b >= 0 && values[a] !== values[b];
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const site = map[y * width + x];
        if (x + 1 < width && differ(site, map[y * width + x + 1])) context.fillRect((x + 1) * cell - 1, y * cell, 1, cell);
        if (y + 1 < height && differ(site, map[(y + 1) * width + x])) context.fillRect(x * cell, (y + 1) * cell - 1, cell, 1);
      }
    }
  }

  site(x, y) {
    const col = Math.floor(x * this.width);
    const row = Math.floor(y * this.height);
    if (col < 0 || row < 0 || col >= this.width || row >= this.height) return -1;
    return this.map[row * this.width + col];
  }

  grain() {
    return this.cell * this.size;
  }

  // Of a site, on the canvas.
  middle(site) {
    const first = this.map.indexOf(site);
    return [first % this.width, Math.floor(first / this.width)].map((at) => (at + this.size / 2) * this.cell);
  }

  // What a person has done: colours over sites, and a corner of every clamped site, so that what it is, and a layer's
  // dot, stay to be seen.
  mark(canvas, { wash, held }, theme) {
    this.marks(canvas.getContext("2d"), wash, held, theme);
  }

  marks(context, wash, held, theme, first = 0) {
    if (wash.size) this.washed(context, wash, first);
    if (held.size) this.corners(context, held, theme, first);
  }

  washed(context, wash, first) {
    if (this.wash !== wash || this.washSize !== wash.size) {
      this.film = this.film || document.createElement("canvas");
      Object.assign(this.film, { width: this.width, height: this.height });
      const film = this.film.getContext("2d");
      const image = film.createImageData(this.width, this.height);
      const pixels = new Uint32Array(image.data.buffer);
      for (let p = first; p < this.map.length; p++) pixels[p] = wash.get(this.map[p]) || 0;
      film.putImageData(image, 0, 0);
      Object.assign(this, { wash, washSize: wash.size });
    }
    context.imageSmoothingEnabled = false;
    context.drawImage(this.film, 0, 0, this.width * this.cell, this.height * this.cell);
  }

  corners(context, held, theme, first) {
    context.fillStyle = css(heldColour(theme));
    const { cell, width, size } = this;
    const edge = Math.max(1, cell * size * (cell * size < SMALL ? 0.5 : 0.3));
    context.globalAlpha = cell * size < 2 ? 0.4 : 1; // A site of one pixel is tinted.
    for (let p = first; p < this.map.length; p++) {
      const site = this.map[p];
      if (site < 0 || !held.has(site)) continue;
      if (size > 1 && (this.map[p - 1] === site || this.map[p - width] === site)) continue;
      const [x, y] = [(p % width) + size, Math.floor(p / width) + size];
      context.fillRect(x * cell - edge, y * cell - edge, edge, edge);
    }
    context.globalAlpha = 1;
  }
}
