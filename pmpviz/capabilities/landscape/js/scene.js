// The picture: regions, Gaussians, contours and dots, and over them the ball with its steps.

import { css, make, mix, rgb, sized } from "../pmpviz.player/theme.js";
import { contours } from "./ground.js";
import { counted } from "./strips.js";

export const LAYERS = ["States", "Gaussians", "Sum", "Regions"];
export const [SUM, REGIONS] = [2, 3];
const BELOW = [0.06, 0.25, 0.6, 1.1, 1.8, 2.7, 3.8]; // Of the contours below the top, in log p.
const TOGETHER = 8; // Dots nearer than so many pixels stand on one another.
const TINT = 0.3; // Of the regions over the ground.
const SHADE = 0.45; // Of the highest place: a hill between wells is seen to be none of them.

export class Picture {
  constructor(canvas) {
    this.canvas = canvas;
    this.tiny = make("canvas");
  }

  // Colours of the states on this ground.
  colours(theme) {
    return this.ground.colours.map((colour) => mix(rgb(colour), theme.dark ? [255, 255, 255] : [0, 0, 0], theme.dark ? 0.2 : 0));
  }

  draw(ground, side, theme, show, scale) {
    this.begin(this.canvas, ground, side, theme, scale);
    this.base(show);
    this.moving(show);
  }

  begin(canvas, ground, side, theme, scale) {
    this.context = sized(canvas, side, side);
    Object.assign(this, { ground, side, theme, scale });
    this.inks = this.colours(theme);
    if (this.surveyed !== ground) this.survey = ground.survey();
    this.surveyed = ground;
    this.context.fillStyle = css(theme.paper);
    this.context.fillRect(0, 0, side, side);
  }

  // What stands still while the ball moves.
  base(show) {
    if (show.layer >= 3) this.regions();
    if (show.layer === 2) this.shade();
    if (show.layer === 1) this.gaussians(show.grown);
    if (show.layer >= 2) this.lines();
    if (show.layer >= SUM) this.dips();
    this.dots(show.names, show.layer >= 2);
    this.axes(show.axes, show.layer >= SUM);
  }

  moving(show) {
    if (show.landings) this.landings(show.landings);
    if (show.zigzag) this.zigzag(show.zigzag);
    if (show.roll) this.roll(show.roll, show.share, show.colour);
    if (show.roll && show.layer >= SUM) this.crosses(); // Over the ball, which would hide a hill.
  }

  // What is drawn at each point, in the states' colours.
  regions() {
    const { shares } = this.survey;
    const count = this.ground.law.length;
    this.fill((k, channel) => {
      let value = 0;
      for (let s = 0; s < count; s++) value += shares[k * count + s] * this.inks[s][channel];
      return this.theme.paper[channel] + TINT * (value - this.theme.paper[channel]);
    });
  }

  // How high each point is, as a share of the top.
  shade() {
    const { heights } = this.survey;
    const { paper, ink } = this.theme;
    const top = heights.reduce((a, b) => Math.max(a, b), -Infinity);
    this.fill((k, channel) => paper[channel] + SHADE * Math.exp(heights[k] - top) * (ink[channel] - paper[channel]));
  }

  // Each point of the survey in the colour that `valueOf(point, channel)` gives.
  fill(valueOf) {
    const { cells } = this.survey;
    this.tiny.width = this.tiny.height = cells;
    const image = new ImageData(cells, cells);
    for (let k = 0; k < cells * cells; k++) {
      for (let channel = 0; channel < 3; channel++) image.data[4 * k + channel] = valueOf(k, channel);
      image.data[4 * k + 3] = 255;
    }
    this.tiny.getContext("2d").putImageData(image, 0, 0);
    this.context.imageSmoothingEnabled = true;
    this.context.drawImage(this.tiny, 0, 0, this.side, this.side);
  }

  // Each state's own Gaussian: circles of one and two standard deviations, as strong as the state is likely.
  gaussians(grown) {
    const { context, ground } = this;
    const most = Math.max(...ground.law);
    ground.means.forEach((mean, s) => {
      for (const radius of [2, 1]) {
        context.beginPath();
        for (let k = 0; k <= 48; k++) {
          const angle = (k * Math.PI) / 24;
          context.lineTo(...this.at([mean[0] + grown * radius * Math.cos(angle), mean[1] + grown * radius * Math.sin(angle)]));
        }
        context.globalAlpha = 0.12 + 0.28 * (ground.law[s] / most);
        context.fillStyle = css(this.inks[s]);
        context.fill();
        context.globalAlpha = 1;
        context.strokeStyle = css(this.inks[s]);
        context.lineWidth = 1;
        context.stroke();
      }
    });
    context.globalAlpha = 1;
  }

  lines() {
    const { context, side, survey } = this;
    const top = survey.heights.reduce((a, b) => Math.max(a, b), -Infinity);
    context.strokeStyle = css(mix(this.theme.paper, this.theme.ink, 0.62));
    context.lineWidth = this.scale;
    context.beginPath();
    for (const below of this.levels(top)) {
      for (const [x1, y1, x2, y2] of contours(survey, top - below)) {
        context.moveTo(x1 * side, y1 * side);
        context.lineTo(x2 * side, y2 * side);
      }
    }
    context.stroke();
  }

