// Of few sites p(xᵢ = 1) as columns, each with the exact value as a line across it.

import { drawColumns } from "../pmpviz.player/columns.js";
import { enlarged } from "../pmpviz.player/theme.js";

export const MOST_COLUMNS = 16;
const [HIGH, LETTER] = [0.6, 11.5]; // Of the width, at most; of the type, in CSS pixels.
const [LEFT, RIGHT, BOTTOM] = [32, 2, 18];
const TOP = 1.06; // The largest height on the axis.

export class Shares {
  constructor(exact) {
    this.law = [...exact];
    this.names = this.law.map((_, site) => String(site + 1));
  }

  fit(width, height) {
    return [Math.floor(width), Math.floor(Math.min(height, HIGH * width))];
  }

  paint(canvas, bits, { values, colour }, theme) {
    const context = canvas.getContext("2d");
    const scale = enlarged() * (window.devicePixelRatio || 1);
    const [left, right, bottom] = [LEFT, RIGHT, BOTTOM].map((v) => v * scale);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.font = `${LETTER * scale}px ${theme.font}`;
    const rows = [{ values: [...values], colours: this.names.map(() => colour) }];
    const columns = { names: this.names, law: this.law, rows, high: TOP };
    drawColumns(context, theme, { left, right, bottom, width: canvas.width, height: canvas.height }, columns, scale);
  }
}
