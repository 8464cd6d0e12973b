// The update of one message, in symbols and with the numbers that go into it.

import { plain, tenfold } from "./digits.js";
import { messageText, ratioOf } from "./graph.js";
import { impossible } from "./replay.js";
import { make } from "../pmpviz.player/theme.js";

const MOST_JOINT = 4096;
const MOST_TERMS = 4;
const MOST_PARTS = 5;
const MOST_LETTERS = 140;
const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

export function subscript(count) {
  return String(count).replace(/\d/g, (digit) => SUBSCRIPTS[Number(digit)]);
}

export class Equation {
  constructor() {
    this.root = make("section", "mm-equation");
    this.root.setAttribute("aria-label", "Update of the message in flight");
    this.root.dataset.testid = "messages-equation";
    this.title = make("div", "mm-what");
    this.symbols = make("div", "mm-symbols");
    this.lines = make("div", "mm-lines");
    this.result = make("div", "mm-result");
    this.root.append(this.title, this.symbols, this.lines, this.result);
  }

  // As high as the longest of this run, so that nothing moves.
  take(replay) {
    this.replay = replay;
    this.shown = null;
    this.states = Math.max(...replay.record.variables.map((variable) => variable.card));
    this.lines.style.minHeight = `${1.5 * Math.min(this.states, 8)}rem`;
  }

  show(event, when) {
    if (this.shown === event) return this.say(when);
    this.shown = event;
    if (event < 0) return this.nothing();
    const { record } = this.replay;
    this.replay.go(event);
    const edge = record.edge[event];
    const down = Boolean(record.toVariable[event]);
    const names = this.names(edge);
    const work = down ? this.fromFactor(edge, names) : this.fromVariable(edge, names);
    this.what = down ? `${names.factor} → ${names.variable}` : `${names.variable} → ${names.factor}`;
    this.symbols.textContent = work.symbols;
    this.lines.replaceChildren(...work.lines.map((line) => make("div", "", line)));
    this.result.replaceChildren(...this.ending(event, edge, down, names).map((line) => make("div", "", line)));
    this.root.dataset.event = event;
    this.root.dataset.difference = this.difference(work.totals, this.replay.sent(event, "undamped"));
    this.say(when);
  }

  say(when) {
    const words = `Message ${this.what}, ${when}`;
    if (this.shown >= 0 && this.title.textContent !== words) this.title.textContent = words;
  }

  // The message and how it was worked out, in as few letters as there is room for beneath the charts.
  brief() {
    const working = [...this.lines.children].map((line) => line.textContent);
    const short = working.join("").length <= MOST_LETTERS ? working : [this.result.textContent];
    return [this.title.textContent, ...(this.shown < 0 ? [] : short)].map((line) => make("div", "", line));
  }

  nothing() {
    this.title.textContent = "No message has been sent yet: all are flat.";
    this.symbols.textContent = "Press Play, or Step for the first one.";
    this.lines.replaceChildren();
    this.result.replaceChildren();
    delete this.root.dataset.difference;
  }

  names(edge) {
    const { record } = this.replay;
    const variable = record.edgeVariable[edge];
    return {
      variable: `x${subscript(variable + 1)}`,
      factor: `f${subscript(record.edgeFactor[edge] + 1)}`,
      field: `θ${subscript(variable + 1)}`,
    };
  }

  // n(x -> f): the variable's own field and what its other factors say.
  fromVariable(edge, { variable, factor, field }) {
    const { replay } = this;
    const index = replay.record.edgeVariable[edge];
    const others = replay.byVariable[index].filter((other) => other !== edge);
    const sources = others.map((other) => `m(f${subscript(replay.record.edgeFactor[other] + 1)}→${variable})`);
    const few = sources.length <= 4 ? sources : [...sources.slice(0, 3), "…"];
    const symbols = `n(${variable}→${factor}) = ${[field, ...few].join(" + ")}`;
    const columns = [replay.unary(index), ...others.map((other) => replay.message(other, true))];
    const totals = Array.from({ length: replay.card(index) }, (_, k) => columns.reduce((sum, c) => sum + c[k], 0));
    const lines = totals.map((total, k) => {
      const parts = columns.map((column) => column[k]);
      return `${variable} = ${k}:  ${equal(sum(parts), total)}`;
    });
    return { symbols, lines, totals };
  }

  // m(f -> x): the factor and what its other variables say, maximised or summed over these.
  fromFactor(edge, { variable, factor }) {
    const { replay } = this;
    const index = replay.record.edgeFactor[edge];
    const { scope, label, table } = replay.record.factors[index];
    const others = scope.filter((other) => other !== replay.record.edgeVariable[edge]);
    const over = others.map((other) => `x${subscript(other + 1)}`);
    const incoming = over.map((name) => `n(${name}→${factor})`);
    const inner = [`${factor}(${scope.map((other) => `x${subscript(other + 1)}`).join(",")})`, ...incoming].join(" + ");
    const kind = !label ? "" : `   (${replay.record.factors[index].words})`;
    const symbols = `m(${factor}→${variable}) = ${this.operator(over.join(","), inner)}${kind}`;
    const card = replay.card(replay.record.edgeVariable[edge]);
    if (!table || table.length > MOST_JOINT) {
      const joint = `over ${replay.record.factors[index].joint} joint states, too many to list`;
      return { symbols, lines: Array.from({ length: card }, (_, k) => `${variable} = ${k}:  ${joint}`), totals: null };
    }
    const terms = this.terms(edge, card);
    const totals = terms.map((found) => this.combine(found.map((term) => term.total)));
    const lines = terms.map((found, k) => `${variable} = ${k}:  ${equal(this.working(found), totals[k])}`);
    return { symbols, lines, totals };
  }

