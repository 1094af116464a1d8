/** "Cannot answer": reasons in place of the options, while the film stays where it is and the clock goes on. */

import { element, find } from "../page/elements.js";
import { texts } from "../page/texts.js";

const MOST_SIGNS = 400; // with the chosen words it stays within the 500 a reason may have

export class CannotAnswer {
  #root;
  #entry;
  #place;
  #scroll;
  #other;
  #confirm;
  #changed;
  /** @type {HTMLButtonElement[]} */
  #buttons = [];
  #chosen = -1;

  /** @param {HTMLElement} root @param {() => void} changed a reason was chosen or written */
  constructor(root, changed) {
    this.#root = root;
    this.#changed = changed;
    this.#entry = find(root, ".rr-give-up");
    this.#place = find(root, ".rr-reasons");
    this.#scroll = find(root, ".rr-scroll");
    this.#confirm = find(root, ".rr-confirm");
    this.#buttons = texts.cannotAnswer.reasons.map((words, i) => this.#reasonButton(words, i));
    this.#other = element("input", "", "rr-reason-text");
    Object.assign(this.#other, { type: "text", maxLength: MOST_SIGNS, hidden: true, autocomplete: "off" });
    this.#other.setAttribute("aria-label", texts.cannotAnswer.other);
    this.#other.placeholder = texts.cannotAnswer.other;
    this.#other.addEventListener("input", () => this.#show());
    this.#place.append(element("h2", texts.cannotAnswer.title), ...this.#buttons, this.#other);
    this.leave();
  }

  get open() { return !this.#place.hidden; }

  /** @returns {string} the reason as it is kept; "" while there is none */
  get reason() {
    if (this.#chosen < 0 || this.wantsWords) return "";
    return [texts.cannotAnswer.kept[this.#chosen], this.#written].filter(Boolean).join(": ");
  }

  /** @returns {boolean} whether only the reader's own words are missing */
  get wantsWords() { return this.#ownWords && !this.#written; }

  enter() {
    // The panel keeps its height, or on an upright screen the films would be hung anew.
    this.#scroll.style.minHeight = `${this.#scroll.offsetHeight}px`;
    this.#place.hidden = false;
    this.#write();
    this.#show();
  }

  leave() {
    this.#scroll.style.minHeight = "";
    this.#chosen = -1;
    this.#other.value = "";
    this.#other.hidden = true;
    this.#other.blur();
    this.#place.hidden = true;
    this.#write();
  }

  /** @param {number} number from 1, as on the key; others choose nothing */
  choose(number) {
    if (!this.#buttons[number - 1]) return;
    this.#chosen = number - 1;
    this.#other.hidden = !this.#ownWords;
    this.#show();
    if (this.#ownWords) this.#other.focus();
  }

  /** The last reason wants the reader's own words. */
  get #ownWords() { return this.#chosen === this.#buttons.length - 1; }

  get #written() { return this.#ownWords ? this.#other.value.trim() : ""; }

  #show() {
    this.#buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === this.#chosen)));
    this.#confirm.setAttribute("aria-disabled", String(!this.reason));
    this.#changed();
  }

  /** The button that leads here leads back as well. */
  #write() {
    const { label, back, key, backKey } = texts.cannotAnswer;
    this.#root.dataset.givingUp = String(this.open);
    this.#entry.replaceChildren(element("span", this.open ? back : label), element("kbd", this.open ? backKey : key));
    this.#entry.setAttribute("aria-expanded", String(this.open));
  }

  #reasonButton(words, i) {
    const button = element("button", "", "rr-option");
    button.type = "button";
    button.dataset.reason = String(i + 1);
    button.append(element("kbd", String(i + 1)), element("span", words));
    button.addEventListener("click", () => this.choose(i + 1));
    return button;
  }
}
