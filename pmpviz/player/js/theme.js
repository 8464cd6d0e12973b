// Colours, dashes and numbers, shared by the canvases and the charts.

const DASHES = { solid: [], dash: [7, 4], dot: [1.5, 3.5], dashdot: [8, 3, 1.5, 3], longdash: [12, 5] };
const LABELS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#8A8A86", "#7A5195", "#4E79A7"];
const CIVIDIS = ["#00224e", "#35456c", "#666970", "#948e77", "#c8b866", "#fee838"];

// Negative couplings, which are dashed as well; blue and orange are states, fields and messages.
export const OPPOSED = { light: [122, 81, 149], dark: [190, 152, 219] };
// Couplings that the states at their ends do not meet.
const UNMET = { light: [200, 16, 46], dark: [255, 107, 107] };

export function unmetColour(theme) {
  return theme.dark ? UNMET.dark : UNMET.light;
}

export const HANDLE = 8; // Half the width of a slider's handle, whose middle stands at a value.

export function dashOf(name) {
  return DASHES[name] || [];
}

export function rgb(colour) {
  const hex = /^#([0-9a-f]{6})/i.exec(colour);
  if (hex) return [0, 2, 4].map((i) => parseInt(hex[1].slice(i, i + 2), 16));
  const short = /^#([0-9a-f]{3})$/i.exec(colour);
  if (short) return [0, 1, 2].map((i) => parseInt(short[1][i] + short[1][i], 16));
  const parts = /rgba?\(([^)]+)\)/.exec(colour);
  return parts ? parts[1].split(/[ ,/]+/).slice(0, 3).map(Number) : [128, 128, 128];
}

export function mix(a, b, share) {
  return a.map((v, i) => Math.round(v + (b[i] - v) * share));
}

const LIGHT = [255, 255, 255];
const [FAINT, CLEAR, MOST] = [0.35, 0.75, 0.35]; // Of a colour's brightness from 0 to 1; the share of white it takes.

// A lane's colour on this ground: on a dark one the darker its shade, the more white it takes; light ones are clear.
export function lit(colour, theme) {
  if (!theme.dark) return colour;
  const own = rgb(colour);
  return css(mix(own, LIGHT, MOST * Math.min(1, Math.max(0, (CLEAR - brightness(own)) / (CLEAR - FAINT)))));
}

// From 0 to 1.
function brightness([red, green, blue]) {
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}

