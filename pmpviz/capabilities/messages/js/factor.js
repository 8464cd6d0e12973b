// What a factor wants of its variables, and its table.

import { plain } from "./digits.js";
import { impossible } from "./replay.js";
import { make } from "../pmpviz.player/theme.js";

const ROUNDING = 1e-9;
const MOST_ROWS = 16;

// 1 where a factor of two variables would rather have them equal, -1 where it would rather have them differ, else 0.
export function wish(record, factor) {
  const { scope, table } = record.factors[factor];
  const states = scope.length === 2 ? record.variables[scope[0]].card : 0;
  if (!table || !states || table.length !== states * states) return 0;
  const diagonal = table.reduce((sum, value, k) => sum + (k % (states + 1) ? 0 : value), 0) / states;
  const others = table.reduce((sum, value, k) => sum + (k % (states + 1) ? value : 0), 0) / (states * (states - 1) || 1);
  return Math.abs(diagonal - others) < ROUNDING ? 0 : Math.sign(diagonal - others);
}

// Beliefs that are nearer to each other prefer no state that one could see.
const SEEN = 1e-3;

// Whether the likeliest states of a factor's two variables go against what it wants; not where states are equally likely.
export function frustrated(replay, factor, head) {
  const wanted = wish(replay.record, factor);
  if (!wanted) return false;
  const [a, b] = replay.record.factors[factor].scope.map((variable) => likeliest(replay.belief(variable, head)));
  return a >= 0 && b >= 0 && (a === b ? 1 : -1) !== wanted;
}

function likeliest(shares) {
  const sorted = [...shares].sort((a, b) => b - a);
  return sorted[0] - sorted[1] > SEEN ? shares.indexOf(sorted[0]) : -1;
}

// What is told of a factor that is pointed at: its words, and its table of log potentials.
export function factorTip(replay, factor, head) {
  const { record } = replay;
  const { words, label, table, scope } = record.factors[factor];
  const found = [make("div", "", `${[`f${factor + 1}`, label].filter(Boolean).join(" ")}: ${words}`)];
  const wanted = wish(record, factor);
  if (wanted) found.push(make("div", "", wanted > 0 ? "It would rather have them equal." : "It would rather have them differ."));
  if (frustrated(replay, factor, head)) found.push(make("div", "", "Outvoted by the rest: the likeliest states go against it. That is no error."));
  const cards = scope.map((variable) => record.variables[variable].card);
  if (!table) found.push(make("div", "", "Its table is too large to be shown."));
  else found.push(make("div", "", "log potentials"), scope.length === 2 ? square(scope, cards, table) : list(scope, cards, table));
  if (table && scope.length !== 2 && table.length > MOST_ROWS) found.push(make("div", "", `… of ${table.length} states`));
  return found;
}

function rows(all) {
  const table = make("table", "mm-table");
  for (const cells of all) {
    const row = make("tr");
    row.append(...cells.map((words, k) => make(k && all[0] !== cells ? "td" : "th", "", words)));
    table.append(row);
  }
  return table;
}

function square([a, b], [high, wide], table) {
  const states = (count) => Array.from({ length: count }, (_, k) => k);
  const head = ["", ...states(wide).map((k) => `x${b + 1} = ${k}`)];
  return rows([head, ...states(high).map((k) => [`x${a + 1} = ${k}`, ...states(wide).map((l) => value(table[k * wide + l]))])]);
}

function list(scope, cards, table) {
  const shown = Array.from({ length: Math.min(MOST_ROWS, table.length) }, (_, at) => {
    let rest = at;
    const states = cards.map(() => 0);
    for (let k = cards.length - 1; k >= 0; k--) {
      states[k] = rest % cards[k];
      rest = Math.floor(rest / cards[k]);
    }
    return [states.join(" "), value(table[at])];
  });
  return rows([[scope.map((variable) => `x${variable + 1}`).join(" "), ""], ...shown]);
}

function value(number) {
  return impossible(number) ? "−∞" : plain(number);
}
