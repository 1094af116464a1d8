/** The smallest window a study is read in: asked before anything else, and gone as soon as the window is large enough. */

import { element } from "../page/elements.js";
import { texts } from "../page/texts.js";

/** @import { Connection } from "../delivery/connection.js" */
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
  #connection;
  #done;
  #preview;
  #browser;
  /** Asked once a visit: a window shrunk later is for a flag of the reading to tell. */
  #passed = false;
  /** @type {HTMLElement|null} where it says how large the window is, while it is too small */
  #said = null;

  /**
   * @param {{sheet: StepSheet, overlays: Overlays,
   *   preview: boolean}} parts  preview: whoever tries the study out may go on
   * @param {Connection} connection @param {() => void} done the reader may go on
   * @param {Window} [browser]
   */
  constructor({ sheet, overlays, preview }, connection, done, browser = window) {
    this.#sheet = sheet;
    this.#overlays = overlays;
    this.#preview = preview;
    this.#connection = connection;
    this.#done = done;
    this.#browser = browser;
  }

  /** Whether the window is still to be made larger. */
  get due() {
    this.#passed ||= fits(this.#size, this.#smallest);
    return !this.#passed;
  }

  show() {
    const { title, remedy, touch, anyway } = texts.smallWindow;
    const coarse = this.#browser.matchMedia("(pointer: coarse)").matches;
    this.#said = element("p", this.#words, "rr-prelude-text");
    const advice = element("p", coarse ? touch : remedy, "rr-prelude-text");
    this.#sheet.show({
      name: "window", title, count: "", body: [this.#said, advice], aside: this.#overlays.signOut(),
      primary: this.#preview ? { label: anyway, run: () => this.#goOn() } : null,
    });
  }

  /** The window has another size. */
  resized() {
    if (!this.#said?.isConnected) return;
    if (this.due) this.#said.textContent = this.#words;
    else this.#goOn();
  }

  #goOn() {
    this.#passed = true;
    this.#said = null;
    this.#sheet.close();
    this.#done();
  }

  get #words() { return texts.smallWindow.text(this.#size, this.#smallest); }

  get #smallest() { return this.#connection.desk.rules.smallest_window ?? []; }

  /** @returns {[number, number]} */
  get #size() { return [this.#browser.innerWidth, this.#browser.innerHeight]; }
}
