/** From the confirmed answer to its record: written down first, then sent; and on to what follows. */

import { epochAt } from "../page/paint.js";
import { texts } from "../page/texts.js";

export class HandingIn {
  #room;
  #panel;
  #courier;
  #past;
  #watch;
  #feedback;
  #wayBack;
  #progress;

  /** @param {import("./room.js").Room} room
   *  @param {{panel: import("../page/panel.js").Panel, past: import("../case/looking-back.js").LookingBack,
   *   watch: import("../case/watch.js").Watch, feedback: import("../case/feedback.js").Feedback,
   *   wayBack: import("./way-back.js").WayBack, progress: import("./progress.js").Progress}} parts
   *  @param {import("../delivery/courier.js").Courier} courier */
  constructor(room, { panel, past, watch, feedback, wayBack, progress }, courier) {
    this.#room = room;
    this.#panel = panel;
    this.#courier = courier;
    this.#past = past;
    this.#watch = watch;
    this.#feedback = feedback;
    this.#wayBack = wayBack;
    this.#progress = progress;
  }

  /** The case on the screen is done. @param {number} now the moment that counts
   *  @param {{status: "answered"|"skipped"|"timed_out", reason: string}} decision */
  handIn(now, { status, reason }) {
    const { sitting } = this.#room;
    this.#watch.close(sitting, now);
    sitting.committed = true;
    this.#progress.done(status === "timed_out" && !sitting.touched);
    this.#room.answering.reset();
    this.#room.enter("loading");
    if (status === "answered" && sitting.revisited && sitting.unchanged) {
      this.#goOn();
      return;
    }
    const record = { ...sitting.reading(now, epochAt(now), status), ...(reason && { reason }) };
    const feedback = sitting.item.practice || this.#room.rules.feedback === "after case";
    if (feedback) this.#feedback.expect(sitting.item, record, epochAt(now));
    this.#store(sitting, record);
    if (!feedback) {
      this.#goOn();
      return;
    }
    this.#panel.hint(texts.loading.saving);
    this.#courier.outbox.flush();
  }

  #store(sitting, record) {
    const { outbox, keep } = this.#courier;
    outbox.put(record);
    this.#past.remember(sitting.item, record);
    if (!sitting.revisited) keep.drop("running");
    this.#room.list.answered(sitting.item.case);
  }

  #goOn() {
    if (!this.#wayBack.onward()) this.#room.next();
  }
}
