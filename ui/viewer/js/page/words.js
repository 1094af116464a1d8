/** Looks up texts in the catalogue loaded with these modules; without a translation the text is English. */

import { form, language, rtl, words } from "./catalogue.js";

// A name keeps its own writing direction between isolating control characters.
const isolated = (text) => (rtl ? `\u2068${text}\u2069` : text);
const formatted = (value) => (Number.isInteger(value) ? value.toLocaleString(language) : isolated(String(value)));
const put = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? formatted(values[name]) : whole));

/** @param {string} message @param {Record<string, unknown>} [values] replaces {name} @returns {string} */
export const t = (message, values = {}) => put(words[message] ?? message, values);

/** Return the plural form for a number, which replaces {n}. @param {string} one @param {string} many @param {number} n
 *  @param {Record<string, unknown>} [values] @returns {string} */
export const tn = (one, many, n, values = {}) => {
  const forms = words[one];
  const text = forms ? forms[form(n)] ?? forms[0] : n === 1 ? one : many;
  return put(text, { ...values, n });
};
