/** Part of a film at screen size, on the processor: area averages when smaller, linear between pixels when larger. */

/**
 * For each screen pixel of one axis: the first film pixel it takes from, and the share of each.
 * @param {number} from film coordinate of the first screen pixel's near edge
 * @param {number} step film pixels per screen pixel
 * @param {number} count screen pixels @param {number} size film pixels
 * @returns {{first: number, shares: number[]}[]} beside the film: its edge
 */
export function taps(from, step, count, size) {
  return Array.from({ length: count }, (_, i) => {
    const centre = Math.min(size, Math.max(0, from + (i + 0.5) * step));
    return step >= 1 ? area(centre, step, size) : linear(centre, size);
  });
}

/**
 * @param {{samples: Uint8Array|Uint16Array, width: number, height: number}} film
 * @param {{x: number, y: number}} origin film coordinates of the top left corner
 * @param {number} step film pixels per screen pixel @param {{width: number, height: number}} pane
 * @param {number} unit what one grey value counts in the result
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

/** Film rows shrunk to the screen's width, each one computed once while it is near. */
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
