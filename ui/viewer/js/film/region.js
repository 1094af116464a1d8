/** The grey values of a film inside an ellipse. */

/** @import { Rect } from "../page/types.js" */

/** @typedef {{n: number, mean: number, sd: number, min: number, max: number}} GreyValues  n: number of pixels; sd: of
 *   these pixels as a population */

/**
 * Return the grey values of the pixels whose centre is inside the ellipse in a box.
 * @param {Rect} box in film pixels, at any fraction @param {{width: number, height: number}} film
 * @param {(part: Rect) => ArrayLike<number>} read the samples of a part of the film, row by row
 * @returns {GreyValues|null} null: no pixel is inside
 */
export function greyValues(box, film, read) {
  const part = wholePixels(box, film);
  if (part.width < 1 || part.height < 1) return null;
  const samples = read(part);
  const [across, down] = [box.width / 2, box.height / 2];
  let [n, sum, squares, min, max] = [0, 0, 0, Infinity, -Infinity];
  const first = samples[0]; // near the mean, so that the squares stay small
  for (let y = 0, i = 0; y < part.height; y += 1) {
    const dy = (part.y + y + 0.5 - box.y - down) / down;
    for (let x = 0; x < part.width; x += 1, i += 1) {
      const dx = (part.x + x + 0.5 - box.x - across) / across;
      if (dx * dx + dy * dy > 1) continue;
      const value = samples[i];
      n += 1;
      sum += value - first;
      squares += (value - first) ** 2;
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  if (!n) return null;
  const mean = sum / n;
  return { n, mean: first + mean, sd: Math.sqrt(Math.max(0, squares / n - mean * mean)), min, max };
}

/** The film's pixels whose centre is inside a box. @returns {Rect} */
function wholePixels({ x, y, width, height }, film) {
  const within = (at, length) => Math.min(length, Math.max(0, Math.ceil(at - 0.5)));
  const [left, top] = [within(x, film.width), within(y, film.height)];
  return { x: left, y: top, width: within(x + width, film.width) - left, height: within(y + height, film.height) - top };
}

/** The samples of a part of a film that is in memory. @param {import("../page/types.js").Pixels} film @param {Rect} part */
export function samplesOf({ samples, width }, part) {
  const rows = new Uint16Array(part.width * part.height);
  for (let y = 0; y < part.height; y += 1) {
    const start = (part.y + y) * width + part.x;
    rows.set(samples.subarray(start, start + part.width), y * part.width);
  }
  return rows;
}
