// The glyph painter: small grids of square pixels, painted by mouse, touch or keys.
//
// The person's drawing is the truth until the server has answered it: an update that is older than the last stroke is
// left aside.

import { Component, mounted } from "../pmpviz.player/component.js";
import { css, make, mix, sized } from "../pmpviz.player/theme.js";

const MOST_SIDE = { binary: 95, ternary: 84 }; // What is painted stands above its effect.
const NAMES = { 1: "ink", 0: "paper", "-": "free" };

class Painter extends Component {
  constructor(parent) {
    super(parent, "gp-root");
    this.cells = [];
    this.grids = [];
    this.brush = "1";
    this.bar = make("div", "gp-brushes");
    this.list = make("div", "gp-list");
    this.add = make("button", "gp-button gp-add", "Add a glyph");
    this.add.type = "button";
    this.add.addEventListener("click", () => this.more());
    this.spoken = make("div", "gp-spoken");
    this.spoken.setAttribute("aria-live", "polite");
    this.root.append(this.bar, this.list, this.spoken);
  }

  end() {
    super.end();
    for (const grid of this.grids) grid.end();
  }

  themed() {
    this.draw();
  }

  receive(data) {
    if (!data || !Array.isArray(data.glyphs)) return;
    const before = JSON.stringify([this.meta && this.meta.rows, this.meta && this.meta.cols, this.meta && this.meta.mode]);
    this.meta = data;
    const reshaped = before !== JSON.stringify([data.rows, data.cols, data.mode]);
    const [mount, number] = data.answered || ["", 0];
    const behind = mount === this.mount ? number < this.number : this.number > 0 && !reshaped;
    this.root.dataset.answered = mount === this.mount ? number : 0;
    if (reshaped || !(behind || this.stroke)) this.cells = data.glyphs.map((text) => [...text]);
    this.build();
  }

  build() {
    const { mode, fixed, most, rows, cols } = this.meta;
    this.brushes(mode === "ternary");
    while (this.grids.length > this.cells.length) this.grids.pop().leave();
    while (this.grids.length < this.cells.length) this.grids.push(new Grid(this, this.grids.length));
    // One that is there already stays where it is: moved, it would lose the pointer in the middle of a stroke.
    for (const { root } of this.grids) if (!root.isConnected) this.list.append(root);
    if (!fixed && this.cells.length < most) this.list.append(this.add);
    else this.add.remove();
    this.root.dataset.glyphs = this.cells.length;
    this.root.dataset.size = `${rows}x${cols}`;
    this.draw();
  }

  brushes(wanted) {
    this.bar.hidden = !wanted;
    if (!wanted || this.bar.childNodes.length) return;
    this.bar.setAttribute("role", "radiogroup");
    this.bar.setAttribute("aria-label", "Brush");
    for (const [brush, words] of [["1", "Ink"], ["0", "Paper"], ["-", "Free"]]) {
      const button = make("button", "gp-button", words);
      button.type = "button";
      button.setAttribute("role", "radio");
      button.dataset.brush = brush;
      button.addEventListener("click", () => this.take(brush));
      this.bar.append(button);
    }
    this.take(this.brush);
  }

  take(brush) {
    this.brush = brush;
    for (const button of this.bar.childNodes) button.setAttribute("aria-checked", button.dataset.brush === brush);
  }

  draw() {
    for (const grid of this.grids) grid.draw(this.theme);
  }

  empty() {
    return this.meta.mode === "ternary" ? "-" : "0";
  }

  more() {
    this.cells.push(Array(this.meta.rows * this.meta.cols).fill("0"));
    this.build();
    this.grids[this.grids.length - 1].canvas.focus();
    this.post();
  }

  remove(place) {
    this.cells.splice(place, 1);
    this.build();
    this.post();
  }

  // What the brush makes of a pixel: painting over the same colour takes it away.
  stroked(cell) {
    if (this.meta.mode === "ternary") return cell === this.brush ? "-" : this.brush;
    return cell === "1" ? "0" : "1";
  }

  // One event a stroke, once it is over: what comes later brings it, too.
  post() {
    this.number += 1;
    this.root.dataset.sent = this.number;
    const glyphs = this.cells.map((cells) => cells.join(""));
    this.send({ mount: this.mount, number: this.number, glyphs });
  }

  say(text) {
    this.spoken.textContent = text;
  }
}

export default mounted(Painter, "drawn");

class Grid {
  constructor(painter, place) {
    this.painter = painter;
    this.place = place;
    this.at = 0;
    this.root = make("figure", "gp-grid");
    this.canvas = make("canvas", "gp-canvas");
    this.canvas.tabIndex = 0;
    this.canvas.dataset.testid = painter.meta.mode === "ternary" ? "clamp-canvas" : "glyph-canvas";
    this.canvas.dataset.glyph = place;
    this.canvas.setAttribute("role", "application");
    this.label = make("figcaption", "gp-label");
    this.clear = this.button("Clear", () => this.wipe());
    this.gone = this.button("Remove", () => painter.remove(this.place));
    const foot = make("div", "gp-foot");
    foot.append(this.label, this.clear, this.gone);
    this.root.append(this.canvas, foot);
    this.listen();
  }

