// The stage of the segmentation page: above, what is seen and what was drawn; below, each lane's p(animal) of the same
// scenes in the same places.

import { mounted } from "../pmpviz.player/component.js";
import { decode, opened } from "../pmpviz.player/decode.js";
import { Lane } from "../pmpviz.player/lane.js";
import { Player } from "../pmpviz.player/player.js";
import { enlarged, make, number } from "../pmpviz.player/theme.js";

const [SHARE, LARGE_SHARE] = [0.2, 0.25]; // Of the window's height, at most, for what is given; before a class.
const GAP = 16;
const NAMES = 16; // Pixels for the names of the rows, beside a picture.
const COARSE = 2; // From so many pixels on a pixel of a scene is a whole number of them.
const BETWEEN = 2; // A pixel between scenes.
const ANSWER = 270; // Letters of what is said of two lanes first, and of when fewest were wrong.
const RENEWED = "Back to the start, as soon as the iteration in hand is done.";
const ROWS = [
  ["training", "Scenes whose answer the learner is given: p(animal) by the lane's own marginals, or by its samples, which scatter."],
  ["held out", "Scenes that no lane learns from: p(animal) by the messages of TRBP, the same for every lane."],
];

class SceneLane extends Lane {
  constructor(index, scenes) {
    super(index);
    this.scenes = scenes;
    this.box.append(rowNames());
  }

  // What the colour of a pixel says; between scenes there is none.
  tells(site, at) {
    const { values, name } = this.layerAt(at) || {};
    const { drawn } = this.scenes() || {};
    if (!values || !drawn || drawn[site] === BETWEEN) return [];
    return [`${name} ${number(values[site])}, drawn as ${drawn[site] ? "animal" : "ground"}`];
  }

  resize(width, height) {
    super.resize(width - NAMES * enlarged(), height);
  }
}

class Segmentation extends Player {
  constructor(parent) {
    super(parent);
    this.root.classList.add("sg-root");
    this.renewed = RENEWED;
    this.given = make("div", "sg-given");
    this.given.hidden = true; // No empty frames stand there.
    this.pictures = ["What is seen", "By colour alone", "The answer"].map((title) => this.picture(title));
    this.stage.before(this.given);
  }

  picture(title) {
    const figure = make("figure", "sg-scenes");
    const canvas = make("canvas", "sg-picture");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${title}, of all scenes: training scenes above, below those held out`);
    const box = make("div", "pv-box");
    box.append(canvas, rowNames());
    figure.append(make("figcaption", "sg-title", title), box);
    this.given.append(figure);
    return canvas;
  }

  newLane(index) {
    const lane = new SceneLane(index, () => this.scenes);
    this.pointer.attach(lane);
    return lane;
  }

  receive(bytes) {
    const update = this.read(bytes, opening);
    if (!update || !this.isNew(update)) return;
    if (update.scenes) this.scenes = update.scenes;
    this.given.hidden = !this.scenes;
    this.draw();
    this.verdictLetters = ANSWER;
    this.adopt(update);
    // In one turn: words, weights, pictures, slider and curves are seen to change together.
    this.frame(performance.now());
  }

  // A picture is its layer, which is of the newest frame: none waits, so that name, curve and words are of it too.
  advance(passed) {
    if (this.held !== "paused") this.skip();
    return super.advance(passed);
  }

  themed() {
    super.themed();
    this.draw();
  }

  // A pixel of a scene is one of its canvas, which the page enlarges.
  draw() {
    if (!this.scenes) return;
    const { rows, cols, seen, alone, drawn } = this.scenes;
    const { ground, ink, paper } = this.theme;
    const called = (states) => (p) => (states[p] ? ink : paper);
    const inks = [(p) => [...seen.subarray(3 * p, 3 * p + 3)], called(alone), called(drawn)];
    this.pictures.forEach((canvas, k) => {
      const image = new ImageData(cols, rows);
      for (let p = 0; p < rows * cols; p++) image.data.set([...(drawn[p] === BETWEEN ? ground : inks[k](p)), 255], 4 * p);
      Object.assign(canvas, { width: cols, height: rows });
      canvas.getContext("2d").putImageData(image, 0, 0);
    });
  }

  layout() {
    if (this.scenes && this.root.clientWidth) this.fitGiven();
    super.layout();
  }

  fitGiven() {
    const { rows, cols } = this.scenes;
    const across = this.pictures.length;
    // Before a class the rows have no names here, and what is read from afar need not be of whole pixels.
    const names = this.large ? 0 : NAMES;
    const wide = (this.main.clientWidth - GAP * enlarged() * (across - 1)) / across - names;
    const most = Math.min(wide / cols, ((this.large ? LARGE_SHARE : SHARE) * window.innerHeight) / rows);
    const scale = this.large || most < COARSE ? most : Math.floor(most);
    for (const { style } of this.pictures) {
      style.width = `${Math.floor(scale * cols)}px`;
      style.height = `${Math.floor(scale * rows)}px`;
    }
  }
}

// Beside a picture of two rows of scenes, what each row is.
function rowNames() {
  const names = make("div", "sg-names");
  for (const [name, help] of ROWS) {
    const row = make("span", "", name);
    row.title = help;
    names.append(row);
  }
  return names;
}

// An update with the scenes' pictures read, where it brings them.
function opening(bytes) {
  const update = decode(bytes);
  const { some } = opened(bytes);
  if (update.scenes) {
    for (const name of ["seen", "alone", "drawn"]) update.scenes[name] = some(update.scenes[name], Uint8Array);
  }
  return update;
}

export default mounted(Segmentation);
