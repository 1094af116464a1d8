/** What comes from the server while the reader reads, and what it means for them: receipts, refusals, trouble. */

import { texts } from "../page/texts.js";

/** @import { Connection } from "../delivery/connection.js" */
/** @import { EarlierCases } from "../case/earlier-cases.js" */
/** @import { Feedback } from "../case/feedback.js" */
/** @import { NextStep } from "./next-step.js" */
/** @import { QuestionPanel } from "../page/question-panel.js" */
/** @import { Room } from "./room.js" */
/** @import { Receipt, Record } from "../page/types.js" */

export class Receipts {
  #room;
  #root;
  #panel;
  #connection;
  #feedback;
  #nextStep;
  #earlier;

  /**
   * @param {Room} room
   * @param {{root: HTMLElement, panel: QuestionPanel, feedback: Feedback,
   *   nextStep: NextStep, earlier: EarlierCases}} parts
   * @param {Connection} connection
   */
  constructor(room, { root, panel, feedback, nextStep, earlier }, connection) {
    this.#room = room;
    this.#root = root;
    this.#panel = panel;
    this.#connection = connection;
    this.#feedback = feedback;
    this.#nextStep = nextStep;
    this.#earlier = earlier;
  }

  outboxChanged() {
    const { outbox } = this.#connection;
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

  /** The server has answered. @param {Receipt} receipt @param {Record[]} sent */
  receipt(receipt, sent) {
    const room = this.#room;
    if (!room.here) return;
    for (const { id, why } of receipt.refused) this.#refused(sent.find((record) => record.id === id), why);
    const told = this.#feedback.from(receipt, sent);
    if (told !== undefined) {
      room.tell(told);
    } else if (room.list.readElsewhere(room.attempt)) {
      this.#panel.toast(texts.hints.readElsewhere);
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
    const tooLate = record?.kind === "presentation" && this.#connection.desk.hold && attempt?.item.case === record.case;
    if (tooLate && !attempt?.committed) this.#room.giveOver();
    if (record?.kind === "preparation") this.#nextStep.refused(record.step, why);
    if (record?.kind !== "reading") return;
    const { case: id = "" } = record;
    this.#room.list.again(id);
    this.#earlier.forget(id);
    this.#panel.toast(texts.hints.refused(why));
  }
}
