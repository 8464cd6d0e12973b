// A ? beside a word of the trade: what it means stands beneath it while it is pointed at, focused or clicked.

import { make } from "./theme.js";

export function ask(words, about) {
  const root = make("span", "pv-ask");
  const button = make("button", "pv-ask-sign", "?");
  button.type = "button";
  button.setAttribute("aria-label", `About ${about}`);
  button.setAttribute("aria-description", words);
  const tip = make("span", "pv-tip", words);
  tip.setAttribute("aria-hidden", "true");
  root.append(button, tip);
  return root;
}
