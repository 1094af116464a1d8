/** A film in its pane as plain data: as it comes, as the renderer needs it, and how it departs from what came. */

import { fitted } from "./layout.js";

/** @typedef {import("../film/films.js").Hung} Hung */
/** @typedef {{hung: Hung, index: number, rect: import("../page/types.js").Rect, gaze: import("../page/types.js").Gaze,
 *   window: import("../page/types.js").Window, preset: number, flipped: boolean, plate: import("./plate.js").Plate}} Pane
 *   index: its place in the item */

const FITTED = 1.001; // a larger zoom is nearer than the whole film

/** Fitted, with the full window. @param {Hung} hung @param {import("../page/types.js").Rect} rect */
export function asItComes(hung, rect) {
  return { hung, rect, gaze: fitted(rect, hung.view), window: fullWindow(hung.view), preset: 0, flipped: false };
}

/** What the renderer needs to know of a pane. @returns {import("../film/renderer-webgl.js").Hanging} */
export function hanging({ hung, rect, gaze, window, flipped }, inverted) {
  return { handle: hung.handle, rect, gaze, window, inverted, flipped, slot: "pane" };
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
    zoomed: any(({ gaze, rect, hung }) => gaze.scale > FITTED * fitted(rect, hung.view).scale),
    windowed: any(({ window, hung: { view } }) => window.low !== view.low || window.high !== fullWindow(view).high),
  };
  return [...visible.map(({ index }) => `view_${index + 1}`), ...Object.keys(tools).filter((tool) => tools[tool])];
}
