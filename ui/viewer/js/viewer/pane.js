/** A film in its pane as plain data: layout of panes, visible part of a film, and changes from the initial state. */

import { openingPreset, origin, part, preset, PRESETS, turnedBack, turnedPoint, turnedSize } from "../film/picture.js";

/** @import { LoadedFilm } from "../film/film-cache.js" */
/** @import { PlacedFilm } from "../film/renderers.js" */
/** @import { AidBox, HeatMap, Rect, Window, ZoomPan } from "../page/types.js" */
/** @import { PaneLabels } from "./hanging.js" */

/** @typedef {{width: number, height: number}} Size */
/** @typedef {{film: {view: Size}, rect: Rect, zoomPan: ZoomPan, flipped: boolean, turns: number}} Hung
 *   turns: quarter turns to the right; flipped: mirrored after that. The zoomPan is that of the turned film */

const LARGEST_SCALE = 16;
const NEARLY = 1.02;
const FIRST_SHARE = 2 / 3; // of the width, for the large film
const CURRENT_SHARE = 3 / 5; // of the area, for the current films next to prior films
const MUCH = 1.5; // minimum gain in visible area for placing prior films below the current films

/**
 * Divide an area between films, in rows or columns, so that the films are shown as large as possible.
 * @param {Size} area in device pixels @param {Size[]} films @param {number} gap
 * @param {{leads?: boolean, settled?: Size}} [how] leads: the first of two films may be larger if both are then shown
 * larger; settled: the area for which the layout was chosen, if it differs @returns {Rect[]}
 */
export function arrange(area, films, gap, { leads = false, settled = area } = {}) {
  if (!films.length) return [];
  const areas = waysToShare(settled, films, gap, leads).map((layout) => shown(layout, films));
  const best = areas.reduce((first, each, i) => (each > NEARLY * areas[first] ? i : first), 0);
  return waysToShare(area, films, gap, leads)[best];
}

/** A single row first, then several rows: of nearly equal layouts the first is chosen. @returns {Rect[][]} */
function waysToShare(area, films, gap, leads) {
  const ways = [];
  for (let n = films.length; n >= 1; n -= 1) ways.push(inRows(area, films, gap, n));
  for (let n = films.length; n >= 1; n -= 1) {
    ways.push(inRows(turned(area), films.map(turned), gap, n).map(turnedRect));
  }
  if (leads && films.length === 2) {
    const width = Math.max(1, Math.floor((area.width - gap) * FIRST_SHARE));
    const remaining = Math.max(1, area.width - gap - width);
    ways.push([{ x: 0, y: 0, width, height: area.height }, { x: width + gap, y: 0, width: remaining, height: area.height }]);
  }
  return ways;
}

/**
 * Share an area between current and prior films: side by side, or one above the other if that shows much more;
 * current films come first and have a larger area.
 * @param {Size} area in device pixels @param {Size[]} current @param {Size[]} prior @param {number} gap
 * @param {{leads?: boolean, equal?: boolean, exchanged?: boolean, settled?: Size}} [how] leads, settled: see arrange;
 *   equal: the same area for both; exchanged: the prior films come first
 * @returns {{current: Rect[], prior: Rect[]}}
 */
export function arrangeBeside(area, current, prior, gap, how = {}) {
  const { leads = false, equal = false, exchanged = false, settled = area } = how;
  const share = equal ? 1 / 2 : CURRENT_SHARE;
  const beside = ({ width, height }, turn) => {
    const larger = Math.max(1, Math.floor((width - gap) * share));
    const smaller = Math.max(1, width - gap - larger);
    const part = (x, across) => turn({ x, y: 0, width: across, height });
    return { current: part(exchanged ? smaller + gap : 0, larger), prior: part(exchanged ? 0 : larger + gap, smaller) };
  };
  const parted = (within) => [beside(within, (rect) => rect), beside(turned(within), turnedRect)];
  const decided = parted(settled);
  const ways = (within) => parted(within).map((parts, i) => ({
    current: moved(parts.current, arrange(parts.current, current, gap, { leads, settled: decided[i].current })),
    prior: moved(parts.prior, arrange(parts.prior, prior, gap, { settled: decided[i].prior })),
  }));
  const [side, above] = ways(settled).map((way) => shown(way.current, current) + shown(way.prior, prior));
  return ways(area)[above > MUCH * side ? 1 : 0];
}

/** @param {Rect} part @param {Rect[]} rects in it */
function moved(part, rects) {
  return rects.map((rect) => ({ ...rect, x: rect.x + part.x, y: rect.y + part.y }));
}

/** @param {Size} pane @param {Size} film @returns {ZoomPan} the complete film, centred */
export function fitted(pane, film) {
  const scale = Math.min(pane.width / film.width, pane.height / film.height);
  return { scale, x: film.width / 2, y: film.height / 2, fit: true };
}

