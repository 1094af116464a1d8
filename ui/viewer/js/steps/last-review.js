/** The last chance to review, where going back is allowed: every case is answered, and the end is said by the reader. */

import { around, element, find } from "../page/elements.js";
import { newId } from "../page/ids.js";
import { texts } from "../page/texts.js";

/** @import { Connection } from "../delivery/connection.js" */
/** @import { StepSheet } from "../page/step-sheet.js" */

export class LastReview {
  #sheet;
  #connection;
  #toLast;
  #done;

  /**
   * @param {StepSheet} sheet @param {Connection} connection
   * @param {{toLast: () => void, done: () => void}} told toLast: back to the last case; done: the answers stand
   */
  constructor(sheet, connection, { toLast, done }) {
    this.#sheet = sheet;
    this.#connection = connection;
    this.#toLast = toLast;
    this.#done = done;
  }

  /** Whether every answer has arrived and the reader has still to say that they stand. */
  get due() {
    const { desk, outbox } = this.#connection;
    return Boolean(desk.review) && !outbox.size;
  }

  show() {
    const { title, text, review, finish, choose } = texts.review;
    const words = element("p", text(this.#connection.desk.total), "rr-prelude-text");
    words.tabIndex = -1;
    const button = (/** @type {string} */ name) => find(document, `.rr-prelude ${name}`);
    this.#sheet.show({
      name: "review", title, count: "", body: [words], focus: words,
      secondary: { label: review, key: "1", run: () => this.#review() },
      primary: { label: finish, key: "2", run: () => this.#finish() },
      keys: ({ key, target }) => {
        if (key === "Backspace") this.#review();
        else if (key === "1") button(".rr-secondary").focus();
        else if (key === "2") button(".rr-primary").focus();
        // The last answer's Enter, pressed once too often, finishes nothing.
        else if (key === "Enter" && !around(target, ".rr-prelude-actions")) this.#sheet.hint(choose);
        else return false;
        return true;
      },
    });
    this.#sheet.hint(choose);
  }

  #review() {
    this.#sheet.close();
    this.#toLast();
  }

  #finish() {
    this.#connection.outbox.put({ kind: "finish", id: newId() });
    this.#sheet.close();
    this.#done();
  }
}
