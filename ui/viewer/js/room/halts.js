/**
 * Halts: before which cases the reader is stopped for a moment, with the next case hidden and no clock running.
 * Every reader is before their first one, and before the next one after signing in anew: no clock starts because
 * somebody signed in. Signing out makes this browser forget that the reader was here; a reload does not.
 *
 * Told from the case itself, so that a reload brings the same curtain again, until the case was begun.
 */

import { texts } from "../page/texts.js";

/** @import { Connection } from "../delivery/connection.js" */
/** @import { Case, Desk } from "../page/types.js" */
/** @import { Halt } from "./waiting.js" */

export const HERE = "here";

export class Halts {
  #connection;
  /** The case whose curtain was lifted: it is not drawn twice. */
  #lifted = "";

  /** @param {Connection} connection */
  constructor(connection) {
    this.#connection = connection;
  }

  /** @param {Case} item the next case @returns {Halt|null} what comes before it */
  before(item) {
    const { storage, desk } = this.#connection;
    const begun = item.presented || storage.get("running")?.case === item.case || this.#lifted === item.case;
    if (begun) return null;
    if (item.practice) return item.position === 1 ? { name: "begin", ...texts.beginPractice(desk.practice_total) } : null;
    const { break_every: every = 0 } = desk.rules;
    const read = item.position - 1;
    const last = storage.get("condition");
    const turned = (read || desk.session > 1) && last && last !== item.condition ? texts.conditions[item.condition] : "";
    if (!read) return this.#beginning(desk, turned);
    if (every && read % every === 0) return { name: "break", ...texts.rest(read, desk.total, turned) };
    if (turned) return { name: "block", ...texts.block(turned) };
    return storage.get(HERE) ? null : { name: "begin", ...texts.onAgain };
  }

  /** Neither a study begins before its reader is ready, nor a session that opened while the page was there.
   *  @param {Desk} desk @param {string} turned @returns {Halt} */
  #beginning({ session, sessions, total, practice_total, rules }, turned) {
    if (session > 1) return { name: "begin", ...texts.beginSession(session, sessions, total, turned) };
    return { name: "begin", ...(practice_total ? texts.beginAfterPractice : texts.begin)(total, rules) };
  }

  /** @param {Case} [item] the reader goes on to it */
  lift(item) {
    this.#lifted = item?.case ?? "";
  }

  /** @param {Case} item is on the screen for the first time, or again */
  began(item) {
    if (item.practice || item.reading) return;
    this.#connection.storage.put("condition", item.condition);
    this.#connection.storage.put(HERE, true);
  }
}
