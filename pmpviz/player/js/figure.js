// What any lane has: a header with its key, name, badge and counter, a canvas, and words beneath.

import { make } from "./theme.js";
import { drawKey } from "./traces.js";

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
    this.words = make("div", "pv-words");
    this.sub = make("span", "pv-sub");
    this.status = make("span", "pv-status");
    this.words.append(this.sub, this.status);
  }

  call(meta) {
    this.name.textContent = meta.label;
    this.badge.textContent = meta.badge || "";
    this.canvas.dataset.algorithm = meta.algorithm;
  }

  say(meta) {
    this.sub.textContent = meta.sub || "";
    this.status.textContent = meta.status || "";
  }

  drawKey() {
    if (this.meta) drawKey(this.key, this.meta);
  }
}
