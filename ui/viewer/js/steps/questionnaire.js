/** The questionnaire on its sheet: radio buttons, numbers and words, each reachable by keys alone. */

import { around, element, find } from "../page/elements.js";
import { texts } from "../page/texts.js";

/** @import { Question } from "../page/types.js" */

/** @typedef {{[id: string]: string}} Values  as filled in */

const LONGEST_TEXT = 500;

export class QuestionnaireForm {
  element = element("form", "", "rr-form");
  /** How many questions want an answer still. */
  faults = 0;
  #questions;
  #values;
  #kept;
  /** @type {Map<string, HTMLElement>} */
  #groups = new Map();

  /** @param {Question[]} questions @param {any} before what was filled in before a reload
   *  @param {(values: {[id: string]: string}) => void} kept told of every change */
  constructor(questions, before, kept) {
    this.#questions = questions;
    this.#values = Object.assign(Object.create(null), fitting(questions, before));
    this.#kept = kept;
    this.element.noValidate = true;
    this.element.addEventListener("submit", (event) => event.preventDefault());
    questions.forEach((question, i) => {
      const group = question.kind === "choice" ? this.#choice(question, i) : this.#field(question, i);
      this.#groups.set(question.id, group);
      this.element.append(group);
    });
    this.element.addEventListener("input", ({ target }) => this.#filled(/** @type {HTMLInputElement} */ (target)));
    this.element.addEventListener("focusin", ({ target }) => this.#mark(target));
  }

  /** @returns {HTMLElement} where the keys go first: the first question without an answer, or else the first */
  get first() {
    const open = this.#questions.find(({ id }) => !this.#values[id]) ?? this.#questions[0];
    return this.#control(open.id);
  }

  /** Digits choose within a question; Enter goes to the next one, and from the last one on.
   *  @param {KeyboardEvent} event */
  key({ key, code, target, shiftKey }) {
    const group = around(target, "[data-question]");
    if (!group) return false;
    /** @type {NodeListOf<HTMLInputElement>} */
    const radios = group.querySelectorAll("input[type=radio]");
    const digit = /^[1-9]$/.test(key) ? key : !shiftKey && /^(?:Digit|Numpad)([1-9])$/.exec(code)?.[1];
    if (radios.length && digit) {
      radios[Number(digit) - 1]?.focus();
      radios[Number(digit) - 1]?.click();
      return true;
    }
    const next = key === "Enter" ? this.#after(group.dataset.question) : null;
    next?.focus();
    next?.closest("[data-question]")?.scrollIntoView({ block: "nearest" });
    return Boolean(next);
  }

  /** @returns {{[id: string]: string|number}|null} the answers; null when some are missing: then they are marked, and
   *  the first has the focus */
  submit() {
    const missing = this.#questions.filter((question) => this.#judge(question));
    this.faults = missing.length;
    if (!missing.length) return answersOf(this.#questions, this.#values);
    this.#control(missing[0].id).focus();
    this.#group(missing[0].id).scrollIntoView({ block: "nearest" });
    return null;
  }

  #judge(question) {
    const group = this.#group(question.id);
    const fault = faultOf(question, this.#values[question.id]);
    const line = find(group, ".rr-missing");
    line.textContent = fault ? texts.preparation.questionnaire.faults[fault] : "";
    line.hidden = !fault;
    group.toggleAttribute("data-missing", Boolean(fault));
    for (const input of group.querySelectorAll("input")) input.setAttribute("aria-invalid", String(Boolean(fault)));
    return fault;
  }

  #filled({ name, value }) {
    this.#values[name] = value;
    this.#kept(this.#values);
    // A line about what is missing goes as soon as it is there; it comes only when the reader wants to go on.
    const question = this.#questions.find(({ id }) => id === name);
    if (question && this.#group(name).hasAttribute("data-missing")) this.#judge(question);
  }

  #mark(target) {
    for (const group of this.#groups.values()) group.toggleAttribute("data-here", group.contains(target));
  }

  #after(id) {
    const place = this.#questions.findIndex((question) => question.id === id);
    const next = this.#questions[place + 1];
    return next ? this.#control(next.id) : null;
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
    const legend = element("legend");
    legend.append(...wording(question));
    const options = element("div", "", "rr-radios");
    options.append(...question.options.map((option, n) => {
      const label = element("label");
      const input = element("input");
      Object.assign(input, { type: "radio", name: question.id, value: option, required: question.required });
      input.checked = this.#values[question.id] === option;
      input.setAttribute("aria-describedby", `rr-missing-${i}`);
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
      required: question.required, autocomplete: "off",
      inputMode: question.kind === "number" ? "decimal" : "text",
      maxLength: question.kind === "number" ? 20 : LONGEST_TEXT,
    });
    input.setAttribute("aria-describedby", `rr-missing-${i}`);
    group.append(label, input, missingLine(i));
    return group;
  }
}

function wording({ question, required }) {
  const { needed, optional } = texts.preparation.questionnaire;
  return [element("span", question), element("small", required ? needed : optional)];
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

/** @param {Question[]} questions @param {Values} values @returns {{[id: string]: string|number}} what was answered */
export function answersOf(questions, values) {
  const answered = questions.filter(({ id }) => Object.hasOwn(values, id) && values[id].trim());
  return Object.fromEntries(answered.map(({ id, kind }) =>
    [id, { number: numberOf, text: (words) => words.trim(), choice: (option) => option }[kind](values[id])]));
}

/** What was kept before a reload, as far as it still fits. @param {Question[]} questions @param {any} kept
 *  @returns {Values} */
export function fitting(questions, kept) {
  const fits = ({ id, kind, options }) => typeof kept?.[id] === "string"
    && (kind !== "choice" || options.includes(kept[id]));
  return Object.fromEntries(questions.filter(fits).map(({ id }) => [id, kept[id]]));
}

/** With a point or a comma. @param {string} text @returns {number} NaN if it is none */
function numberOf(text) {
  const plain = text.trim().replace(",", ".");
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : NaN;
}
