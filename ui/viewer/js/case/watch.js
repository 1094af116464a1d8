/** The watch on the case before the reader: in sight or not, how long is left, and the checkpoint for a reload. */

import { epochAt } from "../page/paint.js";
import { Surroundings } from "./surroundings.js";

/** @typedef {import("./sitting.js").Sitting} Sitting */

const KEEP_EVERY_MS = 1000;

export class Watch {
  #courier;
  #overlays;
  #surroundings;
  #keptAt = 0;

  /** @param {import("../delivery/courier.js").Courier} courier @param {import("../page/overlays.js").Overlays} overlays
   *  @param {() => import("./surroundings.js").Measured} measure */
  constructor(courier, overlays, measure) {
    this.#courier = courier;
    this.#overlays = overlays;
    this.#surroundings = new Surroundings(measure, () => courier.desk.rules.smallest_window);
  }

  /** The tab, or the case in it, may have been hidden or shown again. @param {Sitting} sitting @param {number} now */
  look(sitting, now) {
    // Behind a sheet that only the server can close, nobody can read on.
    sitting.clock.setHidden(now, this.#hides(sitting));
    this.#surroundings.interrupt();
  }

  /** The case goes off the screen unfinished: from now on its time counts as hidden.
   *  @param {Sitting} sitting @param {number} now */
  leave(sitting, now) {
    sitting.away = true;
    this.look(sitting, now);
    this.keep(sitting, now);
  }

  /** Write down where the case stands, for a reload. @param {Sitting|null} sitting @param {number} now */
  keep(sitting, now) {
    const stands = sitting && this.stands(sitting, now);
    if (!stands) return;
    this.#keptAt = now;
    this.#courier.keep.put("running", stands);
  }

  /** @param {Sitting} sitting @param {number} now @returns {object|null} what must survive; null: nothing begun */
  stands(sitting, now) {
    const begun = sitting.clock.running && !sitting.revisited && !sitting.committed;
    return begun ? sitting.keep(now, epochAt(now)) : null;
  }

  /** Some times a second. @param {Sitting} sitting @param {number} now
   *  @returns {number|null} what is left of the time; null without a limit */
  tick(sitting, now) {
    this.#attend(sitting, now);
    if (now - this.#keptAt >= KEEP_EVERY_MS) this.keep(sitting, now);
    const limit_ms = this.#courier.desk.rules.time_limit_s * 1000;
    return !limit_ms || sitting.revisited ? null : limit_ms - sitting.clock.read(now).response_ms;
  }

  /** The case is confirmed, or its time is over. @param {Sitting} sitting @param {number} now */
  close(sitting, now) {
    this.#attend(sitting, now);
    this.#surroundings.close(sitting, now);
  }

  #attend(sitting, now) {
    if (this.#hides(sitting) || sitting.clock.paused) this.#surroundings.interrupt();
    else this.#surroundings.pass(sitting, now, epochAt(now), !this.#overlays.open);
  }

  #hides(sitting) {
    return document.hidden || sitting.away || this.#overlays.blocked;
  }
}
