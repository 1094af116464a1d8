/**
 * How long each view and each tool was in use on one case, in charged time.
 *
 * There is no clock here: every moment is the response time of the case's own clock, which stands still while the
 * case is hidden or paused, so that no such time is ever counted.
 */

/** Views with a time of their own. */
export const MOST_VIEWS = 8;

/** Everything that can be in use. The names are the record's, less "_ms"; views by their place in the item. */
export const USES = [
  ...Array.from({ length: MOST_VIEWS }, (_, i) => `view_${i + 1}`), "alone", "zoomed", "windowed", "inverted", "glass",
];

export class Usage {
  /** @type {{[use: string]: number}} */
  #spent_ms;
  /** @type {string[]} */
  #now = [];
  #since_ms;

  /** @param {{[use: string]: number}} [kept] what `keep` returned before a reload
   *  @param {number} [response_ms] where the case's clock stood then */
  constructor(kept = {}, response_ms = 0) {
    this.#spent_ms = { ...kept };
    this.#since_ms = response_ms;
  }

  /** From this moment on these are in use, and nothing else. @param {string[]} uses @param {number} response_ms */
  change(uses, response_ms) {
    this.#settle(response_ms);
    this.#now = USES.filter((use) => uses.includes(use));
  }

  /** @param {number} response_ms @returns {{[name: string]: number}} whole ms; what was never in use is left out */
  read(response_ms) {
    this.#settle(response_ms);
    return Object.fromEntries(USES.filter((use) => use in this.#spent_ms)
      .map((use) => [`${use}_ms`, Math.round(this.#spent_ms[use])]));
  }

  /** What must survive a reload. @param {number} response_ms */
  keep(response_ms) {
    this.#settle(response_ms);
    return { ...this.#spent_ms };
  }

  /** A key is as old as its press, which on a busy computer may lie before the last look at the clock: what was
   *  counted beyond it is taken back. */
  #settle(response_ms) {
    const passed_ms = response_ms - this.#since_ms;
    for (const use of this.#now) this.#spent_ms[use] = Math.max(0, (this.#spent_ms[use] ?? 0) + passed_ms);
    this.#since_ms = response_ms;
  }
}
