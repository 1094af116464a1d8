/** The films on the canvas: in which order they hang, which of them are on view, and where each one lies. */

import { arrange, fitted, panned } from "./layout.js";
import { asItComes, windowAgain, windowSet } from "./pane.js";
import { PaneLabels } from "./pane-labels.js";

/** @import { LoadedFilm } from "../film/film-cache.js" */
/** @import { FilmCanvas } from "./film-canvas.js" */
/** @import { Pane, SetWindow } from "./pane.js" */

const GAP_PX = 6;
// Whole labels only: a lateral decubitus is a frontal film.
const FRONTAL = /^(PA|AP|FRONTAL)$/i;
const LATERAL = /^((LEFT|RIGHT) )?LATERAL$/i;

export class Hanging {
  /** Whether the films hang in another order than they came. */
  swapped = false;
  /** Whether two films are shown equally large, though one is the frontal and one the lateral. */
  equal = false;
  /** Whether the next case opens with the windows set on this one. */
  keeping = false;
  /** @type {Pane[]} */
  panes = [];
  /** Windows that were set, by the films' labels. @type {Map<string, SetWindow|null>} */
  #kept = new Map();
  #place;
  #canvas;
  /** The films as the item has them. @type {LoadedFilm[]} */
  #films = [];
  /** The one that is shown alone; -1: none. */
  #alone = -1;

  /** @param {HTMLElement} place @param {FilmCanvas} canvas */
  constructor(place, canvas) {
    this.#place = place;
    this.#canvas = canvas;
  }

  /** Whether one of several is shown alone. */
  get alone() { return this.#alone >= 0; }

  /** @returns {Pane[]} what is on view */
  get visible() { return this.alone ? [this.panes[this.#alone]] : this.panes; }

  /** @param {LoadedFilm[]} films @returns {boolean} whether these films hang here */
  holds(films) {
    return films === this.#films;
  }

  /** These films, or the same ones anew: all on view, fitted, the windows they open at. @param {LoadedFilm[]} [films] */
  hang(films = this.#films) {
    if (!this.keeping || films === this.#films) this.#kept.clear();
    else for (const pane of this.panes) this.#kept.set(pane.film.view.label, windowSet(pane));
    this.#films = films;
    this.#alone = -1;
    this.swapped = false;
    for (const { labels } of this.panes) labels.remove();
    this.panes = this.asTheyCome(films).map((pane) => ({
      ...pane, index: films.indexOf(pane.film), labels: new PaneLabels(this.#place, pane.film.view.label),
    }));
  }

  /** How films would hang here. @param {LoadedFilm[]} films @returns {ReturnType<typeof asItComes>[]} */
  asTheyCome(films) {
    const inOrder = hangingOrder(films);
    const rects = this.#rects(inOrder);
    return inOrder.map((one, i) => {
      const again = windowAgain(one, this.#kept.get(one.view.label));
      return { ...asItComes(one, rects[i]), ...again };
    });
  }

  /** Share the canvas anew between the films on view. */
  arrange() {
    const visible = this.visible;
    this.#rects(visible.map(({ film }) => film)).forEach((rect, i) => {
      const pane = visible[i];
      pane.rect = rect;
      pane.zoomPan = pane.zoomPan.fit ? fitted(rect, pane.film.view) : panned(pane.zoomPan, 0, 0, rect, pane.film.view);
    });
  }

  /** Two exchange their places, of more the first goes to the end. @returns {boolean} false: there is nothing to swap */
  swap() {
    if (this.panes.length < 2 || this.alone) return false;
    this.panes.push(...this.panes.splice(0, 1));
    const inOrder = hangingOrder(this.#films);
    this.swapped = this.panes.some(({ film }, i) => film !== inOrder[i]);
    this.arrange();
    return true;
  }

  /** Each film alone in turn, then all together; or one alone, and then all. @param {Pane|null} [pane]
   *  @returns {boolean} false: there is only one */
  nextView(pane = null) {
    if (this.panes.length < 2) return false;
    if (pane) this.#alone = this.alone ? -1 : this.panes.indexOf(pane);
    else this.#alone = this.#alone + 1 === this.panes.length ? -1 : this.#alone + 1;
    this.arrange();
    return true;
  }

  /** @param {{x: number, y: number}} point in device pixels of the canvas @returns {Pane|null} */
  under(point) {
    return this.visible.find(({ rect }) => point.x >= rect.x && point.x < rect.x + rect.width
      && point.y >= rect.y && point.y < rect.y + rect.height) ?? null;
  }

  #rects(films) {
    const ranks = films.map(({ view }) => rank(view.label));
    const leads = !this.equal && ranks.includes(0) && ranks.includes(2);
    return arrange(this.#canvas.size, films.map(({ view }) => view), Math.round(GAP_PX * this.#canvas.density), leads);
  }
}

/** @param {string} label @returns {number} */
function rank(label) {
  if (FRONTAL.test(label)) return 0;
  return LATERAL.test(label) ? 2 : 1;
}

/**
 * The order films hang in, whatever order the item gives them.
 * @template {{view: {label: string}}} T
 * @param {T[]} films as the item has them @returns {T[]} frontal first, lateral last, else in their order
 */
export function hangingOrder(films) {
  return [...films].sort((a, b) => rank(a.view.label) - rank(b.view.label));
}
