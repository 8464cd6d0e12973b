// What the walk has found by now: its marginals against the exact ones, and rho on the edges.

import { css, enlarged, haloed, make, mix, scaleColour, sized, thousands } from "../pmpviz.player/theme.js";

const HEIGHT = 210;
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 12, 8, 32];
const TICKS = [0, 0.5, 1];
const HEARD = 16; // Answers of the server that are kept until their step is on screen.

class Small {
  constructor(title, help) {
    this.root = make("figure", "wk-small");
    this.title = make("figcaption", "pv-title");
    this.title.title = help;
    this.head = make("span", "", title);
    this.when = make("span", "pv-unit");
    this.title.append(this.head, this.when);
    this.canvas = make("canvas", "pv-chart");
    this.canvas.setAttribute("role", "img");
    this.root.append(this.title, this.canvas);
  }

  // The canvas cleared, or null where nothing is to be drawn; `step` is the moment that it is of.
  begin(shown, step, theme) {
    this.root.hidden = !shown;
    if (!shown) return null;
    this.when.textContent = `at step ${thousands(step)}`;
    const large = enlarged();
    this.width = Math.max(160, this.root.clientWidth) / large;
    const context = sized(this.canvas, this.width * large, HEIGHT * large);
    context.scale(large, large);
    context.clearRect(0, 0, this.width, HEIGHT);
    context.font = `11px ${theme.font}`;
    return context;
  }
}

// What was found by the step on screen: the server is a step or more ahead of it.
export function heardAt(lane, now, step) {
  lane.heard = [...(lane.heard || []).filter(({ known }) => known < now.known), now].slice(-HEARD);
  return lane.heard.findLast(({ known }) => known <= step) || lane.heard[0];
}

// What is seen of a scene, or what was drawn, which come once: before a class nobody scrolls to where else they stand.
export function givenPicture([words, address]) {
  const figure = make("figure", "wk-scene");
  figure.append(Object.assign(make("img", ""), { src: address, alt: words }), make("figcaption", "", words));
  return figure;
}

// The step that marginals and rho are of.
function known({ found }) {
  return found.known;
}

export class Marginals extends Small {
  constructor() {
    super("Marginals against the exact ones", "One point a variable. On the line a marginal is exact.");
  }

  draw(exact, walks, theme) {
    const context = this.begin(exact && walks.length, walks.length && Math.max(...walks.map(({ averaged }) => averaged.known)), theme);
    if (!context) return false;
    const side = Math.min(this.width - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    const at = (x, y) => [LEFT + x * side, HEIGHT - BOTTOM - y * side];
    context.strokeStyle = css(theme.rule);
    context.fillStyle = css(theme.soft);
    context.strokeRect(LEFT + 0.5, TOP + 0.5, side, side);
    context.textAlign = "center";
    for (const tick of TICKS) context.fillText(String(tick), ...at(tick, 0).map((v, k) => v + (k ? 13 : 0)));
    context.fillText("exact p(xᵢ = 1)", LEFT + side / 2, HEIGHT - 4);
    context.textAlign = "right";
    for (const tick of TICKS) context.fillText(String(tick), LEFT - 5, at(0, tick)[1] + 4);
    context.strokeStyle = css(theme.text);
    context.beginPath();
    context.moveTo(...at(0, 0));
    context.lineTo(...at(1, 1));
    context.stroke();
    for (const { averaged, colour } of walks) {
      context.fillStyle = colour;
      context.strokeStyle = css(theme.ground);
      for (let v = 0; v < exact.length; v++) {
        context.beginPath();
        context.arc(...at(exact[v], averaged.p1[v]), 4, 0, 2 * Math.PI);
        context.fill();
        context.stroke();
      }
    }
    const worst = walks.map(({ averaged }) => Math.max(...exact.map((p, v) => Math.abs(p - averaged.p1[v]))).toFixed(3));
    this.canvas.setAttribute("aria-label", `Largest error of the marginals of each lane: ${worst.join(", ")}`);
    return true;
  }
}

export class Edges extends Small {
  constructor() {
    super("ρ: how far each edge counts", "How much of each edge's dependence the objective counts: how often the edge is in a random spanning tree.");
  }

  draw(graph, walks, theme) {
    const walk = graph && walks[graph.lane];
    const context = this.begin(walk, walk && known(walk), theme);
    if (!context) return false;
    const { nodes, edges } = graph;
    const { rho, p1 } = walk.found;
    const side = Math.min(this.width, HEIGHT) - 40;
    const at = (v) => [(this.width - side) / 2 + nodes[2 * v] * side, 20 + nodes[2 * v + 1] * side];
    context.lineCap = "round";
    for (let e = 0; e < rho.length; e++) {
      context.strokeStyle = css(mix(theme.ground, theme.text, 0.2 + 0.7 * rho[e]));
      context.lineWidth = 0.6 + 7 * rho[e];
      context.beginPath();
      context.moveTo(...at(edges[2 * e]));
      context.lineTo(...at(edges[2 * e + 1]));
      context.stroke();
    }
    this.numbers(context, rho, edges, at, theme);
    const scale = { kind: "ink", low: 0, high: 1 };
    p1.forEach((p, v) => {
      context.fillStyle = css(scaleColour(scale, p, theme));
      context.strokeStyle = css(theme.text);
      context.lineWidth = 1;
      context.beginPath();
      context.arc(...at(v), 6, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    });
    this.canvas.setAttribute("aria-label", `rho of the edges from ${Math.min(...rho).toFixed(3)} to ${Math.max(...rho).toFixed(3)}; nodes show p(x = 1)`);
    return true;
  }

  // Few edges have their number on them.
  numbers(context, rho, edges, at, theme) {
    if (rho.length > 12) return;
    context.textAlign = "center";
    for (let e = 0; e < rho.length; e++) {
      const [a, b] = [at(edges[2 * e]), at(edges[2 * e + 1])];
      const [x, y] = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2 + 4];
      haloed(context, theme, rho[e].toFixed(2), x, y);
    }
  }
}