/**
 * Zoom so that the film point under the pointer stays under it.
 * @param {ZoomPan} zoomPan @param {number} factor @param {{x: number, y: number}} from the pane's middle, in device pixels
 * @param {Size} pane @param {Size} film @returns {ZoomPan}
 */
export function zoomed(zoomPan, factor, from, pane, film) {
  const least = Math.min(1, fitted(pane, film).scale);
  const scale = Math.min(LARGEST_SCALE, Math.max(least, zoomPan.scale * factor));
  const x = zoomPan.x + from.x / zoomPan.scale - from.x / scale;
  const y = zoomPan.y + from.y / zoomPan.scale - from.y / scale;
  return bounded({ scale, x, y, fit: false }, pane, film);
}

/** @param {ZoomPan} zoomPan @param {number} right @param {number} down in device pixels
 *  @param {Size} pane @param {Size} film @returns {ZoomPan} */
export function panned(zoomPan, right, down, pane, film) {
  const { scale } = zoomPan;
  return bounded({ scale, x: zoomPan.x - right / scale, y: zoomPan.y - down / scale, fit: false }, pane, film);
}

/**
 * How a linked view follows: the same zoom, and the same movement in proportion to its size.
 * @param {Hung} pane the view that follows @param {Hung} lead the one that moved @param {ZoomPan} before its earlier
 * state
 * @returns {ZoomPan}
 */
export function followed(pane, lead, before) {
  const [film, leading] = [sizeOf(pane), sizeOf(lead)];
  const side = pane.flipped === lead.flipped ? 1 : -1;
  const x = pane.zoomPan.x + (side * (lead.zoomPan.x - before.x) * film.width) / leading.width;
  const y = pane.zoomPan.y + ((lead.zoomPan.y - before.y) * film.height) / leading.height;
  const zoomPan = zoomed(pane.zoomPan, lead.zoomPan.scale / before.scale, { x: 0, y: 0 }, pane.rect, film);
  return bounded({ ...zoomPan, x, y }, pane.rect, film);
}

/** The size of the film as it hangs. @param {Pick<Hung, "film"|"turns">} pane */
export const sizeOf = ({ film, turns }) => turnedSize(film.view, turns);

/** Turn a film by a quarter to the right on the screen, about the middle of its pane. @param {Hung} pane
 *  @returns {{turns: number, zoomPan: ZoomPan}} */
export function rotated(pane) {
  const { film, rect, zoomPan } = pane;
  const quarter = pane.flipped ? 3 : 1; // a mirrored film turns in the other direction
  const turns = (pane.turns + quarter) % 4;
  const size = turnedSize(film.view, turns);
  if (zoomPan.fit) return { turns, zoomPan: fitted(rect, size) };
  const middle = turnedPoint(zoomPan, quarter, sizeOf(pane));
  return { turns, zoomPan: zoomed({ ...zoomPan, ...middle }, 1, { x: 0, y: 0 }, rect, size) };
}

/** @param {{x: number, y: number}} at from the pane's top left corner, in device pixels @param {Hung} pane
 *  @returns {{x: number, y: number}} in film pixels */
export function onFilm(at, pane) {
  return turnedBack(onTurnedFilm(at, pane), pane.turns, pane.film.view);
}

/** @param {{x: number, y: number}} at from the pane's top left corner, in device pixels @param {Hung} pane
 *  @returns {{x: number, y: number}} in pixels of the film as it hangs */
export function onTurnedFilm(at, { zoomPan, rect, flipped }) {
  const corner = origin(zoomPan, rect);
  const across = flipped ? rect.width - at.x : at.x;
  return { x: corner.x + across / zoomPan.scale, y: corner.y + at.y / zoomPan.scale };
}

/** The inverse. @param {{x: number, y: number}} point in film pixels @param {Hung} pane */
export function onPane(point, { zoomPan, rect, flipped, turns, film }) {
  const corner = origin(zoomPan, rect);
  const { x, y } = turnedPoint(point, turns, film.view);
  const across = (x - corner.x) * zoomPan.scale;
  return { x: flipped ? rect.width - across : across, y: (y - corner.y) * zoomPan.scale };
}

/**
 * Return the position of a model's boxes on a pane.
 * @param {Hung & {index: number}} pane @param {AidBox[]} boxes in fractions of the film
 * @param {number} density device pixels per CSS pixel @returns {(Rect & {label: string})[]} in CSS pixels
 */
export function boxesOn(pane, boxes, density) {
  const { width, height } = pane.film.view;
  return boxes.filter(({ view }) => view === pane.index).map((box) => {
    const [a, b] = [[box.x, box.y], [box.x + box.width, box.y + box.height]]
      .map(([x, y]) => onPane({ x: x * width, y: y * height }, pane));
    const [left, top] = [Math.min(a.x, b.x), Math.min(a.y, b.y)].map((value) => value / density);
    return { x: left, y: top, width: Math.abs(b.x - a.x) / density, height: Math.abs(b.y - a.y) / density, label: box.label };
  });
}

