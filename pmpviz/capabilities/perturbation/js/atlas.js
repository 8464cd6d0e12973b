// The board of the perturbation lab: the noise atlas, whose cross is dragged, and what follows from where it is.

import { actionButton, showPlaying } from "../pmpviz.player/bar.js";
import { mounted, Stage } from "../pmpviz.player/component.js";
import { opened } from "../pmpviz.player/decode.js";
import { STARTING } from "../pmpviz.player/sentences.js";
import { css, enlarged, make, number, scaleColour, topOf } from "../pmpviz.player/theme.js";
import { Answers, limitOf } from "./answers.js";
import { Bars } from "./bars.js";
import { Bounds } from "./bounds.js";
import { asked, ends, energy } from "./captions.js";
import { NoiseMap } from "./map.js";
import { Rows } from "./rows.js";

const FALL_MS = 380;
const SLOW = 6; // So many samples fall one by one; then they come ever faster.
const [FIRST_RATE, FAST_RATE, FASTER] = [3, 100, 1]; // Samples a second, and by how much more each of them makes it.
const WAIT_MS = 4000;
const NAMED = 4;
const TWO_LINES = 850; // So wide a page has the verdict of two spins in two lines, another one in three.
const WAITS = "Starting again under the new settings: what is dimmed is of those before.";
// To a class, which reads no lead.
const UNPLAYED = "Press Play: each dot that falls is fresh noise on both spins. The region it falls into is the best state; bars count these.";
const LEGEND = 30;
const [ALONE, IN_CLASS, FALLS] = [0.56, 0.5, 0.58]; // How high it is elsewhere, of the window: before a class the answer stands beneath.
const PAIR = 4; // Coordinates of two spins' places.
const SAID = 78; // Of its three lines, in px of a page that is not enlarged.
const BESIDE = 330; // How high the map is beside what the question is about, in px.
const [WORDS, FOUND] = [210, 36]; // What stands above and beneath two rows of pictures; before a class what is found, too.

class Board extends Stage {
  constructor(parent) {
    super(parent, "pv-root at-root");
    this.map = new NoiseMap({ moved: () => this.moved(), dropped: (pixel) => this.dropped(pixel) });
    this.answers = new Answers();
    this.averages = new Answers();
    this.averages.root.classList.add("at-averages");
    this.bars = new Bars();
    this.bounds = new Bounds();
    this.counted = new Rows();
    this.fallen = 0;
    this.build();
  }

  build() {
    this.choice = make("select", "pv-select");
    this.choice.setAttribute("aria-label", "Map coloured by");
    this.choice.addEventListener("change", () => this.choose(this.choice.selectedIndex));
    this.legend = make("div", "at-legend");
    this.words = make("div", "at-words");
    const head = make("div", "at-head");
    head.append(make("span", "at-title", "Noise atlas"), this.choice);
    const left = make("div", "at-left");
    left.append(head, this.map.root, this.legend, this.words);
    this.heading = make("div", "at-title");
    this.buildBar();
    const right = make("div", "at-right");
    this.many = make("div", "at-title", "One best answer against many");
    this.many.hidden = true;
    this.formula = make("div", "at-words at-formula");
    right.append(this.heading, this.answers.root, this.many, this.averages.root, this.counted.root, this.bars.root, this.bounds.root, this.bar.root);
    Object.assign(this, { left, right });
    this.found = make("div", "at-verdict");
    this.counts = make("div", "at-counts");
    const above = make("div", "at-above");
    above.append(this.found, this.counts);
    this.root.append(this.trouble, above, left, right, this.spoken);
  }

  buildBar() {
    const act = (name) => this.act(name);
    const root = make("div", "pv-bar");
    const buttons = {
      play: actionButton("play", "Play", "Space", "Let samples fall, or hold them", act),
      one: actionButton("one", "One sample", "", "One more falls", act),
      all: actionButton("all", "All", "", "Of every perturbation that has been solved", act),
      reset: actionButton("reset", "None", "", "Begin again without any", act),
    };
    root.append(...Object.values(buttons));
    this.bar = { root, buttons };
  }

  // What the server sends.

