// What any lane has: a header with its key, name, badge and counter, a canvas, and words beneath.

import { enlarged, make } from "./theme.js";
import { drawKey } from "./traces.js";

const BESIDE_KEY = 10; // Pixels between the key and the name, on a page that is not enlarged.

export class Figure {
  constructor(index, name, canvas, testid) {
    this.index = index;
    this.root = make("figure", name);
    this.head = make("figcaption", "pv-head");
    this.key = make("canvas", "pv-key");
    this.name = make("span", "pv-name");
    this.badge = make("span", "pv-badge");
    this.counter = make("span", "pv-counter");
    this.head.append(this.key, this.name, this.badge, this.counter);
    this.canvas = make("canvas", canvas);
    this.canvas.dataset.testid = testid;
    this.canvas.dataset.lane = index;
    this.canvas.setAttribute("role", "img");
    this.room = null;
    this.words = make("div", "pv-words");
    this.sub = make("span", "pv-sub");
    this.status = make("span", "pv-status");
    this.words.append(this.sub, this.status);
  }

  call(meta) {
    if (this.name.title !== meta.label) this.room = null;
    if (this.room === null) this.name.title = this.name.textContent = meta.label;
    this.short = meta.short || meta.label;
    this.badge.textContent = meta.badge || "";
    this.badge.title = meta.badgeHelp || "";
    this.canvas.dataset.algorithm = meta.algorithm;
  }

  say(meta) {
    // Its parts: those for which there is no room are left out whole.
    const parts = (meta.sub || "").split(" · ").filter(Boolean);
    this.sub.replaceChildren(...parts.map((part) => make("span", "", part)));
    this.sub.title = [meta.sub, meta.subHelp].filter(Boolean).join("\n");
    this.status.textContent = meta.status || "";
  }

  // The name in full, or where a head of this width has no room for it, the short one; it is never cut off.
  fitName(width) {
    const room = `${width} ${getComputedStyle(this.name).fontSize}`;
    if (room === this.room) return;
    this.room = room;
    this.name.textContent = this.name.title;
    // As wide as it is, and not as its line is.
    Object.assign(this.name.style, { whiteSpace: "nowrap", flex: "none" });
    if (this.name.scrollWidth > width - this.key.offsetWidth - BESIDE_KEY * enlarged()) this.name.textContent = this.short;
    Object.assign(this.name.style, { whiteSpace: "", flex: "" });
  }

  drawKey(theme) {
    if (this.meta) drawKey(this.key, this.meta, theme);
  }
}
