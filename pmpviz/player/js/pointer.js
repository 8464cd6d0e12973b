// Clicks, strokes, drags of nodes and hovering on the canvases.
//
// A stroke lasts from the press to the release whatever is drawn anew meanwhile, shows itself at once, and is one event.

const HOVER_MS = 150;
const MOST_SITES = 4096; // In one event: a longer stroke is several.
const MOST_STEPS = 3000;
const DRAGGED = 4; // Pixels, of which fewer are a click.
const UNDRAWN = "To draw here, leave class mode.";
const CONTROL = "[class*=st-key-tool]"; // The page's choice of a tool: Streamlit names it by its key.

export class Pointer {
  constructor(player) {
    this.player = player;
    this.told = "none";
    this.tools = {};
    this.stroke = null;
    this.drag = null;
    this.hovered = "";
    this.onMove = (event) => this.moved(event);
    this.onUp = (event) => this.up(event);
    this.onClick = () => setTimeout(() => this.player.gone || this.player.equip());
    for (const [kind, listener] of this.listeners()) window.addEventListener(kind, listener, true);
  }

  // On the window: a canvas that is moved, resized or covered under the pointer loses nothing, nor is what Streamlit's
  // own controls keep to themselves.
  listeners() {
    return [["pointermove", this.onMove], ["pointerup", this.onUp], ["pointercancel", this.onUp], ["click", this.onClick]];
  }

  attach(lane) {
    const canvas = lane.canvas;
    canvas.addEventListener("pointerdown", (event) => this.down(lane, event));
    canvas.addEventListener("pointermove", (event) => this.hover(lane, this.site(lane, event), event));
    canvas.addEventListener("pointerleave", () => this.hover(lane, -1, null));
  }

  // The tool in hand: what the page's control shows, of which the server hears later, and we from it later still.
  get tool() {
    const control = document.querySelector(CONTROL);
    const chosen = control && (control.querySelector("[aria-checked=true]")?.textContent ?? control.querySelector("input")?.value);
    // While the control is drawn anew it is what it was.
    this.chosen = chosen || this.chosen;
    return this.tools[this.chosen] || this.told;
  }

  get busy() {
    return Boolean(this.stroke || this.drag);
  }

  // The server's answer: which tools there are and which it knows to be in hand, and what it knows of the site under
  // the pointer.
  answer(update) {
    this.told = update.tool || "none";
    this.tools = update.tools || {};
    this.known = update.hover || null;
    this.showTip();
  }

  // The pictures show the tool in hand: which one.
  equip() {
    const { tool } = this;
    const drawing = tool !== "none";
    this.player.root.dataset.tool = tool;
    for (const lane of this.player.lanes) {
      lane.canvas.style.cursor = drawing ? "crosshair" : lane.painter && lane.painter.nodes ? "grab" : "default";
      lane.canvas.style.touchAction = drawing ? "none" : "auto";
    }
    return tool;
  }

  // The site under the pointer, or one so many pixels of the canvas away from it.
  site(lane, { clientX, clientY }, right = 0, down = 0, box = lane.canvas.getBoundingClientRect()) {
    if (!lane.painter || !box.width) return -1;
    const x = (clientX - box.left) / box.width + right / lane.canvas.width;
    const y = (clientY - box.top) / box.height + down / lane.canvas.height;
    return lane.painter.site(x, y, lane.canvas.width, lane.canvas.height);
  }

  down(lane, event) {
    if (event.button !== 0) return;
    this.finish();
    const site = this.site(lane, event);
    if (site < 0) return;
    lane.canvas.setPointerCapture(event.pointerId);
    const from = { clientX: event.clientX, clientY: event.clientY };
    const { tool } = this;
    if (tool === "none") {
      this.drag = { lane, site, from, far: false };
    } else {
      this.stroke = { lane, from, tool, edit: this.player.edits.begin(tool) };
      this.dab(lane, event);
    }
  }

  moved(event) {
    if (this.stroke) this.line(event);
    if (this.drag) this.pull(event);
  }

