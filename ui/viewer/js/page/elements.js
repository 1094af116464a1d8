/** Elements with their words, made in one line. */

/** @param {string} tag @param {string} [text] @param {string} [className] @returns {HTMLElement} */
export function element(tag, text = "", className = "") {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** @param {string} label @param {(now: number) => void} run gets the time of the press @returns {HTMLButtonElement} */
export function button(label, run) {
  const made = /** @type {HTMLButtonElement} */ (element("button", label));
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
