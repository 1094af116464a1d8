/** Decodes films to samples, and derives an automatic window from the histogram. */

/** @import { Window } from "../page/types.js" */

const ESCAPE = 255;
const STEEPEST = 3 * 65535;

/**
 * @typedef {{width: number, height: number, bits: number, split: number, escapes: number, top: number,
 *   steps: number[], weights: number[][], fraction_bits: number, levels: number[],
 *   window?: [number, number]}} Header
 */

/**
 * Undo the packing of a film; the format is described at `packed` in study/films/packing.py.
 * @param {Uint8Array} bytes after the transport's own compression
 * @returns {{samples: Uint8Array|Uint16Array, width: number, height: number,
 *   window: Window|null}} the window is that of the file
 */
export function unpackSamples(bytes) {
  const { header, planes } = opened(bytes);
  const { width, height, bits, levels } = header;
  const samples = bits === 8 ? new Uint8Array(width * height) : new Uint16Array(width * height);
  unpredict(zigzags(planes, header), header, samples);
  if (levels.length) place(samples, levels);
  const window = header.window ? { low: header.window[0], high: header.window[1] } : null;
  return { samples, width, height, window };
}

/** @param {Uint8Array} bytes @returns {{header: Header, planes: Uint8Array}} */
function opened(bytes) {
  if (bytes.length < 4) throw new Error("a film cut short");
  const start = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, start)));
  const { width, height, split, escapes } = header;
  const count = width * height;
  const needed = start + count + Math.ceil((count * split) / 8) + 2 * escapes;
  if (bytes.length !== needed) {
    throw new Error(`a film of ${width} x ${height} needs ${needed} bytes, not ${bytes.length}`);
  }
  return { header, planes: bytes.subarray(start) };
}

/** The prediction errors, zigzag encoded. @param {Uint8Array} planes @param {Header} header */
function zigzags(planes, { width, height, split, escapes }) {
  const count = width * height;
  const found = new Uint16Array(planes.subarray(0, count));
  if (split) addLowBits(found, planes.subarray(count), split);
  let at = planes.length - 2 * escapes;
  for (let i = 0; at < planes.length; i += 1) {
    if (planes[i] !== ESCAPE) continue;
    found[i] = planes[at] | (planes[at + 1] << 8);
    at += 2;
  }
  return found;
}

/** @param {Uint16Array} found @param {Uint8Array} low @param {number} split divides 8 */
function addLowBits(found, low, split) {
  const each = 8 / split;
  const mask = (1 << split) - 1;
  for (let i = 0, byte = 0; i < found.length; byte += 1) {
    const end = Math.min(found.length, i + each);
    for (let shift = 8 - split; i < end; i += 1, shift -= split) {
      found[i] = (found[i] << split) | ((low[byte] >> shift) & mask);
    }
  }
}

/**
 * Predict each sample from its neighbours and add the error. Rows have two extra samples on the left and one on the
 * right, so that the film's edge needs no special rule.
 * @param {Uint16Array} errors @param {Header} header @param {Uint8Array|Uint16Array} samples
 */
function unpredict(errors, { width, height, top, steps, weights, fraction_bits: bits }, samples) {
  const table = Int32Array.from(weights.flat());
  const half = 1 << (bits - 1);
  const places = placesOfWeights(steps);
  let [far, above, here] = [0, 1, 2].map(() => new Int32Array(width + 3));
  for (let y = 0, i = 0; y < height; y += 1) {
    let w = above[2];
    let ww = w;
    let nw = above[1];
    let n = above[2];
    here[0] = w;
    here[1] = w;
    for (let x = 2; x < width + 2; x += 1, i += 1) {
      const ne = above[x + 1];
      const k = places[Math.abs(ww - nw) + Math.abs(n - nw) + Math.abs(n - ne)];
      // Terms that do not depend on the previous sample come first.
      const known = (half + Math.imul(table[k + 1], n) + Math.imul(table[k + 2], nw) + Math.imul(table[k + 3], ne)
        + Math.imul(table[k + 4], ww) + Math.imul(table[k + 5], far[x])) | 0;
      let guess = (known + Math.imul(table[k], w)) >> bits;
      if (guess < 0) guess = 0;
      else if (guess > top) guess = top;
      const z = errors[i];
      ww = w;
      w = (guess + ((z >>> 1) ^ -(z & 1))) & 0xffff;
      here[x] = w;
      samples[i] = w;
      nw = n;
      n = ne;
    }
    here[width + 2] = w;
    [far, above, here] = [above, here, far];
  }
}

/** The index of the weights for each gradient: a table, because branches would take longer than the prediction. */
function placesOfWeights(steps) {
  const places = new Uint8Array(STEEPEST + 1);
  for (const step of steps) {
    for (let steepness = step + 1; steepness <= STEEPEST; steepness += 1) places[steepness] += 6;
  }
  return places;
}

/** Replace indices in the list of levels by the levels. @param {Uint8Array|Uint16Array} samples @param {number[]}
 * gaps */
function place(samples, gaps) {
  let level = 0;
  const levels = Uint16Array.from(gaps, (gap) => (level += gap));
  for (let i = 0; i < samples.length; i += 1) samples[i] = levels[samples[i]];
}

/**
 * The window between two quantiles of the film's samples.
 * @param {Uint8Array|Uint16Array} samples @param {number} lower @param {number} upper in 0 to 1
 * @returns {Window}
 */
export function quantileWindow(samples, lower, upper) {
  const counts = new Uint32Array(samples instanceof Uint8Array ? 256 : 65536);
  for (let i = 0; i < samples.length; i += 1) counts[samples[i]] += 1;
  const at = (share) => {
    let left = Math.max(1, Math.ceil(share * samples.length));
    for (let grey = 0; grey < counts.length; grey += 1) {
      left -= counts[grey];
      if (left <= 0) return grey;
    }
    return counts.length - 1;
  };
  const low = at(lower);
  return { low, high: Math.max(low + 1, at(upper)) };
}
