/** Where films lie: panes side by side on the light box, and how a pane's part of its film changes. */

import { origin } from "../film/gaze.js";

/** @typedef {import("../page/types.js").Rect} Rect */
/** @typedef {import("../page/types.js").Gaze} Gaze */
/** @typedef {{width: number, height: number}} Size */
/** @typedef {{hung: {view: Size}, rect: Rect, gaze: Gaze, flipped: boolean}} Pane  flipped: left is right */

const LARGEST_SCALE = 16;
const NEARLY = 1.02;

/**
 * Share an area between films, in a row, a column or several rows or columns, whichever shows them largest.
 * @param {Size} area in device pixels @param {Size[]} films @param {number} gap @returns {Rect[]}
 */
export function arrange(area, films, gap) {
  if (!films.length) return [];
  const ways = [];
  // A single row first, then rows in the order of reading: of near equals the first is taken.
  for (let n = films.length; n >= 1; n -= 1) ways.push(inRows(area, films, gap, n));
  for (let n = films.length; n >= 1; n -= 1) {
    ways.push(inRows(turned(area), films.map(turned), gap, n).map(turnedRect));
  }
  return ways.reduce((best, way) => (shown(way, films) > NEARLY * shown(best, films) ? way : best));
}

/** @param {Size} pane @param {Size} film @returns {Gaze} the whole film, in the middle */
export function fitted(pane, film) {
  const scale = Math.min(pane.width / film.width, pane.height / film.height);
  return { scale, x: film.width / 2, y: film.height / 2, fit: true };
}

/**
 * Zoom so that the film point under the pointer stays under it.
 * @param {Gaze} gaze @param {number} factor @param {{x: number, y: number}} from the pane's middle, in device pixels
 * @param {Size} pane @param {Size} film @returns {Gaze}
 */
export function zoomed(gaze, factor, from, pane, film) {
  const least = Math.min(1, fitted(pane, film).scale);
  const scale = Math.min(LARGEST_SCALE, Math.max(least, gaze.scale * factor));
  const x = gaze.x + from.x / gaze.scale - from.x / scale;
  const y = gaze.y + from.y / gaze.scale - from.y / scale;
  return bounded({ scale, x, y, fit: false }, pane, film);
}

/** @param {Gaze} gaze @param {number} right @param {number} down in device pixels
 *  @param {Size} pane @param {Size} film @returns {Gaze} */
export function panned(gaze, right, down, pane, film) {
  const { scale } = gaze;
  return bounded({ scale, x: gaze.x - right / scale, y: gaze.y - down / scale, fit: false }, pane, film);
}

/**
 * How a linked view goes along: the same zoom, and the same way over the film in proportion to its size.
 * @param {Pane} pane the view that follows @param {Pane} lead the one that moved @param {Gaze} before how it was
 * @returns {Gaze}
 */
export function followed(pane, lead, before) {
  const [film, leading] = [pane.hung.view, lead.hung.view];
  const side = pane.flipped === lead.flipped ? 1 : -1;
  const x = pane.gaze.x + (side * (lead.gaze.x - before.x) * film.width) / leading.width;
  const y = pane.gaze.y + ((lead.gaze.y - before.y) * film.height) / leading.height;
  const gaze = zoomed(pane.gaze, lead.gaze.scale / before.scale, { x: 0, y: 0 }, pane.rect, film);
  return bounded({ ...gaze, x, y }, pane.rect, film);
}

/** @param {{x: number, y: number}} at from the pane's top left corner, in device pixels @param {Pane} pane
 *  @returns {{x: number, y: number}} in film pixels */
export function onFilm(at, { gaze, rect, flipped }) {
  const corner = origin(gaze, rect);
  const across = flipped ? rect.width - at.x : at.x;
  return { x: corner.x + across / gaze.scale, y: corner.y + at.y / gaze.scale };
}

/** The other way round. @param {{x: number, y: number}} point in film pixels @param {Pane} pane */
export function onPane(point, { gaze, rect, flipped }) {
  const corner = origin(gaze, rect);
  const across = (point.x - corner.x) * gaze.scale;
  return { x: flipped ? rect.width - across : across, y: (point.y - corner.y) * gaze.scale };
}

/** Keep the film in the pane: never an edge inside it while the film is larger, centred while it is smaller. */
function bounded(gaze, pane, film) {
  const within = (centre, paneLength, filmLength) => {
    const half = paneLength / 2 / gaze.scale;
    return half * 2 >= filmLength ? filmLength / 2 : Math.min(filmLength - half, Math.max(half, centre));
  };
  return {
    ...gaze,
    x: within(gaze.x, pane.width, film.width),
    y: within(gaze.y, pane.height, film.height),
  };
}

/** Rows of so many films each, the last with what is left, all equally high so that films can be compared. */
function inRows(area, films, gap, perRow) {
  const rows = Math.ceil(films.length / perRow);
  const height = Math.max(1, Math.floor((area.height - gap * (rows - 1)) / rows));
  return Array.from({ length: rows }, (_, i) => {
    const y = i * (height + gap);
    const some = films.slice(i * perRow, (i + 1) * perRow);
    return inRow({ width: area.width, height }, some, gap).map((rect) => ({ ...rect, y }));
  }).flat();
}

/** Widths in proportion to the films' own shapes, so that films of one height look equally high. */
function inRow(area, films, gap) {
  const room = area.width - gap * (films.length - 1);
  const shapes = films.map((film) => film.width / film.height);
  const total = shapes.reduce((sum, shape) => sum + shape, 0);
  let x = 0;
  return shapes.map((shape) => {
    const width = Math.max(1, Math.floor((room * shape) / total));
    const rect = { x, y: 0, width, height: area.height };
    x += width + gap;
    return rect;
  });
}

const turned = ({ width, height }) => ({ width: height, height: width });
const turnedRect = ({ x, y, width, height }) => ({ x: y, y: x, width: height, height: width });

function shown(rects, films) {
  return rects.reduce((sum, rect, i) => {
    const { scale } = fitted(rect, films[i]);
    return sum + scale * scale * films[i].width * films[i].height;
  }, 0);
}
