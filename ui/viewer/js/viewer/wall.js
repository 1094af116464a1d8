/** The films on the light box: in which order they hang, which of them are on view, and where each one lies. */

import { hangingOrder } from "./hanging.js";
import { arrange, fitted, panned } from "./layout.js";
import { asItComes } from "./pane.js";
import { Plate } from "./plate.js";

/** @typedef {import("../film/films.js").Hung} Hung */
/** @typedef {import("./pane.js").Pane} Pane */

const GAP_PX = 6;

export class Wall {
  /** Whether the films hang in another order than they came. @readonly */
  swapped = false;
  /** @type {Pane[]} */
  panes = [];
  #place;
  #box;
  /** The films as the item has them. @type {Hung[]} */
  #hung = [];
  /** The one that is shown alone; -1: none. */
  #alone = -1;

  /** @param {HTMLElement} place @param {import("./lightbox.js").LightBox} box */
  constructor(place, box) {
    this.#place = place;
    this.#box = box;
  }

  /** Whether one of several is shown alone. */
  get alone() { return this.#alone >= 0; }

  /** @returns {Pane[]} what is on view */
  get visible() { return this.alone ? [this.panes[this.#alone]] : this.panes; }

  /** @param {Hung[]} hung @returns {boolean} whether these films hang here */
  holds(hung) {
    return hung === this.#hung;
  }

  /** These films, or the same ones anew: all on view, fitted, full window. @param {Hung[]} [hung] */
  hang(hung = this.#hung) {
    this.#hung = hung;
    this.#alone = -1;
    this.swapped = false;
    for (const { plate } of this.panes) plate.remove();
    this.panes = this.asTheyCome(hung).map((pane) => ({
      ...pane, index: hung.indexOf(pane.hung), plate: new Plate(this.#place, pane.hung.view.label),
    }));
  }

  /** How films would hang here. @param {Hung[]} hung @returns {ReturnType<typeof asItComes>[]} */
  asTheyCome(hung) {
    const inOrder = hangingOrder(hung);
    const rects = this.#rects(inOrder);
    return inOrder.map((one, i) => asItComes(one, rects[i]));
  }

  /** Share the light box anew between the films on view. */
  arrange() {
    const visible = this.visible;
    this.#rects(visible.map(({ hung }) => hung)).forEach((rect, i) => {
      const pane = visible[i];
      pane.rect = rect;
      pane.gaze = pane.gaze.fit ? fitted(rect, pane.hung.view) : panned(pane.gaze, 0, 0, rect, pane.hung.view);
    });
  }

  /** Two exchange their places, of more the first goes to the end. @returns {boolean} false: there is nothing to swap */
  swap() {
    if (this.panes.length < 2 || this.alone) return false;
    this.panes.push(this.panes.shift());
    const inOrder = hangingOrder(this.#hung);
    this.swapped = this.panes.some(({ hung }, i) => hung !== inOrder[i]);
    this.arrange();
    return true;
  }

  /** Each film alone in turn, then all together. @returns {boolean} false: there is only one */
  nextView() {
    if (this.panes.length < 2) return false;
    this.#alone = this.#alone + 1 === this.panes.length ? -1 : this.#alone + 1;
    this.arrange();
    return true;
  }

  /** @param {{x: number, y: number}} point in device pixels of the light box @returns {Pane|null} */
  under(point) {
    return this.visible.find(({ rect }) => point.x >= rect.x && point.x < rect.x + rect.width
      && point.y >= rect.y && point.y < rect.y + rect.height) ?? null;
  }

  #rects(hung) {
    return arrange(this.#box.size, hung.map(({ view }) => view), Math.round(GAP_PX * this.#box.density));
  }
}
