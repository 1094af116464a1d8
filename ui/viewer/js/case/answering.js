/** How the reader comes to an answer: option, then how sure, then confirmed; or the case is given up with a reason. */

import { texts } from "../page/texts.js";

/** @typedef {import("./sitting.js").Sitting} Sitting */
/** @typedef {import("../page/types.js").Rules} Rules */
/** @typedef {{status: "answered"|"skipped", reason: string}} Decision */

export class Answering {
  #panel;
  #givingUp;
  #current;
  #rules;
  #keep;

  /**
   * @param {{panel: import("../page/panel.js").Panel, givingUp: import("./giving-up.js").GivingUp}} parts
   * @param {() => Sitting|null} current the case that can be answered now @param {() => Rules} rules
   * @param {(now: number) => void} keep for a reload
   */
  constructor({ panel, givingUp }, current, rules, keep) {
    this.#panel = panel;
    this.#givingUp = givingUp;
    this.#current = current;
    this.#rules = rules;
    this.#keep = keep;
  }

  /** Whether digits now mean reasons. */
  get givingUp() { return this.#givingUp.open; }

  /** Another case is coming, or the answer is given. */
  reset() {
    this.#panel.leaveComment();
    this.#givingUp.leave();
  }

  /** @param {string} option @param {number} now */
  choose(option, now) {
    const sitting = this.#current();
    if (this.givingUp || !sitting?.item.options.some((each) => each.option === option)) return;
    sitting.choose(option, now);
    this.#panel.showChoice(option);
    this.#panel.showConfidence(sitting.confidence);
    this.#panel.hint("");
    this.#panel.say(texts.said.chosen(option));
    this.#keep(now);
  }

  /**
   * Where confidence is asked a digit never means an option: it stands beside the row of digits it would be taken for.
   * @param {number} number on the key: how sure, or an option where nobody asks how sure, or why not
   */
  digit(number, now) {
    const sitting = this.#current();
    if (!sitting) return;
    const { confidence_steps: steps } = this.#rules();
    if (this.givingUp) this.#givingUp.choose(number);
    else if (!steps) this.choose(sitting.item.options[number - 1]?.option, now);
    else if (sitting.option === null) this.#panel.hint(texts.hints.letterFirst(steps));
    else if (number > steps) this.#panel.hint(texts.hints.sayHowSure(steps));
    else this.sure(number);
  }

  /** @param {number} step */
  sure(step) {
    const sitting = this.#current();
    if (!sitting || this.givingUp) return;
    if (sitting.option === null) {
      this.#panel.hint(texts.hints.chooseFirst);
      return;
    }
    sitting.confidence = step;
    this.#panel.showConfidence(step);
    this.#panel.hint("");
    this.#panel.say(texts.said.sure(step, this.#rules().confidence_steps));
  }

  /** @param {string} text */
  comment(text) {
    const sitting = this.#current();
    if (sitting) sitting.comment = text;
  }

  /** Back from the reasons to the options. @returns {boolean} whether there was a way back */
  stepBack() {
    const sitting = this.#current();
    if (!sitting || !this.givingUp) return false;
    this.#panel.hint("");
    this.#givingUp.leave();
    this.#panel.showChoice(sitting.option);
    return true;
  }

  /** To the reasons for giving the case up, or back from them; where the protocol allows it. */
  giveUp() {
    if (!this.#current() || !this.#rules().cannot_answer) return;
    if (!this.stepBack()) this.#givingUp.enter();
  }

  /** What Enter means now. @param {boolean} doubled it is rather the second half of a double press
   *  @returns {Decision|null} null: something is still to be said; the hint says what */
  confirm(doubled) {
    const { option, confidence, unchanged } = this.#current();
    const { confidence_steps: steps } = this.#rules();
    if (this.givingUp) return this.#givenUp();
    const done = /** @type {Decision} */ ({ status: "answered", reason: "" });
    if (option === null && unchanged) return done; // looked at again, and left as it was
    if (option === null) {
      if (!doubled) this.#panel.hint(texts.hints.chooseFirst);
      return null;
    }
    if (!steps || confidence !== null) return done;
    this.#panel.hint(texts.hints.sayHowSure(steps));
    return null;
  }

  #givenUp() {
    const { reason, wantsWords } = this.#givingUp;
    if (reason) return /** @type {Decision} */ ({ status: "skipped", reason });
    this.#panel.hint(wantsWords ? texts.hints.reasonWords : texts.hints.chooseReason);
    return null;
  }
}
