// What the signs of the picture are, beside it: nothing of the picture runs over them.

import { css, make } from "../pmpviz.player/theme.js";
import { REGIONS, SUM } from "./scene.js";

const STOPPED = 3; // Specks that stand for all, each in a colour of the states.

// The signs, each with what is drawn of it and its words; block Gibbs has no ball that is pushed. Of two remembered
// pictures, which stand where their states are, what walks there.
export function signsOf({ gibbs, memory, layer, dark }) {
  const walk = gibbs ? [["line", "to a point drawn"]] : [["ball", "the ball, pushed, and its way"]];
  if (memory) return [...walk, ["drawn", "to the spins drawn there"], ["stop", "earlier stops, by nearest picture"]];
  const ground = { [SUM]: ["shade", `the sum upside down, ${dark ? "brighter" : "darker"}: deeper`], [REGIONS]: ["region", "spins likeliest drawn there"] }[layer];
  return [["state", "a state; larger: likelier"], ...walk, ["drawn", "to the state drawn there"], ["stop", "earlier stops, by state drawn"], ...(ground ? [ground] : [])];
}

export class Key {
  constructor() {
    this.root = make("div", "ls-key");
    this.root.dataset.testid = "landscape-key";
  }

  draw({ gibbs, memory }, layer, colour, inks, theme) {
    const signs = signsOf({ gibbs, memory, layer, dark: theme.dark });
    const told = JSON.stringify([signs, colour, inks, theme.id]);
    if (told === this.told) return;
    this.told = told;
    this.root.replaceChildren(...signs.map(([sign, words]) => entry(sign, words, colour, inks.map(css))));
  }
}

function entry(sign, words, colour, inks) {
  const root = make("div", "ls-entry");
  const drawn = make("span", `ls-sign ls-${sign}`);
  drawn.setAttribute("aria-hidden", "true");
  if (sign === "state") drawn.append(Object.assign(make("i"), { style: `background: ${inks[0]}` }));
  if (sign === "ball") drawn.append(make("i"), Object.assign(make("b"), { style: `color: ${colour}` }));
  if (sign === "stop") drawn.append(...inks.slice(0, STOPPED).map((ink) => Object.assign(make("i"), { style: `background: ${ink}` })));
  if (sign === "drawn") drawn.style.color = inks[1];
  if (sign === "region") drawn.style.background = `linear-gradient(to right, ${inks[0]} 50%, ${inks[1]} 50%)`;
  root.append(drawn, make("span", "", words));
  return root;
}