  receive(bytes) {
    const meta = this.read(bytes, decodeBoard);
    if (!meta) return;
    const first = !this.meta;
    const { samples } = meta;
    const other = samples && this.law && JSON.stringify([samples.names, samples.law[0]]) !== this.law;
    this.meta = meta;
    this.map.atlas = meta.atlas;
    this.map.colours = meta.colours;
    this.map.progress = meta.progress;
    this.root.classList.toggle("pv-waits", Boolean(meta.waits && this.known)); // What is dimmed is of the model before.
    this.known ||= !meta.waits;
    if (!meta.waits) this.placePictures(Boolean(meta.averages), Boolean(meta.rows && meta.rows.first));
    this.takeLayer(meta);
    this.takeCross(meta);
    if (samples) this.law = JSON.stringify([samples.names, samples.law[0]]);
    if (other || !samples) [this.fallen, this.whole] = [0, false];
    if ((first || other || this.falling === undefined) && samples) this.falling = !this.still && enlarged() === 1; // A class waits for Play.
    if (samples && (this.whole || !samples.points)) this.fallen = samples.places.length;
    this.layout();
  }

  // Of a scene the pictures are the answer: they have the place, and the map stands beneath them. Where the question is
  // about attempts or bounds their bars have it, and the map stands beside them.
  placePictures(first, barsFirst) {
    if (first === this.picturesFirst && barsFirst === this.barsFirst) return;
    Object.assign(this, { picturesFirst: first, barsFirst });
    this.root.classList.toggle("at-scene", first);
    this.root.classList.toggle("at-asked", barsFirst);
    if (first || barsFirst) this.left.before(this.right);
    else this.left.after(this.right);
    // Where samples fall the column of what solvers find ends with their bars, and the map leaves more room beneath.
    if (first || barsFirst) this.answers.root.after(this.formula);
    else this.left.append(this.formula);
  }

  // Beneath the map, but before a class beneath what the question is about.
  placeWords() {
    const large = enlarged() > 1;
    const before = large && this.picturesFirst ? this.averages.root : large && this.barsFirst ? this.counted.root : this.legend;
    if (before.nextSibling !== this.words) before.after(this.words);
  }

  takeLayer({ layers, layer }) {
    const names = JSON.stringify(layers);
    if (names !== this.names) this.choice.replaceChildren(...layers.map(({ label, id }) => new Option(label, id)));
    this.names = names;
    if (this.wished === layer || performance.now() - (this.wishedAt || -WAIT_MS) > WAIT_MS) this.wished = null;
    const chosen = layers.find(({ id }) => id === (this.wished || layer)) || layers[0];
    this.choice.value = chosen.id;
    this.map.layer = chosen;
  }

  // The cross of the server is where its noise is; a hand's own holds until the server has come to it.
  takeCross({ shown, atlas }) {
    if (!shown || !atlas) return;
    const { map } = this;
    map.cross = atlas.sites.map((site) => shown.noise[site]);
    const own = map.pixel === null ? null : [map.noiseAt(map.pixel % atlas.side), map.noiseAt(Math.floor(map.pixel / atlas.side))];
    const there = own && own.every((v, k) => Math.abs(v - map.cross[k]) < 1e-3);
    const late = performance.now() - (this.droppedAt || 0) > WAIT_MS;
    const solved = shown.solvers.every(({ pending }) => !pending);
    if (!map.dragging && (this.draw0 !== shown.draw || late || (there && solved))) map.pixel = null;
    this.draw0 = shown.draw;
  }

  // What a person does.

  act(name) {
    const { samples } = this.meta || {};
    if (!samples || !samples.points) return; // They do not fall, and are all there.
    this.falling = name === "play" && !this.falling;
    this.crossed = false;
    if (name === "play" && this.falling && this.fallen >= samples.places.length) this.fallen = 0;
    if (name === "one") this.add(1);
    this.whole = name === "all"; // Those that are still to be solved, too.
    if (this.whole) this.fallen = samples.places.length;
    if (name === "reset") this.fallen = 0;
    if (name === "all" || name === "reset") this.lastFall = 0;
    this.wake();
  }

  add(count) {
    this.fallen = Math.min(this.meta.samples.places.length, this.fallen + count);
    this.lastFall = performance.now();
  }

  choose(index) {
    this.wished = this.meta.layers[index].id;
    this.wishedAt = performance.now();
    this.map.layer = this.meta.layers[index];
    this.post({ type: "mode", site: index });
    this.wake();
  }

  moved() {
    this.crossed = true;
    this.droppedAt = performance.now();
    this.wake();
  }

