// Which features explain which pixels: the stamps of a sample, and the colours of its features.

import { rgb } from "../pmpviz.player/theme.js";

// Told apart by the colour-blind too; yellow comes late, as it is faint on paper.
const COLOURS = ["#0072B2", "#E69F00", "#CC79A7", "#56B4E9", "#009E73", "#7A5195", "#D55E00", "#8A8A86", "#A0522D", "#F0E442", "#4E79A7", "#B07AA1"];
const INK = 128; // The grey level from which on a pixel of a feature is ink in the sample.

// Of the feature that stands at a place of its row: one glyph has one colour in all samples and lanes.
export function featureColour(place) {
  return rgb(COLOURS[place % COLOURS.length]);
}

// {list: [{image, place, row, column}], masks: the places, as bits, that explain each pixel of the shown images}.
export function stampsOf(frame, update, sample) {
  const { features, shown, height, width } = update.shape;
  const [down, across] = update.places;
  const masks = new Uint16Array(shown * height * width);
  const list = [];
  if (!frame) return { list, masks };
  const size = shown * features * down * across;
  const placeOf = new Map(frame.orders[sample].map((feature, place) => [feature, place]));
  for (const at of frame.places) {
    if (Math.floor(at / size) !== sample) continue;
    const image = Math.floor((at % size) / (features * down * across));
    const feature = Math.floor(at / (down * across)) % features;
    const stamp = { image, place: placeOf.get(feature), row: Math.floor(at / across) % down, column: at % across };
    list.push(stamp);
    press(masks, frame, update, sample, feature, stamp);
  }
  return { list, masks };
}

// The pixels of one stamp; channels stand one under the other.
function press(masks, frame, update, sample, feature, { image, place, row, column }) {
  const { features, rows, cols, height, width } = update.shape;
  const [tall, high] = [rows / update.channels, height / update.channels];
  const from = (sample * features + feature) * rows * cols;
  for (let i = 0; i < rows * cols; i++) {
    if (frame.belief[from + i] < INK) continue;
    const r = Math.floor(i / cols);
    const y = Math.floor(r / tall) * high + row + (r % tall);
    masks[(image * height + y) * width + column + (i % cols)] |= 1 << place;
  }
}

// Places in a mask.
export function placesIn(mask) {
  const found = [];
  for (let place = 0; mask >> place; place++) if ((mask >> place) & 1) found.push(place);
  return found;
}
