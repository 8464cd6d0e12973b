// The noise atlas: a map of two sites' noise, the cross that is dragged over it, samples that fall into it.

import { css, haloed, make, mix, number, rgb, scaleColour, sized, word } from "../pmpviz.player/theme.js";

const LEADING = 18; // Between lines of words.
const [LEFT, BOTTOM, TOP, RIGHT] = [38, 34, 8, 8];
const DOT = 3.5;
const ARM = 11; // Of the cross.
const SMALLEST = 1e-6; // Energies closer than this are the same.
const SEND_MS = 400;
const NAMED = 0.012; // Share of the map above which a region has its name on it.
// What the cross is, and a triangle at the edge; the longest that fits.
const CROSS = ["+: one noise, drag it", "+: drag it"];
const BEYOND = ["+: one noise, drag it; ▲: beyond the map", "+: drag it; ▲: off the map", "▲: off the map"];

export class NoiseMap {
  constructor({ moved, dropped }) {
    Object.assign(this, { moved, dropped, pixel: null, scale: 1, left: LEFT, bottom: BOTTOM });
    this.root = make("div", "at-map");
    this.canvas = make("canvas", "at-canvas");
    this.canvas.dataset.testid = "atlas-canvas";
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.tip = make("div", "pv-tip");
    this.tip.hidden = true;
    this.tip.style.lineHeight = "1.4";
    this.root.append(this.canvas, this.tip);
    this.listen();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.atlas) return;
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      this.dragging = true;
      this.drag(event);
    });
    canvas.addEventListener("pointermove", (event) => (this.dragging ? this.drag(event) : this.tell(event)));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => this.drop());
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  // [column, row] of the map under the pointer, kept within it.
  under(event) {
    const box = this.canvas.getBoundingClientRect();
    const { side } = this.atlas;
    const part = (at, from) => Math.max(0, Math.min(side - 1, Math.floor(((at - from) / this.room) * side)));
    return [part(event.clientX - box.left, this.left), side - 1 - part(event.clientY - box.top, TOP)];
  }

  drag(event) {
    const [column, row] = this.under(event);
    this.tip.hidden = true;
    this.go(column, row);
  }

  go(column, row) {
    const pixel = row * this.atlas.side + column;
    if (pixel === this.pixel) return;
    this.pixel = pixel;
    this.moved();
  }

  drop() {
    if (!this.dragging) return;
    this.dragging = false;
    if (this.pixel !== null) this.dropped(this.pixel);
  }

  key(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!way || !this.atlas) return;
    event.preventDefault();
    event.stopPropagation();
    const { side } = this.atlas;
    const [column, row] = this.pixel === null ? this.nearest(...this.cross) : [this.pixel % side, Math.floor(this.pixel / side)];
    const within = (at) => Math.max(0, Math.min(side - 1, at));
    this.go(within(column + way[0]), within(row + way[1]));
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.dropped(this.pixel), SEND_MS);
  }

  // The noise of the middle of a column or row, and the column and row nearest to a noise.
  noiseAt(k) {
    const { reach, side } = this.atlas;
    return -reach + (2 * reach * k) / (side - 1);
  }

  nearest(x, y) {
    const { reach, side } = this.atlas;
    return [x, y].map((v) => Math.max(0, Math.min(side - 1, Math.round(((v + reach) / (2 * reach)) * (side - 1)))));
  }

  // The pixel that the cross stands in.
  here() {
    if (this.pixel !== null) return this.pixel;
    const [column, row] = this.nearest(...this.cross);
    return row * this.atlas.side + column;
  }

  place(x, y) {
    const { reach, side } = this.atlas;
    const edge = reach * (1 + 1 / (side - 1));
    const part = (v) => (v + edge) / (2 * edge);
    return [this.left + part(x) * this.room, TOP + (1 - part(y)) * this.room];
  }

  tell(event) {
    if (!this.atlas) return;
    const [column, row] = this.under(event);
    const pixel = row * this.atlas.side + column;
    const code = this.atlas.values.state[pixel];
    const [a, b] = this.atlas.spins;
    const lines = [`noise of ${a}: ${number(this.noiseAt(column))}`, `noise of ${b}: ${number(this.noiseAt(row))}`];
    lines.push(Number.isNaN(code) ? "not worked out yet" : `state ${this.atlas.states[code]}`);
    if (this.layer.kind !== "states") lines.push(`${this.layer.label}: ${this.say(this.atlas.values[this.layer.id][pixel])}`);
    this.tip.replaceChildren(...lines.map((line) => make("div", "", line)));
    const box = this.canvas.getBoundingClientRect();
    this.tip.hidden = false;
    this.tip.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 16, box.width - 190))}px`;
    this.tip.style.top = `${event.clientY - box.top + 18}px`;
  }

  say(value) {
    if (Number.isNaN(value)) return "not worked out yet";
    if (this.layer.kind === "two") return this.layer.words[value];
    if (this.layer.id === "period") return value < 0 ? "none found" : String(Math.round(2 ** value));
    return number(value);
  }

  // Pale on the ground, so that dots of the same colour are seen on it.
  colour(value, theme) {
    if (Number.isNaN(value)) return theme.ground;
    const { kind, colours } = this.layer;
    if (kind === "states") return mix(rgb(this.colours[this.atlas.regions[value]]), theme.ground, 0.42);
    if (kind === "two") return mix(rgb(colours[value]), theme.ground, 0.2);
    return scaleColour({ kind: "sequential", low: this.low, high: this.high }, value, theme);
  }

  measure() {
    const { side, stride } = this.atlas;
    const values = (this.own = filled(this.atlas.values[this.layer.id], side, stride));
    this.low = this.layer.low || 0;
    const most = Math.max(...values.filter((v) => !Number.isNaN(v)));
    this.none = this.layer.high === undefined && this.layer.kind === "scale" && most <= SMALLEST; // Of what can be lost.
    this.high = this.layer.high === undefined ? Math.max(SMALLEST, most) : this.layer.high;
  }

  // `dots` are { x, y, colour, share } of the samples, `share` of their fall done.
  draw(width, high, theme, dots, scale) {
    [this.left, this.bottom] = [LEFT, BOTTOM].map((v) => Math.round(v * scale));
    this.scale = scale;
    const room = Math.floor(Math.max(120, Math.min(width - this.left - RIGHT, high - TOP - this.bottom)));
    this.room = room;
    const context = sized(this.canvas, room + this.left + RIGHT, room + TOP + this.bottom);
    this.context = context;
    context.clearRect(0, 0, room + this.left + RIGHT, room + TOP + this.bottom);
    context.font = `${12 * this.scale}px ${theme.font}`;
    if (!this.atlas) return this.empty(theme);
    this.measure();
    this.pixels(theme);
    this.axes(theme, dots.some((dot) => this.beyond(dot).some(Boolean)));
    for (const dot of dots) this.dot(dot, theme);
    if (this.layer.kind === "states") this.names(theme);
    this.drawCross(theme);
    if (this.atlas.rows < this.atlas.side) this.unfinished(theme);
  }

  // Borders may still move.
  unfinished(theme) {
    const { rows, side } = this.atlas;
    this.context.textAlign = "left";
    haloed(this.context, theme, `borders still rough: row ${rows} of ${side}`, this.left + 8, TOP + 16 * this.scale);
  }

  empty(theme) {
    this.context.fillStyle = css(theme.soft);
    this.context.textAlign = "center";
    const lines = wrapped(this.context, this.progress || "", this.room - 12);
    const above = (lines.length - 1) / 2;
    lines.forEach((line, k) => this.context.fillText(line, this.left + this.room / 2, TOP + this.room / 2 + (k - above) * LEADING * this.scale));
    this.context.strokeStyle = css(theme.rule);
    this.context.strokeRect(this.left, TOP, this.room, this.room);
  }

  pixels(theme) {
    const { own } = this;
    const { side } = this.atlas;
    if (this.layer.kind === "states" || this.layer.kind === "two") return this.regions(own, theme);
    const edge = (k) => Math.round((k / side) * this.room);
    for (let row = 0; row < side; row++) {
      for (let column = 0; column < side; column++) {
        this.context.fillStyle = css(this.colour(own[row * side + column], theme));
        const [x, y] = [edge(column), edge(side - 1 - row)];
        this.context.fillRect(this.left + x, TOP + y, edge(column + 1) - x, edge(side - row) - y);
      }
    }
  }

  // Between the middles of the pixels the state that weighs most around, so that borders run straight.
  regions(own, theme) {
    const { side } = this.atlas;
    const key = [this.room, theme.id, this.layer.id, own.reduce((sum, v, k) => (Number.isNaN(v) ? sum : sum + (v + 1) * (k + 1)), 0)].join();
    if (key !== this.painted) {
      this.painted = key;
      this.picture = Object.assign(make("canvas"), { width: this.room, height: this.room });
      const image = new ImageData(this.room, this.room);
      const words = new Uint32Array(image.data.buffer);
      const at = (p) => Math.max(0, Math.min(side - 1, (p + 0.5) / this.room * side - 0.5));
      for (let p = 0; p < this.room * this.room; p++) {
        const [x, y] = [at(p % this.room), side - 1 - at(Math.floor(p / this.room))];
        words[p] = word(this.colour(likeliest(own, side, x, y), theme));
      }
      this.picture.getContext("2d").putImageData(image, 0, 0);
    }
    this.context.drawImage(this.picture, this.left, TOP);
  }

  // Before a class, where no words of the map stand beneath it, the axis says what triangles are once there is one.
  axes(theme, beyond) {
    const { context, atlas } = this;
    context.fillStyle = css(theme.soft);
    context.strokeStyle = css(theme.text);
    context.globalAlpha = 0.25;
    context.beginPath();
    context.moveTo(...this.place(0, -atlas.reach));
    context.lineTo(...this.place(0, atlas.reach));
    context.moveTo(...this.place(-atlas.reach, 0));
    context.lineTo(...this.place(atlas.reach, 0));
    context.stroke();
    context.globalAlpha = 1;
    for (const tick of [-5, 0, 5]) {
      const [x, y] = this.place(tick, tick);
      context.textAlign = "center";
      context.fillText(number(tick), x, TOP + this.room + 14 * this.scale);
      context.textAlign = "right";
      context.fillText(number(tick), this.left - 5, y + 4);
    }
    context.textAlign = "center";
    const fits = (words) => context.measureText(words).width < this.room;
    const axis = (k) => [`noise of ${atlas.spins[k]}`, `noise of spin ${atlas.sites[k] + 1}`].find((words, last) => last || fits(words));
    const across = axis(0);
    context.fillText(this.scale > 1 ? named(across, fits, beyond) : across, this.left + this.room / 2, TOP + this.room + 29 * this.scale);
    context.save();
    context.translate(12 * this.scale, TOP + this.room / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(axis(1), 0, 0);
    context.restore();
  }

  // The name of each large region where most of it is; long names stay in the legend and under the pointer.
  names(theme) {
    const { side, states } = this.atlas;
    if (!states.length || states[0].length > 10) return;
    const sums = states.map(() => [0, 0, 0]);
    this.own.forEach((code, pixel) => {
      if (Number.isNaN(code)) return;
      sums[code][0] += 1;
      sums[code][1] += this.noiseAt(pixel % side);
      sums[code][2] += this.noiseAt(Math.floor(pixel / side));
    });
    this.context.font = `600 ${15 * this.scale}px ${theme.font}`;
    this.context.textAlign = "center";
    sums.forEach(([count, x, y], code) => {
      if (count < NAMED * side * side) return;
      haloed(this.context, theme, states[code], ...this.clear(states[code], this.place(x / count, y / count)));
    });
    this.context.font = `${12 * this.scale}px ${theme.font}`;
  }

  // A place for a name that the cross leaves readable: above or below it, whichever is nearer.
  clear(name, [x, y]) {
    const [across, along] = this.crossAt();
    const [wide, high] = [this.context.measureText(name).width / 2 + ARM + 4, 15 * this.scale];
    const [over, under] = [along - ARM - 6, along + ARM + high];
    if (Math.abs(x - across) > wide || y < over || y > under) return [x, y];
    return [x, y - over < under - y ? over : under];
  }

  // On its way it has no state yet, and no colour of one.
  dot({ x, y, colour, share }, theme) {
    if (share < 1) colour = css(theme.paper);
    const { reach } = this.atlas;
    const within = (v) => Math.max(-reach, Math.min(reach, v));
    const [px, py] = this.place(within(x), within(y));
    const size = (share < 1 ? DOT + 2 : DOT) * this.scale;
    const inside = (at, from) => Math.max(from + size, Math.min(from + this.room - size, at));
    const beyond = this.beyond({ x, y, share });
    const at = [inside(px, this.left), inside(TOP + (py - TOP) * share * share, TOP)];
    this.context.beginPath();
    if (beyond[0] || beyond[1]) pointer(this.context, ...at, beyond, 1.5 * size);
    else this.context.arc(...at, size, 0, 2 * Math.PI);
    this.context.fillStyle = colour;
    this.context.fill();
    this.context.strokeStyle = css(mix(theme.text, rgb(colour), 0.25));
    this.context.lineWidth = 1;
    this.context.stroke();
  }

  // Over which edges of the map a dot that has fallen lies.
  beyond({ x, y, share }) {
    const { reach, side } = this.atlas;
    return share < 1 ? [0, 0] : outside(x, y, reach * (1 + 1 / (side - 1)));
  }

  crossNoise() {
    const { side } = this.atlas;
    return this.pixel === null ? this.cross : [this.noiseAt(this.pixel % side), this.noiseAt(Math.floor(this.pixel / side))];
  }

  crossAt() {
    const { reach } = this.atlas;
    return this.place(...this.crossNoise().map((v) => Math.max(-reach, Math.min(reach, v))));
  }

  drawCross(theme) {
    const [x, y] = this.crossNoise();
    const [px, py] = this.crossAt();
    for (const [colour, wide] of [[theme.ground, 6], [theme.text, 2.5]]) {
      this.context.strokeStyle = css(colour);
      this.context.lineWidth = wide;
      this.context.lineCap = "round";
      this.context.beginPath();
      this.context.moveTo(px - ARM, py);
      this.context.lineTo(px + ARM, py);
      this.context.moveTo(px, py - ARM);
      this.context.lineTo(px, py + ARM);
      this.context.stroke();
    }
    Object.assign(this.canvas.dataset, { x: x.toFixed(4), y: y.toFixed(4) });
    const [a, b] = this.atlas.sites;
    const words = `Noise atlas, ${this.layer.label}. The cross is at noise ${number(x)} of spin ${a + 1} and ${number(y)} of spin ${b + 1}; arrow keys move it.`;
    this.canvas.setAttribute("aria-label", words);
  }
}

// Over which edges of the map a noise lies, as a direction on screen: [0, 0] of one that is on it.
export function outside(x, y, edge) {
  return [x, -y].map((v) => (Math.abs(v) > edge ? Math.sign(v) : 0));
}

// The axis with what its signs are, as far as there is room.
export function named(axis, fits, beyond) {
  return (beyond ? BEYOND : CROSS).map((words) => `${axis}; ${words}`).find(fits) || axis;
}

// A triangle whose tip, at a place, points this way.
function pointer(context, x, y, [right, down], long) {
  const angle = Math.atan2(down, right);
  const back = (turn) => [x + long * Math.cos(angle + turn), y + long * Math.sin(angle + turn)];
  context.moveTo(x + (long / 1.5) * Math.cos(angle), y + (long / 1.5) * Math.sin(angle));
  context.lineTo(...back(2.3));
  context.lineTo(...back(-2.3));
  context.closePath();
}

// Where nothing is worked out yet stands what the rough map, worked out first, has around there.
function filled(values, side, stride) {
  const middle = (k) => Math.min(side - 1, k - (k % stride) + (stride >> 1));
  return values.map((v, pixel) => (Number.isNaN(v) ? values[middle(Math.floor(pixel / side)) * side + middle(pixel % side)] : v));
}

// The value that weighs most around a place of the map, by cubic B-splines: of the four pixels next to it alone, a border
// askew would run in scallops.
function likeliest(values, side, x, y) {
  const [column, row] = [Math.min(side - 2, Math.floor(x)), Math.min(side - 2, Math.floor(y))];
  const sums = new Map();
  const [across, up] = [splines(x - column), splines(y - row)];
  for (let j = 0; j < 4; j++) {
    const line = side * Math.max(0, Math.min(side - 1, row + j - 1));
    for (let i = 0; i < 4; i++) {
      const value = values[line + Math.max(0, Math.min(side - 1, column + i - 1))];
      sums.set(value, (sums.get(value) || 0) + across[i] * up[j]);
    }
  }
  let [best, most] = [NaN, -1];
  for (const [value, sum] of sums) if (sum > most) [best, most] = [value, sum];
  return best;
}

function splines(t) {
  const u = 1 - t;
  return [u ** 3, 3 * t ** 3 - 6 * t ** 2 + 4, 3 * u ** 3 - 6 * u ** 2 + 4, t ** 3];
}

// In lines that are no wider: squeezed into one, no class could read it.
function wrapped(context, text, wide) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (!lines.length || context.measureText(longer).width > wide) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
