/** Films as numbers: undoing the transport encoding, and reading an automatic window off the histogram. */

/**
 * Undo the packing of 16-bit samples: the plane of high bytes, then the plane of low bytes, of the difference
 * to the left neighbour (in the first column, to the sample above), modulo 65536.
 * @param {Uint8Array} bytes @param {number} width @param {number} height @returns {Uint16Array}
 */
export function unpackSamples(bytes, width, height) {
  const count = width * height;
  if (bytes.length !== 2 * count) {
    throw new Error(`a film of ${width} x ${height} needs ${2 * count} bytes, not ${bytes.length}`);
  }
  const samples = new Uint16Array(count);
  let above = 0;
  for (let start = 0; start < count; start += width) {
    let value = above;
    for (let i = start; i < start + width; i += 1) {
      value = (value + (bytes[i] << 8) + bytes[count + i]) & 0xffff;
      samples[i] = value;
    }
    above = samples[start];
  }
  return samples;
}

/**
 * The red channel of an RGBA picture; in a grey picture it is the grey value.
 * @param {Uint8ClampedArray} rgba @returns {Uint8Array}
 */
export function greyOf(rgba) {
  const grey = new Uint8Array(rgba.length >> 2);
  for (let i = 0, j = 0; i < grey.length; i += 1, j += 4) grey[i] = rgba[j];
  return grey;
}

/**
 * The window between two quantiles of the film's own samples.
 * @param {Uint8Array|Uint16Array} samples @param {number} lower @param {number} upper in 0 to 1
 * @returns {import("./types.js").Window}
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
