/** One sheet over the black page: a step of the preparation, with its keys, its buttons and its line of hints. */

import { around, element, find, pressButton } from "./elements.js";
import { texts } from "./texts.js";

/**
 * @typedef {{label: string, run: (now: number) => void, key?: string}} Action
 * @typedef {{name: string, title: string, count: string, body: Node[], primary: Action|null, secondary?: Action|null,
 *   aside?: HTMLElement|null, focus?: HTMLElement|null, keys?: (event: KeyboardEvent) => boolean}} Step
 *   keys: takes the keys of the step itself, and says whether it did; aside: stands before the buttons
 */

export class StepSheet {
  #root;
  #place;
  #beneath;
  #hint = element("p", "", "rr-prelude-hint");
  /** @type {Step|null} */
  #step = null;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
    this.#place = find(root, ".rr-prelude");
    this.#beneath = [".rr-films", ".rr-panel"].map((part) => find(root, part));
    this.#hint.setAttribute("role", "status");
  }

  get open() { return Boolean(this.#step); }

  /** @param {Step} step */
  show(step) {
    this.#step = step;
    this.#root.dataset.step = step.name;
    this.#hint.textContent = "";
    const sheet = element("div", "", "rr-prelude-sheet");
    sheet.append(head(step), ...step.body, this.#foot(step));
    this.#place.replaceChildren(sheet);
    this.#place.hidden = false;
    for (const each of this.#beneath) each.inert = true;
    this.#place.setAttribute("aria-label", step.title);
    const first = step.focus ?? (step.primary && find(sheet, ".rr-primary"));
    first?.focus({ preventScroll: true });
  }

  close() {
    this.#step = null;
    delete this.#root.dataset.step;
    this.#place.hidden = true;
    this.#place.replaceChildren();
    for (const each of this.#beneath) each.inert = false;
    this.#root.focus({ preventScroll: true });
  }

  /** @param {string} text */
  hint(text) {
    this.#hint.textContent = text;
  }

  /** @param {KeyboardEvent} event @returns {boolean} whether the key was the step's */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return false;
    const { keys, primary } = this.#step ?? {};
    if (keys?.(event)) return true;
    if (event.key !== "Enter" || around(event.target, "button, a") || !primary) return false;
    primary.run(event.timeStamp);
    return true;
  }

  /** @param {Step} step */
  #foot({ primary, secondary, aside }) {
    const foot = element("footer", "", "rr-prelude-foot");
    const row = element("div", "", "rr-prelude-actions");
    if (aside) row.append(aside);
    if (secondary) row.append(actionButton(secondary, "rr-secondary"));
    if (primary) row.append(actionButton({ key: texts.keys.enter, ...primary }, "rr-primary"));
    foot.append(this.#hint, row);
    return foot;
  }
}

/** @param {Action} action @param {string} className */
function actionButton({ label, run, key }, className) {
  const button = pressButton(label, run, key);
  button.className = className;
  return button;
}

function head({ title, count }) {
  const made = element("header", "", "rr-prelude-head");
  made.append(element("p", count, "rr-prelude-count"), element("h1", title));
  return made;
}
