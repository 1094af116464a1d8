/** What comes from the server while the reader reads, and what it means for them: receipts, refusals, trouble. */

import { texts } from "../page/texts.js";

/** @typedef {import("../page/types.js").Record} Record */

export class Post {
  #room;
  #root;
  #panel;
  #courier;
  #feedback;
  #progress;
  #past;

  /**
   * @param {import("./room.js").Room} room
   * @param {{root: HTMLElement, panel: import("../page/panel.js").Panel, feedback: import("../case/feedback.js").Feedback,
   *   progress: import("./progress.js").Progress, past: import("../case/looking-back.js").LookingBack}} parts
   * @param {import("../delivery/courier.js").Courier} courier
   */
  constructor(room, { root, panel, feedback, progress, past }, courier) {
    this.#room = room;
    this.#root = root;
    this.#panel = panel;
    this.#courier = courier;
    this.#feedback = feedback;
    this.#progress = progress;
    this.#past = past;
  }

  outboxChanged() {
    const { outbox } = this.#courier;
    this.#root.dataset.outbox = String(outbox.readings.length);
    this.#panel.showOutbox(outbox.state);
  }

  /** @param {string} text */
  trouble(text) {
    this.#panel.showTrouble(text);
    if (this.#feedback.awaited) this.#panel.hint(text);
  }

  /** Answers were refused as they came, not one by one. @param {string} text */
  notTaken(text) {
    this.trouble(text);
    this.#panel.toast(text);
  }

  /** The server has answered. @param {import("../page/types.js").Receipt} receipt @param {Record[]} sent */
  receipt(receipt, sent) {
    const room = this.#room;
    if (!room.here) return;
    for (const { id, why } of receipt.refused) this.#refused(sent.find((record) => record.id === id), why);
    const told = this.#feedback.from(receipt, sent);
    if (told !== undefined) {
      room.tell(told);
    } else if (room.list.readElsewhere(room.sitting)) {
      this.#panel.toast(texts.hints.readElsewhere);
      // A paused reader is not there: the next case comes when they go on.
      if (room.state !== "paused") room.giveOver();
    } else {
      this.#progress.another();
    }
    if (room.state !== "loading") room.seating.prefetch();
  }

  /** @param {Record|undefined} record @param {string} why */
  #refused(record, why) {
    const { sitting } = this.#room;
    // Reading was held up before the case was shown: it is taken off the screen and comes again later.
    const tooLate = record?.kind === "presentation" && this.#courier.desk.hold && sitting?.item.case === record.case;
    if (tooLate && !sitting.committed) this.#room.giveOver();
    if (record?.kind === "preparation") this.#progress.refused(record.step, why);
    if (record?.kind !== "reading") return;
    this.#room.list.again(record.case);
    this.#past.forget(record.case);
    this.#panel.toast(texts.hints.refused(why));
  }
}