  // For each state of the receiver the joint states that agree with it: their parts and totals.
  terms(edge, card) {
    const { replay } = this;
    const index = replay.record.edgeFactor[edge];
    const { scope, table } = replay.record.factors[index];
    const place = replay.place[edge];
    const cards = scope.map((variable) => replay.card(variable));
    const messages = scope.map((_, at) => replay.message(replay.byFactor[index].find((e) => replay.place[e] === at), false));
    const found = Array.from({ length: card }, () => []);
    const state = scope.map(() => 0);
    for (let joint = 0; joint < table.length; joint++) {
      const parts = [table[joint], ...messages.map((message, at) => message[state[at]]).filter((_, at) => at !== place)];
      found[state[place]].push({ parts, total: parts.reduce((a, b) => a + b, 0) });
      for (let at = scope.length - 1; at >= 0 && ++state[at] === cards[at]; at--) state[at] = 0;
    }
    return found.map((list) => {
      const possible = list.filter((term) => !impossible(term.total));
      return possible.length ? possible : list.slice(0, 1);
    });
  }

  operator(over, inner) {
    const { temperature } = this.replay.record;
    if (!over) return inner;
    if (!temperature) return `max over ${over} of [ ${inner} ]`;
    if (temperature === 1) return `log Σ over ${over} of exp[ ${inner} ]`;
    return `τ log Σ over ${over} of exp[ (${inner}) / τ ],  τ = ${plain(temperature)}`;
  }

  combine(totals) {
    const { temperature } = this.replay.record;
    const top = Math.max(...totals);
    if (!temperature || !Number.isFinite(top) || impossible(top)) return top;
    return top + temperature * Math.log(totals.reduce((all, total) => all + Math.exp((total - top) / temperature), 0));
  }

  working(terms) {
    const { temperature } = this.replay.record;
    const most = [...terms].sort((a, b) => b.total - a.total).slice(0, MOST_TERMS);
    const kept = terms.length > MOST_TERMS ? most : terms;
    const more = terms.length > kept.length ? [`${terms.length - kept.length} smaller`] : [];
    const texts = kept.map((term) => sum(term.parts));
    if (terms.length === 1) return texts[0];
    if (!temperature) return `max( ${[...texts, ...more].join(",  ")} )`;
    if (temperature === 1) return `log( ${[...texts.map((text) => `exp(${text})`), ...more].join(" + ")} )`;
    return `τ log( ${[...texts.map((text) => `exp((${text})/τ)`), ...more].join(" + ")} )`;
  }

  // Less the largest, then damped.
  ending(event, edge, down, { variable }) {
    const { replay } = this;
    const [fresh, sent] = [replay.sent(event, "undamped"), replay.sent(event)];
    const parts = [`less the largest: ${vector(fresh)}`];
    if (down && replay.record.damping > 0) {
      const d = replay.record.damping;
      const share = (value) => String(Number(value.toFixed(4))); // As the slider has it.
      parts.push(`damped: ${share(d)} · ${vector(replay.message(edge, down))} + ${share(1 - d)} · new = ${vector(sent)}`);
    }
    const last = sent.length === 2 ? `log-ratio ${messageText(sent)}${favours(sent, variable)}` : "";
    return [parts.join(";  "), last];
  }

  // How far the numbers on screen are from the engine's.
  difference(totals, fresh) {
    if (!totals) return "";
    const top = Math.max(...totals);
    let most = 0;
    totals.forEach((total, k) => {
      if (impossible(total - top) && impossible(fresh[k])) return;
      most = Math.max(most, Math.abs(total - top - fresh[k]));
    });
    return most;
  }
}

function favours(message, variable) {
  const ratio = ratioOf(message, 1);
  if (Math.abs(ratio) < 1e-9) return `: says nothing about ${variable}`;
  return `: ${variable} = ${ratio > 0 ? 1 : 0}, says the sender, ${Number.isFinite(ratio) ? `by a factor of ${factorOf(ratio)}` : "for certain"}`;
}

function factorOf(ratio) {
  const factor = Math.exp(Math.min(Math.abs(ratio), 700));
  return factor < 1000 ? factor.toPrecision(3) : tenfold(factor, 1);
}

// The total has as many decimals as what it is the sum of.
function equal(words, total) {
  if (impossible(total)) return "impossible";
  const told = plain(total, /\.\d{3}(?!\d)/.test(words) ? 3 : 2);
  return words === told ? words : `${words} = ${told}`;
}

function shown(value) {
  return impossible(value) ? "−∞" : plain(value);
}

function vector(message) {
  return `(${[...message].map(shown).join(", ")})`;
}

// Numbers with their signs between them.
function sum(parts) {
  const kept = parts.length > MOST_PARTS ? [...parts.slice(0, MOST_PARTS - 1), parts.slice(MOST_PARTS - 1).reduce((a, b) => a + b, 0)] : parts;
  if (kept.some(impossible)) return "−∞";
  const least = kept.some((part) => /\.\d{3}/.test(plain(part))) ? 3 : 2;
  return kept.map((part, k) => (k ? (part < 0 ? " − " : " + ") + plain(Math.abs(part), least) : plain(part, least))).join("");
}
