/** What is watched of the case before the reader: in sight or not, how long is left, and the checkpoint for a reload. */

import { epochAt } from "../page/paint.js";
import { ViewingConditions } from "./viewing-conditions.js";

/** @import { Attempt } from "./attempt.js" */
/** @import { Connection } from "../delivery/connection.js" */
/** @import { Overlays } from "../page/overlays.js" */
/** @import { Measured } from "./viewing-conditions.js" */

const KEEP_EVERY_MS = 1000;

export class CaseTimer {
  #connection;
  #overlays;
  #surroundings;
  #keptAt = 0;

  /** @param {Connection} connection @param {Overlays} overlays
   *  @param {() => Measured} measure */
  constructor(connection, overlays, measure) {
    this.#connection = connection;
    this.#overlays = overlays;
    this.#surroundings = new ViewingConditions(measure, () => connection.desk.rules.smallest_window);
  }

  /** The tab, or the case in it, may have been hidden or shown again. @param {Attempt} attempt @param {number} now */
  look(attempt, now) {
    // Behind a sheet that only the server can close, nobody can read on.
    attempt.clock.setHidden(now, this.#hides(attempt));
    this.#surroundings.interrupt();
  }

  /** The case goes off the screen unfinished: from now on its time counts as hidden.
   *  @param {Attempt} attempt @param {number} now */
  leave(attempt, now) {
    attempt.away = true;
    this.look(attempt, now);
    this.keep(attempt, now);
  }

  /** Write down where the case stands, for a reload. @param {Attempt|null} attempt @param {number} now */
  keep(attempt, now) {
    const stands = attempt && this.stands(attempt, now);
    if (!stands) return;
    this.#keptAt = now;
    this.#connection.storage.put("running", stands);
  }

  /** @param {Attempt} attempt @param {number} now @returns {object|null} what must survive; null: nothing begun */
  stands(attempt, now) {
    const begun = attempt.clock.running && !attempt.revisited && !attempt.committed;
    return begun ? attempt.keep(now, epochAt(now)) : null;
  }

  /** Some times a second. @param {Attempt} attempt @param {number} now
   *  @returns {number|null} what is left of the time; null without a limit */
  tick(attempt, now) {
    this.#attend(attempt, now);
    if (now - this.#keptAt >= KEEP_EVERY_MS) this.keep(attempt, now);
    const limit_ms = this.#connection.desk.rules.time_limit_s * 1000;
    return !limit_ms || attempt.revisited ? null : limit_ms - attempt.clock.read(now).response_ms;
  }

  /** The case is confirmed, or its time is over. @param {Attempt} attempt @param {number} now */
  close(attempt, now) {
    this.#attend(attempt, now);
    this.#surroundings.close(attempt, now);
  }

  #attend(attempt, now) {
    if (this.#hides(attempt) || attempt.clock.paused) this.#surroundings.interrupt();
    else this.#surroundings.pass(attempt, now, epochAt(now), !this.#overlays.open);
  }

  #hides(attempt) {
    return document.hidden || attempt.away || this.#overlays.blocked;
  }
}