  dropped(pixel) {
    this.droppedAt = performance.now();
    this.post({ type: "click", site: pixel, sites: [pixel] });
  }

  // Drawing.

  layout() {
    this.root.classList.toggle("at-wide", this.root.clientWidth >= 700 && !this.picturesFirst);
    this.wake();
  }

  play(passed, now) {
    if (!this.meta) return false;
    const { samples, shown, shape, rows } = this.meta;
    const scale = enlarged();
    if (samples && samples.points) this.fall(passed, now, samples);
    this.landed = Math.floor(this.fallen) - (this.falls(now) < 1 ? 1 : 0);
    const beneath = scale > 1 && !this.legend.hidden ? LEGEND * scale : 0;
    const falls = Boolean(samples && samples.points);
    const high = this.barsFirst ? BESIDE : Math.max(300, Math.min(520, this.share(scale, falls) * window.innerHeight - beneath));
    this.map.draw(this.left.clientWidth, high, this.theme, this.dots(now), scale);
    this.tellFound();
    // Of a scene whose map is still to come only its heading stands there.
    this.map.root.hidden = this.picturesFirst && !this.meta.atlas;
    this.drawLegend();
    // Before a class, of two spins, what all solvers agree on gives way to the samples, until the cross is moved.
    const alone = scale > 1 && falls && this.fallen > 0 && shape?.nodes?.length === PAIR && !this.crossed;
    this.root.classList.toggle("at-alone", alone);
    if (shown && shape && !alone) this.drawPictures(shape, scale);
    // Where the map has other colours than those of states, bars of these would be taken for them.
    this.counted.draw(rows);
    this.bars.whole = this.whole;
    this.bars.draw(samples, this.landed, this.map.layer?.kind === "states" ? this.meta.colours : null, this.theme, scale, alone);
    // Before a class, where nothing else takes the place.
    const { estimates, exact } = this.meta.bounds;
    this.charted = scale > 1 && !samples && !rows && !this.picturesFirst;
    this.bounds.draw(this.charted ? estimates : [], exact, this.theme, scale);
    this.bar.root.hidden = !(samples && samples.points);
    showPlaying(this.bar.buttons.play, this.falling);
    this.root.classList.toggle("at-falls", falls);
    this.root.classList.toggle("pv-asks", scale > 1 && !this.falling && !this.fallen);
    Object.assign(this.root.dataset, { fallen: Math.floor(this.fallen), layer: this.map.layer.id, falling: Boolean(this.falling) });
    return Boolean(samples && samples.points) && (this.falling || now - (this.lastFall || 0) < FALL_MS);
  }

  // The map's share of the window: where samples fall before a class all that what is said beneath leaves.
  share(scale, falls) {
    if (scale === 1) return ALONE;
    const left = 1 - (topOf(this.map.root) + SAID * scale) / window.innerHeight;
    return falls ? Math.min(FALLS, left) : IN_CLASS;
  }

  // The answer, of as many samples as have fallen where they fall; before a class it stands beneath the pictures.
  verdict() {
    const { falling, starts, verdict, waits } = this.meta;
    if (waits && this.known) return WAITS;
    if (!verdict && starts) return STARTING;
    if (!falling.length) return verdict;
    const last = falling.findLast(([count]) => count <= this.landed);
    if (last) return last[1];
    if (!this.meta.atlas && this.falling) return "Samples fall as soon as a rough map is there.";
    if (this.falling) return "Samples begin to fall: a dot is random noise, and the state of its region, best under it, is the sample.";
    return enlarged() > 1 ? UNPLAYED : "No sample has fallen yet: press Play, or One sample.";
  }

  tellFound() {
    const large = enlarged() > 1;
    const [words, counts] = large ? ["", []] : [this.verdict(), this.meta.counts];
    if (this.found.textContent !== words) this.found.textContent = words;
    // What is said of samples that have fallen has its room before the first one falls.
    const lines = this.root.clientWidth < TWO_LINES ? 3 : 2;
    this.found.style.minHeight = !large && this.meta.falling.length ? `${1.4 * lines}em` : "";
    const told = JSON.stringify(counts);
    if (told === this.toldCounts) return;
    this.toldCounts = told;
    this.counts.replaceChildren(...counts.map(([text, meaning]) => Object.assign(make(meaning ? "abbr" : "span", "", text), { title: meaning })));
  }

