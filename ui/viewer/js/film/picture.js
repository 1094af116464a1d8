/** Draws a film on the processor: the visible part, at screen size and with a window. */

/** @import { Rect, Window, ZoomPan } from "../page/types.js" */

/** @typedef {{width: number, height: number}} Size */
/** @typedef {{x: number, y: number}} Point */

/** The size of a film after quarter turns to the right. @param {Size} film @param {number} turns @returns {Size} */
export const turnedSize = ({ width, height }, turns) => (turns % 2 ? { width: height, height: width } : { width, height });

/**
 * The position of a film point after quarter turns to the right.
 * @param {Point} point @param {number} turns 0 to 3 @param {Size} film before the turns; of size 0 for a direction
 * @returns {Point}
 */
export function turnedPoint({ x, y }, turns, { width, height }) {
  if (turns === 1) return { x: height - y, y: x };
  if (turns === 2) return { x: width - x, y: height - y };
  return turns === 3 ? { x: y, y: width - x } : { x, y };
}

/** The inverse. @param {Point} point @param {number} turns @param {Size} film before the turns @returns {Point} */
export const turnedBack = (point, turns, film) => turnedPoint(point, (4 - turns) % 4, turnedSize(film, turns));

/**
 * The film coordinates of the pane's top left corner. At 1:1 they are integers, so that every film pixel is exactly
 * one screen pixel.
 * @param {ZoomPan} zoomPan @param {Size} pane
 */
export function origin(zoomPan, pane) {
  const x = zoomPan.x - pane.width / 2 / zoomPan.scale;
  const y = zoomPan.y - pane.height / 2 / zoomPan.scale;
  return zoomPan.scale === 1 ? { x: Math.round(x), y: Math.round(y) } : { x, y };
}

/**
 * The part of a pane that the film covers, in whole pixels from the pane's top left corner.
 * @param {ZoomPan} zoomPan @param {Size} pane @param {Size} film @returns {Rect}
 */
export function covered(zoomPan, pane, film) {
  const corner = origin(zoomPan, pane);
  // A screen pixel belongs to the film if its centre does.
  const edge = (at, length) => Math.min(length, Math.max(0, Math.ceil(at * zoomPan.scale - 0.5)));
  const x = edge(-corner.x, pane.width);
  const y = edge(-corner.y, pane.height);
  const width = edge(film.width - corner.x, pane.width) - x;
  const height = edge(film.height - corner.y, pane.height) - y;
  return { x, y, width: Math.max(1, width), height: Math.max(1, height) };
}

/** The left edge of the covered part within the pane, flipped or not.
 *  @param {Rect} part @param {Size} pane @param {boolean} flipped */
export function mirrored(part, pane, flipped) {
  return flipped ? pane.width - part.x - part.width : part.x;
}

/**
 * For each screen pixel of an axis: the first contributing film pixel, and the weights.
 * @param {number} from film coordinate of the first screen pixel's near edge
 * @param {number} step film pixels per screen pixel
 * @param {number} count screen pixels @param {number} size film pixels
 * @returns {{first: number, shares: number[]}[]} outside the film: its edge
 */
export function taps(from, step, count, size) {
  return Array.from({ length: count }, (_, i) => {
    const centre = Math.min(size, Math.max(0, from + (i + 0.5) * step));
    return step >= 1 ? area(centre, step, size) : linear(centre, size);
  });
}

/**
 * @param {{samples: Uint8Array|Uint16Array, width: number, height: number}} film
 * @param {Point} origin coordinates of the top left corner on the turned film
 * @param {number} step film pixels per screen pixel @param {Size} pane
 * @param {number} unit units per grey value in the result @param {number} turns quarter turns of the film to the right
 * @returns {Uint16Array} grey values times unit
 */
export function resampleTurned(film, origin, step, pane, unit, turns) {
  const far = { x: origin.x + pane.width * step, y: origin.y + pane.height * step };
  const [a, b] = [origin, far].map((corner) => turnedBack(corner, turns, film));
  const lying = turnedSize(pane, turns);
  const part = resample(film, { x: Math.min(a.x, b.x), y: Math.min(a.y, b.y) }, step, lying, unit);
  if (!turns) return part;
  const { width, height } = lying;
  const [start, right, down] = [
    [0, 1, width], [(height - 1) * width, -width, 1], [width * height - 1, -1, -width], [width - 1, width, -1],
  ][turns];
  const result = new Uint16Array(part.length);
  for (let y = 0, i = 0; y < pane.height; y += 1) {
    for (let x = 0; x < pane.width; x += 1, i += 1) result[i] = part[start + x * right + y * down];
  }
  return result;
}

/**
 * The same for a film that is not turned.
 * @param {{samples: Uint8Array|Uint16Array, width: number, height: number}} film
 * @param {Point} origin film coordinates of the top left corner
 * @param {number} step film pixels per screen pixel @param {Size} pane
 * @param {number} unit units per grey value in the result
 * @returns {Uint16Array} grey values times unit
 */
