// How configurations become pictures: a raster for lattices, discs and lines for graphs.

import { bit, stateAt } from "./decode.js";
import { LayersPainter } from "./layers.js";
import { cleared, RasterPainter } from "./raster.js";
import { css, heldColour, OPPOSED, readableOn, scaleColour, stateColours, unmetColour, word } from "./theme.js";

export function painterFor(lane) {
  if (lane.geometry.kind === "chain") return new ChainPainter(lane);
  if (lane.geometry.kind === "layers") return new LayersPainter(lane);
  return lane.geometry.nodes ? new GraphPainter(lane) : new RasterPainter(lane);
}

// Of a layered model a thumbnail shows the image alone.
export function thumbnailFor(lane) {
  const { kind, rows, cols } = lane.geometry;
  if (kind === "layers") return new RasterPainter({ n: rows * cols, geometry: { rows, cols } });
  const painter = painterFor(lane);
  painter.share = THUMB_SHARE;
  return painter;
}

// The largest radius of a graph's discs, as a share of its side: larger where the whole is small.
const SHARE = 1 / 28;
const THUMB_SHARE = 1 / 11;
// Of so few sites each has its number in its disc, which is larger then.
const NUMBERED = 9;
const NUMBERED_SHARE = 1 / 15;
// Of a line's strength, where the states at its ends are as its coupling would have them, and where they are not.
const [FAINT, HEAVY] = [0.4, 1.6];
const CROWDED = 60;
const RIM = 0.75; // Of the radius, to the right and upwards.

// A chain through time: one row a frame, the newest at the bottom; a layer covers the lowest rows.
const CHAIN_ROWS = 64;
const LAYER_ROWS = 6;

class ChainPainter extends RasterPainter {
  constructor(lane) {
    super({ n: lane.n, states: lane.states, geometry: { rows: CHAIN_ROWS, cols: lane.n } });
    this.n = lane.n;
    for (let p = 0; p < this.map.length; p++) this.map[p] = p % lane.n;
    this.past = CHAIN_ROWS;
  }

  paint(canvas, bits, layer, theme, frames = []) {
    this.prepare(1);
    const { pixels, n, states } = this;
    const planes = states ? states.planes : 1;
    const colours = stateColours(states, theme).map(word);
    pixels.fill(0);
    const rows = [...frames.map((frame) => frame.bits), bits].slice(-CHAIN_ROWS);
    rows.forEach((row, k) => {
      const start = (CHAIN_ROWS - rows.length + k) * n;
      for (let i = 0; i < n; i++) pixels[start + i] = colours[stateAt(row, i, planes)];
    });
    if (layer) {
      for (let p = (CHAIN_ROWS - LAYER_ROWS) * n; p < pixels.length; p++) {
        pixels[p] = word(scaleColour(layer, layer.values[p % n], theme));
      }
    }
    this.scratch.getContext("2d").putImageData(this.image, 0, 0);
    const context = cleared(canvas);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.scratch, 0, 0, canvas.width, canvas.height);
  }

  // In the newest row only.
  mark(canvas, { wash, held }, theme) {
    this.marks(canvas.getContext("2d"), wash, held, theme, (CHAIN_ROWS - 1) * this.n);
  }
}

class GraphPainter {
  constructor(lane) {
    this.nodes = lane.geometry.nodes;
    this.edges = lane.geometry.edges || new Int32Array(0);
    this.opposed = lane.geometry.opposed;
    this.coupled = lane.geometry.coupled;
    this.n = lane.n;
    this.states = lane.states;
  }

  fit(width, height) {
    const side = Math.floor(Math.min(width, height));
    const most = this.share || (this.n > NUMBERED ? SHARE : NUMBERED_SHARE);
    // Where the lines tell something many discs leave them room.
    const packed = this.coupled && this.n > CROWDED ? 0.15 : 0.24;
    this.radius = Math.max(2, Math.min(side * most, (packed * side) / Math.sqrt(this.n)));
    return [side, side];
  }

  at(site, side) {
    const room = side - 2 * this.radius - 4;
    return [this.radius + 2 + this.nodes[2 * site] * room, this.radius + 2 + this.nodes[2 * site + 1] * room];
  }