  button(words, act) {
    const button = make("button", "gp-button gp-small", words);
    button.type = "button";
    button.addEventListener("click", act);
    return button;
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.heard = { pointermove: (event) => this.move(event), pointerup: () => this.up(), pointercancel: () => this.up() };
    for (const [kind, listener] of Object.entries(this.heard)) window.addEventListener(kind, listener);
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => this.draw(this.painter.theme));
    canvas.addEventListener("blur", () => this.draw(this.painter.theme));
  }

  end() {
    this.up();
    for (const [kind, listener] of Object.entries(this.heard)) window.removeEventListener(kind, listener);
  }

  leave() {
    this.end();
    this.root.remove();
  }

  get cells() {
    return this.painter.cells[this.place];
  }

  wipe() {
    this.cells.fill(this.painter.empty());
    this.draw(this.painter.theme);
    this.painter.post();
  }

  pixel(event) {
    const { rows, cols } = this.painter.meta;
    const box = this.canvas.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) / box.width) * cols);
    const y = Math.floor(((event.clientY - box.top) / box.height) * rows);
    return x >= 0 && x < cols && y >= 0 && y < rows ? y * cols + x : -1;
  }

  down(event) {
    const at = this.pixel(event);
    if (event.button !== 0 || at < 0) return;
    event.preventDefault();
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    this.painter.stroke = { grid: this, colour: this.painter.stroked(this.cells[at]), from: event };
    this.paint(at);
  }

  // Every pixel between the last position and this one.
  move(event) {
    const stroke = this.painter.stroke;
    if (!stroke || stroke.grid !== this) return;
    const { from } = stroke;
    const steps = Math.max(1, Math.min(200, Math.ceil(Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) / 3)));
    for (let k = 1; k <= steps; k++) {
      const share = k / steps;
      const clientX = from.clientX + (event.clientX - from.clientX) * share;
      const clientY = from.clientY + (event.clientY - from.clientY) * share;
      const at = this.pixel({ clientX, clientY });
      if (at >= 0) this.paint(at);
    }
    stroke.from = { clientX: event.clientX, clientY: event.clientY };
  }

  up() {
    if (!this.painter.stroke || this.painter.stroke.grid !== this) return;
    this.painter.stroke = null;
    this.painter.post();
  }

  paint(at) {
    this.at = at;
    this.cells[at] = this.painter.stroke.colour;
    this.draw(this.painter.theme);
  }

  key(event) {
    const { rows, cols } = this.painter.meta;
    const [row, col] = [Math.floor(this.at / cols), this.at % cols];
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (move) {
      this.at = Math.min(rows - 1, Math.max(0, row + move[0])) * cols + Math.min(cols - 1, Math.max(0, col + move[1]));
    } else if (event.key === " " || event.key === "Enter") {
      this.cells[this.at] = this.painter.stroked(this.cells[this.at]);
      this.painter.post();
    } else if (event.key === "Delete" || event.key === "Backspace") {
      this.wipe();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.draw(this.painter.theme);
    const [r, c] = [Math.floor(this.at / cols) + 1, (this.at % cols) + 1];
    this.painter.say(`row ${r}, column ${c}: ${NAMES[this.cells[this.at]]}`);
  }

  draw(theme) {
    const { rows, cols, labels = [], fixed } = this.painter.meta;
    if (!this.cells) return;
    const unit = Math.max(8, Math.floor(Math.min(26, MOST_SIDE[this.painter.meta.mode] / Math.max(rows, cols))));
    const context = sized(this.canvas, unit * cols, unit * rows);
    const middle = mix(theme.paper, theme.ink, 0.5);
    this.cells.forEach((cell, i) => {
      context.fillStyle = css(cell === "1" ? theme.ink : cell === "0" ? theme.paper : middle);
      context.fillRect((i % cols) * unit, Math.floor(i / cols) * unit, unit, unit);
    });
    context.strokeStyle = css(mix(theme.paper, theme.ink, 0.22));
    context.lineWidth = 1;
    context.beginPath();
    for (let i = 1; i < cols; i++) line(context, i * unit + 0.5, 0, i * unit + 0.5, rows * unit);
    for (let i = 1; i < rows; i++) line(context, 0, i * unit + 0.5, cols * unit, i * unit + 0.5);
    context.stroke();
    if (document.activeElement === this.canvas) {
      context.strokeStyle = css(theme.accent);
      context.lineWidth = 2;
      context.strokeRect((this.at % cols) * unit + 1, Math.floor(this.at / cols) * unit + 1, unit - 2, unit - 2);
    }
    const name = labels[this.place] || `Glyph ${this.place + 1}`;
    this.label.textContent = name;
    this.gone.hidden = Boolean(fixed) || this.painter.cells.length < 2;
    this.canvas.dataset.ink = this.cells.filter((cell) => cell === "1").length;
    const help = "arrow keys move, Space paints, Delete clears";
    this.canvas.setAttribute("aria-label", `${name}, ${rows} by ${cols} pixels, ${this.canvas.dataset.ink} ink; ${help}`);
  }
}

function line(context, x, y, toX, toY) {
  context.moveTo(x, y);
  context.lineTo(toX, toY);
}
