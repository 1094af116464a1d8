/** The films on the canvas: in which order they hang, which of them are on view, and where each one lies. */

import { arrange, arrangeBeside, fitted, panned } from "./layout.js";
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
  /** Whether films are shown equally large, though one is the frontal and one the lateral, or one is a prior one. */
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
  /** Whether the prior films are away for the moment. */
  #currentOnly = false;

  /** @param {HTMLElement} place @param {FilmCanvas} canvas */
  constructor(place, canvas) {
    this.#place = place;
    this.#canvas = canvas;
  }

  /** Whether one of several is shown alone. */
  get alone() { return this.#alone >= 0; }

  /** @returns {Pane[]} what is on view */
  get visible() {
    if (this.alone) return [this.panes[this.#alone]];
    return this.#currentOnly ? this.panes.filter(({ film }) => !film.view.prior) : this.panes;
  }

  /** Whether films of an earlier examination hang beside the current ones. */
  get compares() { return compares(this.#films); }

  /** @param {LoadedFilm[]} films @returns {boolean} whether these films hang here */
  holds(films) {
    return films === this.#films;
  }

  /** These films, or the same ones anew: all on view, fitted, the windows they open at. @param {LoadedFilm[]} [films] */
  hang(films = this.#films) {
    if (!this.keeping || films === this.#films) this.#kept.clear();
    else for (const pane of this.panes) this.#kept.set(nameOf(pane.film), windowSet(pane));
    this.#films = films;
    this.#alone = -1;
    this.#currentOnly = false;
    this.swapped = false;
    for (const { labels } of this.panes) labels.remove();
    this.panes = this.asTheyCome(films).map((pane) => ({
      ...pane, index: films.indexOf(pane.film), labels: new PaneLabels(this.#place, pane.film.view, this.compares),
    }));
  }

  /** How films would hang here. @param {LoadedFilm[]} films @returns {ReturnType<typeof asItComes>[]} */
  asTheyCome(films) {
    const inOrder = hangingOrder(films);
    const rects = this.#rects(inOrder);
    return inOrder.map((one, i) => {
      const again = windowAgain(one, this.#kept.get(nameOf(one)));
      return { ...asItComes(one, rects[i]), ...again };
    });
  }

  /** Share the canvas anew between the films on view. */
  arrange() {
    const visible = this.visible;
    this.#rects(visible.map(({ film }) => film), this.swapped).forEach((rect, i) => {
      const pane = visible[i];
      pane.rect = rect;
      pane.zoomPan = pane.zoomPan.fit ? fitted(rect, pane.film.view) : panned(pane.zoomPan, 0, 0, rect, pane.film.view);
    });
  }

  /** Two exchange their places, of more the first goes to the end; beside prior films, current and prior ones do.
   *  @returns {boolean} false: there is nothing to swap */
  swap() {
    if (this.visible.length < 2) return false;
    if (this.compares) {
      this.swapped = !this.swapped;
      this.arrange();
      return true;
    }
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

  /** The current films without the prior ones, or with them. @returns {boolean} false: there are none */
  compare() {
    if (!this.compares) return false;
    this.#currentOnly = !this.#currentOnly && !this.alone;
    this.#alone = -1;
    this.arrange();
    return true;
  }

  /** @param {{x: number, y: number}} point in device pixels of the canvas @returns {Pane|null} */
  under(point) {
    return this.visible.find(({ rect }) => point.x >= rect.x && point.x < rect.x + rect.width
      && point.y >= rect.y && point.y < rect.y + rect.height) ?? null;
  }

  #rects(films, swapped = false) {
    const gap = Math.round(GAP_PX * this.#canvas.density);
    const current = films.filter(({ view }) => !view.prior);
    const prior = films.filter(({ view }) => view.prior);
    const leads = this.#leads(current);
    const sizes = (some) => some.map(({ view }) => view);
    if (!current.length || !prior.length) return arrange(this.#canvas.size, sizes(films), gap, leads);
    const how = { leads, equal: this.equal, exchanged: swapped };
    const rects = arrangeBeside(this.#canvas.size, sizes(current), sizes(prior), gap, how);
    return films.map((film) => (film.view.prior ? rects.prior[prior.indexOf(film)] : rects.current[current.indexOf(film)]));
  }

  #leads(films) {
    const ranks = films.map(({ view }) => rank(view.label));
    return !this.equal && ranks.includes(0) && ranks.includes(2);
  }
}

/** @param {LoadedFilm} film @returns {string} by which its window is kept */
const nameOf = ({ view }) => `${view.prior ? "prior " : ""}${view.label}`;

/** @param {LoadedFilm[]} films */
const compares = (films) => films.some(({ view }) => view.prior) && films.some(({ view }) => !view.prior);

/** @param {string} label @returns {number} */
function rank(label) {
  if (FRONTAL.test(label)) return 0;
  return LATERAL.test(label) ? 2 : 1;
}

/**
 * The order films hang in, whatever order the item gives them.
 * @template {{view: {label: string, prior?: string}}} T
 * @param {T[]} films as the item has them
 * @returns {T[]} current ones before prior ones, of either frontal first, lateral last, else in their order
 */
export function hangingOrder(films) {
  const order = ({ view }) => rank(view.label) + (view.prior ? 3 : 0);
  return [...films].sort((a, b) => order(a) - order(b));
}
