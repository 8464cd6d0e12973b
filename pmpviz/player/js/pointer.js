// Clicks, strokes and hovering on the canvases, sent in batches.

const STROKE_MS = 120;
const HOVER_MS = 150;
const TOUCH_MS = 2500;
const MOST_SITES = 512;

export class Pointer {
  constructor(player) {
    this.player = player;
    this.tool = "none";
    this.stroke = null;
    this.hovered = "";
  }

  attach(lane) {
    const canvas = lane.canvas;
    canvas.addEventListener("pointerdown", (event) => this.down(lane, event));
    canvas.addEventListener("pointermove", (event) => this.move(lane, event));
    canvas.addEventListener("pointerup", (event) => this.up(lane, event));
    canvas.addEventListener("pointercancel", () => this.finish());
    canvas.addEventListener("pointerleave", () => this.hover(lane, -1, null));
  }

  // The server's answer: which tool is in hand, and what it knows of the site under the pointer.
  answer(update, fresh) {
    this.tool = update.tool || "none";
    const drawing = this.tool !== "none";
    this.player.root.dataset.tool = this.tool;
    for (const lane of this.player.lanes) {
      lane.canvas.style.cursor = drawing ? "crosshair" : "default";
      lane.canvas.style.touchAction = drawing ? "none" : "auto";
      if (fresh && lane.touched.size) this.clear(lane);
    }
    this.known = update.hover || null;
    this.showTip();
  }

  site(lane, event) {
    const box = lane.canvas.getBoundingClientRect();
    if (!lane.painter || !box.width) return -1;
    const x = (event.clientX - box.left) / box.width;
    const y = (event.clientY - box.top) / box.height;
    return lane.painter.site(x, y, lane.canvas.width, lane.canvas.height);
  }

  down(lane, event) {
    if (event.button !== 0) return;
    const site = this.site(lane, event);
    if (site < 0) return;
    if (this.tool === "none") {
      this.player.post({ type: "click", lane: lane.index, site, sites: [site] });
      return;
    }
    lane.canvas.setPointerCapture(event.pointerId);
    this.stroke = { lane, sites: new Set(), from: event };
    this.add(site);
    this.timer = setInterval(() => this.flush(), STROKE_MS);
  }

  move(lane, event) {
    if (this.stroke && this.stroke.lane === lane && this.tool !== "flip") this.line(lane, event);
    this.hover(lane, this.site(lane, event), event);
  }

  // Every site between the last position and this one.
  line(lane, event) {
    const from = this.stroke.from;
    const far = Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY);
    const steps = Math.max(1, Math.min(400, Math.ceil(far / 2)));
    for (let k = 1; k <= steps; k++) {
      const share = k / steps;
      const clientX = from.clientX + (event.clientX - from.clientX) * share;
      const clientY = from.clientY + (event.clientY - from.clientY) * share;
      this.add(this.site(lane, { clientX, clientY }));
    }
    this.stroke.from = { clientX: event.clientX, clientY: event.clientY };
  }

  add(site) {
    if (site < 0 || this.stroke.lane.touched.has(site)) return;
    this.stroke.sites.add(site);
    this.stroke.lane.touched.add(site);
    this.stroke.lane.dirty = true;
    if (this.stroke.sites.size >= MOST_SITES) this.flush();
    this.player.wake();
  }

  up(lane) {
    if (this.stroke && this.stroke.lane === lane) this.finish();
  }

  finish() {
    if (!this.stroke) return;
    const lane = this.stroke.lane;
    this.flush();
    clearInterval(this.timer);
    this.stroke = null;
    clearTimeout(lane.clearing);
    lane.clearing = setTimeout(() => this.clear(lane), TOUCH_MS);
  }

  clear(lane) {
    lane.touched.clear();
    lane.dirty = true;
    this.player.wake();
  }

  flush() {
    const { lane, sites } = this.stroke;
    if (!sites.size) return;
    const list = [...sites].slice(0, MOST_SITES);
    this.player.post({ type: "paint", tool: this.tool, lane: lane.index, site: list[0], sites: list });
    sites.clear();
  }

  hover(lane, site, event) {
    if (event) this.place(event);
    const now = `${lane.index}:${site}`;
    if (now === this.hovered) return;
    this.hovered = now;
    this.over = site < 0 ? null : { lane, site };
    this.showTip();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.player.post({ type: "hover", lane: lane.index, site }), HOVER_MS);
  }

  place(event) {
    const box = this.player.root.getBoundingClientRect();
    const tip = this.player.tip;
    const x = event.clientX - box.left + 16;
    tip.style.left = `${Math.max(0, Math.min(x, box.width - 250))}px`;
    tip.style.top = `${event.clientY - box.top + 18}px`;
  }

  showTip() {
    const tip = this.player.tip;
    tip.hidden = !this.over;
    if (!this.over) return;
    const { lane, site } = this.over;
    const known = this.known && this.known.lane === lane.index && this.known.site === site ? this.known.lines : [];
    const lines = [placeOf(lane.meta.geometry, site), ...known.map(String)];
    tip.replaceChildren(
      ...lines.map((line) => {
        const row = document.createElement("div");
        row.textContent = line;
        return row;
      }),
    );
  }

  end() {
    clearInterval(this.timer);
    clearTimeout(this.waiting);
  }
}

// Which site it is, and where.
function placeOf({ kind, cols, rows }, site) {
  const row = Math.floor(site / cols);
  if (kind === "layers" && row >= rows) return `site ${site} · hidden unit ${site - rows * cols}`;
  if (kind === "layers") return `site ${site} · visible pixel (${row}, ${site % cols})`;
  return cols && rows > 1 ? `site ${site} · row ${row % rows}, column ${site % cols}` : `site ${site}`;
}