  // Every site between the last position and this one.
  line(event) {
    const { from, lane } = this.stroke;
    if (!lane.canvas.clientWidth) return;
    const far = Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY);
    const grain = this.grain(lane) * (lane.canvas.clientWidth / Math.max(1, lane.canvas.width));
    const steps = Math.max(1, Math.min(MOST_STEPS, Math.ceil((2 * far) / Math.max(0.5, grain))));
    for (let k = 1; k <= steps; k++) {
      const share = k / steps;
      const clientX = from.clientX + (event.clientX - from.clientX) * share;
      const clientY = from.clientY + (event.clientY - from.clientY) * share;
      this.dab(lane, { clientX, clientY });
    }
    this.stroke.from = { clientX: event.clientX, clientY: event.clientY };
  }

  // From one site to the next, in pixels of the canvas.
  grain(lane) {
    return lane.painter.grain ? lane.painter.grain() : 1;
  }

  // Where the canvas was as the stroke began: what is drawn anew above may push it about for a moment.
  ground({ lane, box }) {
    const now = lane.canvas.getBoundingClientRect();
    return box && Math.abs(box.width - now.width) < 1 && Math.abs(box.height - now.height) < 1 ? box : now;
  }

  // The sites under the brush, whose middle is here.
  dab(lane, at) {
    const { edits, tools } = this.player;
    const box = (this.stroke.box = this.ground(this.stroke));
    const [reach, grain] = [(tools.brush - 1) / 2, this.grain(lane)];
    let came = false;
    for (let down = -reach; down <= reach; down++) {
      for (let right = -reach; right <= reach; right++) {
        came = edits.add(this.stroke.edit, this.site(lane, at, right * grain, down * grain, box)) || came;
      }
    }
    if (came) this.player.marked();
  }

  // A node follows the pointer.
  pull(event) {
    const { lane, site, from } = this.drag;
    const far = Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) > DRAGGED;
    if (!lane.painter || !lane.painter.place || !(far || this.drag.far)) return;
    this.drag.far = true;
    const box = lane.canvas.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    this.player.place(site, lane.painter.place(x, y, lane.canvas.width));
  }

  up(event) {
    if (this.stroke && event.type === "pointerup") this.line(event);
    this.finish();
  }

  finish() {
    const { stroke, drag, player } = this;
    this.stroke = this.drag = null;
    if (stroke || drag) player.layout();
    if (stroke) this.send(stroke);
    if (drag && drag.far) player.placed(drag.site);
    else if (drag) player.post({ type: "click", lane: drag.lane.index, site: drag.site, sites: [drag.site] });
  }

  send({ lane, tool, edit }) {
    const all = [...edit.sites];
    for (let k = 0; k < all.length; k += MOST_SITES) {
      const sites = all.slice(k, k + MOST_SITES);
      this.player.post({ type: "paint", tool, lane: lane.index, site: sites[0], sites });
    }
    this.player.edits.sent(edit, this.player.number);
  }

  hover(lane, site, event) {
    if (event) this.place(event);
    const now = `${lane.index}:${site}`;
    if (now === this.hovered) return;
    this.hovered = now;
    this.over = site < 0 ? null : { lane, site };
    this.showTip();
    clearTimeout(this.waiting);
    if (this.stroke || this.drag) return;
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
    const hidden = this.player.large && this.tool === "none" && document.querySelector(CONTROL) ? [UNDRAWN] : [];
    const lines = [placeOf(lane.meta.geometry, site), ...lane.tells(site, this.player.at), ...known.map(String), ...hidden];
    tip.replaceChildren(
      ...lines.map((line) => {
        const row = document.createElement("div");
        row.textContent = line;
        return row;
      }),
    );
  }

  end() {
    this.finish();
    for (const [kind, listener] of this.listeners()) window.removeEventListener(kind, listener, true);
    clearTimeout(this.waiting);
  }
}

// Which site it is, and where; people count from 1.
function placeOf({ kind, cols, rows }, site) {
  const [row, column, name] = [Math.floor(site / cols), (site % cols) + 1, `site ${site + 1}`];
  if (kind === "layers" && row >= rows) return `${name} · hidden unit ${site - rows * cols + 1}`;
  if (kind === "layers") return `${name} · visible pixel (${row + 1}, ${column})`;
  return cols && rows > 1 ? `${name} · row ${(row % rows) + 1}, column ${column}` : name;
}
