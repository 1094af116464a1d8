/** The way back to earlier cases, and from them on again until the running case is reached. */

import { texts } from "../page/texts.js";

/** @import { Attempt } from "../case/attempt.js" */
/** @import { OpenParts, Room } from "./room.js" */

export class GoingBack {
  #room;
  #parts;

  /** @param {Room} room @param {OpenParts} parts */
  constructor(room, parts) {
    this.#room = room;
    this.#parts = parts;
  }

  /** To the case before the one on the screen. @param {Attempt} attempt */
  back(attempt) {
    const { practice, position } = attempt.item;
    if (!practice && position > 1) this.#visit(attempt, position - 1);
  }

  /** From the end of the study to its last case. */
  async toLast() {
    const room = this.#room;
    const { total } = room.desk;
    room.enter("loading");
    const item = this.#parts.earlier.remembered(total) ?? (await this.#parts.earlier.fetch(total));
    if (!room.here || room.attempt || room.state !== "loading") return;
    if (item) {
      room.presenter.revisit(item);
      return;
    }
    this.#parts.panel.toast(texts.hints.earlierFailed);
    room.next();
  }

  /** The case on the screen is done: to the one after it. @param {Attempt} attempt
   *  @returns {boolean} false: the running case follows */
  onward(attempt) {
    const following = this.#parts.earlier.after(attempt, this.#room.list.coming[0]);
    if (following) this.#visit(attempt, following);
    return Boolean(following);
  }

  /** @param {Attempt} from the case on the screen @param {number} position */
  async #visit(from, position) {
    const done = from.committed;
    const known = this.#parts.earlier.remembered(position);
    const item = known ?? (await this.#parts.earlier.fetch(position));
    if (!this.#stillMeant(from, done)) return;
    if (!item) {
      this.#parts.panel.toast(texts.hints.earlierFailed);
      if (done) this.#room.next();
      return;
    }
    if (!from.revisited && !done) {
      this.#parts.timer.leave(from, performance.now());
      this.#parts.earlier.setAside(from);
    }
    const attempt = this.#room.presenter.revisit(item);
    if (known) this.#correct(attempt);
  }

  /** The reader may have gone on, confirmed or paused, while the case was on its way. */
  #stillMeant(from, done) {
    const { attempt, state } = this.#room;
    return from === attempt && from.committed === done && (done || state === "ready");
  }

  /** An earlier case came up as this page remembers it: has it been answered anew elsewhere? @param {Attempt} attempt */
  async #correct(attempt) {
    const item = await this.#parts.earlier.correction(attempt.item);
    const untouched = attempt === this.#room.attempt && !attempt.committed && attempt.unchanged;
    if (item && untouched) this.#room.presenter.revisit(item);
  }
}
