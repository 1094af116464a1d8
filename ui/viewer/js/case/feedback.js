/**
 * Feedback after a case: awaited once the reading is on its way, shown when the server has it.
 *
 * It survives a reload: the case and its record are kept until the reader goes on. A record whose receipt was lost
 * with the page is simply sent again, and the server tells again what it told before. Films' addresses do not last,
 * so that after a longer while the reader goes straight on to the next case.
 */

/** @import { Connection } from "../delivery/connection.js" */
/** @import { QuestionPanel } from "../page/question-panel.js" */
/** @import { Case, Receipt, Record, ReferenceAnswer } from "../page/types.js" */

/** @typedef {{item: Case, record: Record, told: ReferenceAnswer|null, answered: boolean,
 *   epoch_ms: number}} Awaited */

const KEPT_MS = 10 * 60_000;

export class Feedback {
  #connection;
  #panel;
  /** @type {Awaited|null} */
  #awaited = null;
  #shown = false;
  /** Whether it waits for its case to come back to the screen. */
  #held = false;

  /** @param {Connection} connection @param {QuestionPanel} panel */
  constructor(connection, panel) {
    this.#connection = connection;
    this.#panel = panel;
  }

  /** Whether the reader is looking at it. */
  get shown() { return this.#shown; }

  get awaited() { return Boolean(this.#awaited) && !this.#shown; }

  /** @param {Case} item @param {Record} record its reading, just confirmed @param {number} epoch_ms */
  expect(item, record, epoch_ms) {
    this.#put({ item, record, told: null, answered: false, epoch_ms });
  }

  /**
   * @param {Receipt} receipt @param {Record[]} sent
   * @returns {ReferenceAnswer|null|undefined} what there is to show; null: the server told nothing; undefined: not
   *   awaited, or not answered yet
   */
  from({ feedback }, sent) {
    const awaited = this.#shown ? null : this.#awaited;
    if (!awaited || !sent.some(({ id }) => id === awaited.record.id)) return undefined;
    const told = feedback?.[awaited.record.id] ?? null;
    this.#put({ ...awaited, told, answered: true });
    return this.#held ? undefined : told;
  }

  show() {
    const { told, record } = this.#awaited ?? {};
    if (!told || !record) return;
    this.#shown = true;
    this.#panel.showFeedback(told, record);
  }

  end() {
    if (!this.#awaited) return;
    this.leave();
    this.#connection.storage.drop("feedback");
  }

  /** Out of sight here; a reload, or another window, brings it back. */
  leave() {
    this.#awaited = null;
    this.#shown = false;
    this.#held = false;
  }

  /** Its case went off the screen and is to come back first. @returns {Awaited|null} null: none is awaited */
  hold() {
    this.#shown = false;
    this.#held = Boolean(this.#awaited);
    return this.#awaited;
  }

  /** What a reload cut short: it is awaited again. @param {number} epoch_ms now @returns {Awaited|null} */
  resume(epoch_ms) {
    const kept = this.#connection.storage.get("feedback");
    const age_ms = epoch_ms - (kept?.epoch_ms ?? -Infinity);
    if (!kept || !(age_ms >= 0 && age_ms < KEPT_MS)) {
      this.#connection.storage.drop("feedback");
      return null;
    }
    this.#awaited = kept;
    return this.hold();
  }

  /** The case is back. What the server never answered is asked again.
   *  @returns {ReferenceAnswer|null|undefined} as `from` */
  release() {
    this.#held = false;
    if (!this.#awaited) return undefined;
    const { record, told, answered } = this.#awaited;
    if (answered) return told;
    if (!this.#connection.outbox.readings.some(({ id }) => id === record.id)) this.#connection.outbox.put(record);
    return undefined;
  }

  #put(awaited) {
    this.#awaited = awaited;
    this.#connection.storage.put("feedback", awaited);
  }
}
