// A hand on the picture: pointing tells, a click holds a variable or watches a message, a drag moves a variable.

import { factorTip } from "./factor.js";
import { beside } from "./tip.js";
import { make } from "../pmpviz.player/theme.js";

const PLACED_MS = 8000;
const DRAGGED = 4; // Pixels, of which fewer are a click.
const NONE = { variable: -1, edge: -1, factor: -1 };

export class Hands {
  // `page` is the stage, with the canvas and the graph that is drawn there.
  constructor(page) {
    this.page = page;
    this.hovered = -1;
    this.pointed = -1;
    this.moved = new Map(); // Where variables were dragged to, as shares of the picture.
    this.tip = make("div", "pv-tip");
    this.tip.setAttribute("aria-hidden", "true");
    this.tip.hidden = true;
  }

  listen() {
    const { canvas } = this.page;
    canvas.addEventListener("pointermove", (event) => this.point(event));
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("click", (event) => this.click(event));
    canvas.addEventListener("pointerdown", (event) => this.take(event));
    this.onMove = (event) => this.pull(event);
    this.onUp = () => this.let();
    window.addEventListener("pointermove", this.onMove);
    window.addEventListener("pointerup", this.onUp);
  }

  end() {
    window.removeEventListener("pointermove", this.onMove);
    window.removeEventListener("pointerup", this.onUp);
  }

  at(event) {
    const { canvas, graph, record } = this.page;
    const box = canvas.getBoundingClientRect();
    return record ? graph.find(event.clientX - box.left, event.clientY - box.top) : NONE;
  }

  // Pointing.

  point(event) {
    const { canvas, player, replay } = this.page;
    this.pointer = event;
    const found = event ? this.at(event) : NONE;
    // Message by message the one that is told is lit, and no other can be chosen.
    const chosen = found.edge >= 0 && player.way !== "message";
    canvas.style.cursor = found.variable >= 0 || chosen ? "pointer" : "default";
    if (this.hovered !== found.variable || this.pointed !== found.factor) {
      Object.assign(this, { hovered: found.variable, pointed: found.factor });
      this.page.wake();
    }
    this.tip.hidden = found.variable < 0 && found.factor < 0;
    if (found.variable >= 0) this.say(this.told(found.variable), found);
    else if (found.factor >= 0) this.say(factorTip(replay, found.factor, player.head), found);
  }

  // What it tells may be another after an update.
  tellAgain() {
    if (!this.tip.hidden) this.point(this.pointer);
  }

  told(variable) {
    const { player, record, replay } = this.page;
    const { name, card, evidence, words } = record.variables[variable];
    const shares = [...replay.belief(variable, player.head)].map((p) => p.toFixed(3)).join(", ");
    const exact = replay.exact(variable);
    const next = evidence < 0 ? "hold it at 0" : evidence + 1 < card ? `hold it at ${evidence + 1}` : "free it";
    const lines = [
      `${name}: ${words}`,
      `belief ${shares}`,
      ...(exact ? [`exact ${[...exact].map((p) => p.toFixed(3)).join(", ")}`] : []),
      `Click to ${next}; drag to move it.`,
    ];
    return lines.map((line) => make("div", "", line));
  }

  say(parts, found) {
    const { canvas, graph, root } = this.page;
    this.tip.replaceChildren(...parts);
    const [box, picture] = [root, canvas].map((each) => each.getBoundingClientRect());
    const [left, top] = beside(graph, found, [this.tip.offsetWidth, this.tip.offsetHeight]);
    this.tip.style.left = `${picture.left - box.left + left}px`;
    this.tip.style.top = `${picture.top - box.top + top}px`;
  }

  click(event) {
    if (!this.page.record || this.dragged) return;
    const { variable, edge } = this.at(event);
    if (variable >= 0) return this.page.post({ type: "click", site: variable, sites: [variable] });
    if (edge >= 0) this.page.watched = edge;
    this.page.wake();
  }

  // Dragging a variable.

  take(event) {
    const found = event.button === 0 ? this.at(event) : NONE;
    this.dragged = false;
    if (found.variable >= 0) this.drag = { variable: found.variable, x: event.clientX, y: event.clientY };
  }

  pull(event) {
    const { drag } = this;
    if (!drag || (!this.dragged && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) <= DRAGGED)) return;
    this.dragged = true;
    this.tip.hidden = true;
    const box = this.page.canvas.getBoundingClientRect();
    const share = (at, whole) => Math.round(1000 * Math.min(1, Math.max(0, at / whole))) / 1000;
    const place = [share(event.clientX - box.left, box.width), share(event.clientY - box.top, box.height)];
    this.moved.set(drag.variable, place);
    this.page.layout();
  }

  let() {
    const { drag } = this;
    this.drag = null;
    if (!drag || !this.dragged) return;
    const at = this.moved.get(drag.variable);
    this.waits = { variable: drag.variable, at, until: performance.now() + PLACED_MS };
    this.page.post({ type: "place", site: drag.variable, x: at[0], y: at[1] });
  }

  // A variable that was dragged stays there until the server has heard of it.
  takePlaces(places) {
    if (this.drag) return;
    const [told, now] = [new Map(places.map(([variable, ...at]) => [variable, at])), performance.now()];
    const { waits } = this;
    if (waits && now < waits.until && `${told.get(waits.variable)}` !== `${waits.at}`) told.set(waits.variable, waits.at);
    else this.waits = null;
    this.moved = told;
  }
}