// How well two colours are told apart, from 1 to 21, as WCAG counts it.
export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour) {
  const [red, green, blue] = colour.map((part) => (part <= 10.3 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const HALVINGS = 8;

// The first colour on the way from one to another that has this contrast to the ground; the other where none has.
export function clearOf(ground, from, to, least) {
  if (contrast(from, ground) >= least) return from;
  let [low, high] = [0, 1];
  for (let k = 0; k < HALVINGS; k++) {
    const middle = (low + high) / 2;
    if (contrast(mix(from, to, middle), ground) < least) low = middle;
    else high = middle;
  }
  return mix(from, to, high);
}

// Of black and white the one that is read on this colour.
export function readableOn(colour) {
  return brightness(colour) < 0.5 ? LIGHT : [0, 0, 0];
}

// Marks of clamped sites: seen on ink and on paper.
export function heldColour(theme) {
  return mix(theme.ink, theme.paper, 0.5);
}

export function css(colour) {
  return `rgb(${colour[0]},${colour[1]},${colour[2]})`;
}

// One pixel of ImageData as a little-endian word.
export function word(colour) {
  return (0xff000000 | (colour[2] << 16) | (colour[1] << 8) | colour[0]) >>> 0;
}

export function readTheme(element) {
  const style = getComputedStyle(element);
  const get = (name, otherwise) => style.getPropertyValue(name).trim() || otherwise;
  const text = rgb(get("--st-text-color", "#1C1B19"));
  const ground = rgb(get("--st-background-color", "#FBFAF7"));
  const dark = ground[0] + ground[1] + ground[2] < 384;
  return {
    text,
    ground,
    dark,
    ink: dark ? [236, 234, 228] : [28, 27, 25],
    paper: dark ? [28, 27, 25] : [244, 242, 236],
    soft: mix(ground, text, 0.68),
    rule: mix(ground, text, 0.14),
    accent: rgb(get("--st-primary-color", "#C24E00")),
    font: get("--st-font", "sans-serif"),
    id: [text, ground, get("--st-primary-color", "")].join(),
  };
}

// The colour of each state of a lane: paper and ink of two, else those that the server names.
export function stateColours(states, theme) {
  return states ? states.colours.map(rgb) : [theme.paper, theme.ink];
}

export function scaleColour(layer, value, theme) {
  if (!Number.isFinite(value)) return theme.rule;
  if (layer.kind === "labels") return rgb(LABELS[((Math.round(value) % LABELS.length) + LABELS.length) % LABELS.length]);
  const width = layer.high - layer.low || 1;
  const share = Math.min(1, Math.max(0, (value - layer.low) / width));
  if (layer.kind === "ink") return mix(theme.paper, theme.ink, share);
  if (layer.kind === "sequential") {
    const at = share * (CIVIDIS.length - 1);
    const low = Math.min(CIVIDIS.length - 2, Math.floor(at));
    return mix(rgb(CIVIDIS[low]), rgb(CIVIDIS[low + 1]), at - low);
  }
  const middle = theme.dark ? [20, 20, 18] : [250, 249, 246];
  const end = share < 0.5 ? [0, 114, 178] : [213, 94, 0];
  return mix(middle, end, Math.abs(share - 0.5) * 2);
}

// Three significant digits, narrow spaces, at which no line breaks, between thousands.
export function number(value) {
  if (!Number.isFinite(value)) return "n/a";
  const size = Math.abs(value);
  if (size >= 1000) return thousands(Number(value.toPrecision(3)));
  if (size !== 0 && size < 1e-3) {
    const power = Math.floor(Math.log10(Number(size.toPrecision(3)))); // Of 9.9999·10⁻⁵ it is that of 10⁻⁴.
    return `${(value / 10 ** power).toPrecision(3).replace(/\.?0+$/, "").replace("-", "−")}·10${superscript(power)}`;
  }
  return String(Number(value.toPrecision(3))).replace("-", "−");
}

// A time in ms below a second, else in s.
export function seconds(value) {
  return value < 1 ? `${number(1000 * value)} ms` : `${number(value)} s`;
}

export function thousands(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u202f").replace("-", "−");
}

export function superscript(power) {
  return String(power).replace(/[-\d]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]));
}

const PLAIN = 16; // Pixels of a letter on a page that is not enlarged.

// How many times larger everything is than on a plain page: so it is before a class.
export function enlarged() {
  return Math.max(1, parseFloat(getComputedStyle(document.documentElement).fontSize) / PLAIN);
}

// A canvas of the given size in CSS pixels, sharp on this screen; returns its context in CSS pixels.
export function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.round(width * ratio);
  const h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// Words that no line strikes out: the ground shows around them.
export function haloed(context, theme, words, x, y, colour = theme.text) {
  context.lineWidth = 5;
  context.lineJoin = "round";
  context.strokeStyle = css(theme.ground);
  context.strokeText(words, x, y);
  context.lineWidth = 1;
  context.fillStyle = css(colour);
  context.fillText(words, x, y);
}

// Words in lines of this width.
export function wrapped(context, words, width) {
  return words.split(" ").reduce((lines, word) => {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    const fits = lines.length && context.measureText(longer).width <= width;
    return fits ? [...lines.slice(0, -1), longer] : [...lines, word];
  }, []);
}

// Where an element begins on its page, once that is scrolled to the top.
export function topOf(element) {
  const page = element.closest("[data-testid=stMain]");
  return element.getBoundingClientRect().top + (page ? page.scrollTop : window.scrollY);
}

export function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}