  paint(canvas, bits, layer, theme) {
    const context = cleared(canvas);
    this.lines(context, canvas.width, theme, bits);
    context.lineWidth = Math.max(1, this.radius * 0.16);
    context.strokeStyle = css(theme.ink);
    const colours = stateColours(this.states, theme);
    const planes = this.states ? this.states.planes : 1;
    for (let site = 0; site < this.n; site++) {
      const [x, y] = this.at(site, canvas.width);
      const own = layer && layer.plain ? null : colours[stateAt(bits, site, planes)];
      const colour = layer ? scaleColour(layer, layer.values[site], theme) : own;
      context.fillStyle = css(colour);
      context.beginPath();
      context.arc(x, y, this.radius, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      const numbered = this.n <= NUMBERED && !this.share;
      if (numbered) this.number(context, site, x, y, colour);
      // The state, where the layer has the disc: in its middle, or where its number stands there at its rim.
      if (own && layer && numbered) this.dot(context, x + RIM * this.radius, y - RIM * this.radius, own, theme.ink);
      else if (own && layer) this.dot(context, x, y, own, this.states && theme.paper);
      context.strokeStyle = css(theme.ink);
    }
  }

  number(context, site, x, y, disc) {
    context.font = `600 ${this.radius}px sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = css(readableOn(disc));
    context.fillText(String(site + 1), x, y + 0.06 * this.radius);
  }

  grain() {
    return 2.2 * this.radius;
  }

  // A disc in its colour over every painted site, a ring around every clamped one.
  mark(canvas, { wash, held }, theme) {
    const context = canvas.getContext("2d");
    const circle = (site, radius) => {
      context.beginPath();
      context.arc(...this.at(site, canvas.width), radius, 0, 2 * Math.PI);
    };
    for (const [site, colour] of wash) {
      context.fillStyle = `rgba(${colour & 255},${(colour >> 8) & 255},${(colour >> 16) & 255},${(colour >>> 24) / 255})`;
      circle(site, this.radius);
      context.fill();
    }
    context.strokeStyle = css(heldColour(theme));
    context.lineWidth = Math.max(1.5, this.radius * 0.3);
    for (const site of held) {
      circle(site, this.radius + context.lineWidth);
      context.stroke();
    }
  }

  // Of many states it has a ring, for the layer may have the state's colour.
  dot(context, x, y, colour, ring) {
    context.fillStyle = css(colour);
    context.beginPath();
    context.arc(x, y, this.radius * (ring ? 0.45 : 0.35), 0, 2 * Math.PI);
    context.fill();
    if (!ring) return;
    context.strokeStyle = css(ring);
    context.stroke();
  }

  // Negative couplings are dashed, in a colour of their own; those that the states do not meet are heavy and red.
  lines(context, side, theme, bits) {
    const full = Math.max(0.08, Math.min(0.6, 250 / (this.edges.length / 2 + 1)));
    const wide = Math.max(1, side / 700);
    const red = css(unmetColour(theme));
    const told = Boolean(this.coupled && bits);
    this.costly = told ? this.unmetShare(bits) : null;
    for (const opposed of this.opposed ? [false, true] : [false]) {
      const colour = css(opposed ? (theme.dark ? OPPOSED.dark : OPPOSED.light) : theme.soft);
      const weight = opposed ? 1.6 * full : full;
      const own = (e) => this.opposes(e) === opposed;
      context.setLineDash(opposed ? [4 * wide + 2, 3 * wide + 1] : []);
      if (!told) this.drawn(context, side, own, colour, wide, weight);
      else {
        this.drawn(context, side, (e) => own(e) && !this.unmet(e, bits), colour, wide, FAINT * weight);
        this.drawn(context, side, (e) => own(e) && this.unmet(e, bits), red, 2 * wide, HEAVY * weight);
      }
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  opposes(e) {
    return Boolean(this.opposed && this.opposed[e]);
  }

  // Whether the states at the ends of a coupling are not as it would have them.
  unmet(e, bits) {
    return (bit(bits, this.edges[2 * e]) === bit(bits, this.edges[2 * e + 1])) === this.opposes(e);
  }

  unmetShare(bits) {
    const count = this.edges.length / 2;
    let unmet = 0;
    for (let e = 0; e < count; e++) unmet += this.unmet(e, bits);
    return unmet / count;
  }

  drawn(context, side, chosen, colour, wide, alpha) {
    context.strokeStyle = colour;
    context.lineWidth = wide;
    context.globalAlpha = Math.min(1, alpha);
    context.beginPath();
    for (let e = 0; 2 * e + 1 < this.edges.length; e++) {
      if (!chosen(e)) continue;
      context.moveTo(...this.at(this.edges[2 * e], side));
      context.lineTo(...this.at(this.edges[2 * e + 1], side));
    }
    context.stroke();
  }

  // Where a node is that is drawn at this place of the canvas, as shares of both.
  place(x, y, side) {
    const room = side - 2 * this.radius - 4;
    return [x, y].map((share) => Math.min(1, Math.max(0, (share * side - this.radius - 2) / room)));
  }

  site(x, y, side) {
    let best = -1;
    let least = (2.5 * this.radius) ** 2;
    for (let site = 0; site < this.n; site++) {
      const [a, b] = this.at(site, side);
      const distance = (a - x * side) ** 2 + (b - y * side) ** 2;
      if (distance < least) [best, least] = [site, distance];
    }
    return best;
  }
}
