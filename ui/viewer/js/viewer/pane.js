/** A film in its pane as plain data: as it comes, as the renderer needs it, and how it departs from what came. */

import { fitted } from "./layout.js";

/** @import { LoadedFilm } from "../film/film-cache.js" */
/** @import { PaneLabels } from "./pane-labels.js" */
/** @import { PlacedFilm } from "../film/renderer-webgl.js" */
/** @import { Rect, Window, ZoomPan } from "../page/types.js" */

/** @typedef {{film: LoadedFilm, index: number, rect: Rect, zoomPan: ZoomPan,
 *   window: Window, preset: number, flipped: boolean, labels: PaneLabels}} Pane
 *   index: its place in the item */

const FITTED = 1.001; // a larger zoom is nearer than the whole film

/** Fitted, with the full window. @param {LoadedFilm} film @param {Rect} rect */
export function asItComes(film, rect) {
  return { film, rect, zoomPan: fitted(rect, film.view), window: fullWindow(film.view), preset: 0, flipped: false };
}

/** What the renderer needs to know of a pane. @returns {PlacedFilm} */
export function placedFilm({ film, rect, zoomPan, window, flipped }, inverted) {
  return { handle: film.handle, rect, zoomPan, window, inverted, flipped, slot: "pane" };
}

/** Which way on the film is right on the screen. @param {Pane} pane */
export const side = ({ flipped }) => (flipped ? -1 : 1);

export const fullWindow = ({ low, high }) => ({ low, high: Math.max(high, low + 1) });

/**
 * What is in use, by the names of case/usage.js.
 * @param {Pane[]} visible @param {{alone: boolean, inverted: boolean, glass: boolean}} box @returns {string[]}
 */
export function inUse(visible, { alone, inverted, glass }) {
  const any = (does) => visible.some(does);
  const tools = {
    alone, inverted: inverted && visible.length > 0, glass,
    zoomed: any(({ zoomPan, rect, film }) => zoomPan.scale > FITTED * fitted(rect, film.view).scale),
    windowed: any(({ window, film: { view } }) => window.low !== view.low || window.high !== fullWindow(view).high),
  };
  return [...visible.map(({ index }) => `view_${index + 1}`), ...Object.keys(tools).filter((tool) => tools[tool])];
}
