/** The smallest window a study is read in: asked before anything else, and gone as soon as the window is large enough. */

import { element } from "../page/elements.js";
import { texts } from "../page/texts.js";

/** @import { Overlays } from "../page/overlays.js" */
/** @import { StepSheet } from "../page/step-sheet.js" */

/**
 * @param {[number, number]} size @param {number[]} smallest either way round; [] for no limit
 * @returns {boolean}
 */
export function fits([width, height], [one = 0, other = 0]) {
  return Math.max(width, height) >= Math.max(one, other) && Math.min(width, height) >= Math.min(one, other);
}

export class SmallestWindow {
  #sheet;
  #overlays;
  #anyway;
  /** @type {HTMLElement|null} where it says how large the window is, while it is too small */
  #said = null;

  /** @param {{sheet: StepSheet, overlays: Overlays}} parts
   *  @param {(() => void)|null} anyway whoever tries the study out may go on */
  constructor({ sheet, overlays }, anyway) {
    this.#sheet = sheet;
    this.#overlays = overlays;
    this.#anyway = anyway;
  }

  /** @param {[number, number]} size @param {number[]} smallest */
  show(size, smallest) {
    const { title, text, remedy, touch, anyway } = texts.smallWindow;
    const words = text(size, smallest);
    if (this.#said?.isConnected) {
      this.#said.textContent = words;
      return;
    }
    const coarse = matchMedia("(pointer: coarse)").matches;
    this.#said = element("p", words, "rr-prelude-text");
    const advice = element("p", coarse ? touch : remedy, "rr-prelude-text");
    this.#sheet.show({
      name: "window", title, count: "", body: [this.#said, advice], aside: this.#overlays.signOut(),
      primary: this.#anyway && { label: anyway, run: this.#anyway },
    });
  }
}
