// A layered model: the visible layer as an image, the hidden one as a grid beside or below it, each under its name.

import { cleared, RasterPainter } from "./raster.js";
import { css, enlarged } from "./theme.js";

// In CSS pixels of a plain page: the bands of the names, the gap between the layers, the room that a name takes, and its
// letters.
const CAPTION = 18;
const GAP = 20;
const NAME = 78;
const LETTER = 12;
// The hidden layer takes at most this share of the visible layer's area.
const SHARE = 0.35;

export class LayersPainter {
  constructor({ geometry }) {
    const { rows, cols, hidden } = geometry;
    Object.assign(this, { rows, cols, hidden, pixels: rows * cols });
    this.image = new RasterPainter({ n: this.pixels, geometry: { rows, cols } });
    this.parts = [];
  }

  // The layout with the larger pixels, for the room there is.
  fit(width, height) {
    const ratio = window.devicePixelRatio || 1;
    const scale = ratio * enlarged();
    const room = { width, height, caption: CAPTION * scale, gap: GAP * ratio, name: NAME * scale };
    const [beside, below] = [this.beside(room), this.below(room)];
    const choice = below.cell > beside.cell ? below : beside;
    const best = (this.best = this.like?.best ? this.alike(this.like.best, room) : choice);
    this.arrange(best);
    this.place(best, room);
    this.type = Math.round(LETTER * scale);
    const right = ({ box }) => box.left + Math.max(box.width, best.beside && box.left ? room.name : 0);
    const bottom = ({ box }) => box.top + box.height;
    return [right, bottom].map((end) => Math.ceil(Math.max(...this.parts.map(end))));
  }

  // Where the layers lie on the canvas.
  place(best, { caption, gap }) {
    const image = { left: 0, top: caption, width: this.cols * best.cell, height: this.rows * best.cell };
    const grid = best.beside
      ? { left: image.width + gap, top: caption }
      : { left: 0, top: caption + image.height + gap / 2 + caption };
    Object.assign(grid, { width: best.columns * best.unit, height: best.lines * best.unit });
    this.parts = [
      { raster: this.image, box: image, name: `visible ${this.rows} × ${this.cols}` },
      { raster: this.grid, box: grid, name: `hidden ${this.hidden}` },
    ];
    this.image.cell = best.cell;
    this.grid.cell = best.unit;
  }

  // The layout of another painter's, as large as there is room for.
  alike({ beside, columns, lines, cell, unit }, { width, height, caption, gap, name }) {
    const across = (scale) => (beside ? this.cols * cell * scale + gap + Math.max(name, columns * unit * scale) : Math.max(this.cols * cell, columns * unit) * scale);
    const down = (scale) => (beside ? Math.max(this.rows * cell, lines * unit) * scale + caption : (this.rows * cell + lines * unit) * scale + 2 * caption + gap / 2);
    let grown = Math.max(1, Math.floor((height / down(1)) * cell) + 2) / cell;
    while (grown * cell > 1 && (across(grown) > width || down(grown) > height)) grown -= 1 / cell;
    return { beside, columns, lines, cell: Math.round(cell * grown), unit: Math.max(1, Math.floor(unit * grown)) };
  }

  beside({ width, height, caption, gap, name }) {
    const most = Math.min((width - gap - name) / this.cols, (height - caption) / this.rows);
    return this.shrink(most, (cell, unit) => {
      const columns = Math.ceil(this.hidden / Math.max(1, Math.floor((this.rows * cell) / unit)));
      const fits = this.cols * cell + gap + Math.max(name, columns * unit) <= width;
      return { fits, beside: true, columns, lines: Math.ceil(this.hidden / columns) };
    });
  }

  below({ width, height, caption, gap }) {
    return this.shrink(Math.min(width / this.cols, height / this.rows), (cell, unit) => {
      const lines = Math.ceil(this.hidden / Math.max(1, Math.floor((this.cols * cell) / unit)));
      const fits = 2 * caption + gap / 2 + this.rows * cell + lines * unit <= height;
      return { fits, beside: false, columns: Math.ceil(this.hidden / lines), lines };
    });
  }

  // The largest pixel, whole where it can be, with which the layout fits.
  shrink(most, layout) {
    const share = Math.min(1, Math.sqrt((SHARE * this.pixels) / this.hidden));
    let cell = Math.max(0.02, most >= 1 ? Math.floor(most) : most);
    for (;;) {
      const unit = cell * share >= 1 ? Math.floor(cell * share) : cell * share;
      const found = layout(cell, unit);
      if (found.fits || cell <= 0.02) return { ...found, cell, unit };
      cell = cell > 1 ? cell - 1 : 0.95 * cell;
    }
  }

  // The grid of the hidden units: beside the image they go down its columns, below it along its rows.
  arrange({ beside, columns, lines }) {
    const key = [beside, columns, lines].join();
    if (key === this.key) return;
    this.key = key;
    this.grid = new RasterPainter({ n: columns * lines, geometry: { rows: lines, cols: columns } });
    this.grid.map = this.grid.map.map((place) => {
      const unit = beside ? (place % columns) * lines + Math.floor(place / columns) : place;
      return unit < this.hidden ? this.pixels + unit : -1;
    });
  }

  paint(canvas, bits, layer, theme) {
    const context = cleared(canvas);
    for (const { raster, box, name } of this.parts) {
      context.setTransform(1, 0, 0, 1, box.left, box.top);
      raster.draw(context, box.width, box.height, bits, layer, theme);
      context.strokeStyle = css(theme.rule);
      context.strokeRect(0.5, 0.5, box.width - 1, box.height - 1);
      context.fillStyle = css(theme.soft);
      context.font = `${this.type}px ${theme.font}`;
      context.fillText(name, 0, -0.5 * this.type);
    }
    this.rules(context, theme);
  }

  // Lines between the hidden units, which have no order as pixels have.
  rules(context, theme) {
    const { map, width, cell } = this.grid;
    if (cell < 6) return;
    context.beginPath();
    map.forEach((site, place) => {
      const [x, y] = [(place % width) * cell, Math.floor(place / width) * cell];
      if (site >= 0) context.rect(x + 0.5, y + 0.5, cell - 1, cell - 1);
    });
    context.strokeStyle = css(theme.rule);
    context.stroke();
  }

  site(x, y, wide, high) {
    for (const { raster, box } of this.parts) {
      const site = raster.site((x * wide - box.left) / box.width, (y * high - box.top) / box.height);
      if (site >= 0) return site;
    }
    return -1;
  }

  // The finer of the two grids, so that no site lies between two dabs.
  grain() {
    return Math.min(...this.parts.map(({ raster }) => raster.cell));
  }

  mark(canvas, { wash, held }, theme) {
    const context = canvas.getContext("2d");
    for (const { raster, box } of this.parts) {
      context.setTransform(1, 0, 0, 1, box.left, box.top);
      raster.marks(context, wash, held, theme);
    }
  }
}
