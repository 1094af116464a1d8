/** The cases this page has still to bring to the reader: those on the desk that were not answered here. */

import { newId } from "../page/ids.js";
import { Sitting } from "./sitting.js";

/** @typedef {import("../page/types.js").Case} Case */

export class Worklist {
  #courier;
  /** Cases answered here, whether or not the server knows yet. */
  #answered = new Set();

  /** @param {import("../delivery/courier.js").Courier} courier with its desk open */
  constructor(courier) {
    this.#courier = courier;
    for (const record of courier.outbox.readings) this.#answered.add(record.case);
  }

  /** @returns {Case[]} */
  get coming() {
    return this.#courier.desk.cases.filter((item) => !this.#answered.has(item.case));
  }

  /** @param {string} id of a case */
  answered(id) {
    this.#answered.add(id);
  }

  /** The answer was refused: if the desk still lists the case, it is to be read again. @param {string} id */
  again(id) {
    this.#answered.delete(id);
  }

  /** @param {Sitting|null} sitting @returns {boolean} whether the case before the reader was read in another window */
  readElsewhere(sitting) {
    const { desk } = this.#courier;
    // After another sign-in something may be to be prepared first; until then no case is listed, read or not.
    // Under a hold none is listed either, and what is on the screen may be finished.
    return Boolean(sitting) && !sitting.committed && !sitting.revisited && !desk.preparation?.length && !desk.hold
      && !desk.cases.some((item) => item.case === sitting.item.case);
  }

  /** @param {Case} item @returns {Sitting} begun before a reload, or new */
  sitting(item) {
    const kept = item.reading ? null : this.#courier.keep.get("running");
    return new Sitting(item, { readingId: newId(), kept: kept?.case === item.case ? kept : null });
  }
}
