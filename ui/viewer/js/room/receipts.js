/** What comes from the server while the reader reads, and what it means for them: receipts, refusals, trouble. */

import { texts } from "../page/texts.js";

/** @import { NextStep } from "./next-step.js" */
/** @import { OpenParts, Room } from "./room.js" */
/** @import { Receipt, Record } from "../page/types.js" */

export class Receipts {
  #room;
  #parts;
  #nextStep;

  /** @param {Room} room @param {OpenParts} parts @param {NextStep} nextStep */
  constructor(room, parts, nextStep) {
    this.#room = room;
    this.#parts = parts;
    this.#nextStep = nextStep;
  }

  outboxChanged() {
    const { outbox } = this.#parts.connection;
    this.#parts.root.dataset.outbox = String(outbox.readings.length);
    this.#parts.panel.showOutbox(outbox.state);
  }

  /** @param {string} text */
  trouble(text) {
    this.#parts.panel.showTrouble(text);
    if (this.#parts.feedback.awaited) this.#parts.panel.hint(text);
  }

  /** Answers were refused as they came, not one by one. @param {string} text */
  notTaken(text) {
    this.trouble(text);
    this.#parts.panel.toast(text);
  }

  /** The server has answered. @param {Receipt} receipt @param {Record[]} sent */
  receipt(receipt, sent) {
    const room = this.#room;
    if (!room.here) return;
    for (const { id, why } of receipt.refused) this.#refused(sent.find((record) => record.id === id), why);
    const told = this.#parts.feedback.from(receipt, sent);
    if (told !== undefined) {
      room.tell(told);
    } else if (room.list.readElsewhere(room.attempt)) {
      this.#parts.panel.toast(texts.hints.readElsewhere);
      // A paused reader is not there: the next case comes when they go on.
      if (room.state !== "paused") room.giveOver();
    } else {
      this.#nextStep.another();
    }
    if (room.state !== "loading") room.presenter.prefetch();
  }

  /** @param {Record|undefined} record @param {string} why */
  #refused(record, why) {
    const { attempt } = this.#room;
    // Reading was held up before the case was shown: it is taken off the screen and comes again later.
    const tooLate = record?.kind === "presentation" && this.#parts.connection.desk.hold && attempt?.item.case === record.case;
    if (tooLate && !attempt?.committed) this.#room.giveOver();
    if (record?.kind === "preparation") this.#nextStep.refused(record.step, why);
    if (record?.kind !== "reading") return;
    const { case: id = "" } = record;
    this.#room.list.again(id);
    this.#parts.earlier.forget(id);
    this.#parts.panel.toast(texts.hints.refused(why));
  }
}
