/** Window and level: from grey values to the 256 steps of a screen, and the presets a reader can walk through. */

/** @import { Window } from "../page/types.js" */

export const PRESETS = ["full", "auto", "soft", "hard", "lungs", "bones"];

/**
 * The formula that every renderer follows: low is black, high is white, linear between.
 * @param {number} grey @param {Window} window @param {boolean} inverted @returns {number} 0 to 255
 */
export function shade(grey, { low, high }, inverted) {
  const share = Math.min(1, Math.max(0, (grey - low) / (high - low)));
  return Math.floor((inverted ? 1 - share : share) * 255 + 0.5);
}

/**
 * @param {number} size number of entries @param {number} step how many entries make one grey value
 * @param {Window} window @param {boolean} inverted @returns {Uint8Array} the formula as a table
 */
export function shadeTable(size, step, window, inverted) {
  const table = new Uint8Array(size);
  for (let i = 0; i < size; i += 1) table[i] = shade(i / step, window, inverted);
  return table;
}

/** How a film opens: 8 bits at all their levels, more bits at all but the outermost hundredths.
 *  @param {number} bits @returns {number} the preset's place */
export const openingPreset = (bits) => PRESETS.indexOf(bits > 8 ? "auto" : "full");

/**
 * @param {string} name @param {Window} full @param {Window} auto the 1st to the 99th percentile @returns {Window}
 */
export function preset(name, full, auto) {
  if (name === "auto") return auto;
  if (name === "soft") return scaled(auto, 1.5);
  if (name === "hard") return scaled(auto, 0.6);
  // Air is dark and bone is light: each has its part of what the film holds.
  if (name === "lungs") return part(auto, 0, 0.65);
  if (name === "bones") return part(auto, 0.35, 1);
  return full;
}

/**
 * Drag sideways for width, up for brighter; in proportion to the width, so it feels alike at every bit depth.
 * @param {Window} window @param {number} right @param {number} down in CSS pixels @param {Window} full
 * @returns {Window}
 */
export function dragged(window, right, down, full) {
  const range = Math.max(1, full.high - full.low);
  const width = window.high - window.low;
  const newWidth = clamp(width * Math.exp(right * 0.004), Math.min(range, Math.max(1, range / 256)), range * 4);
  const centre = (window.low + window.high) / 2 + down * 0.0025 * width;
  return around(clamp(centre, full.low - range / 2, full.high + range / 2), newWidth);
}

const scaled = ({ low, high }, factor) => around((low + high) / 2, (high - low) * factor);
export const part = ({ low, high }, from, to) => ({ low: low + from * (high - low), high: low + to * (high - low) });
const around = (centre, width) => ({ low: centre - width / 2, high: centre + width / 2 });
const clamp = (value, least, most) => Math.min(most, Math.max(least, value));
