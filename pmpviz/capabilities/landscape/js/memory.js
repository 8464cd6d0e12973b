// Two remembered pictures: the landscape of the two Gaussians that carry them, and the spins that are drawn where the
// ball is.

import { bit } from "../pmpviz.player/decode.js";
import { RasterPainter } from "../pmpviz.player/raster.js";
import { css, make, sized } from "../pmpviz.player/theme.js";
import { Ground } from "./ground.js";
import { Picture } from "./scene.js";

const RINGS = 14; // Contours; the higher ones lie nearer to each other in log p.
const BEND = 2.5;
const THUMB = 30;
const VARIABLES = 2 ** 31; // The counters of the variables' numbers begin here, as in pmpviz.samplers._gaussian.

export class MemoryGround extends Ground {
  // Places are seen along the pictures: sqrt(beta n) overlaps, and a normal number each.
  take({ groups, temperature, cue, law, memory }, turn) {
    const beta = 1 / temperature;
    const n = groups[0] + groups[1];
    const q = (groups[0] - groups[1]) / n;
    const far = Math.sqrt(beta * n);
    Object.assign(this, { groups, law, beta, cue, n, pictures: memory });
    this.means = [[1, q], [q, 1], [-1, -q], [-q, -1]].map((mean) => mean.map((m) => far * m));
    this.largest = 4 * beta * (1 + Math.abs(q));
    const [sum, difference] = [1 + q, 1 - q].map((share) => (2 * Math.sqrt(beta * share)) ** turn / 2);
    this.map = [[sum + difference, sum - difference], [sum - difference, sum + difference]];
    this.frame(this.means, this.map);
  }

  stateOf(roll) {
    return this.overlaps(roll.bits).map((overlap) => Math.sqrt(this.beta * this.n) * overlap);
  }

  // Along the sum and the difference of the pictures the landscape is a product.
  density([x, y], shares) {
    shares.fill(0);
    shares[Math.abs(x) > Math.abs(y) ? (x > 0 ? 0 : 2) : y > 0 ? 1 : 3] = 1;
    return this.part(0, (x + y) * Math.SQRT1_2) + this.part(1, (x - y) * Math.SQRT1_2);
  }

  part(k, z) {
    const pull = Math.abs(Math.sqrt((2 * this.beta) / this.n) * z + this.beta * this.cue);
    return -0.5 * z * z + this.groups[k] * (pull + Math.log1p(Math.exp(-2 * pull)));
  }

  // Packed spins drawn from p(s | z) with the numbers of a key: those that the server draws where the ball stops.
  drawn([x, y], words) {
    const bits = new Uint8Array(Math.ceil(this.n / 8));
    const pull = 2 * Math.sqrt(this.beta / this.n);
    const chance = [-1, 1].map((a) => [-1, 1].map((b) => {
      return 1 / (1 + Math.exp(-pull * (a * x + b * y) - 2 * this.beta * this.cue * a));
    }));
    const [one, two] = this.pictures;
    for (let i = 0; i < this.n; i++) {
      if (uniform(words, i) < chance[bit(one, i)][bit(two, i)]) bits[i >> 3] |= 128 >> (i & 7);
    }
    return bits;
  }

  // (xi . sigma) / n of both pictures.
  overlaps(bits) {
    return this.pictures.map((picture) => {
      let same = 0;
      for (let i = 0; i < this.n; i++) same += bit(bits, i) === bit(picture, i);
      return (2 * same) / this.n - 1;
    });
  }
}

// The number of site i under a key, as pmpviz.keys.uniform_at has it.
function uniform([one, two], i) {
  const bits = mixed(mixed((Math.imul(VARIABLES + i, 0x9e3779b9) + one) | 0) ^ two);
  return ((bits >>> 9) + 0.5) * 2 ** -23;
}

function mixed(h) {
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
  return h ^ (h >>> 15);
}

// The landscape, with the pictures where their states lie; what does not move with the ball is drawn once.
export class MemoryPicture extends Picture {
  constructor(canvas) {
    super(canvas);
    this.kept = make("canvas");
    this.thumbs = [];
  }

  draw(ground, side, theme, show, scale) {
    const wanted = [theme.id, side, show.layer, scale, window.devicePixelRatio, show.axes].join();
    if (this.surveyed !== ground || this.wanted !== wanted) {
      this.wanted = wanted;
      this.begin(this.kept, ground, side, theme, scale);
      this.base(show);
    }
    this.context = sized(this.canvas, side, side);
    this.context.drawImage(this.kept, 0, 0, side, side);
    this.moving(show);
  }

  levels(top) {
    const { heights } = this.survey;
    const span = top - Float64Array.from(heights).sort()[heights.length >> 2];
    return Array.from({ length: RINGS }, (_, k) => span * ((k + 1) / RINGS) ** BEND);
  }