  drawPictures(shape, scale) {
    const { averages } = this.meta;
    const [rows, high] = [this.rows(), this.picturesFirst ? this.pictureHigh(scale) : 0];
    this.answers.draw(rows, shape, this.theme, scale, high);
    const { formula } = this.meta.shown;
    if (this.formula.textContent !== formula) this.formula.textContent = formula;
    this.many.hidden = !averages || !averages.length;
    const means = (averages || []).map((row) => ({ ...row, colour: (rows.find(({ title }) => title === row.title) || {}).colour }));
    this.averages.draw(means, shape, this.theme, scale, high);
  }

  // Two rows of pictures with their words are seen at once.
  pictureHigh(scale) {
    return (window.innerHeight - topOf(this.root) - (scale > 1 ? WORDS + FOUND : WORDS) * scale) / 2;
  }

  fall(passed, now, samples) {
    if (!this.falling || !this.meta.atlas) return;
    const rate = this.rate();
    const before = Math.floor(this.fallen);
    this.fallen = Math.min(samples.places.length, this.fallen + (rate * passed) / 1000);
    if (Math.floor(this.fallen) > before) this.lastFall = now;
    if (this.fallen >= samples.places.length && samples.places.length >= 512) this.falling = false;
  }

  rate() {
    return this.fallen < SLOW ? FIRST_RATE : Math.min(FAST_RATE, FIRST_RATE + (this.fallen - SLOW) * FASTER);
  }

  dots(now) {
    const { samples, colours } = this.meta;
    if (!samples || !samples.points || !this.meta.atlas) return [];
    const count = Math.floor(this.fallen);
    return Array.from({ length: count }, (_, k) => ({
      x: samples.points[2 * k],
      y: samples.points[2 * k + 1],
      colour: colours[samples.regions[samples.places[k]]],
      share: k === count - 1 ? this.falls(now) : 1,
    }));
  }

  // How much of its fall the last sample has behind it: until it has landed, nothing counts it or tells its state.
  falls(now) {
    const { points } = this.meta.samples || {};
    // It is down before the next one falls: else each of many would stand at the top edge, and none be seen to fall.
    const takes = this.falling ? Math.min(FALL_MS, 1000 / this.rate()) : FALL_MS;
    return !points || this.still || this.fallen < 1 ? 1 : Math.min(1, (now - (this.lastFall || 0)) / takes);
  }

  // The small pictures: as the server has them, or at the hand's cross as the map has them.
  rows() {
    const { shown, atlas } = this.meta;
    const { pixel } = this.map;
    const own = pixel !== null && atlas;
    let { noise, field } = shown;
    if (own) {
      const at = [this.map.noiseAt(pixel % atlas.side), this.map.noiseAt(Math.floor(pixel / atlas.side))];
      [noise, field] = [Float32Array.from(noise), Float32Array.from(field)];
      atlas.sites.forEach((site, k) => {
        field[site] += at[k] - noise[site];
        noise[site] = at[k];
      });
    }
    const moved = own || shown.moved ? ", moved by hand" : "";
    // From 1 on, as people count; links and exports count from 0.
    this.heading.textContent = `Perturbation ${shown.draw + 1}${moved}, and what solvers make of it`;
    const signed = (title, values) => ({ title, values, kind: "field", limit: limitOf(values), words: ends(limitOf(values), values.length) });
    const rows = [signed("noise", noise), signed("field + noise", field)];
    if (!shown.seen) rows.unshift(signed("field", field.map((value, k) => value - noise[k])));
    else rows.unshift({ title: "seen", values: shown.seen, kind: "state", words: shown.seen.some(Number.isNaN) ? "blank where hidden" : "with flipped pixels" });
    const restless = atlas && atlas.values.rest[this.map.here()] === 1; // Its messages, undamped.
    shown.solvers.forEach((solver, s) => rows.push(own ? this.owned(solver, s, pixel) : asked(solver, restless)));
    return rows;
  }

  owned({ label, colour }, s, pixel) {
    const { best, pictures, shows, values } = this.meta.atlas;
    const row = { title: label, colour, kind: "state", values: null, words: "not worked out yet" };
    const place = shows[s][pixel];
    const lost = values[`energy${s + 1}`][pixel];
    const n = this.meta.shown.noise.length;
    if (place >= 0) row.values = Float32Array.from(pictures.subarray(place * n, (place + 1) * n), (v) => v / 254);
    const grey = row.values && row.values.some((v) => v > 0 && v < 1);
    if (Number.isFinite(lost)) row.words = `${grey ? "rounded: " : ""}energy ${energy(lost - best[pixel])}`;
    return row;
  }

