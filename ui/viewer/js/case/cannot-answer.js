/** "Cannot answer": reasons in place of the options, while the film stays where it is and the clock goes on. */

import { element, find } from "../page/elements.js";
import { texts } from "../page/texts.js";

/** @import { Reasons } from "../page/types.js" */

const MOST_SIGNS = 400; // with the chosen words it stays within the 500 a reason may have

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
   *  @param {{reason: (number: number) => void, words: (text: string) => void}} told  number: from 1, as on the key */
  constructor(root, told) {
    this.#root = root;
    this.#entry = find(root, ".rr-give-up");
    this.#place = find(root, ".rr-reasons");
    this.#scroll = find(root, ".rr-scroll");
    this.#confirm = find(root, ".rr-confirm");
    this.#buttons = texts.cannotAnswer.reasons.map((words) => reasonButton(words, told.reason));
    this.#other = element("input", "", "rr-reason-text");
    Object.assign(this.#other, { type: "text", maxLength: MOST_SIGNS, hidden: true, autocomplete: "off" });
    this.#other.setAttribute("aria-label", texts.cannotAnswer.other);
    this.#other.placeholder = texts.cannotAnswer.other;
    this.#other.addEventListener("input", () => told.words(this.#other.value));
    this.#place.append(element("h2", texts.cannotAnswer.title), ...this.#buttons, this.#other);
    this.leave();
  }

  /** @param {Reasons} reasons @param {{offered: number[], ownWords: boolean, complete: boolean}} facts  offered: by
   *  their place in the list; ownWords: the reader's are wanted; complete: nothing is missing */
  show({ chosen }, { offered, ownWords, complete }) {
    // The panel keeps its height, or on an upright screen the films would be hung anew.
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

  /** The button that leads here leads back as well. */
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
