/**
 * Looking back: earlier cases, while the running one waits aside with its clock.
 *
 * What was read on this page is remembered with its answer, so that the way back is as short as the way on; the server
 * is asked all the same, and is right where it knows of a later answer.
 */

/** @import { Attempt } from "./attempt.js" */
/** @import { Connection } from "../delivery/connection.js" */
/** @import { Case, OwnReading, Record } from "../page/types.js" */

const MOST_REMEMBERED = 50;

export class EarlierCases {
  #connection;
  /** By position in the session, the oldest first. @type {Map<number, Case>} */
  #read = new Map();
  #session = 0;
  /** @type {Attempt|null} */
  #aside = null;

  /** @param {Connection} connection */
  constructor(connection) {
    this.#connection = connection;
  }

  /** @returns {Attempt|null} the running case, while an earlier one is on the screen */
  get aside() { return this.#aside; }

  /** @param {Attempt} attempt the running case */
  setAside(attempt) {
    this.#aside = attempt;
  }

  /** The running case again, if it is still to be read. @param {string} [id] @returns {Attempt|null} */
  takeBack(id) {
    const aside = this.#aside;
    this.#aside = null;
    return aside?.item.case === id ? aside : null;
  }

  /** @param {Case} item @param {Record} record the answer just given to it */
  remember(item, { id, option, status, confidence, comment }) {
    if (item.practice) return; // its position counts among others
    this.#turn();
    this.#read.delete(item.position);
    this.#read.set(item.position, { ...item, presented: true, reading: { id, option, status, confidence, comment } });
    const [oldest] = this.#read.keys();
    if (this.#read.size > MOST_REMEMBERED) this.#read.delete(oldest);
  }

  /** The answer was not taken: only the server knows how the case stands. @param {string} id of a case */
  forget(id) {
    for (const [position, item] of this.#read) if (item.case === id) this.#read.delete(position);
  }

  /** @param {number} position @returns {Case|undefined} as it was left on this page */
  remembered(position) {
    this.#turn();
    return this.#read.get(position);
  }

  /** @param {number} position @returns {Case[]} what the reader may turn to from there */
  beside(position) {
    this.#turn();
    return [position + 1, position - 1].flatMap((each) => this.#read.get(each) ?? []);
  }

  /**
   * @param {number} position
   * @returns {Promise<Case|null>} the case with the latest own answer, sent or not; null when it cannot be had
   */
  async fetch(position) {
    let item;
    try {
      item = await this.#connection.earlier(position);
    } catch {
      return null;
    }
    const own = this.#connection.outbox.readings.filter((record) => record.case === item.case).at(-1);
    return own ? { ...item, reading: /** @type {OwnReading & Record} */ (own) } : item;
  }

  /**
   * What the server knows better than this page.
   * @param {Case} item as remembered @returns {Promise<Case|null>} null: nothing, or the line is cut
   */
  async correction(item) {
    const now = await this.fetch(item.position);
    if (!now || now.reading?.id === item.reading?.id) return null;
    this.forget(item.case);
    return now;
  }

  /**
   * @param {Attempt} attempt an earlier case @param {Case} [next] the first case not read
   * @returns {number} the position to visit after it; 0 when the running case follows, or the end
   */
  after(attempt, next) {
    const { finished, total } = this.#connection.desk;
    const following = attempt.item.position + 1;
    const running = this.#aside?.item.position ?? next?.position ?? (finished ? total + 1 : 0);
    return attempt.revisited && following < running ? following : 0;
  }

  /** In another session the positions are those of other cases. */
  #turn() {
    const { session } = this.#connection.desk;
    if (session !== this.#session) this.#read.clear();
    this.#session = session;
  }
}
