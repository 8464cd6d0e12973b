// A recorded run of message passing, and the state of all messages at any event of it.
// The format is that of pmpviz/views/messages.py.

import { opened } from "../pmpviz.player/decode.js";

const FAR = 1e6;
const NUMBERS = ["undamped", "after", "unary", "residual", "beliefs", "exact", "errors", "bethe"];
const MOST_SHORT = 24;
export const SAME = 1e-5; // A belief that is no further off is the exact one.

export function decodeRecording(bytes) {
  const { meta, some } = opened(bytes);
  if (!Array.isArray(meta.variables) || !Array.isArray(meta.ends)) throw new Error("not a recorded run");
  for (const name of ["edge", "toVariable"]) meta[name] = some(meta[name], name === "edge" ? Int32Array : Uint8Array);
  for (const name of NUMBERS) meta[name] = some(meta[name], Float64Array);
  for (const factor of meta.factors) factor.table = some(factor.table, Float64Array);
  if (meta.after.length !== meta.edge.length * meta.states) throw new Error("messages of another size");
  return meta;
}

// Whether a number stands for a state that cannot be.
export function impossible(value) {
  return !(value > -FAR);
}

export class Replay {
  constructor(record) {
    this.record = record;
    this.total = record.edge.length;
    this.sweeps = record.ends.length;
    this.edges = record.edgeFactor.length;
    this.byVariable = record.variables.map(() => []);
    this.byFactor = record.factors.map(() => []);
    record.edgeVariable.forEach((variable, edge) => this.byVariable[variable].push(edge));
    record.edgeFactor.forEach((factor, edge) => this.byFactor[factor].push(edge));
    // Which place of its factor's scope an edge is.
    this.place = record.edgeVariable.map((variable, edge) => record.factors[record.edgeFactor[edge]].scope.indexOf(variable));
    this.rewind();
  }

  rewind() {
    this.at = 0;
    this.down = new Float64Array(this.edges * this.record.states);
    this.up = new Float64Array(this.edges * this.record.states);
  }

  // Bring the messages to where they are after the first `event` events.
  go(event) {
    if (event < this.at) this.rewind();
    for (; this.at < event; this.at++) this.write(this.at);
  }

  write(event) {
    const { record } = this;
    const into = record.toVariable[event] ? this.down : this.up;
    const edge = record.edge[event];
    for (let k = 0; k < record.states; k++) into[edge * record.states + k] = record.after[event * record.states + k];
  }

  card(variable) {
    return this.record.variables[variable].card;
  }

  // The message that stands on an edge: `down` is from the factor to the variable.
  message(edge, down) {
    const from = edge * this.record.states;
    return (down ? this.down : this.up).subarray(from, from + this.card(this.record.edgeVariable[edge]));
  }

  sent(event, name = "after") {
    const card = this.card(this.record.edgeVariable[this.record.edge[event]]);
    return this.record[name].subarray(event * this.record.states, event * this.record.states + card);
  }

  unary(variable) {
    const from = variable * this.record.states;
    return this.record.unary.subarray(from, from + this.card(variable));
  }

  exact(variable) {
    const from = variable * this.record.states;
    return this.record.exact ? this.record.exact.subarray(from, from + this.card(variable)) : null;
  }

  // Sweeps that are over after `event` events.
  done(event) {
    const { ends } = this.record;
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] <= event) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  startOf(sweep) {
    return sweep ? this.record.ends[sweep - 1] : 0;
  }

  // Events that go together in a sweep: in parallel all of one direction, else one.
  groupAt(event, together) {
    if (!together) return [event, Math.min(event + 1, this.total)];
    const sweep = this.done(event);
    const stop = sweep < this.sweeps ? this.record.ends[sweep] : this.total;
    let end = event + 1;
    while (end < stop && this.record.toVariable[end] === this.record.toVariable[event]) end++;
    return [event, end];
  }

  // Beliefs now: the engine's own at the end of a sweep, within one worked out from the messages that stand.
  belief(variable, head) {
    const sweep = this.done(head);
    const card = this.card(variable);
    if (head === this.startOf(sweep)) {
      const from = (sweep * this.record.variables.length + variable) * this.record.states;
      return this.record.beliefs.subarray(from, from + card);
    }
    const total = Float64Array.from(this.unary(variable));
    for (const edge of this.byVariable[variable]) {
      const message = this.message(edge, true);
      for (let k = 0; k < card; k++) total[k] += message[k];
    }
    return soft(total, this.record.temperature || 1);
  }

  // The largest difference from the exact answer; the engine's own at the end of a sweep.
  error(head) {
    const sweep = this.done(head);
    if (!this.record.exact) return NaN;
    if (head === this.startOf(sweep)) return this.record.errors[sweep];
    let most = 0;
    this.record.variables.forEach((_, variable) => {
      const exact = this.exact(variable);
      this.belief(variable, head).forEach((p, k) => (most = Math.max(most, Math.abs(p - exact[k]))));
    });
    return most;
  }

  // How many beliefs are the exact ones.
  right(head) {
    const same = (variable) => {
      const exact = this.exact(variable);
      return exact !== null && this.belief(variable, head).every((p, k) => Math.abs(p - exact[k]) < SAME);
    };
    return this.record.variables.filter((_, variable) => same(variable)).length;
  }

  // The largest error of a variable's belief in the last period of what oscillates; 0 where nothing does.
  mostOff(variable) {
    const { beliefs, period, states, variables } = this.record;
    const exact = this.exact(variable) || [];
    const at = (sweep) => (sweep * variables.length + variable) * states;
    const sweeps = Array.from({ length: period || 0 }, (_, k) => at(this.sweeps - k));
    return Math.max(0, ...sweeps.flatMap((from) => [...exact].map((p, k) => Math.abs(p - beliefs[from + k]))));
  }

  // Sweeps that `event` events come to, parts of one included.
  along(event) {
    const sweep = this.done(event);
    const start = this.startOf(sweep);
    const size = sweep < this.sweeps ? this.record.ends[sweep] - start : 1;
    return sweep + (event - start) / size;
  }

  // The largest error after every message of a run of few sweeps, after every sweep of a longer one. What oscillates
  // crosses the fixed point each time round: of it the most in a period, which does not hide how far it is off.
  errors() {
    const { errors, period } = this.record;
    const most = (k) => (k ? Math.max(...errors.subarray(Math.max(1, k - period + 1), k + 1)) : NaN);
    if (period) return { values: errors.map((_, k) => most(k)), at: (k) => k };
    if (this.sweeps > MOST_SHORT) return { values: errors, at: (k) => k };
    const values = [];
    for (let event = 0; event <= this.total; event++) {
      this.go(event);
      values.push(this.error(event));
    }
    return { values, at: (k) => this.along(k) };
  }

  // The event that wrote the message which stands on an edge, or -1.
  lastOn(edge, down, head) {
    for (let event = head - 1; event >= 0; event--) {
      if (this.record.edge[event] === edge && Boolean(this.record.toVariable[event]) === down) return event;
    }
    return -1;
  }
}

function soft(total, temperature) {
  const top = Math.max(...total);
  const weights = total.map((value) => Math.exp((value - top) / temperature));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}
