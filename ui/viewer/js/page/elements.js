/** Elements with their words, made in one line, and those of the page's own markup. */

/** @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {string} [text] @param {string} [className]
 *  @returns {HTMLElementTagNameMap[Tag]} */
export function element(tag, text = "", className = "") {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** @param {string} label @param {(now: number) => void} run gets the time of the press @returns {HTMLButtonElement} */
export function button(label, run) {
  const made = element("button", label);
  made.type = "button";
  made.addEventListener("click", (event) => run(event.timeStamp));
  return made;
}

/** The same with its key beside the label. @param {string} label @param {(now: number) => void} run
 *  @param {string} [key] @returns {HTMLButtonElement} */
export function pressButton(label, run, key = "") {
  const made = button("", run);
  made.append(element("span", label));
  if (key) made.append(element("kbd", key));
  return made;
}

/** An element that must be there. @template {HTMLElement} [Found=HTMLElement] @param {ParentNode} within
 *  @param {string} selector @returns {Found} */
export function find(within, selector) {
  const found = /** @type {Found|null} */ (within.querySelector(selector));
  if (!found) throw new Error(`no ${selector} on the page`);
  return found;
}

/** The nearest element about what an event came from. @param {EventTarget|null} target @param {string} selector
 *  @returns {HTMLElement|null} */
export function around(target, selector) {
  return target instanceof Element ? target.closest(selector) : null;
}
