/** The panel with the question: options or a text field, reasons for not answering, and hints. */

import { AidPanel } from "./aid-panel.js";
import { announce, around, element, find, keepPrivate } from "./elements.js";
import { texts } from "./texts.js";

/** @import { Answer, Case, Desk, Option, OutboxState, Reasons, Record, ReferenceAnswer, Rules } from "./types.js" */

const TOAST_MS = 8000;
const DENSITIES = 7; // steps of smaller type and a wider panel, so that no option needs scrolling
const LONG = 200; // length of a context that may not be completely visible
const PAGE = 0.85; // of the visible part, so that the last lines remain visible

export class QuestionPanel {
  #root;
  #parts;
  /** @type {HTMLButtonElement[]} */
  #options = [];
  /** @type {HTMLButtonElement[]} */
  #steps = [];
  #toastTimer = 0;
  #aid;
  /** The texts of the study as written to the page. @type {[HTMLElement, string][]} */
  #original = [];

  /**
   * @param {HTMLElement} root
   * @param {{choose: (option: string, now: number) => void, write: (text: string, now: number) => void,
   *   confidence: (step: number) => void,
   *   comment: (text: string) => void, faulty: (faulty: boolean) => void, confirm: (now: number) => void}} callbacks
   */
  constructor(root, callbacks) {
    this.#root = root;
    this.#aid = new AidPanel(root);
    const part = (/** @type {string} */ name) => find(root, `.rr-${name}`);
    /** @type {HTMLTextAreaElement} */
    const text = find(root, ".rr-comment textarea");
    /** @type {HTMLTextAreaElement} */
    const words = find(root, ".rr-answer textarea");
    /** @type {HTMLInputElement} */
    const mark = find(root, ".rr-faulty input");
    this.#parts = {
      position: part("position"), session: part("session"), revisited: part("revisited"), countdown: part("countdown"),
      progress: part("progress"), body: part("case"), scroll: part("scroll"), context: part("context"),
      question: part("question"), options: part("options"), sure: part("sure"), steps: part("steps"),
      sureHint: part("sure-hint"), answer: part("answer"), words, comment: part("comment"), text,
      faulty: part("faulty"), mark, feedback: part("feedback"), feedbackRoom: part("feedback-room"), hint: part("hint"),
      confirm: part("confirm"), loading: part("loading"), outbox: part("outbox"), reader: part("reader"),
      notice: part("notice"), toast: part("toast"), warning: part("warning"), canvas: part("canvas-note"), said: part("said"),
    };
    for (const field of [text, words]) keepPrivate(field);
    words.addEventListener("input", ({ timeStamp }) => callbacks.write(words.value, timeStamp));
    this.#parts.confirm.addEventListener("click", (event) => callbacks.confirm(event.timeStamp));
    this.#parts.text.addEventListener("input", () => callbacks.comment(this.#parts.text.value));
    this.#parts.mark.addEventListener("change", () => {
      this.#parts.mark.blur(); // otherwise the text field would receive the next keys
      callbacks.faulty(this.#parts.mark.checked);
    });
    this.#parts.options.addEventListener("click", (event) => {
      const { option } = around(event.target, "[data-option]")?.dataset ?? {};
      if (option) callbacks.choose(option, event.timeStamp);
    });
    this.#parts.steps.addEventListener("click", (event) => {
      const { step } = around(event.target, "[data-step]")?.dataset ?? {};
      if (step) callbacks.confidence(Number(step));
    });
  }

  /** @param {{reader: string, notice: string}} desk */
  showReader({ reader, notice }) {
    this.#parts.reader.textContent = texts.reader(reader);
    this.#parts.notice.textContent = notice;
  }

  showRenderer(name) {
    this.#parts.canvas.textContent = name === "canvas2d" ? texts.canvas : "";
  }

  /** The key that chooses an option. @param {string} option */
  keyOf(option) {
    const button = this.#options.find(({ dataset }) => dataset.option === option);
    return button ? find(button, "kbd").textContent ?? "" : option;
  }

  /** The position of the case, in words. */
  get position() { return this.#parts.position.textContent; }

  /** @param {Case} item @param {Desk} desk */
  showPosition({ position, practice, reading, stage }, desk) {
    const total = practice ? desk.practice_total : desk.total;
    this.#parts.position.textContent = (practice ? texts.practice : texts.position)(position, total);
    const { session, sessions } = desk;
    this.#parts.session.textContent = sessions > 1 && !practice ? texts.session(session, sessions) : "";
    this.#parts.revisited.textContent = reading ? texts.revisited(reading.status) : stage ? texts.stages[stage] : "";
    const { progress } = this.#parts;
    progress.setAttribute("aria-valuemax", String(total));
    progress.setAttribute("aria-valuenow", String(position - 1));
    find(progress, "*").style.width = `${total ? (100 * (position - 1)) / total : 0}%`;
  }

  /** @param {Case} item @param {Rules} rules */
  showCase(item, rules) {
    const parts = this.#parts;
    parts.question.textContent = item.question;
    parts.context.replaceChildren(...item.context.map(contextLine));
    parts.context.hidden = !item.context.length;
    this.#options = item.options.map((option, i) => optionButton(option, rules.numbered ? String(i + 1) : option.option));
    parts.options.replaceChildren(...this.#options);
    this.#aid.show(item, this.#options);
    parts.answer.hidden = !asksWords(item);
    this.#root.dataset.inWords = String(asksWords(item));
    this.#showSteps(rules.confidence_steps);
    parts.comment.hidden = !rules.comments;
    parts.faulty.hidden = !rules.fault_marks;
    parts.feedback.hidden = true;
    parts.feedbackRoom.hidden = !(item.practice || rules.feedback === "after case");
    parts.confirm.textContent = texts.labels.confirm;
    this.hint("");
    this.showLoading("");
    const words = find(this.#root, ".rr-scroll").querySelectorAll(".rr-question, .rr-options span, .rr-context :is(dt, dd)");
    this.#original = [...words].map((each) => [/** @type {HTMLElement} */ (each), each.textContent ?? ""]);
    // Stage 2 shows the case of stage 1 again, with the same layout.
    if (item.stage !== 2 || !this.#root.dataset.density) this.settle();
  }

  /** Whether the browser or an extension has replaced texts of the study. */
  get translated() {
    return translatedPage(this.#root) || this.#original.some(([{ isConnected, textContent }, text]) =>
      isConnected && textContent !== text);
  }

  /** Warn the reader while this is the case. */
  warnOfTranslation() {
    const { warning } = this.#parts;
    const words = this.translated ? texts.translated : "";
    if (warning.textContent !== words) announce(warning, words);
  }

  /** The model's answer, or the button that requests it. @param {Case} item */
  showAid(item) {
    this.#aid.show(item, this.#options);
    this.say(item.aid?.content ? texts.aid.answer(item.aid.content) : "");
  }

  /** The model's answer has been requested. */
  awaitAid() {
    this.#aid.showPending();
  }

  /** @param {Answer} answer */
  showAnswer({ option, words, confidence, comment, faulty }) {
    this.#parts.words.value = words;
    this.showChoice(option);
    this.showConfidence(confidence);
    this.#parts.text.value = comment;
    this.showMark(faulty);
  }

  /** @param {boolean} faulty */
  showMark(faulty) {
    this.#parts.mark.checked = faulty;
  }

  /** Whether the text field contains an answer. */
  get #written() { return !this.#parts.answer.hidden && this.#parts.words.value.trim() !== ""; }

  /** @param {string|null} option */
  showChoice(option) {
    for (const button of this.#options) {
      const chosen = button.dataset.option === option;
      button.setAttribute("aria-pressed", String(chosen));
      // The focus follows the selection, so that Enter does not press another button.
      if (chosen && this.#options.some((each) => each === document.activeElement)) button.focus();
      if (chosen) button.scrollIntoView({ block: "nearest" });
    }
    this.#parts.confirm.setAttribute("aria-disabled", String(option === null && !this.#written));
  }

  showConfidence(step) {
    for (const button of this.#steps) button.setAttribute("aria-pressed", String(Number(button.dataset.step) === step));
  }

  /** @param {number} down 1 a page down, -1 a page up */
  scroll(down) {
    const { scroll, feedback } = this.#parts;
    const part = overflows(feedback) ? feedback : scroll;
    part.scrollBy({ top: down * PAGE * part.clientHeight });
  }

  /** Remove the focus, so that the next keys are not written into the comment or answer of an answered case. */
  leaveFields() {
    this.#parts.text.blur();
    this.#parts.words.blur();
  }

  /** Enable the text fields only while the case can be answered. @param {boolean} open */
  openAnswer(open) {
    this.#parts.words.readOnly = !open;
  }

  focusAnswer() {
    this.#parts.words.focus();
  }

  focusComment() {
    if (!this.#parts.comment.hidden) this.#parts.text.focus();
  }

  /** @param {ReferenceAnswer} answer @param {Record} reading it is about */
  showFeedback({ option, correct, explanation }, reading) {
    const { feedback, confirm } = this.#parts;
    const { right, wrong, timedOut } = texts.feedback;
    const verdict = correct ? right : (reading.status === "timed_out" ? timedOut : wrong)(option);
    feedback.replaceChildren(element("strong", verdict), element("span", explanation));
    feedback.dataset.correct = String(correct);
    feedback.hidden = false;
    feedback.scrollTop = 0;
    feedback.tabIndex = overflows(feedback) ? 0 : -1;
    for (const button of this.#options) {
      if (button.dataset.option === option) button.dataset.reference = "true";
    }
    confirm.textContent = texts.confirmNext;
    confirm.setAttribute("aria-disabled", "false");
    delete this.#root.dataset.panel; // the time limit may have passed while the question was hidden
    this.hint("");
    feedback.scrollIntoView({ block: "nearest" });
  }

  /** @param {string} text the reason for waiting; empty: the case is shown */
  showLoading(text) {
    this.#parts.loading.textContent = text;
    this.#parts.loading.hidden = !text;
    this.#parts.body.hidden = Boolean(text);
  }

  /** A message about the reason for waiting. @param {string} text */
  showTrouble(text) {
    if (!this.#parts.loading.hidden) this.#parts.loading.textContent = text;
  }

  /** @param {number|null} left_s */
  showCountdown(left_s) {
    const { countdown } = this.#parts;
    countdown.textContent = left_s === null ? "" : texts.countdown(left_s);
    countdown.toggleAttribute("data-short", left_s !== null && left_s <= 10);
  }

  /** @param {OutboxState} state */
  showOutbox(state) {
    this.#parts.outbox.textContent = texts.outbox[state];
    this.#parts.outbox.dataset.outboxState = state;
  }

  /** @param {string} text what is missing, or ""; read out each time */
  hint(text) {
    announce(this.#parts.hint, text);
  }

  /** A message that stays for a while, independent of the case. */
  toast(text) {
    announce(this.#parts.toast, text);
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(() => { this.#parts.toast.textContent = ""; }, TOAST_MS);
  }

  /** A message for screen readers. */
  say(text) {
    this.#parts.said.textContent = text;
  }

  #showSteps(steps) {
    const { sure, sureHint } = this.#parts;
    sure.hidden = !steps;
    sureHint.textContent = steps ? texts.hints.sureKeys(steps) : "";
    this.#steps = Array.from({ length: steps }, (_, i) => {
      const button = plainButton(String(i + 1));
      button.dataset.step = String(i + 1);
      return button;
    });
    this.#parts.steps.replaceChildren(...this.#steps);
  }

  /** Choose type size and panel width so that nothing has to be scrolled, when a case opens and when the reader resets
   * the view. Nothing else changes them while a case is on the screen. */
  settle() {
    const { scroll } = this.#parts;
    if (this.#root.dataset.givingUp === "true") return; // the options are hidden
    for (let density = 0; density < DENSITIES; density += 1) {
      this.#root.dataset.density = String(density);
      if (!overflows(scroll)) return;
    }
  }
}

/** Marks of browser translation: classes and elements of Google and Edge.  @param {HTMLElement} root */
function translatedPage(root) {
  return document.documentElement.matches(".translated-ltr, .translated-rtl")
    || root.querySelector("font, [_msttexthash]") !== null;
}

/** @param {Option} option @param {string} key that chooses it */
function optionButton({ option, text }, key) {
  const button = plainButton("");
  button.dataset.option = option;
  button.className = "rr-option";
  button.append(element("kbd", key), element("span", text));
  return button;
}

/** @param {HTMLElement} part */
function overflows(part) {
  return part.scrollHeight > part.clientHeight;
}

function plainButton(text) {
  const button = element("button", text);
  button.type = "button";
  button.setAttribute("aria-pressed", "false");
  return button;
}

function contextLine({ name, value }) {
  const line = element("div");
  const shown = element("dd", value);
  if (value.length > LONG) shown.tabIndex = 0; // it may have to be scrolled
  line.append(element("dt", name), shown);
  return line;
}

/** Whether a case is open-ended. @param {Case} item */
export function asksWords({ condition }) {
  return condition === "open-ended";
}

const MOST_SIGNS = 400; // with the selected text it stays within the 500 characters of a reason

/** "Cannot answer": shows reasons in place of the options, while the film stays and the clock runs. */
export class CannotAnswer {
  #root;
  #entry;
  #place;
  #scroll;
  #other;
  #confirm;
  /** @type {HTMLButtonElement[]} */
  #buttons;

  /** @param {HTMLElement} root
   *  @param {{reason: (number: number) => void, words: (text: string) => void}} callbacks  number: from 1, as on the key */
  constructor(root, callbacks) {
    this.#root = root;
    this.#entry = find(root, ".rr-give-up");
    this.#place = find(root, ".rr-reasons");
    this.#scroll = find(root, ".rr-scroll");
    this.#confirm = find(root, ".rr-confirm");
    this.#buttons = texts.cannotAnswer.reasons.map((words) => reasonButton(words, callbacks.reason));
    this.#other = element("input", "", "rr-reason-text");
    Object.assign(this.#other, { type: "text", maxLength: MOST_SIGNS, hidden: true });
    keepPrivate(this.#other);
    this.#other.setAttribute("aria-label", texts.cannotAnswer.other);
    this.#other.placeholder = texts.cannotAnswer.other;
    this.#other.addEventListener("input", () => callbacks.words(this.#other.value));
    this.#place.append(element("h2", texts.cannotAnswer.title), ...this.#buttons, this.#other);
    this.leave();
  }

  /** @param {Reasons} reasons @param {{offered: number[], ownWords: boolean, complete: boolean}} facts  offered: by
   * their position in the list; ownWords: the reader must enter text; complete: nothing is missing */
  show({ chosen }, { offered, ownWords, complete }) {
    // The panel keeps its height; otherwise the films would be hung again on an upright screen.
    if (this.#place.hidden) this.#scroll.style.minHeight = `${this.#scroll.offsetHeight}px`;
    this.#place.hidden = false;
    this.#other.hidden = !ownWords;
    this.#buttons.forEach((button, i) => {
      const key = String(offered.indexOf(i) + 1);
      button.hidden = !offered.includes(i);
      button.dataset.reason = key;
      find(button, "kbd").textContent = key;
      button.setAttribute("aria-pressed", String(i === chosen));
    });
    this.#confirm.setAttribute("aria-disabled", String(!complete));
    this.#write();
    if (ownWords) this.#other.focus();
  }

  leave() {
    this.#scroll.style.minHeight = "";
    this.#other.value = "";
    this.#other.hidden = true;
    this.#other.blur();
    this.#place.hidden = true;
    this.#write();
  }

  /** The same button returns to the options. */
  #write() {
    const { label, back: toOptions, backToWords, key, backKey } = texts.cannotAnswer;
    const open = !this.#place.hidden;
    const back = this.#root.dataset.inWords === "true" ? backToWords : toOptions;
    this.#root.dataset.givingUp = String(open);
    this.#entry.replaceChildren(element("span", open ? back : label), element("kbd", open ? backKey : key));
    this.#entry.setAttribute("aria-expanded", String(open));
  }
}

function reasonButton(words, choose) {
  const button = element("button", "", "rr-option");
  button.type = "button";
  button.append(element("kbd"), element("span", words));
  button.addEventListener("click", () => choose(Number(button.dataset.reason)));
  return button;
}
