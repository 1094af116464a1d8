/** A film in its pane as plain data: as it comes, as the renderer needs it, and how it departs from what came. */

import { openingPreset, part, preset, PRESETS } from "../film/window-level.js";
import { fitted } from "./layout.js";

/** @import { LoadedFilm } from "../film/film-cache.js" */
/** @import { PaneLabels } from "./pane-labels.js" */
/** @import { PlacedFilm } from "../film/renderer-webgl.js" */
/** @import { Rect, Window, ZoomPan } from "../page/types.js" */

/** @typedef {{film: LoadedFilm, index: number, rect: Rect, zoomPan: ZoomPan,
 *   window: Window, preset: number, flipped: boolean, labels: PaneLabels}} Pane
 *   index: its place in the item */

/** A window a reader set: a preset's place, or from where to where in the film's own automatic window.
 *  @typedef {{preset: number, from: number, to: number}} SetWindow */

const FITTED = 1.001; // a larger zoom is nearer than the whole film

/** Fitted, with the window it opens at. @param {LoadedFilm} film @param {Rect} rect */
export function asItComes(film, rect) {
  return { film, rect, zoomPan: fitted(rect, film.view), ...presetOf(film, openingPreset(film.view.bits)), flipped: false };
}

/** @param {LoadedFilm} film @param {number} place in PRESETS @returns {{window: Window, preset: number}} */
export function presetOf({ view, auto }, place) {
  return { window: preset(PRESETS[place], fullWindow(view), auto), preset: place };
}

/** What is taken along to the next film of this label. @param {Omit<Pane, "index"|"labels"|"rect"|"zoomPan"|"flipped">} pane
 *  @returns {SetWindow|null} null: the film has the window it opened at */
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
    windowed: any(({ window, film }) => {
      const opened = presetOf(film, openingPreset(film.view.bits)).window;
      return window.low !== opened.low || window.high !== opened.high;
    }),
  };
  return [...visible.map(({ index }) => `view_${index + 1}`), ...Object.keys(tools).filter((tool) => tools[tool])];
}
