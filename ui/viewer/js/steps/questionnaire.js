/** The questionnaire on its sheet: radio buttons, numbers and texts, all usable with the keyboard. */

import { around, element, find, keepPrivate } from "../page/elements.js";
import { digitOf } from "../page/keys.js";
import { texts } from "../page/texts.js";

/** @import { Question } from "../page/types.js" */

/** @typedef {{[id: string]: string}} Values  as filled in */

const LONGEST_TEXT = 500;

export class QuestionnaireForm {
  element = element("form", "", "rr-form");
  #questions;
  #values;
  #callbacks;
  /** @type {Map<string, HTMLElement>} */
  #groups = new Map();

  /** @param {Question[]} questions @param {any} before the values before a reload
   * @param {{changed: (values: Values) => void, missing: (n: number) => void}} callbacks  missing: called with the
   * number of questions marked as missing, whenever it may have changed */
  constructor(questions, before, callbacks) {
    this.#questions = questions;
    this.#values = Object.assign(Object.create(null), fitting(questions, before));
    this.#callbacks = callbacks;
    this.element.noValidate = true;
    this.element.addEventListener("submit", (event) => event.preventDefault());
    questions.forEach((question, i) => {
      const group = question.kind === "choice" ? this.#choice(question, i) : this.#field(question, i);
      this.#groups.set(question.id, group);
      this.element.append(group);
    });
    this.#showAsked();
    this.element.addEventListener("input", ({ target }) => this.#filled(/** @type {HTMLInputElement} */ (target)));
    this.element.addEventListener("focusin", ({ target }) => this.#mark(target));
  }

  /** @returns {HTMLElement} the control to focus first: of the first question without an answer, or else of the first */
  get first() {
    const open = this.#asked.find(({ id }) => !this.#values[id]) ?? this.#questions[0];
    return this.#control(open.id);
  }

  /** Digits select an option; Enter goes to the next question when this one has a valid answer, and continues after
   * the last. @param {KeyboardEvent} event @returns {boolean} whether the key was used */
  key(event) {
    const group = around(event.target, "[data-question]");
    if (!group) return false;
    /** @type {NodeListOf<HTMLInputElement>} */
    const radios = group.querySelectorAll("input[type=radio]");
    const digit = digitOf(event);
    if (radios.length && digit) {
      radios[digit - 1]?.focus();
      radios[digit - 1]?.click();
      return true;
    }
    if (event.key !== "Enter") return false;
    const { stay, next } = afterEnter(this.#asked, this.#values, group.dataset.question ?? "");
    const goal = stay ?? next;
    if (stay) this.#judge(stay);
    if (goal) this.#goTo(goal);
    return Boolean(goal);
  }

  /** @returns {{[id: string]: string|number}|null} the answers; null if some are missing, which are marked, and the
   * first receives the focus */
  submit() {
    const [first] = this.#asked.filter((question) => this.#judge(question));
    if (!first) return answersOf(this.#asked, this.#values);
    this.#goTo(first);
    return null;
  }

  get #asked() {
    return askedAfter(this.#questions, this.#values);
  }

  /** Hide the questions that are not asked after these answers, and their messages. */
  #showAsked() {
    const asked = this.#asked;
    for (const question of this.#questions) {
      const group = this.#group(question.id);
      group.hidden = !asked.includes(question);
      if (group.hidden && group.hasAttribute("data-missing")) this.#report(question, "");
    }
  }

  /** Show or remove the message about a question's answer. @param {Question} question */
  #judge(question) {
    const fault = faultOf(question, this.#values[question.id]);
    this.#report(question, fault);
    return fault;
  }

  /** @param {Question} question @param {ReturnType<typeof faultOf>} fault */
  #report(question, fault) {
    const group = this.#group(question.id);
    const line = find(group, ".rr-missing");
    line.textContent = fault ? texts.preparation.questionnaire.faults[fault] : "";
    line.hidden = !fault;
    group.toggleAttribute("data-missing", Boolean(fault));
    const judged = question.kind === "choice" ? group : this.#control(question.id);
    judged.setAttribute("aria-invalid", String(Boolean(fault)));
    this.#callbacks.missing([...this.#groups.values()].filter((each) => each.hasAttribute("data-missing")).length);
  }

  #filled({ name, value }) {
    this.#values[name] = value;
    this.#callbacks.changed(this.#values);
    this.#showAsked();
    // A message disappears as soon as the question is answered; it comes only when the reader wants to continue.
    const question = this.#questions.find(({ id }) => id === name);
    if (question && this.#group(name).hasAttribute("data-missing")) this.#judge(question);
  }

  #mark(target) {
    for (const group of this.#groups.values()) group.toggleAttribute("data-here", group.contains(target));
  }

  /** @param {Question} question */
  #goTo({ id }) {
    this.#control(id).focus();
    this.#group(id).scrollIntoView({ block: "nearest" });
  }

  /** @param {string} id */
  #group(id) {
    return /** @type {HTMLElement} */ (this.#groups.get(id));
  }

  /** @param {string} id @returns {HTMLInputElement} */
  #control(id) {
    const group = this.#group(id);
    return group.querySelector("input:checked") ?? find(group, "input");
  }

