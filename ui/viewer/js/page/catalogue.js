/** The English catalogue, which is empty; the server replaces it for other languages. */

/** @type {Record<string, any>} message to its translation, or to its plural forms */
export const words = {};

/** The language of numbers and dates, for `Intl`. */
export const language = "en-GB";

/** Whether the language is written from right to left. */
export const rtl = false;

/** @param {number} n @returns {number} the plural form of a message for a number */
export const form = (n) => (n === 1 ? 0 : 1);
