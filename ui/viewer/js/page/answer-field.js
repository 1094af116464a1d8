/** Open-ended cases: which they are, and the field they are answered in. */

import { find } from "./elements.js";

/** @import { Case } from "./types.js" */

/** Whether a case is answered in the reader's own words. @param {Case} item */
export function asksWords({ condition }) {
  return condition === "open-ended";
}

export class AnswerField {
  #place;
  /** @type {HTMLTextAreaElement} */
  #field;

  /** @param {HTMLElement} root @param {(text: string, now: number) => void} write */
  constructor(root, write) {
    this.#place = find(root, ".rr-answer");
    this.#field = find(root, ".rr-answer textarea");
    this.#field.addEventListener("input", ({ timeStamp }) => write(this.#field.value, timeStamp));
  }

  /** Whether there are words in it. */
  get written() { return !this.#place.hidden && this.#field.value.trim() !== ""; }

  /** @param {Case} item */
  bring(item) {
    this.#place.hidden = !asksWords(item);
  }

  /** @param {string} words */
  show(words) {
    this.#field.value = words;
  }

  /** Nothing is written while the case is not to be answered. @param {boolean} open */
  open(open) {
    this.#field.readOnly = !open;
  }

  focus() {
    this.#field.focus();
  }

  leave() {
    this.#field.blur();
  }
}
