/** The cases this page has still to bring to the reader: those on the desk that were not answered here. */

import { Attempt } from "./attempt.js";
import { newId } from "../page/ids.js";

/** @import { Connection } from "../delivery/connection.js" */
/** @import { Case } from "../page/types.js" */

export class Worklist {
  #connection;
  /** Cases answered here, whether or not the server knows yet. */
  #answered = new Set();

  /** @param {Connection} connection with its desk open */
  constructor(connection) {
    this.#connection = connection;
    for (const record of connection.outbox.readings) this.#answered.add(record.case);
  }

  /** @returns {Case[]} */
  get coming() {
    return this.#connection.desk.cases.filter((item) => !this.#answered.has(item.case));
  }

  /** @param {string} id of a case */
  answered(id) {
    this.#answered.add(id);
  }

  /** The answer was refused: if the desk still lists the case, it is to be read again. @param {string} id */
  again(id) {
    this.#answered.delete(id);
  }

  /** @param {Attempt|null} attempt @returns {boolean} whether the case before the reader was read in another window */
  readElsewhere(attempt) {
    const { desk } = this.#connection;
    // After another sign-in something may be to be prepared first; until then no case is listed, read or not.
    // Under a hold none is listed either, and what is on the screen may be finished.
    return attempt !== null && !attempt.committed && !attempt.revisited && !desk.preparation?.length && !desk.hold
      && !desk.cases.some((item) => item.case === attempt.item.case);
  }

  /** @param {Case} item @returns {Attempt} begun before a reload, or new */
  attempt(item) {
    const kept = item.reading ? null : this.#connection.storage.get("running");
    return new Attempt(item, { readingId: newId(), kept: kept?.case === item.case ? kept : null });
  }
}
