// What stands beside a brush: its size, undo and redo, and a way to clear everything.

import { make } from "./theme.js";

const SIZES = [1, 3, 7];
const ACTIONS = {
  undo: ["Undo", "Ctrl+Z", "Take the last stroke or change of a setting back"],
  redo: ["Redo", "Ctrl+Shift+Z", "Do again what was taken back"],
  clear: ["Clear all", "", "Take every painted field and every clamp away"],
};

// The brush in hand: a player that is put in another one's place goes on with it.
let brush = SIZES[0];

export class Tools {
  constructor(act) {
    this.root = make("div", "pv-tools");
    this.root.setAttribute("role", "toolbar");
    this.root.setAttribute("aria-label", "Painting");
    this.sizes = make("span", "pv-group");
    this.sizes.setAttribute("role", "radiogroup");
    this.sizes.setAttribute("aria-label", "Brush, sites across");
    for (const size of SIZES) this.sizes.append(this.size(size));
    this.root.append(make("span", "pv-hint", "Brush"), this.sizes);
    for (const [name, [text, key, title]] of Object.entries(ACTIONS)) {
      const button = this.button(text, key ? `${title} (${key})` : title);
      button.dataset.action = name;
      button.addEventListener("click", () => act(name));
      this.root.append(button);
    }
    this.take(brush);
    this.show(false);
  }

  get brush() {
    return brush;
  }

  button(text, title) {
    const button = make("button", "pv-button pv-tool", text);
    button.type = "button";
    button.title = title;
    return button;
  }

  size(size) {
    const button = this.button(String(size), `A brush ${size} ${size > 1 ? "sites" : "site"} across`);
    button.setAttribute("role", "radio");
    button.dataset.brush = size;
    button.addEventListener("click", () => this.take(size));
    return button;
  }

  take(size) {
    brush = size;
    for (const button of this.sizes.children) button.setAttribute("aria-checked", Number(button.dataset.brush) === size);
  }

  // Whether that is new.
  show(wanted) {
    const before = this.root.hidden;
    this.root.hidden = !wanted;
    return before === wanted;
  }
}