export function resample(film, origin, step, pane, unit) {
  const columns = taps(origin.x, step, pane.width, film.width);
  const rows = taps(origin.y, step, pane.height, film.height);
  const result = new Uint16Array(pane.width * pane.height);
  const narrowed = narrower(film, columns);
  const sum = new Float32Array(pane.width);
  rows.forEach((row, y) => {
    sum.fill(0);
    row.shares.forEach((share, k) => {
      const line = narrowed(row.first + k);
      for (let x = 0; x < sum.length; x += 1) sum[x] += share * line[x];
    });
    const start = y * pane.width;
    for (let x = 0; x < sum.length; x += 1) {
      result[start + x] = Math.floor(sum[x] * unit + 0.5);
    }
  });
  return result;
}

/** Film rows reduced to the screen's width, each computed once while it is needed. */
function narrower({ samples, width }, columns) {
  const first = Int32Array.from(columns, (tap) => tap.first);
  const ends = new Int32Array(columns.length);
  const shares = [];
  columns.forEach((tap, x) => {
    shares.push(...tap.shares);
    ends[x] = shares.length;
  });
  const flat = Float32Array.from(shares);
  const near = new Map();
  return (row) => {
    let line = near.get(row);
    if (line) return line;
    if (near.size > 64) near.delete(near.keys().next().value);
    line = new Float32Array(columns.length);
    for (let x = 0, k = 0; x < line.length; x += 1) {
      let sum = 0;
      for (let i = row * width + first[x]; k < ends[x]; k += 1, i += 1) sum += flat[k] * samples[i];
      line[x] = sum;
    }
    near.set(row, line);
    return line;
  };
}

function area(centre, step, size) {
  const near = Math.max(0, centre - step / 2);
  const far = Math.min(size, centre + step / 2);
  const first = Math.floor(near);
  const shares = [];
  for (let i = first; i < far; i += 1) shares.push((Math.min(far, i + 1) - Math.max(near, i)) / (far - near));
  return { first, shares };
}

function linear(centre, size) {
  const at = Math.min(size - 1, Math.max(0, centre - 0.5));
  const first = Math.min(Math.floor(at), Math.max(0, size - 2));
  const share = at - first;
  return share === 0 ? { first, shares: [1] } : { first, shares: [1 - share, share] };
}

export const PRESETS = ["full", "auto", "soft", "hard", "lungs", "bones"];

/**
 * The formula of every renderer: low is black, high is white, linear in between.
 * @param {number} grey @param {Window} window @param {boolean} inverted @returns {number} 0 to 255
 */
export function shade(grey, { low, high }, inverted) {
  const share = Math.min(1, Math.max(0, (grey - low) / (high - low)));
  return Math.floor((inverted ? 1 - share : share) * 255 + 0.5);
}

/**
 * @param {number} size number of entries @param {number} step entries per grey value
 * @param {Window} window @param {boolean} inverted @returns {Uint8Array} the formula as a table
 */
export function shadeTable(size, step, window, inverted) {
  const table = new Uint8Array(size);
  for (let i = 0; i < size; i += 1) table[i] = shade(i / step, window, inverted);
  return table;
}

/** The initial window: the full range for 8 bits, otherwise the 1st to the 99th percentile.
 *  @param {number} bits @returns {number} the preset's place */
export const openingPreset = (bits) => PRESETS.indexOf(bits > 8 ? "auto" : "full");

/**
 * @param {string} name @param {Window} full @param {Window} auto the 1st to the 99th percentile @returns {Window}
 */
export function preset(name, full, auto) {
  if (name === "auto") return auto;
  if (name === "soft") return scaled(auto, 1.5);
  if (name === "hard") return scaled(auto, 0.6);
  // Air is dark and bone is light: each uses a part of the film's range.
  if (name === "lungs") return part(auto, 0, 0.65);
  if (name === "bones") return part(auto, 0.35, 1);
  return full;
}

/**
 * Dragging sideways changes the width, upwards the brightness, in proportion to the width at every bit depth.
 * @param {Window} window @param {number} right @param {number} down in CSS pixels @param {Window} full
 * @returns {Window}
 */
export function dragged(window, right, down, full) {
  const width = window.high - window.low;
  const newWidth = width * Math.exp(right * 0.004);
  const centre = (window.low + window.high) / 2 + down * 0.0025 * width;
  return held(centre, newWidth, full);
}

/** The nearest window that shows something of the film. @param {number} centre @param {number} width
 *  @param {Window} full @returns {Window} */
export function held(centre, width, full) {
  const range = Math.max(1, full.high - full.low);
  const least = Math.min(range, Math.max(1, range / 256));
  return around(clamp(centre, full.low - range / 2, full.high + range / 2), clamp(width, least, range * 4));
}

const scaled = ({ low, high }, factor) => around((low + high) / 2, (high - low) * factor);
export const part = ({ low, high }, from, to) => ({ low: low + from * (high - low), high: low + to * (high - low) });
const around = (centre, width) => ({ low: centre - width / 2, high: centre + width / 2 });
const clamp = (value, least, most) => Math.min(most, Math.max(least, value));
