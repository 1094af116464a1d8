/** The magnifying glass: a part of the film under the pointer, drawn once more, nearer, over the rest. */

import { onFilm } from "./layout.js";

/** @import { Pane } from "./pane.js" */
/** @import { Rect, ZoomPan } from "../page/types.js" */

/** @typedef {Pane} Pane
 *  @typedef {{x: number, y: number}} Point  in device pixels of the canvas */

const SIDE_PX = 320;
const LARGEST_SHARE = 0.6; // of the canvas's shorter side
const NEARER = 2;

export class Magnifier {
  on = false;
  /** @type {Point} */
  #at = { x: 0, y: 0 };
  #frame = document.createElement("div");

  /** @param {HTMLElement} place */
  constructor(place) {
    this.#frame.className = "rr-glass";
    this.#frame.hidden = true;
    place.append(this.#frame);
  }

  /** @param {Point} at */
  lay(at) {
    this.on = true;
    this.#at = at;
  }

  away() {
    this.on = false;
  }

  /** @param {number} right @param {number} down in device pixels @param {{width: number, height: number}} within */
  move(right, down, within) {
    this.#at = {
      x: Math.min(within.width, Math.max(0, this.#at.x + right)),
      y: Math.min(within.height, Math.max(0, this.#at.y + down)),
    };
  }

  /**
   * What lies under it, and its frame about it.
   * @param {Pane[]} panes @param {{width: number, height: number}} canvas @param {number} density
   * @returns {{pane: Pane, rect: Rect, zoomPan: ZoomPan}|null}
   */
  look(panes, canvas, density) {
    this.#frame.hidden = !this.on || !panes.length;
    if (this.#frame.hidden) return null;
    const pane = nearest(panes, this.#at);
    const side = Math.round(Math.min(SIDE_PX * density, LARGEST_SHARE * Math.min(canvas.width, canvas.height)));
    const rect = {
      x: Math.round(this.#at.x - side / 2), y: Math.round(this.#at.y - side / 2), width: side, height: side,
    };
    this.#place(rect, density);
    return { pane, rect, zoomPan: this.#zoomPan(pane, side) };
  }

  /** Film pixels at their own size at least; and never so far beside the film that nothing of it is seen. */
  #zoomPan(pane, side) {
    const scale = Math.max(1, NEARER * pane.zoomPan.scale);
    const point = onFilm({ x: this.#at.x - pane.rect.x, y: this.#at.y - pane.rect.y }, pane);
    const beyond = side / 2 / scale - 1;
    const { width, height } = pane.film.view;
    const held = (value, length) => Math.min(length + beyond, Math.max(-beyond, value));
    return { scale, x: held(point.x, width), y: held(point.y, height), fit: false };
  }

  #place({ x, y, width, height }, density) {
    Object.assign(this.#frame.style, {
      left: `${x / density}px`, top: `${y / density}px`, width: `${width / density}px`, height: `${height / density}px`,
    });
  }
}

/** The pane a point lies in, or the nearest one: there are gaps between them. */
function nearest(panes, at) {
  const beside = (value, from, length) => Math.max(0, from - value, value - from - length);
  const far = ({ rect }) => Math.hypot(beside(at.x, rect.x, rect.width), beside(at.y, rect.y, rect.height));
  return panes.reduce((best, pane) => (far(pane) < far(best) ? pane : best));
}
