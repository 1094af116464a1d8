/** The questionnaire without its form: what was filled in becomes answers, or faults that name the questions. */

/** @import { Question } from "../page/types.js" */

/** @typedef {{[id: string]: string}} Values  as filled in */

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