  #choice(question, i) {
    const group = element("fieldset");
    group.dataset.question = question.id;
    group.setAttribute("role", "radiogroup");
    group.setAttribute("aria-required", String(question.required));
    group.setAttribute("aria-labelledby", `rr-legend-${i}`);
    group.setAttribute("aria-describedby", `rr-missing-${i}`);
    const legend = element("legend");
    legend.id = `rr-legend-${i}`;
    legend.append(...wording(question));
    const options = element("div", "", "rr-radios");
    options.append(...question.options.map((option, n) => {
      const label = element("label");
      const input = element("input");
      Object.assign(input, { type: "radio", name: question.id, value: option, required: question.required });
      input.checked = this.#values[question.id] === option;
      label.append(input, element("kbd", n < 9 ? String(n + 1) : ""), element("span", option));
      return label;
    }));
    group.append(legend, options, missingLine(i));
    return group;
  }

  #field(question, i) {
    const group = element("div");
    group.dataset.question = question.id;
    const label = element("label");
    label.htmlFor = `rr-answer-${i}`;
    label.append(...wording(question));
    const input = element("input");
    Object.assign(input, {
      id: label.htmlFor, type: "text", name: question.id, value: this.#values[question.id] ?? "",
      required: question.required,
      inputMode: question.kind === "number" ? "decimal" : "text",
      maxLength: question.kind === "number" ? 20 : LONGEST_TEXT,
    });
    keepPrivate(input);
    input.setAttribute("aria-describedby", `rr-missing-${i}`);
    group.append(label, input, missingLine(i));
    return group;
  }
}

function wording({ question, required }) {
  const { needed, optional } = texts.preparation.questionnaire;
  return [element("span", question), element("small", required ? needed : optional, required ? "rr-required" : "")];
}

function missingLine(i) {
  const line = element("p", "", "rr-missing");
  line.id = `rr-missing-${i}`;
  line.setAttribute("role", "alert");
  line.hidden = true;
  return line;
}

/**
 * @param {Question} question @param {string} [value]
 * @returns {"choice"|"number"|"text"|"noNumber"|""} what is wrong; "" nothing
 */
export function faultOf({ kind, required }, value = "") {
  if (!value.trim()) return required ? kind : "";
  return kind === "number" && Number.isNaN(numberOf(value)) ? "noNumber" : "";
}

/**
 * The questions that are asked after these answers; an answer to a question that is not asked does not count.
 * @param {Question[]} questions @param {Values} values @returns {Question[]} in their order
 */
export function askedAfter(questions, values) {
  /** @type {Question[]} */
  const asked = [];
  for (const question of questions) {
    const { shown_if: condition } = question;
    const named = condition && asked.find(({ id }) => id === condition.question);
    if (!condition || (named && values[named.id] === condition.is)) asked.push(question);
  }
  return asked;
}

/**
 * The question that follows on Enter; none while the answer is missing or invalid.
 * @param {Question[]} questions @param {Values} values @param {string} id of the question with the focus
 * @returns {{stay?: Question, next?: Question}} neither after the last one: all of them are checked
 */
export function afterEnter(questions, values, id) {
  const place = questions.findIndex((question) => question.id === id);
  if (faultOf(questions[place], values[id])) return { stay: questions[place] };
  return { next: questions[place + 1] };
}

/** @param {Question[]} questions @param {Values} values @returns {{[id: string]: string|number}} what was answered */
export function answersOf(questions, values) {
  const answered = questions.filter(({ id }) => Object.hasOwn(values, id) && values[id].trim());
  return Object.fromEntries(answered.map(({ id, kind }) =>
    [id, { number: numberOf, text: (words) => words.trim(), choice: (option) => option }[kind](values[id])]));
}

/** The stored values that still match the questions. @param {Question[]} questions @param {any} kept
 *  @returns {Values} */
export function fitting(questions, kept) {
  const fits = ({ id, kind, options }) => typeof kept?.[id] === "string"
    && (kind !== "choice" || options.includes(kept[id]));
  return Object.fromEntries(questions.filter(fits).map(({ id }) => [id, kept[id]]));
}

/** Parse a number with a point or a comma. @param {string} text @returns {number} NaN if it is not a number */
export function numberOf(text) {
  const plain = text.trim().replace(",", ".");
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : NaN;
}
