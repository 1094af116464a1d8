/** The menu of further image tools. It covers the end of the question, does not change the layout, and stays open
    while it is used. */

import { around, find } from "./elements.js";

export class MoreTools {
  #button;
  #menu;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#button = find(root, "[data-command=more]");
    this.#menu = find(root, ".rr-more");
  }

  get open() { return !this.#menu.hidden; }

  toggle() {
    this.#show(!this.open);
  }

  close() {
    if (!this.open) return;
    // A hidden element loses the focus.
    if (this.#menu.contains(document.activeElement)) this.#button.focus({ preventScroll: true });
    this.#show(false);
  }

  /** Close the menu after a click outside of it. @param {EventTarget|null} target of the click */
  clicked(target) {
    if (!around(target, ".rr-more, [data-command=more]")) this.close();
  }

  #show(open) {
    this.#menu.hidden = !open;
    this.#button.setAttribute("aria-expanded", String(open));
  }
}
