// A ? beside a word of the trade: what it means stands beneath it while it is pointed at, focused or clicked.

import { make } from "./theme.js";

const EDGE = 4; // Pixels between a tip and the window's edge.
// Beside these a ? is drawn where they have a title, as in player.css.
const SIGNS = ".pv-title[title], .pv-badge[title], .pv-knob[title] > .pv-knob-name, .dc-number[title]";

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

// What a title tells who hovers is told where its ? is clicked or touched, too, until the next click or Escape.
export function tellOnClick(root) {
  const told = make("div", "pv-told");
  let of = null;
  // A title may change while it is told.
  const follow = new MutationObserver(() => of.title ? (told.textContent = of.title) : away());
  const escape = ({ key }) => key === "Escape" && away();
  const away = () => {
    follow.disconnect();
    document.removeEventListener("keydown", escape);
    told.remove();
    of = null;
  };
  root.addEventListener("click", ({ target }) => {
    const sign = target.closest(SIGNS);
    const asked = sign && sign.closest("[title]");
    const again = asked === of;
    away();
    if (!asked || !asked.title || again) return;
    of = asked;
    told.textContent = asked.title;
    follow.observe(asked, { attributeFilter: ["title"] });
    root.append(told);
    document.addEventListener("keydown", escape); // Whatever has the focus: a sign takes none.
    const [around, box] = [root.getBoundingClientRect(), sign.getBoundingClientRect()];
    const above = box.bottom + told.offsetHeight + EDGE > window.innerHeight && box.top - told.offsetHeight > EDGE;
    const top = above ? box.top - told.offsetHeight - EDGE : box.bottom + EDGE;
    const left = Math.min(box.left - around.left, around.width - told.offsetWidth);
    Object.assign(told.style, { left: `${Math.max(0, left)}px`, top: `${top - around.top}px` });
  });
}

// Above it where the window ends too soon beneath it, and there is more room above.
function place(root, tip) {
  tip.classList.remove("pv-above");
  const { top, bottom } = root.getBoundingClientRect();
  const beneath = window.innerHeight - EDGE - bottom;
  tip.classList.toggle("pv-above", tip.offsetHeight > beneath && top - EDGE > beneath);
}
