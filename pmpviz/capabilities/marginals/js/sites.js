// The sites of a lane: what was found last, before the first MAP call nothing.

import { Lane } from "../pmpviz.player/lane.js";

const NOTHING = "none found yet";

export class Sites extends Lane {
  paint(theme, sweep, edits) {
    super.paint(theme, sweep, edits);
    const frame = sweep === null ? this.shown : this.past(sweep);
    if (frame?.sweep !== 0 || !this.painter || !this.canvas.width || this.meta.layer || this.meta.states) return;
    const halfway = { kind: "ink", low: 0, high: 1, plain: true, values: new Float32Array(this.meta.n).fill(0.5) };
    this.painter.paint(this.canvas, this.meta.geometry.nodes ? null : frame.bits, halfway, theme);
    this.share.textContent = NOTHING;
  }
}