  // A cross on the top of each hill that is counted: no contour may go around a low one.
  crosses() {
    const { context, scale, side, theme, survey } = this;
    const arm = 5 * scale;
    for (const [colour, width] of [[theme.paper, 5], [theme.ink, 2]]) {
      context.strokeStyle = css(colour);
      context.lineWidth = width * scale;
      context.beginPath();
      for (const [x, y] of survey.tops.map((top) => top.map((share) => share * side))) {
        context.moveTo(x - arm, y - arm);
        context.lineTo(x + arm, y + arm);
        context.moveTo(x - arm, y + arm);
        context.lineTo(x + arm, y - arm);
      }
      context.stroke();
    }
  }

  // A contour around a place that is a hill between wells looks like one around a well.
  dips() {
    const { context, scale, side } = this;
    context.font = `${12 * scale}px ${this.theme.font}`;
    context.textAlign = "center";
    for (const [x, y] of this.survey.dips) this.write("hill", x * side, y * side + 4 * scale);
  }

  // How far the contours lie below the top.
  levels() {
    return BELOW;
  }

  // The states at B's, their areas in proportion to p(s).
  dots(names, crossed) {
    const { context, ground, scale } = this;
    context.font = `600 ${14 * scale}px ${this.theme.font}`;
    context.textAlign = "center";
    ground.means.forEach((mean, s) => {
      const [x, y] = this.at(mean);
      const radius = this.reach(s);
      context.globalAlpha = 0.85;
      this.disc(x, y, radius, css(this.inks[s]));
      context.globalAlpha = 1;
      context.strokeStyle = css(this.theme.paper);
      context.lineWidth = 1.5;
      context.stroke();
    });
    if (crossed) this.crosses();
    const crosses = crossed ? this.survey.tops.map((top) => top.map((share) => share * this.side)) : [];
    // Of states that stand on one another the names stand side by side.
    const places = ground.means.map((mean) => this.at(mean));
    const lifted = ground.law.map((p) => scale * (9 + 20 * Math.sqrt(p)));
    names.forEach((name, s) => {
      const near = names.map((_, k) => k).filter((k) => distance(places[k], places[s]) < TOGETHER);
      if (near[0] !== s) return;
      const [x, y] = places[s];
      const [above, beneath] = [y - lifted[s] - 5 * scale, y + lifted[s] + 5 * scale];
      const taken = (middle) => {
        const dotted = places.some((place, k) => !near.includes(k) && distance(place, [x, middle]) < lifted[k]);
        return dotted || crosses.some((cross) => distance(cross, [x, middle]) < 20 * scale);
      };
      // Outwards, where nothing else is, or else inwards.
      const [outwards, inwards] = y > this.side / 2 + 1 ? [beneath, above] : [above, beneath];
      this.write(near.map((k) => names[k]).join(", "), x, (taken(outwards) && !taken(inwards) ? inwards : outwards) + 5 * scale);
    });
  }

  // Where the ball has come to rest before, in the colour of the state that was drawn there.
  landings(landings) {
    this.context.globalAlpha = 0.55;
    for (const [x, y, state] of landings) this.disc(...this.at([x, y]), 2.4 * this.scale, css(this.inks[state]));
    this.context.globalAlpha = 1;
  }

  // The way of the ball up to a share of it: a dot a step, the momentum at its head; then the line to the state drawn.
  roll(roll, share, colour) {
    const { context, scale } = this;
    const last = roll.points.length - 1;
    const done = Math.min(last, share * last);
    const whole = Math.floor(done);
    const points = roll.points.slice(0, whole + 1);
    if (done > whole) points.push(along(roll, share));
    const pixels = points.map((point) => this.at(point));
    this.path(pixels, colour, 2.5, []);
    pixels.slice(0, whole + 1).forEach(([x, y]) => this.disc(x, y, 3 * scale, colour));
    const [x, y] = pixels[pixels.length - 1];
    const p = roll.momenta.length ? roll.momenta[Math.min(last, Math.round(done))] : null;
    if (p && share < 1) this.arrow(x, y, this.ground.direction([0.5 * p[0], 0.5 * p[1]], this.side));
    if (share >= 1) this.land(roll, colour);
    const rest = along(roll, share);
    this.ball = rest.map((v) => v.toFixed(4)).join();
    this.ballOrWedge(this.at(rest));
  }

  // The ball, or where it has left the picture a wedge on the edge that points to it.
  ballOrWedge([x, y]) {
    const { context, scale, side } = this;
    const inside = Math.max(Math.abs(x - side / 2), Math.abs(y - side / 2)) <= side / 2;
    this.canvas.dataset.beyond = inside ? "" : "true";
    if (inside) this.disc(x, y, 8 * scale, css(this.theme.ink));
    else {
      const [u, v] = [x, y].map((value) => Math.min(side - 3 * scale, Math.max(3 * scale, value)));
      const [tip, wing] = [Math.atan2(y - v, x - u), 2.5];
      context.fillStyle = css(this.theme.ink);
      context.beginPath();
      for (const turn of [0, wing, -wing]) context.lineTo(u + 10 * scale * (Math.cos(tip + turn) - Math.cos(tip)), v + 10 * scale * (Math.sin(tip + turn) - Math.sin(tip)));
      context.closePath();
      context.fill();
    }
    context.lineWidth = 2;
    context.strokeStyle = css(this.theme.paper);
    context.stroke();
  }

