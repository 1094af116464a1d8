/** Between two cases: waiting for the next one, for the reader, or for the study to go on, and the end of it. */

import { receiptSlip } from "../page/receipt.js";
import { texts } from "../page/texts.js";

/** @import { OpenParts } from "./room.js" */
/** @import { Desk } from "../page/types.js" */

const ASK_AGAIN_MS = 1000;
const HELD_ASK_AGAIN_MS = 10_000;
const QUIET_MS = 600; // an Enter this soon is the second half of the last answer's

/** @typedef {{name: "absent"|"again"|"begin"|"block"|"break", title: string, text: string, button: string}} Halt */

export class Waiting {
  #parts;
  #again;
  /** @type {ReturnType<typeof setTimeout>|null} */
  #asking = null;
  /** Whether the page says that nothing is to be read for now. */
  #held = false;
  /** The words it says so in; drawn once, so that what is marked on it to be copied stays marked. */
  #resting = "";
  /** @type {{name: Halt["name"]|"", since: number}} */
  #halt = { name: "", since: 0 };

  /** @param {OpenParts} parts @param {() => void} again the desk has been asked: there may be a case now */
  constructor(parts, again) {
    this.#parts = parts;
    this.#again = again;
  }

  /** Nothing to read at the moment: the end, a hold, or cases still on their way.
   *  @returns {"finished"|"paused"|"loading"} */
  wait() {
    const { desk, outbox } = this.#parts.connection;
    this.#parts.display.clear();
    if (desk.finished && !outbox.size) {
      this.#finish(desk);
      return "finished";
    }
    if (desk.hold && !outbox.size) {
      this.#hold(desk);
      return "paused";
    }
    const end = desk.cases.at(-1);
    const last = desk.finished || (end?.position === desk.total && !end.practice);
    const words = last ? texts.loading.saving : texts.loading.waiting;
    this.#parts.panel.showLoading(desk.preparation?.length ? texts.loading.opening : words);
    if (outbox.size) outbox.hurry();
    else this.#asking ??= setTimeout(() => this.#ask(), ASK_AGAIN_MS);
    return "loading";
  }

  /** What the next case waits for; "" if it does not. */
  get halted() { return this.#halt.name || (this.#held ? this.#parts.connection.desk.hold : ""); }

  get held() { return this.#held; }

  /** Nothing holds the reading up any more. @returns {boolean} whether the page said that something did */
  release() {
    if (!this.#held || this.#parts.connection.desk.hold) return false;
    this.#held = false;
    this.#resting = "";
    this.#parts.overlays.hideCurtain();
    return true;
  }

  /** Whether Enter goes on: not for a reader who may have left, whose hand may lie on the keyboard.
   *  @param {number} now */
  endsWithEnter(now) {
    return !["", "absent"].includes(this.#halt.name) && now - this.#halt.since > QUIET_MS;
  }

  /** Not one more case goes by until the reader goes on. @param {Halt} halt @param {number} since
   *  @param {() => void} goOn */
  halt({ name, title, text, button }, since, goOn) {
    this.#halt = { name, since };
    this.#parts.display.clear();
    this.#parts.panel.showCountdown(null);
    this.#parts.panel.showLoading("");
    this.#parts.overlays.showCurtain({ title, text }, { label: button, run: goOn });
  }

  /** The reader goes on. @returns {boolean} whether a halt ends that was no absence */
  lift() {
    const { name } = this.#halt;
    this.#halt = { name: "", since: 0 };
    if (this.#held) this.#parts.overlays.hideCurtain();
    this.#held = false;
    this.#resting = "";
    return !["", "absent"].includes(name);
  }

  async #ask() {
    await this.#parts.connection.refresh();
    this.#asking = null;
    this.#again();
  }

  /** @param {Desk} desk */
  #hold(desk) {
    const { title, lines } = texts.holds[desk.hold](desk);
    this.#held = true;
    this.#parts.panel.showCountdown(null);
    this.#parts.panel.showLoading("");
    const words = JSON.stringify([title, lines, desk.receipt]);
    if (words !== this.#resting) this.#parts.overlays.rest(title, lines, receiptSlip(desk));
    this.#resting = words;
    this.#parts.panel.say(title);
    const wait = Math.min(desk.opens_in_ms ?? HELD_ASK_AGAIN_MS, HELD_ASK_AGAIN_MS);
    this.#asking ??= setTimeout(() => this.#ask(), Math.max(wait, ASK_AGAIN_MS));
  }

  #finish(desk) {
    const { total, read, study, rules } = desk;
    this.#parts.display.prefetch([], []);
    this.#parts.root.dataset.position = String(total);
    const { storage, outbox } = this.#parts.connection;
    outbox.forget();
    for (const name of storage.names("")) storage.drop(name);
    const lines = [texts.finished.text(read, study)];
    if (rules.feedback !== "never") lines.push(texts.finished.scoreCard);
    lines.push(texts.finished.nothingLeft);
    this.#parts.overlays.finish(texts.finished.title, lines, receiptSlip(desk));
  }
}
