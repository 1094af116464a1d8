/** The way back to earlier cases, and from them on again until the running case is reached. */

import { texts } from "../page/texts.js";

/** @typedef {import("../case/sitting.js").Sitting} Sitting */

export class WayBack {
  #room;
  #past;
  #panel;
  #watch;

  /** @param {import("./room.js").Room} room @param {{past: import("../case/looking-back.js").LookingBack,
   *   panel: import("../page/panel.js").Panel, watch: import("../case/watch.js").Watch}} parts */
  constructor(room, { past, panel, watch }) {
    this.#room = room;
    this.#past = past;
    this.#panel = panel;
    this.#watch = watch;
  }

  /** To the case before the one on the screen. */
  back() {
    const { practice, position } = this.#room.sitting.item;
    if (!practice && position > 1) this.#visit(position - 1);
  }

  /** From the end of the study to its last case. */
  async toLast() {
    const room = this.#room;
    const { total } = room.desk;
    room.enter("loading");
    const item = this.#past.remembered(total) ?? (await this.#past.fetch(total));
    if (!room.here || room.sitting || room.state !== "loading") return;
    if (item) {
      room.seating.revisit(item);
      return;
    }
    this.#panel.toast(texts.hints.earlierFailed);
    room.next();
  }

  /** The case on the screen is done: to the one after it. @returns {boolean} false: the running case follows */
  onward() {
    const following = this.#past.after(this.#room.sitting, this.#room.list.coming[0]);
    if (following) this.#visit(following);
    return Boolean(following);
  }

  async #visit(position) {
    const from = this.#room.sitting;
    const done = from.committed;
    const known = this.#past.remembered(position);
    const item = known ?? (await this.#past.fetch(position));
    if (!this.#stillMeant(from, done)) return;
    if (!item) {
      this.#panel.toast(texts.hints.earlierFailed);
      if (done) this.#room.next();
      return;
    }
    if (!from.revisited && !done) {
      this.#watch.leave(from, performance.now());
      this.#past.setAside(from);
    }
    const sitting = this.#room.seating.revisit(item);
    if (known) this.#correct(sitting);
  }

  /** The reader may have gone on, confirmed or paused, while the case was on its way. */
  #stillMeant(from, done) {
    const { sitting, state } = this.#room;
    return from === sitting && from.committed === done && (done || state === "ready");
  }

  /** An earlier case came up as this page remembers it: has it been answered anew elsewhere? @param {Sitting} sitting */
  async #correct(sitting) {
    const item = await this.#past.correction(sitting.item);
    if (item && sitting === this.#room.sitting && !sitting.committed && sitting.unchanged) this.#room.seating.revisit(item);
  }
}
