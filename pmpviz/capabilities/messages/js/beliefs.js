// Beliefs beside the exact answer, as bars and as numbers.

import { brief } from "./charts.js";
import { stateColour } from "./graph.js";
import { SAME } from "./replay.js";
import { css, enlarged, make } from "../pmpviz.player/theme.js";

const ROUNDING = 1e-12;
const ALONE = "What each variable's own field says. It is exact where the others say nothing of it.";

// A row a variable: its belief as a bar, the exact answer as a thinner one below it, and both as numbers.
export class Beliefs {
  constructor() {
    this.root = make("figure", "mm-figure");
    this.title = make("figcaption", "pv-title");
    this.title.append(make("span"), make("span", "pv-unit"));
    this.error = make("span", "mm-head mm-error");
    this.error.dataset.testid = "messages-error";
    this.table = make("div", "mm-beliefs");
    this.root.append(this.title, this.table);
  }

  take(replay) {
    this.replay = replay;
    const { record } = replay;
    this.title.firstChild.textContent = record.exact ? `Beliefs and ${record.exactWords}` : "Beliefs";
    const of = record.variables.every(({ card }) => card === 2) ? ["of x = 1"] : [];
    this.title.lastChild.textContent = [...of, ...(record.exact && enlarged() === 1 ? ["thin: exact"] : [])].join("; ");
    this.rows = record.variables.map((variable, index) => this.row(variable, index));
    const head = ["belief", "", record.exact ? "exact" : ""].map((text) => make("span", "mm-head", text));
    this.table.replaceChildren(this.error, ...head, ...this.rows.flatMap((row) => row.cells));
  }

  // Of two states the probability of 1 is told, of more that of the state that is exactly the likeliest.
  row(variable, index) {
    const exact = this.replay.exact(index);
    const told = variable.card === 2 || !exact ? 1 % variable.card : exact.indexOf(Math.max(...exact));
    const name = make("span", "mm-name", variable.card === 2 ? variable.name : `${variable.name} = ${told}`);
    const bars = make("span", "mm-bars");
    const belief = bar(variable.card, "mm-belief");
    const truth = bar(variable.card, "mm-truth");
    bars.append(belief, truth);
    const [now, sign] = [make("span", "mm-number"), make("span", "mm-sign")];
    const right = make("span", "mm-number", exact ? digits(exact[told]) : "");
    if (exact) widths(truth, exact);
    return { told, exact, most: this.replay.mostOff(index), belief, now, sign, cells: [name, bars, now, sign, right] };
  }

  // Before the first message nothing is compared: by symmetry what is alike may look exact. So it may in a phase of a
  // run that oscillates, of which therefore the most in a period counts.
  draw(view) {
    const begun = view.head || !this.replay.total;
    const { period } = this.replay.record;
    let passes = false;
    this.rows.forEach(({ told, exact, most, belief, now, sign }, index) => {
      const shares = this.replay.belief(index, view.head);
      if (exact) {
        const same = Math.max(...exact.map((p, k) => Math.abs(p - shares[k]))) < SAME;
        const passing = same && period && most >= SAME;
        passes = passes || (begun && passing);
        const mark = !begun ? "" : passing ? "⇄" : same ? "=" : "≠";
        if (sign.textContent !== mark) sign.textContent = mark;
        sign.title = passing ? "Equal in this phase, not in the others of a period" : "";
      }
      widths(belief, shares);
      const words = digits(shares[told]);
      if (now.textContent !== words) now.textContent = words;
    });
    const error = this.replay.error(view.head);
    const off = (value) => (value < ROUNDING ? "0" : brief(value));
    // The error of a phase would be a second one beside that of the period, which the chart has.
    const told = !period ? `largest error ${off(error)}` : passes ? "⇄ equal now, then not" : "";
    const now = begun ? told : "without messages";
    const words = Number.isFinite(error) ? now : "";
    this.error.title = begun ? "" : ALONE;
    if (this.error.textContent !== words) this.error.textContent = words;
  }
}

function bar(card, name) {
  const root = make("span", `mm-bar ${name}`);
  for (let k = card - 1; k >= 0; k--) {
    const part = make("span", "mm-part");
    part.style.background = css(stateColour(k));
    root.append(part);
  }
  return root;
}

function widths(root, shares) {
  const card = root.children.length;
  for (let k = 0; k < card; k++) root.children[card - 1 - k].style.width = `${100 * shares[k]}%`;
}

function digits(value) {
  return Number.isFinite(value) ? value.toFixed(5) : "n/a";
}
