/** Looking back: earlier cases fetched again, while the running one waits aside with its clock. */

/** @typedef {import("./types.js").Case} Case */
/** @typedef {import("./sitting.js").Sitting} Sitting */

export class LookingBack {
  #courier;
  /** @type {Sitting|null} */
  #aside = null;

  /** @param {import("./courier.js").Courier} courier */
  constructor(courier) {
    this.#courier = courier;
  }

  /** @returns {Sitting|null} the running case, while an earlier one is on the screen */
  get aside() { return this.#aside; }

  /** @param {Sitting} sitting the running case */
  setAside(sitting) {
    this.#aside = sitting;
  }

  /** The running case again, if it is still to be read. @param {string} [id] @returns {Sitting|null} */
  takeBack(id) {
    const aside = this.#aside;
    this.#aside = null;
    return aside?.item.case === id ? aside : null;
  }

  /**
   * @param {number} position
   * @returns {Promise<Case|null>} the case with the latest own answer, sent or not; null when it cannot be had
   */
  async fetch(position) {
    let item;
    try {
      item = await this.#courier.earlier(position);
    } catch {
      return null;
    }
    const own = this.#courier.outbox.readings.filter((record) => record.case === item.case).at(-1);
    return own ? { ...item, reading: own } : item;
  }

  /**
   * @param {Sitting} sitting an earlier case @param {Case} [next] the first case not read
   * @returns {number} the position to visit after it; 0 when the running case follows
   */
  after(sitting, next) {
    const following = sitting.item.position + 1;
    const running = this.#aside?.item.position ?? next?.position ?? 0;
    return sitting.revisited && following < running ? following : 0;
  }
}
