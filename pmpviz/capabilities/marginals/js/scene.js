// The polytopes with the walks in them, on a plain 2-D canvas; pointing at something tells its coordinates.

import { drawAxes } from "./axes.js";
import { Beside } from "./beside.js";
import { Camera } from "./camera.js";
import { drawExact, nameExact } from "./exact.js";
import { barrierOf, cross, DOTS, drawKey, target, weighed } from "./key.js";
import { drawEdges, drawWires, facesOf, fillFace } from "./solid.js";
import { marker } from "../pmpviz.player/curves.js";
import { clearOf, css, haloed, make, mix, number, rgb, sized } from "../pmpviz.player/theme.js";

const NEAR_PX = 11;
const ARROW = 9;
const LINE = 14;
const MARGIN = 12; // Between the key and the buttons.
const IN_USE = 1e-9; // A smaller weight is none.
const LEAST_REST = 0.005; // Nor is what less than this is left to the centre.
const OF_MANY = 0.02; // The least weight of a corner where several lanes have theirs.
const [SEEN, PALE] = [3.3, 0.35]; // The contrast of a walk to the ground, at least; what an old step has of its colour.
const START = "start: centre";
const BOX = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((a) => [1, 2, 4].filter((bit) => !(a & bit)).map((bit) => [a, a | bit]));

