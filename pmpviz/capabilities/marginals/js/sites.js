// The sites of a lane: what was found last, before the first MAP call nothing; of a method that finds none its marginals.

import { Lane } from "../pmpviz.player/lane.js";

const NOTHING = "none found yet";

export class Sites extends Lane {
  // That of the step to which the walk has come, and not of the one to which it is on its way.
  get current() {
    return (this.come !== undefined && this.past(this.come)) || this.shown;
  }

  // `step` is that one; whether it is another than before.
  comes(step) {
    const other = step !== this.come;
    this.come = step;
    return other;
  }

  paint(theme, sweep, edits) {
    super.paint(theme, sweep, edits);
    const frame = sweep === null ? this.current : this.past(sweep);
    if (!frame || !this.painter || !this.canvas.width || this.meta.states) return;
    const layer = this.layerAt(sweep) || (frame.sweep === 0 && !this.meta.layer ? this.halfway() : null);
    if (!layer?.plain) return;
    // No states, and so no couplings that they do not meet.
    this.painter.paint(this.canvas, this.meta.geometry.nodes ? null : frame.bits, layer, theme);
    this.share.textContent = this.meta.layer ? "" : NOTHING;
  }

  // The newest layer may be of a later step than the one that is shown, of which it is then as it came; at the start
  // nothing is known.
  layerAt(sweep) {
    const { layer } = this.meta;
    if (sweep !== null || !layer?.plain || !this.current) return super.layerAt(sweep);
    if (this.current.sweep === 0) return { ...layer, ...this.halfway() };
    return super.layerAt(this.current.sweep) || layer;
  }

  halfway() {
    return { kind: "ink", low: 0, high: 1, plain: true, values: new Float32Array(this.meta.n).fill(0.5) };
  }
}