  land(roll, colour) {
    const from = roll.accepted ? roll.points[roll.points.length - 1] : roll.points[0];
    if (!roll.accepted) {
      const [x, y] = this.at(roll.points[roll.points.length - 1]);
      this.disc(x, y, 6 * this.scale, css(this.theme.paper));
      this.context.strokeStyle = colour;
      this.context.stroke();
      this.context.font = `${12 * this.scale}px ${this.theme.font}`;
      this.context.textAlign = x > this.side / 2 ? "right" : "left";
      this.write("rejected: back to its start", x + (x > this.side / 2 ? -10 : 10) * this.scale, y + 4 * this.scale);
    }
    const [start, drawn] = [this.at(from), this.at(this.ground.stateOf(roll))];
    this.path([start, drawn], css(this.theme.paper), 5, []);
    this.path([start, drawn], css(this.inks[roll.after]), 3, [4, 4]);
    this.ring(drawn, this.drawnReach(roll));
  }

  // Around the state that was drawn.
  ring([x, y], reach) {
    const { context, scale, theme } = this;
    for (const [colour, width] of [[theme.paper, 5], [theme.ink, 2]]) {
      context.strokeStyle = css(colour);
      context.lineWidth = width * scale;
      context.beginPath();
      context.arc(x, y, reach + 3 * scale, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  drawnReach(roll) {
    return this.reach(roll.after);
  }

  // Of a state's dot.
  reach(state) {
    return this.scale * (3 + 20 * Math.sqrt(this.ground.law[state]));
  }

  // Block Gibbs: from a state's dot to a point of its Gaussian, from there to the dot of the state drawn, and again.
  zigzag(rolls) {
    rolls.forEach((roll, k) => {
      this.context.globalAlpha = 0.15 + (0.5 * (k + 1)) / rolls.length;
      const z = this.at(roll.points[1]);
      this.path([this.at(roll.points[0]), z], css(this.inks[roll.before]), 2, []);
      this.path([z, this.at(this.ground.stateOf(roll))], css(this.inks[roll.after]), 2, [4, 4]);
    });
    this.context.globalAlpha = 1;
  }

  axes([across, up], crossed) {
    const { side, scale } = this;
    this.context.font = `${12 * scale}px ${this.theme.font}`;
    this.context.textAlign = "right";
    this.write(across, side - 8, side - 8);
    this.context.textAlign = "left";
    this.write(up, 8, 16 * scale);
    const { hills } = this.survey;
    this.context.font = `600 ${14 * scale}px ${this.theme.font}`;
    this.context.textAlign = "right";
    this.write(this.heading(crossed ? topped(hills) : counted(hills)), side - 8, 18 * scale);
  }

  heading(hills) {
    return hills;
  }

  // Strokes.

  at(z) {
    return this.ground.pixel(z, this.side);
  }

  disc(x, y, radius, colour) {
    this.context.fillStyle = colour;
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.fill();
  }

  path(pixels, colour, width, dash) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width * this.scale;
    context.setLineDash(dash);
    context.beginPath();
    for (const [x, y] of pixels) context.lineTo(x, y);
    context.stroke();
    context.setLineDash([]);
  }

  arrow(x, y, [dx, dy]) {
    const length = Math.hypot(dx, dy);
    if (length < 4) return;
    const [u, v] = [dx / length, dy / length];
    const ink = css(this.theme.ink);
    this.path([[x, y], [x + dx, y + dy]], ink, 2, []);
    this.path([[x + dx - 7 * u + 4 * v, y + dy - 7 * v - 4 * u], [x + dx, y + dy], [x + dx - 7 * u - 4 * v, y + dy - 7 * v + 4 * u]], ink, 2, []);
  }

  // Words with a rim of the ground, so that they are read on any colour.
  write(text, x, y) {
    this.context.lineWidth = 3 * this.scale;
    this.context.strokeStyle = css(this.theme.paper);
    this.context.strokeText(text, x, y);
    this.context.fillStyle = css(this.theme.ink);
    this.context.fillText(text, x, y);
  }
}

// How many wells there are, with what the cross is: read as a sign before a number it would multiply.
export function topped(hills) {
  return `${counted(hills)}, × ${hills === 1 ? "its bottom" : "their bottoms"}`;
}

function distance(a, b) {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

// Where the ball is after a share of its way; after all of it where it comes to rest.
export function along(roll, share) {
  const last = roll.points.length - 1;
  const whole = Math.min(last - 1, Math.floor(share * last));
  if (share >= 1 || last < 1) return roll.points[roll.accepted ? last : 0];
  const [[a, b], [c, d]] = roll.points.slice(whole, whole + 2);
  const part = share * last - whole;
  return [a + part * (c - a), b + part * (d - b)];
}