export class Scene {
  constructor(wake, choose) {
    this.wake = wake;
    this.choose = choose;
    this.camera = new Camera();
    this.root = make("div", "wk-picture");
    this.canvas = make("canvas", "wk-canvas");
    this.canvas.dataset.testid = "walk-canvas";
    this.canvas.setAttribute("role", "img");
    this.canvas.tabIndex = 0;
    this.tools = make("div", "wk-tools");
    this.again = make("button", "pv-button", "First view");
    this.again.type = "button";
    this.again.title = "The view as it was at first: drag turns, arrow keys turn too, + and − zoom, and the wheel after a click (0)";
    this.again.addEventListener("click", () => this.moved(this.camera.reset()));
    this.beside = new Beside(() => this.moved());
    this.tools.append(this.again, this.beside.button);
    this.tip = make("div", "pv-tip");
    this.tip.setAttribute("aria-hidden", "true");
    this.tip.hidden = true;
    this.root.append(this.canvas, this.beside.root, this.tools, this.tip);
    this.paints = 0;
    this.scale = 1;
    this.spots = [];
    this.listen();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => this.grab(event));
    canvas.addEventListener("pointermove", (event) => this.point(event));
    canvas.addEventListener("pointerup", (event) => this.let(event));
    canvas.addEventListener("pointercancel", () => this.let(null));
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !this.camera.key(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      this.moved();
    });
  }

  moved() {
    this.tip.hidden = true;
    this.wake();
  }

  grab(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.held = { x: event.clientX, y: event.clientY, far: 0 };
    this.canvas.classList.add("wk-held");
  }

  point(event) {
    if (!this.held) return this.tell(event);
    const [x, y] = [event.clientX - this.held.x, event.clientY - this.held.y];
    Object.assign(this.held, { x: event.clientX, y: event.clientY, far: this.held.far + Math.abs(x) + Math.abs(y) });
    this.camera.turn(x, y);
    this.moved();
  }

  let(event) {
    const click = event && this.held && this.held.far < 4;
    this.held = null;
    this.canvas.classList.remove("wk-held");
    const spot = click ? this.near(event) : null;
    if (spot && spot.step !== undefined) this.choose(spot.step);
  }

  // Who scrolls over the picture goes on to what is beneath it, until the picture has been clicked.
  wheel(event) {
    if (event.ctrlKey || document.activeElement !== this.canvas && this.canvas.getRootNode().activeElement !== this.canvas) return;
    if (!this.camera.nearer(Math.exp(-event.deltaY * 0.0015))) return;
    event.preventDefault();
    this.moved();
  }

  // The nearest thing under the pointer.
  near(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, least] = [null, NEAR_PX];
    for (const spot of this.spots) {
      const far = Math.hypot(spot.at[0] - x, spot.at[1] - y) - (spot.rank || 0);
      if (far < least) [best, least] = [spot, far];
    }
    return best;
  }

  tell(event) {
    const spot = this.near(event);
    this.tip.hidden = !spot;
    this.canvas.style.cursor = spot && spot.step !== undefined ? "pointer" : "";
    if (!spot) return;
    const rows = this.data.names.map((name, k) => `${name} = ${number(spot.point[k])}`);
    this.tip.replaceChildren(...[spot.words, ...rows].map((line) => make("div", "", line)));
    const box = this.canvas.getBoundingClientRect();
    this.tip.style.lineHeight = "1.4";
    this.tip.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 16, box.width - 200))}px`;
    this.tip.style.top = `${event.clientY - box.top + 18}px`;
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
  }

  // `walks` are the lanes as they stand on screen, see shown.js; `exact` the exact marginals where they are known.
  draw(data, walks, theme, { exact, large }) {
    if (!this.width) return;
    // Of a polytope that is not seen whole marginals say more than a projection, which is a click away.
    const known = exact && walks.length && walks.every(({ averaged, meta }) => averaged.p1 && !meta.states);
    this.covered = this.beside.covers(!data.marginal && known);
    this.canvas.style.visibility = this.covered ? "hidden" : "";
    this.again.hidden = this.covered;
    this.describe(walks);
    const context = (this.context = sized(this.canvas, this.width, this.height)); // Its room is kept.
    if (this.covered) return this.beside.draw(exact, walks, theme, large, [this.width, this.height]);
    // Another polytope is seen from where it is seen best.
    const polytope = [data.names, data.marginal && data.marginal.names].join();
    if (this.polytope !== undefined && this.polytope !== polytope) this.camera.reset();
    Object.assign(this, { data, theme, polytope, spots: [], axes: [], mixed: 0, centred: false });
    context.clearRect(0, 0, this.width, this.height);
    context.font = `${12 * this.scale}px ${theme.font}`;
    context.lineJoin = context.lineCap = "round";
    this.camera.fit(data.box, this.width, this.height);
    this.drawBox();
    const faces = facesOf(this);
    faces.filter((face) => !face.front).forEach((face) => fillFace(this, face));
    this.hidden = data.marginal ? drawEdges(this, data.marginal, faces) : [];
    for (const walk of walks) this.drawBarrier(walk);
    for (const walk of walks) this.drawCorners(walk, walks.length > 1 ? OF_MANY : IN_USE);
    if (walks.length === 1) this.drawCentre(walks[0]);
    for (const walk of walks) this.drawTrail(walk);
    faces.filter((face) => face.front).forEach((face) => fillFace(this, face));
    this.drawMarks();
    for (const walk of walks) this.drawArrow(walk);
    drawExact(this);
    for (const walk of walks) this.drawNow(walk);
    nameExact(this, LINE * this.scale);
    this.drawNames();
    drawKey(this, walks, this.width - this.tools.offsetWidth - MARGIN);
    this.drawHint();
    this.paints += 1;
    Object.assign(this.canvas.dataset, { paints: this.paints, mixed: this.mixed, centred: this.centred });
  }

  // For those who watch from outside.
  describe(walks) {
    const { yaw, pitch, zoom } = this.camera;
    const step = walks.length ? walks[0].lane.steps[walks[0].last] : "";
    Object.assign(this.canvas.dataset, { step, still: walks.every(({ share }) => share === 1), camera: [yaw, pitch, zoom].map((v) => v.toFixed(4)).join() });
  }

  // The local polytope where it is known, else the box of what has been met, with the names of the axes.
  drawBox() {
    const { box, local } = this.data;
    const corners = BOX_CORNERS.map((bits) => bits.map((bit, k) => box[bit][k]));
    const frame = local || { corners, edges: BOX };
    this.wires(frame, local ? [2, 4] : [1, 5], 1, local ? 0.6 : 0.35);
    drawAxes(this);
  }

  wires(frame, ...look) {
    drawWires(this, frame, ...look);
  }

  // The polytope drawn towards its centre by delta: where the iterates stay.
  drawBarrier(walk) {
    const { marginal, centre } = this.data;
    const delta = barrierOf(this.data, walk);
    if (!delta) return;
    const corners = marginal.corners.map((corner) => corner.map((v, k) => (1 - delta) * v + delta * centre[k]));
    this.wires({ corners, edges: marginal.edges }, DOTS, 1, 0.5);
  }

  // The corners that the point on screen is a mixture of; of several lanes those of some weight alone, which would hide
  // the walks.
  drawCorners({ lane, last, colour, past, weights }, least) {
    const { context, theme } = this;
    const seen = past ? new Set(lane.found.subarray(0, last + 1)) : null;
    const used = [...weights.keys()].filter((v) => (seen ? seen.has(v) : weights[v] > least));
    this.mixed += used.length;
    for (const { point, own } of together(lane.corners, used)) {
      const [x, y] = this.camera.place(point);
      const sum = own.reduce((total, v) => total + Math.max(0, weights[v]), 0);
      const size = past ? 4 : sizeOf(sum);
      const name = own.map((v) => lane.names[v]).join(" · ");
      context.fillStyle = context.strokeStyle = colour;
      weighed(context, x, y, size);
      this.spots.push({ at: [x, y], point, words: past ? name : `${name}, weight ${number(sum)}`, rank: 2 });
      if (lane.named && !this.data.marginal) this.labels = [...(this.labels || []), [x, y, size, name, theme.text]];
    }
  }

  // What the corners leave to the start, which is averaged too.
  drawCentre({ weights, past, colour }) {
    const rest = weights.length ? 1 - weights.reduce((sum, weight) => sum + weight, 0) : 0;
    this.centred = !past && rest >= LEAST_REST;
    if (!this.centred) return;
    this.context.fillStyle = this.context.strokeStyle = colour;
    const [x, y] = this.camera.place(this.data.centre);
    weighed(this.context, x, y, sizeOf(rest));
  }

  // Old steps are as pale as can be seen from the back row, the last ones have the lane's full colour.
  drawTrail(walk) {
    const { lane, last, colour } = walk;
    const { context, theme } = this;
    const full = clearOf(theme.ground, rgb(colour), theme.text, SEEN);
    const pale = clearOf(theme.ground, mix(theme.ground, full, PALE), full, SEEN);
    let before = null;
    const end = walk.share < 1 ? last - 1 : last;
    for (let k = 0; k <= end; k++) {
      const point = lane.path.subarray(3 * k, 3 * k + 3);
      const at = this.camera.place(point);
      if (before) {
        context.strokeStyle = css(mix(pale, full, last ? k / last : 1));
        context.lineWidth = this.scale * (1.5 + (1.5 * k) / Math.max(1, last));
        context.beginPath();
        context.moveTo(before[0], before[1]);
        context.lineTo(at[0], at[1]);
        context.stroke();
      }
      this.spots.push({ at, point, words: `${lane.label}, step ${lane.steps[k]}`, step: lane.steps[k] });
      before = at;
    }
  }

  drawMarks() {
    const { context, theme, data } = this;
    const mark = (point, words, shape) => {
      const [x, y] = this.camera.place(point);
      context.fillStyle = css(theme.text);
      context.strokeStyle = css(theme.ground);
      context.lineWidth = 1.5;
      shape(x, y);
      this.spots.push({ at: [x, y], point, words, rank: 3 });
      return [x, y];
    };
    const [cx, cy] = mark(data.centre, "u₀, the uniform distribution: the barrier's centre", (x, y) => {
      context.strokeStyle = css(theme.text);
      cross(context, x, y, 5);
    });
    const wide = context.measureText(START).width;
    const places = [[cx - 8 - wide, cy - 6], [cx + 8, cy - 6], [cx - 8 - wide, cy + 16 * this.scale], [cx + 8, cy + 16 * this.scale]];
    const free = places.find(([left, down]) => !this.axes.some(([l, d, w]) => left < l + w && l < left + wide && Math.abs(d - down) < LINE * this.scale));
    context.textAlign = "left";
    this.write(START, ...(free || places[0]), theme.text);
  }

  // From the iterate to the corner that the MAP call found there.
  drawArrow({ lane, last, share, colour, over }) {
    const corner = lane.found[last];
    if (last < 1 || !(corner >= 0)) return;
    const { context, theme } = this;
    context.strokeStyle = context.fillStyle = css(clearOf(theme.ground, rgb(colour), theme.text, SEEN));
    context.lineWidth = 1.75 * this.scale;
    const to = this.camera.place(lane.corners.subarray(3 * corner, 3 * corner + 3));
    if (over) return target(context, to[0], to[1], 10); // No way is left.
    const from = this.camera.place(lane.path.subarray(3 * last - 3, 3 * last));
    const grown = Math.min(1, share / 0.5);
    const tip = [from[0] + (to[0] - from[0]) * grown, from[1] + (to[1] - from[1]) * grown];
    const way = Math.atan2(to[1] - from[1], to[0] - from[0]);
    context.setLineDash([5, 4]);
    context.beginPath();
    context.moveTo(from[0], from[1]);
    context.lineTo(tip[0], tip[1]);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    for (const bend of [0, Math.PI - 0.4, Math.PI + 0.4]) {
      const [x, y] = bend ? [tip[0] + ARROW * Math.cos(way + bend), tip[1] + ARROW * Math.sin(way + bend)] : tip;
      context.lineTo(x, y);
    }
    context.fill();
    if (grown === 1) target(context, to[0], to[1], 10);
  }

  drawNow({ lane, last, share, colour }) {
    const { context, theme } = this;
    const to = lane.path.subarray(3 * last, 3 * last + 3);
    const from = last ? lane.path.subarray(3 * last - 3, 3 * last) : to;
    const slid = Math.max(0, Math.min(1, (share - 0.5) / 0.5));
    const point = [0, 1, 2].map((k) => from[k] + (to[k] - from[k]) * slid);
    const [x, y] = this.camera.place(point);
    if (last && share < 1) {
      const start = this.camera.place(from);
      context.strokeStyle = colour;
      context.lineWidth = 3 * this.scale;
      context.beginPath();
      context.moveTo(start[0], start[1]);
      context.lineTo(x, y);
      context.stroke();
    }
    context.fillStyle = colour;
    context.strokeStyle = css(theme.ground);
    context.lineWidth = 2;
    marker(context, lane.marker, x, y, 6.5);
    context.stroke();
    this.spots.push({ at: [x, y], point, words: `${lane.label}: μ at step ${lane.steps[last]}`, rank: 4 });
  }

  drawNames() {
    const { context, theme, data } = this;
    const middle = [this.width / 2, this.height / 2];
    this.drawLabels();
    if (!data.marginal) return;
    context.font = `600 ${13 * this.scale}px ${theme.font}`;
    data.marginal.corners.forEach((corner, k) => {
      const [x, y] = this.camera.place(corner);
      const out = [x - middle[0], y - middle[1]];
      const far = Math.hypot(...out) || 1;
      const words = data.marginal.names[k].replace(" ", " · ");
      context.textAlign = Math.abs(out[0]) < 0.3 * far ? "center" : out[0] > 0 ? "left" : "right";
      const colour = this.hidden[k] ? theme.soft : theme.text;
      this.write(words, ...this.clear(words, x + (18 * out[0]) / far, y + (20 * out[1]) / far + 4), colour);
      this.spots.push({ at: [x, y], point: corner, words, rank: 1 });
    });
  }

  // What a hand can do, until it has.
  drawHint() {
    if (this.camera.turned) return;
    const { context, theme } = this;
    context.font = `${12 * this.scale}px ${theme.font}`;
    context.textAlign = "left";
    this.write("drag to turn", 8, this.height - 8, theme.soft);
  }

  // Above or beneath its place where the name of an axis stands there.
  clear(words, x, y) {
    const wide = this.context.measureText(words).width;
    const left = x - { left: 0, center: wide / 2, right: wide }[this.context.textAlign];
    const line = LINE * this.scale;
    const meets = (down) => this.axes.some(([l, d, w]) => left < l + w && l < left + wide && Math.abs(d - down) < line);
    return [x, [0, 1, -1, 2, -2].map((lines) => y + lines * line).find((down) => !meets(down)) ?? y];
  }

  // Corners by their names, those of most weight first: where two would overlap the other is told on hover alone.
  drawLabels() {
    const { context, theme } = this;
    const taken = [];
    for (const label of (this.labels || []).sort((a, b) => b[2] - a[2])) {
      const [left, y, wide] = this.boxOf(label);
      const name = label[3];
      const meets = ([l, t, w]) => left < l + w && l < left + wide && Math.abs(t - y) < LINE * this.scale;
      if (taken.some(meets)) continue;
      taken.push([left, y, wide]);
      context.textAlign = "left";
      this.write(name, left, y + 4, theme.text);
    }
    this.labels = [];
  }

  // Where a corner's name begins, at which height, and how wide it is: outside of the corner.
  boxOf([x, y, size, name]) {
    const wide = this.context.measureText(name).width;
    return [x > this.width / 2 ? x + size + 4 : x - size - 4 - wide, y, wide];
  }

  // Words that can be read on anything, and never leave the picture: [where they begin, at which height, how wide].
  write(words, x, y, colour) {
    const { context, theme } = this;
    const wide = context.measureText(words).width;
    const before = { left: 0, center: wide / 2, right: wide }[context.textAlign];
    const at = Math.max(before + 3, Math.min(this.width - wide + before - 3, x));
    const down = Math.max(13, Math.min(this.height - 5, y));
    haloed(context, theme, words, at, down, colour);
    return [at - before, down, wide];
  }
}

// The radius of what has this share of the average.
function sizeOf(share) {
  return 3 + 11 * Math.sqrt(share);
}

const BOX_CORNERS = [0, 1, 2, 3, 4, 5, 6, 7].map((code) => [code & 1, (code >> 1) & 1, (code >> 2) & 1]);

// Corners that are one place, as those of configurations whose pairs are alike: one disc of theirs would hide the other.
export function together(corners, used) {
  const places = new Map();
  for (const v of used) {
    const point = corners.subarray(3 * v, 3 * v + 3);
    const key = point.join();
    if (!places.has(key)) places.set(key, { point, own: [] });
    places.get(key).own.push(v);
  }
  return places.values();
}
