/** Where the reader goes from here: something to prepare, a curtain, the next case, or the end. */

import { Halts } from "./halts.js";
import { LastReview } from "../steps/last-review.js";
import { Preparation } from "../steps/preparation.js";
import { SmallestWindow } from "../steps/smallest-window.js";
import { texts } from "../page/texts.js";
import { Waiting } from "./waiting.js";

/** @import { GoingBack } from "./going-back.js" */
/** @import { OpenParts, Room } from "./room.js" */
/** @import { Case } from "../page/types.js" */
/** @import { Halt } from "./waiting.js" */

const MOST_UNTOUCHED = 3; // one case may be looked at with folded arms, three in a row hardly

export class NextStep {
  #room;
  #parts;
  #waiting;
  #halts;
  #preparation;
  #window;
  #review;
  /** Whether anything stood before the reader on this page: until then no Enter can be the second half of one. */
  #met = false;
  /** Cases in a row whose time ran out untouched. */
  #ranOut = 0;

  /** @param {Room} room @param {OpenParts} parts @param {GoingBack} goingBack */
  constructor(room, parts, goingBack) {
    const { connection } = parts;
    this.#room = room;
    this.#parts = parts;
    this.#waiting = new Waiting(parts, () => this.another());
    this.#halts = new Halts(connection);
    this.#preparation = new Preparation(parts, connection, () => room.next());
    this.#window = new SmallestWindow(parts, connection, () => room.next());
    this.#review = new LastReview(parts.sheet, connection, {
      toLast: () => goingBack.toLast(), done: () => room.next(),
    });
  }

  /** What the next case waits for behind a curtain; "" if it does not. */
  get halted() { return this.#waiting.halted; }

  next() {
    const [item] = this.#room.list.coming;
    const released = this.#waiting.release();
    const halt = item && (this.#halts.before(item) ?? (released ? { name: "again", ...texts.onAgain } : null));
    const due = this.#preparation.due.length;
    if ((due || item) && this.#window.due) this.#ask(this.#window);
    else if (due) this.#ask(this.#preparation);
    else if (item && this.#ranOut >= MOST_UNTOUCHED) this.#stop({ name: "absent", ...texts.absent });
    else if (halt) this.#stop(halt);
    else if (item) this.#room.presenter.present(this.#parts.earlier.takeBack(item.case) ?? this.#room.list.attempt(item));
    else this.#wait();
  }

  /** The reader moved a hand. */
  touched() {
    this.#ranOut = 0;
  }

  /** @param {Case} item is on the screen for the first time, or again */
  began(item) {
    this.#met = true;
    this.#halts.began(item);
  }

  /** @param {boolean} untouched its time ran out, and nobody moved a hand */
  done(untouched) {
    this.#ranOut = untouched ? this.#ranOut + 1 : 0;
  }

  /** While nothing was left to read: there may be a case now. */
  another() {
    if (!this.#room.attempt && (this.#room.state === "loading" || this.#waiting.held)) this.#room.next();
  }

  /** @param {string} step of the preparation that the server did not take @param {string} why */
  refused(step, why) {
    this.#preparation.refused(step, why);
  }

  /** Enter lifts a curtain, but not every one. @param {number} now */
  enter(now) {
    if (this.#waiting.endsWithEnter(now)) this.resume();
  }

  /** The reader goes on. */
  resume() {
    if (this.#waiting.lift()) this.#halts.lift(this.#room.list.coming[0]);
    this.#room.touched();
    this.#room.next();
  }

  /** The reader goes on in another window. */
  leave() {
    this.#waiting.lift();
  }

  /** The window may be large enough now. */
  resized() {
    this.#window.resized();
  }

  /** Something stands before the cases, or behind them, on a sheet of its own. @param {{show: () => void}} step */
  #ask(step) {
    this.#met = true;
    this.#parts.display.clear();
    this.#room.enter("paused");
    step.show();
  }

  /** The next case waits behind a curtain, until the reader goes on. @param {Halt} halt */
  #stop(halt) {
    this.#waiting.halt(halt, this.#met ? performance.now() : -Infinity, () => this.resume());
    this.#met = true;
    this.#room.enter("paused");
    this.#parts.panel.say(halt.title);
    this.#room.presenter.prefetch();
  }

  #wait() {
    this.#room.attempt = null;
    this.#parts.earlier.takeBack();
    if (this.#review.due) this.#ask(this.#review);
    else this.#room.enter(this.#waiting.wait());
  }
}
