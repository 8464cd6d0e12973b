// How often each state was the maximum, against the exact law, in the colours of the map.

import { css, make, mix, number, rgb, sized } from "../pmpviz.player/theme.js";

const HEIGHT = 170;
const [LEFT, RIGHT, TOP, BOTTOM] = [36, 8, 10, 22];

export class Bars {
  constructor() {
    this.root = make("figure", "at-bars");
    this.title = make("figcaption", "pv-title");
    this.head = make("span", "", "States against the exact law");
    this.count = make("span", "pv-unit");
    this.title.append(this.head, this.count);
    this.canvas = make("canvas", "pv-chart");
    this.canvas.dataset.testid = "atlas-bars";
    this.canvas.setAttribute("role", "img");
    this.words = make("div", "at-words");
    this.root.append(this.title, this.canvas, this.words);
  }

  // The first `shown` samples.
  draw(samples, shown, colours, theme, scale) {
    this.root.hidden = !samples;
    if (!samples) return;
    const { law, names, regions, readable, places } = samples;
    [this.left, this.bottom] = [LEFT, BOTTOM].map((v) => Math.round(v * scale));
    const counts = new Float64Array(law.length);
    for (let k = 0; k < shown; k++) counts[places[k]] += 1;
    const share = counts.map((count) => count / Math.max(1, shown));
    const width = Math.max(200, this.root.clientWidth);
    const context = sized(this.canvas, width, HEIGHT);
    context.clearRect(0, 0, width, HEIGHT);
    context.font = `${11 * scale}px ${theme.font}`;
    const high = Math.max(...law, ...share.slice(0, names.length)) * 1.06;
    const step = (width - this.left - RIGHT) / names.length;
    const y = (p) => HEIGHT - this.bottom - (p / high) * (HEIGHT - TOP - this.bottom);
    this.axis(context, high, y, width, theme);
    names.forEach((name, k) => {
      const x = this.left + k * step;
      context.fillStyle = css(mix(rgb(colours[regions[k]]), theme.ground, 0.15));
      context.fillRect(x + 0.12 * step, y(share[k]), 0.76 * step, HEIGHT - this.bottom - y(share[k]));
      context.fillStyle = css(theme.text);
      context.fillRect(x + 0.04 * step, y(law[k]) - 1, 0.92 * step, 2);
      context.textAlign = "center";
      context.fillStyle = css(theme.soft);
      if (readable && step > 7 * scale * name.length) context.fillText(name, x + step / 2, HEIGHT - 7);
    });
    this.say(samples, share, shown);
  }

  axis(context, high, y, width, theme) {
    context.strokeStyle = css(theme.rule);
    context.fillStyle = css(theme.soft);
    context.textAlign = "right";
    const tick = high > 0.5 ? 0.25 : high > 0.2 ? 0.1 : high > 0.08 ? 0.04 : 0.01;
    for (let p = 0; p <= high; p += tick) {
      context.fillText(String(Number(p.toFixed(2))), this.left - 5, y(p) + 4);
      context.beginPath();
      context.moveTo(this.left, y(p));
      context.lineTo(width - RIGHT, y(p));
      context.stroke();
    }
  }

  say({ law, floor, places, names }, share, shown) {
    const distance = share.reduce((sum, p, k) => sum + Math.abs(p - law[k]), 0) / 2;
    const all = shown === places.length && floor !== null ? `; as many exact draws would show ${number(floor)}` : "";
    const more = law.length > names.length ? ` The likeliest ${names.length} of ${law.length} are drawn.` : "";
    const words = shown ? `Total variation to the exact law ${number(distance)}${all}.${more} Lines: exact p(x).` : "Lines: exact p(x).";
    if (this.words.textContent !== words) this.words.textContent = words;
    this.count.textContent = `${shown} sample${shown === 1 ? "" : "s"}`;
    this.canvas.dataset.samples = shown;
    this.canvas.setAttribute("aria-label", `${this.head.textContent}: ${words}`);
  }
}
