// Numbers of messages as words.

import { superscript } from "../pmpviz.player/theme.js";

const ROUNDING = 1e-9;

export function signed(value) {
  const words = plain(value);
  return value > 0 && words !== "0" ? `+${words}` : words;
}

// Two decimals, or so many at least, which do not jump; more where the number is small.
export function plain(value, least = 2) {
  if (Number.isNaN(value)) return "n/a";
  if (!Number.isFinite(value) || Math.abs(value) > 1e6) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size < ROUNDING) return "0";
  if (size < 5e-4) return (value < 0 ? "−" : "") + tenfold(size, 0);
  return value.toFixed(size < 0.1 ? 3 : least).replace("-", "−");
}

// With so many decimals before a power of ten.
export function tenfold(value, decimals) {
  const [mantissa, power] = value.toExponential(decimals).split("e");
  return `${mantissa}·10${superscript(Number(power))}`;
}
