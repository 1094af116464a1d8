/** The catalogue of English, which is empty: the server puts another in its place for another language. */

/** @type {Record<string, any>} message to its words, or to their forms by number */
export const words = {};

/** Whose numbers and dates go with the words: a language of `Intl`. */
export const language = "en-GB";

/** Whether the words are written from right to left. */
export const rtl = false;

/** @param {number} n @returns {number} which form of a message goes with a number */
export const form = (n) => (n === 1 ? 0 : 1);
