/** What is measured of the cases before the reader: in sight or not, how long is left, and the checkpoint for a reload. */

import { Attempt } from "./attempt.js";
import { epochAt } from "../page/paint.js";
import { newId } from "../page/ids.js";
import { ViewingConditions } from "./viewing-conditions.js";

/** @import { Connection } from "../delivery/connection.js" */
/** @import { Measured } from "./viewing-conditions.js" */
/** @import { Overlays } from "../page/overlays.js" */
/** @import { Shown } from "../page/types.js" */

const KEEP_EVERY_MS = 1000;

export class CaseTimer {
  #connection;
  #overlays;
  #room;
  #surroundings;
  #keptAt = 0;
  /** Of the case on the screen, and of the one aside. @type {Map<number, Attempt>} */
  #attempts = new Map();

  /** @param {Connection} connection @param {Overlays} overlays @param {() => Measured} measure
   *  @param {() => {shown: Shown|null, aside: Shown|null}} room what is on the screen, and what waits aside */
  constructor(connection, overlays, measure, room) {
    this.#connection = connection;
    this.#overlays = overlays;
    this.#room = room;
    this.#surroundings = new ViewingConditions(measure, () => connection.desk.rules.smallest_window);
  }

  /** A case comes to the screen, its clock as it was. @param {Shown} shown */
  bring({ n, item, committed, resumed }) {
    const aside = this.#room().aside?.n;
    for (const each of this.#attempts.keys()) if (each !== n && each !== aside) this.#attempts.delete(each);
    if (committed || this.#attempts.has(n)) return;
    const kept = resumed ? this.#connection.storage.get("running") : null;
    this.#attempts.set(n, new Attempt(item, { readingId: newId(), kept }));
  }

  /** It is on the screen. @param {number} t0 @returns {Attempt} */
  begin(t0) {
    const attempt = /** @type {Attempt} */ (this.#live);
    attempt.away = false;
    this.#look(attempt, t0);
    attempt.begin(t0, epochAt(t0));
    return attempt;
  }

  /** The tab, or the case in it, may have been hidden or shown again. @param {number} now */
  look(now) {
    if (!this.#live) return;
    this.#look(this.#live, now);
    this.keep(now);
  }

  /** The case goes off the screen unfinished: from now on its time counts as hidden.
   *  @param {Shown} shown @param {number} now @param {string} [flag] why, if that is a reason to doubt */
  leave(shown, now, flag) {
    const attempt = this.#attempts.get(shown.n);
    if (!attempt) return;
    if (flag && attempt.clock.running) attempt.flag(flag);
    attempt.away = true;
    this.#look(attempt, now);
    this.#keep(shown, now);
  }

  /** @param {boolean} paused @param {number} now */
  setPaused(paused, now) {
    this.#live?.clock.setPaused(now, paused);
    this.keep(now);
  }

  /** @param {string} option another one than before @param {number} now */
  choose(option, now) {
    this.#live?.choose(option, now);
  }

  /** The answer was written on. @param {number} now */
  written(now) {
    this.#live?.written(now);
  }

  /** @param {string} tool */
  used(tool) {
    this.#live?.used(tool);
  }

  /** @param {string[]} uses from now on @param {number} now */
  looking(uses, now) {
    this.#live?.looking(uses, now);
  }

  /** Write down where the case on the screen stands, for a reload. @param {number} now */
  keep(now) {
    const { shown } = this.#room();
    if (shown) this.#keep(shown, now);
  }

  /** @param {number} now @returns {object|null} what must survive of the running case; null: nothing begun */
  stands(now) {
    const { shown, aside } = this.#room();
    const running = aside ?? shown;
    return running && this.#stands(running, now);
  }

  /** Some times a second. @param {number} now @returns {number|null} what is left of the time; null without a limit */
  tick(now) {
    const attempt = this.#live;
    if (!attempt?.clock.running) return null;
    this.#attend(attempt, now);
    if (now - this.#keptAt >= KEEP_EVERY_MS) this.keep(now);
    const limit_ms = this.#connection.desk.rules.time_limit_s * 1000;
    return !limit_ms || attempt.item.reading ? null : limit_ms - attempt.clock.read(now).response_ms;
  }

  /** The case is confirmed, or its time is over. @param {Shown} shown @param {number} now
   *  @param {"answered"|"skipped"|"timed_out"} status */
  record(shown, now, status) {
    const attempt = /** @type {Attempt} */ (this.#attempts.get(shown.n));
    this.#attend(attempt, now);
    this.#surroundings.close(attempt, now);
    return attempt.reading(now, epochAt(now), status, shown);
  }

  /** Of the case on the screen, while it is not done. */
  get #live() {
    const { shown } = this.#room();
    return shown && !shown.committed ? this.#attempts.get(shown.n) : undefined;
  }

  #look(attempt, now) {
    // Behind a sheet that only the server can close, nobody can read on.
    attempt.clock.setHidden(now, this.#hides(attempt));
    this.#surroundings.interrupt();
  }

  #keep(shown, now) {
    const stands = this.#stands(shown, now);
    if (!stands) return;
    this.#keptAt = now;
    this.#connection.storage.put("running", stands);
  }

  #stands(shown, now) {
    const attempt = this.#attempts.get(shown.n);
    const begun = attempt?.clock.running && !shown.item.reading && !shown.committed;
    return begun ? attempt.keep(now, epochAt(now), shown) : null;
  }

  #attend(attempt, now) {
    if (this.#hides(attempt) || attempt.clock.paused) this.#surroundings.interrupt();
    else this.#surroundings.pass(attempt, now, epochAt(now), !this.#overlays.open);
  }

  #hides(attempt) {
    return document.hidden || attempt.away || this.#overlays.blocked;
  }
}