/**
 * The heat map of a model on a pane.
 * @param {Hung & {index: number}} pane @param {HeatMap[]} maps @param {number} density device pixels per CSS pixel
 * @returns {(Rect & {rows: number[][], flipped: boolean, turns: number})|null} its position in CSS pixels
 */
export function heatOn(pane, maps, density) {
  const map = maps.find(({ view }) => view === pane.index);
  if (!map) return null;
  const [{ label, ...rect }] = boxesOn(pane, [{ view: pane.index, x: 0, y: 0, width: 1, height: 1, label: "" }], density);
  return { ...rect, rows: map.rows, flipped: pane.flipped, turns: pane.turns };
}

/** Keep the film in the pane: no edge inside the pane while the film is larger, centred while it is smaller. */
function bounded(zoomPan, pane, film) {
  const within = (centre, paneLength, filmLength) => {
    const half = paneLength / 2 / zoomPan.scale;
    return half * 2 >= filmLength ? filmLength / 2 : Math.min(filmLength - half, Math.max(half, centre));
  };
  return {
    ...zoomPan,
    x: within(zoomPan.x, pane.width, film.width),
    y: within(zoomPan.y, pane.height, film.height),
  };
}

/** Rows with the same number of films, the last with the rest, of equal height for comparison. */
function inRows(area, films, gap, perRow) {
  const rows = Math.ceil(films.length / perRow);
  const height = Math.max(1, Math.floor((area.height - gap * (rows - 1)) / rows));
  return Array.from({ length: rows }, (_, i) => {
    const y = i * (height + gap);
    const some = films.slice(i * perRow, (i + 1) * perRow);
    return inRow({ width: area.width, height }, some, gap).map((rect) => ({ ...rect, y }));
  }).flat();
}

/** Widths in proportion to the films' aspect ratios, so that films have the same height. */
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

/** @typedef {{film: LoadedFilm, index: number, rect: Rect, zoomPan: ZoomPan,
 *   window: Window, preset: number, flipped: boolean, turns: number, labels: PaneLabels}} Pane
 *   index: its index in the item */

/** A window set by a reader: the index of a preset, or limits relative to the film's automatic window.
 *  @typedef {{preset: number, from: number, to: number}} SetWindow */

const FITTED = 1.001; // a larger zoom magnifies the fitted film

/** The initial state: fitted, with the initial window. @param {LoadedFilm} film @param {Rect} rect */
export function asItComes(film, rect) {
  return { film, rect, zoomPan: fitted(rect, film.view), ...presetOf(film, openingPreset(film.view.bits)), flipped: false, turns: 0 };
}

/** @param {LoadedFilm} film @param {number} place in PRESETS @returns {{window: Window, preset: number}} */
export function presetOf({ view, auto }, place) {
  return { window: preset(PRESETS[place], fullWindow(view), auto), preset: place };
}

/** The window to use for the next film of this label. @param {Omit<Pane,
 * "index"|"labels"|"rect"|"zoomPan"|"flipped"|"turns">} pane
 *  @returns {SetWindow|null} null: the film has its initial window */
export function windowSet({ film: { view, auto }, window, preset: place }) {
  if (place === openingPreset(view.bits)) return null;
  const share = (grey) => (grey - auto.low) / (auto.high - auto.low);
  return { preset: place, from: share(window.low), to: share(window.high) };
}

/** @param {LoadedFilm} film @param {SetWindow|null} [set] @returns {{window?: Window, preset?: number}} */
export function windowAgain(film, set) {
  if (!set) return {};
  return set.preset < 0 ? { window: part(film.auto, set.from, set.to), preset: -1 } : presetOf(film, set.preset);
}

/** The data of a pane for the renderer. @returns {PlacedFilm} */
export function placedFilm({ film, rect, zoomPan, window, flipped, turns }, inverted) {
  return { handle: film.handle, rect, zoomPan, window, inverted, flipped, turns, slot: "pane" };
}

/** The direction on the film that points right on the screen. @param {{flipped: boolean}} pane */
export const side = ({ flipped }) => (flipped ? -1 : 1);

export const fullWindow = ({ low, high }) => ({ low, high: Math.max(high, low + 1) });

/**
 * The views and tools in use, with the names of case/attempt.js.
 * @param {Pane[]} visible @param {{alone: boolean, inverted: boolean, glass: boolean}} box @returns {string[]}
 */
export function inUse(visible, { alone, inverted, glass }) {
  const any = (does) => visible.some(does);
  const tools = {
    alone, inverted: inverted && visible.length > 0, glass,
    zoomed: any((pane) => pane.zoomPan.scale > FITTED * fitted(pane.rect, sizeOf(pane)).scale),
    windowed: any(({ window, film }) => {
      const opened = presetOf(film, openingPreset(film.view.bits)).window;
      return window.low !== opened.low || window.high !== opened.high;
    }),
  };
  return [...visible.map(({ index }) => `view_${index + 1}`), ...Object.keys(tools).filter((tool) => tools[tool])];
}