  // The pictures and their opposites, where the states that they are have their Gaussians.
  dots(names, crossed) {
    const { context, ground, scale, theme } = this;
    const side = THUMB * scale;
    context.font = `600 ${13 * scale}px ${theme.font}`;
    const places = ground.means.map((mean) => this.at(mean).map((at) => Math.min(this.side - 0.6 * side, Math.max(0.6 * side, at))));
    const taken = places.map(([x, y]) => [x - side / 2, y - side / 2, side, side]);
    places.forEach(([x, y], s) => {
      const stamp = (this.thumbs[s] = this.thumbs[s] || make("canvas"));
      paint(stamp, this.stamped(s), ground.n, side, theme);
      context.drawImage(stamp, x - side / 2, y - side / 2, side, side);
      context.strokeStyle = css(this.inks[s]);
      context.lineWidth = 2 * scale;
      context.strokeRect(x - side / 2, y - side / 2, side, side);
    });
    places.forEach((place, s) => this.nameBeside(place, names[s], side, taken));
    if (crossed) this.crosses();
  }

  // Beside its picture or outside of it, for the hill and the ball are further in; where another picture or its name is,
  // on the next side.
  nameBeside([x, y], name, side, taken) {
    const { context, scale } = this;
    const [wide, high] = [context.measureText(name).width, 13 * scale];
    const [left, right] = [[x - side / 2 - 5 - wide, y + 5 * scale], [x + side / 2 + 5, y + 5 * scale]];
    const [above, below] = [[x - side / 2, y - side / 2 - 6], [x - side / 2, y + side / 2 + 14 * scale]];
    const low = y > this.side / 2;
    const outer = Math.abs(x - this.side / 2) < Math.abs(y - this.side / 2) ? (low ? left : right) : low ? below : above;
    const within = ([l, d]) => l > 2 && l + wide < this.side - 2 && d - high > 2 && d < this.side - 2;
    const clear = ([l, d]) => !taken.some(([a, b, w, h]) => l < a + w && a < l + wide && d - high < b + h && b < d);
    const [start, base] = [outer, left, right, above, below].find((at) => within(at) && clear(at)) || outer;
    taken.push([start, base - high, wide, high]);
    context.textAlign = "left";
    this.write(name, start, base);
  }

  // Spins that were drawn are no picture, and have a place of their own.
  drawnReach() {
    return 2 * this.scale;
  }

  stamped(s) {
    const bits = Uint8Array.from(this.ground.pictures[s % 2]);
    return s < 2 ? bits : bits.map((byte) => 255 - byte);
  }

  // The hills are told beneath the picture, where no picture may stand.
  heading() {
    return "";
  }
}

// The spins beside the landscape: on the way those of p(s | z) under the numbers that the ball's end will be drawn with.
export class Spins {
  constructor() {
    this.root = make("figure", "ls-figure");
    this.canvas = make("canvas", "ls-canvas");
    this.canvas.dataset.testid = "landscape-spins";
    this.canvas.setAttribute("role", "img");
    this.words = make("figcaption", "pv-title");
    this.root.append(this.canvas, this.words);
  }

  draw(ground, roll, at, landed, side, theme) {
    const bits = !roll ? new Uint8Array(Math.ceil(ground.n / 8)) : landed ? Uint8Array.from(roll.bits) : ground.drawn(at, roll.words);
    paint(this.canvas, bits, ground.n, side, theme);
    const [a, b] = ground.overlaps(bits).map((overlap) => overlap.toFixed(2).replace("-", "−"));
    const words = roll ? `${landed ? "overlap with" : "on the way:"} A ${a}, B ${b}` : "no spins drawn yet";
    if (this.words.textContent !== words) this.words.textContent = words;
    this.canvas.setAttribute("aria-label", `${ground.n} spins: ${words}`);
    Object.assign(this.canvas.dataset, { ball: roll ? at.map((v) => v.toFixed(4)).join() : "", landed });
    if (roll && landed) this.canvas.dataset.differs = differing(bits, ground.drawn(at, roll.words));
  }
}

function differing(one, two) {
  return one.reduce((sum, byte, k) => sum + (byte ^ two[k]).toString(2).replaceAll("0", "").length, 0);
}

function paint(canvas, bits, n, side, theme) {
  const rows = Math.round(Math.sqrt(n));
  const ratio = window.devicePixelRatio || 1;
  if (canvas.rows !== rows) Object.assign(canvas, { rows, painter: new RasterPainter({ geometry: { kind: "grid", rows, cols: rows }, n }) });
  const [width, height] = canvas.painter.fit(side * ratio, side * ratio);
  if (canvas.width !== width) Object.assign(canvas, { width, height });
  Object.assign(canvas.style, { width: `${width / ratio}px`, height: `${height / ratio}px` });
  canvas.painter.paint(canvas, bits, null, theme);
}
