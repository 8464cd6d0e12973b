// A camera about the middle of a box, turned by dragging and arrow keys, brought nearer by the wheel.

const FIRST = { yaw: 0.95, pitch: 0.3, zoom: 1 };
const [NEAR, FAR] = [5, 0.5];
const LEAN = 0.16; // How much larger what is near appears.
const TURN = 0.008;
const KEY_TURN = 0.12;
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Camera {
  constructor() {
    this.reset();
  }

  reset() {
    Object.assign(this, FIRST, { turned: false });
  }

  // The box of coordinates, each scaled to its range, and the canvas in CSS pixels.
  fit(box, width, height) {
    this.low = box[0];
    this.span = box[0].map((low, k) => Math.max(1e-9, box[1][k] - low));
    this.width = width;
    this.height = height;
  }

  // [x, y, depth] on the screen of a point; depth grows towards the viewer.
  place(point) {
    const [a, b, c] = this.span.map((span, k) => (point[k] - this.low[k]) / span - 0.5);
    const [sin, cos] = [Math.sin(this.yaw), Math.cos(this.yaw)];
    const across = a * cos + b * sin;
    const into = b * cos - a * sin;
    const [down, level] = [Math.sin(this.pitch), Math.cos(this.pitch)];
    const depth = c * down - into * level;
    const scale = (this.zoom * Math.min(this.width, 1.25 * this.height) * 0.47) / (1 - LEAN * depth);
    return [this.width / 2 + scale * across, this.height / 2 - scale * (c * level + into * down), depth];
  }

  turn(x, y) {
    this.turned = true;
    this.yaw -= x * TURN;
    this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + y * TURN));
  }

  // Whether it came nearer or went farther: at its ends the page scrolls instead.
  nearer(factor) {
    const zoom = Math.max(FAR, Math.min(NEAR, this.zoom * factor));
    const moved = Math.abs(zoom - this.zoom) > 1e-6;
    this.zoom = zoom;
    return moved;
  }

  // Whether a key was one of its own.
  key(name) {
    if (KEYS[name]) this.turn(...KEYS[name].map((way) => (way * KEY_TURN) / TURN));
    else if (name === "+" || name === "=") this.nearer(1.2);
    else if (name === "-") this.nearer(1 / 1.2);
    else if (name === "0") this.reset();
    else return false;
    return true;
  }
}
