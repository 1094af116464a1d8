/** Where the reader goes from here: something to prepare, a curtain, the next case, or the end. */

import { Between } from "./between.js";
import { Interludes } from "./interludes.js";
import { LastReview } from "../steps/last-review.js";
import { Preparation } from "../steps/preparation.js";
import { SmallestWindow } from "../steps/smallest-window.js";
import { texts } from "../page/texts.js";

const MOST_UNTOUCHED = 3; // one case may be looked at with folded arms, three in a row hardly

export class Progress {
  #room;
  #panel;
  #stage;
  #past;
  #between;
  #interludes;
  #preparation;
  #window;
  #review;
  /** Whether anything stood before the reader on this page: until then no Enter can be the second half of one. */
  #met = false;
  /** Cases in a row whose time ran out untouched. */
  #ranOut = 0;

  /** @param {import("./room.js").Room} room
   *  @param {import("./room.js").Parts & {past: import("../case/looking-back.js").LookingBack,
   *   wayBack: import("./way-back.js").WayBack}} parts
   *  @param {import("../delivery/courier.js").Courier} courier */
  constructor(room, parts, courier) {
    this.#room = room;
    this.#panel = parts.panel;
    this.#stage = parts.stage;
    this.#past = parts.past;
    this.#between = new Between(parts, courier, () => this.another());
    this.#interludes = new Interludes(courier);
    this.#preparation = new Preparation(parts, courier, () => room.next());
    this.#window = new SmallestWindow(parts, courier, () => room.next());
    this.#review = new LastReview(parts.sheet, courier, {
      toLast: () => parts.wayBack.toLast(), done: () => room.next(),
    });
  }

  /** What the next case waits for behind a curtain; "" if it does not. */
  get halted() { return this.#between.halted; }

  next() {
    const [item] = this.#room.list.coming;
    const released = this.#between.release();
    const interlude = item && (this.#interludes.before(item) ?? (released ? { name: "again", ...texts.onAgain } : null));
    const due = this.#preparation.due.length;
    if ((due || item) && this.#window.due) this.#ask(this.#window);
    else if (due) this.#ask(this.#preparation);
    else if (item && this.#ranOut >= MOST_UNTOUCHED) this.#stop({ name: "absent", ...texts.absent });
    else if (interlude) this.#stop(interlude);
    else if (item) this.#room.seating.seat(this.#past.takeBack(item.case) ?? this.#room.list.sitting(item));
    else this.#wait();
  }

  /** The reader moved a hand. */
  touched() {
    this.#ranOut = 0;
  }

  /** @param {import("../page/types.js").Case} item is on the screen for the first time, or again */
  began(item) {
    this.#met = true;
    this.#interludes.began(item);
  }

  /** @param {boolean} untouched its time ran out, and nobody moved a hand */
  done(untouched) {
    this.#ranOut = untouched ? this.#ranOut + 1 : 0;
  }

  /** While nothing was left to read: there may be a case now. */
  another() {
    if (!this.#room.sitting && (this.#room.state === "loading" || this.#between.held)) this.#room.next();
  }

  /** @param {string} step of the preparation that the server did not take @param {string} why */
  refused(step, why) {
    this.#preparation.refused(step, why);
  }

  /** Enter lifts a curtain, but not every one. @param {number} now */
  enter(now) {
    if (this.#between.endsWithEnter(now)) this.resume();
  }

  /** The reader goes on. */
  resume() {
    if (this.#between.lift()) this.#interludes.lift(this.#room.list.coming[0]);
    this.#room.touched();
    this.#room.next();
  }

  /** The reader goes on in another window. */
  leave() {
    this.#between.lift();
  }

  /** The window may be large enough now. */
  resized() {
    this.#window.resized();
  }

  /** Something stands before the cases, or behind them, on a sheet of its own. @param {{show: () => void}} step */
  #ask(step) {
    this.#met = true;
    this.#stage.clear();
    this.#room.enter("paused");
    step.show();
  }

  /** The next case waits behind a curtain, until the reader goes on. @param {import("./between.js").Halt} halt */
  #stop(halt) {
    this.#between.halt(halt, this.#met ? performance.now() : -Infinity, () => this.resume());
    this.#met = true;
    this.#room.enter("paused");
    this.#panel.say(halt.title);
    this.#room.seating.prefetch();
  }

  #wait() {
    this.#room.sitting = null;
    this.#past.takeBack();
    if (this.#review.due) this.#ask(this.#review);
    else this.#room.enter(this.#between.wait());
  }
}