  drawLegend() {
    const { map, meta } = this;
    const shape = JSON.stringify([map.layer, map.high, map.none, meta.atlas && meta.atlas.rows, meta.atlas && meta.atlas.states.slice(0, 11), this.theme.id]);
    this.placeWords();
    // Before a class room is dear, and the names of a few states stand on the map.
    this.legend.hidden = enlarged() > 1 && map.layer.kind === "states" && Boolean(meta.atlas) && meta.atlas.states.length <= NAMED;
    // Before a class what is beneath is out of sight: what it says stands here.
    this.words.textContent = enlarged() > 1 ? brief(this.verdict()) || meta.bounds.words : meta.atlas ? meta.atlas.words : this.map.root.hidden ? meta.progress : "";
    this.words.classList.toggle("at-found", enlarged() > 1);
    if (shape === this.legendShape) return;
    this.legendShape = shape;
    const of = meta.atlas && map.layer.kind === "states" ? [make("span", "", "Best state:")] : [];
    this.legend.replaceChildren(...of, ...(meta.atlas ? this.entries() : []).map(([colour, text]) => entry(colour, text)));
  }

  entries() {
    const { layer, atlas, colours, low, high, none } = this.map;
    if (none) return [[css(scaleColour({ kind: "sequential", low, high }, 0, this.theme)), atlas.rows < atlas.side ? "nothing lost so far" : "nothing lost anywhere"]];
    if (layer.kind === "two") return layer.words.map((word, k) => [layer.colours[k], word]);
    if (layer.kind === "states") {
      if (!atlas.states.length) return [];
      if (atlas.states[0].length > 10) return [[colours[atlas.regions[0]], "the commonest here; another colour, another state: its name under the pointer"]];
      const few = atlas.states.slice(0, colours.length - 1).map((state, k) => [colours[atlas.regions[k]], state]);
      // In the order of the bars beside it.
      const names = this.meta.samples ? this.meta.samples.names : [];
      const place = ([, state]) => (names.includes(state) ? names.indexOf(state) : names.length);
      few.sort((a, b) => place(a) - place(b));
      return atlas.states.length < colours.length ? few : [...few, [colours[colours.length - 1], "others"]];
    }
    const ticks = layer.ticks || [0, 0.5, 1].map((share) => [low + share * (high - low), number(low + share * (high - low))]);
    const scale = { kind: "sequential", low, high };
    const unit = layer.id.startsWith("energy") ? " nats lost" : "";
    return ticks.map(([value, text], k) => [css(scaleColour(scale, value, this.theme)), text + (k === ticks.length - 1 ? unit : "")]);
  }
}

export default mounted(Board);

function entry(colour, text) {
  const root = make("span", "at-entry");
  const swatch = make("span", "at-swatch");
  swatch.style.background = colour;
  root.append(swatch, make("span", "", text));
  return root;
}

// Without what stands in brackets.
function brief(text) {
  return text.replace(/ \([^()]*\)/g, "");
}

function decodeBoard(bytes) {
  const { meta, some } = opened(bytes);
  const { atlas, shown, shape, samples } = meta;
  if (atlas) {
    for (const name of Object.keys(atlas.values)) atlas.values[name] = some(atlas.values[name], Float32Array);
    atlas.best = some(atlas.best, Float32Array);
    atlas.shows = atlas.shows.map((index) => some(index, Int32Array));
    atlas.pictures = some(atlas.pictures, Uint8Array);
  }
  if (shown) {
    for (const name of ["noise", "field", "seen"]) shown[name] = some(shown[name], Float32Array);
    for (const solver of shown.solvers) solver.picture = some(solver.picture, Float32Array);
  }
  for (const row of meta.averages || []) row.values = some(row.values, Float32Array);
  if (shape && shape.edges !== undefined) {
    shape.nodes = some(shape.nodes, Float32Array);
    shape.edges = some(shape.edges, Int32Array);
  }
  if (samples) {
    samples.places = some(samples.places, Int32Array);
    for (const name of ["law", "points"]) samples[name] = some(samples[name], Float32Array);
  }
  return meta;
}
