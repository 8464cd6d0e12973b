// A ? beside a word of the trade: what it means stands beneath it while it is pointed at, focused or clicked.

import { make } from "./theme.js";

const EDGE = 4; // Pixels between a tip and the window's edge.

export function ask(words, about) {
  const root = make("span", "pv-ask");
  const button = make("button", "pv-ask-sign", "?");
  button.type = "button";
  button.setAttribute("aria-label", `About ${about}`);
  button.setAttribute("aria-description", words);
  const tip = make("span", "pv-tip", words);
  tip.setAttribute("aria-hidden", "true");
  root.append(button, tip);
  for (const name of ["pointerenter", "focusin"]) root.addEventListener(name, () => place(root, tip));
  return root;
}

// Above it where the window ends too soon beneath it, and there is more room above.
function place(root, tip) {
  tip.classList.remove("pv-above");
  const { top, bottom } = root.getBoundingClientRect();
  const beneath = window.innerHeight - EDGE - bottom;
  tip.classList.toggle("pv-above", tip.offsetHeight > beneath && top - EDGE > beneath);
}
