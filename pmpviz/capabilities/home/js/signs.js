// Colours of log-odds and couplings, and the sites of a state.

import { mix } from "../pmpviz.player/theme.js";

export const SPINS = 5;
const UP = [213, 94, 0];
const DOWN = [0, 114, 178];

// Orange for up and blue for down, as everywhere; brighter on a dark ground.
export function signColour(value, theme) {
  const colour = value > 0 ? UP : DOWN;
  return theme.dark ? mix(colour, [255, 255, 255], 0.28) : colour;
}

export function isUp(state, spin) {
  return (state >> (SPINS - 1 - spin)) & 1;
}

export function bits(state) {
  return state.toString(2).padStart(SPINS, "0");
}

export function arrows(state) {
  return [...bits(state)].map((bit) => (bit === "1" ? "↑" : "↓")).join("");
}

export function signed(value, digits = 1) {
  const words = Math.abs(value).toFixed(digits);
  if (Number(words) === 0) return words;
  return (value > 0 ? "+" : "−") + words;
}
