/** How the reader comes to an answer: option, then how sure, then confirmed; or the case is given up with a reason. */

import { texts } from "../page/texts.js";

/** @import { Attempt } from "./attempt.js" */
/** @import { CannotAnswer } from "./cannot-answer.js" */
/** @import { QuestionPanel } from "../page/question-panel.js" */
/** @import { Rules } from "../page/types.js" */

/** @typedef {{status: "answered"|"skipped", reason: string}} Decision */

export class Answering {
  #panel;
  #cannotAnswer;
  #current;
  #rules;
  #keep;

  /**
   * @param {{panel: QuestionPanel, cannotAnswer: CannotAnswer}} parts
   * @param {() => Attempt|null} current the case that can be answered now @param {() => Rules} rules
   * @param {(now: number) => void} keep for a reload
   */
  constructor({ panel, cannotAnswer }, current, rules, keep) {
    this.#panel = panel;
    this.#cannotAnswer = cannotAnswer;
    this.#current = current;
    this.#rules = rules;
    this.#keep = keep;
  }

  /** Whether digits now mean reasons. */
  get givingUp() { return this.#cannotAnswer.open; }

  /** Another case is coming, or the answer is given. */
  reset() {
    this.#panel.leaveComment();
    this.#cannotAnswer.leave();
  }

  /** @param {string} option @param {number} now */
  choose(option, now) {
    const attempt = this.#current();
    if (this.givingUp || !attempt?.item.options.some((each) => each.option === option)) return;
    attempt.choose(option, now);
    this.#panel.showChoice(option);
    this.#panel.showConfidence(attempt.confidence);
    this.#panel.hint("");
    this.#panel.say(texts.said.chosen(option));
    this.#keep(now);
  }

  /**
   * Where confidence is asked a digit never means an option: it stands beside the row of digits it would be taken for.
   * @param {number} number on the key: how sure, or an option where nobody asks how sure, or why not
   */
  digit(number, now) {
    const attempt = this.#current();
    if (!attempt) return;
    const { confidence_steps: steps } = this.#rules();
    if (this.givingUp) this.#cannotAnswer.choose(number);
    else if (!steps) this.choose(attempt.item.options[number - 1]?.option, now);
    else if (attempt.option === null) this.#panel.hint(texts.hints.letterFirst(steps));
    else if (number > steps) this.#panel.hint(texts.hints.sayHowSure(steps));
    else this.sure(number);
  }

  /** @param {number} step */
  sure(step) {
    const attempt = this.#current();
    if (!attempt || this.givingUp) return;
    if (attempt.option === null) {
      this.#panel.hint(texts.hints.chooseFirst);
      return;
    }
    attempt.confidence = step;
    this.#panel.showConfidence(step);
    this.#panel.hint("");
    this.#panel.say(texts.said.sure(step, this.#rules().confidence_steps));
  }

  /** @param {string} text */
  comment(text) {
    const attempt = this.#current();
    if (attempt) attempt.comment = text;
  }

  /** Back from the reasons to the options. @returns {boolean} whether there was a way back */
  stepBack() {
    const attempt = this.#current();
    if (!attempt || !this.givingUp) return false;
    this.#panel.hint("");
    this.#cannotAnswer.leave();
    this.#panel.showChoice(attempt.option);
    return true;
  }

  /** To the reasons for giving the case up, or back from them; where the protocol allows it. */
  giveUp() {
    if (!this.#current() || !this.#rules().cannot_answer) return;
    if (!this.stepBack()) this.#cannotAnswer.enter();
  }

  /** What Enter means now. @param {boolean} doubled it is rather the second half of a double press
   *  @returns {Decision|null} null: something is still to be said; the hint says what */
  confirm(doubled) {
    const attempt = this.#current();
    if (!attempt) return null;
    const { option, confidence, unchanged } = attempt;
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
    const { reason, wantsWords } = this.#cannotAnswer;
    if (reason) return /** @type {Decision} */ ({ status: "skipped", reason });
    this.#panel.hint(wantsWords ? texts.hints.reasonWords : texts.hints.chooseReason);
    return null;
  }
}
