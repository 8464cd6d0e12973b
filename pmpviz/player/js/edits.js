// What a person does to the sites by hand: shown at once, on every lane, until the server's answer shows it.

import { bit } from "./decode.js";
import { rgb, stateColours, word } from "./theme.js";

const LOST_MS = 12000;
const FIELD = { up: "#D55E00", down: "#0072B2" };
const FLIPPED = "#7B4FB5"; // Over what will be flipped, until it is.
const SEEN = 0.62; // How much of a field covers the state beneath it.

export class Edits {
  constructor(mount) {
    this.mount = mount;
    this.strokes = [];
    this.field = new Int32Array(0);
    this.clamped = null;
    this.version = 0;
  }

  // The server's word: sites with a field, plus or minus (site + 1); one bit a clamped site; the last event answered.
  adopt({ field, clamped, answered, epoch }) {
    const [mount, number] = answered || ["", 0];
    const now = performance.now();
    const waiting = this.strokes.filter(
      (stroke) => !(stroke.number && (mount === this.mount && stroke.number <= number)) && !(now > stroke.until),
    );
    const same = `${field}` === `${this.field}` && `${clamped}` === `${this.clamped}`;
    if (same && waiting.length === this.strokes.length) return false;
    if (!same) this.since = epoch;
    Object.assign(this, { strokes: waiting, field: field || new Int32Array(0), clamped });
    this.version += 1;
    return true;
  }

  // A stroke begins, to which sites are added as long as it lasts.
  begin(tool) {
    const stroke = { tool, sites: new Set() };
    this.strokes.push(stroke);
    return stroke;
  }

  add(stroke, site) {
    if (site < 0 || stroke.sites.has(site)) return false;
    stroke.sites.add(site);
    this.version += 1;
    return true;
  }

  // It was sent as the event of this number, which the server may never hear of.
  sent(stroke, number) {
    Object.assign(stroke, { number, until: performance.now() + LOST_MS });
  }

  // Everything is taken away at once, until the server says so.
  wipe(number) {
    const sites = new Set([...this.field].map((mark) => Math.abs(mark) - 1));
    for (let site = 0; this.clamped && site < 8 * this.clamped.length; site++) if (bit(this.clamped, site)) sites.add(site);
    const stroke = { tool: "free", sites };
    this.strokes.push(stroke);
    this.version += 1;
    this.sent(stroke, number);
  }

  any() {
    return this.field.length > 0 || this.clamped !== null || this.strokes.length > 0;
  }

  // What of it lies over the frames of an epoch: of an earlier one only what the server does not know of yet.
  // {wash: colours over sites, as pixels; held: sites that are clamped}
  over(epoch, states, theme) {
    const key = [this.version, epoch >= this.since, theme.id, Boolean(states)].join();
    if (key !== this.key) Object.assign(this, { key, shown: this.gather(epoch >= this.since, states, theme) });
    return this.shown;
  }

  gather(known, states, theme) {
    const [wash, held] = [new Map(), new Set()];
    const colours = stateColours(states, theme);
    const tint = { "field+": faint(FIELD.up), "field-": faint(FIELD.down), flip: faint(FLIPPED) };
    if (known) for (const mark of this.field) wash.set(Math.abs(mark) - 1, tint[mark > 0 ? "field+" : "field-"]);
    for (let site = 0; known && this.clamped && site < 8 * this.clamped.length; site++) {
      if (bit(this.clamped, site)) held.add(site);
    }
    for (const { tool, sites } of this.strokes) {
      for (const site of sites) {
        if (tint[tool]) wash.set(site, tint[tool]);
        else if (tool === "free") held.delete(site);
        else held.add(site);
        if (tool === "free") wash.delete(site);
        else if (!tint[tool]) wash.set(site, word(colours[Number(tool.slice(5))] || theme.ink));
      }
    }
    return { wash, held };
  }
}

function faint(colour) {
  return ((word(rgb(colour)) & 0x00ffffff) | (Math.round(255 * SEEN) << 24)) >>> 0;
}
