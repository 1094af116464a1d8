/** Elements with their words, made in one line. */

/** @param {string} tag @param {string} [text] @param {string} [className] @returns {HTMLElement} */
export function element(tag, text = "", className = "") {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** @param {string} label @param {(now: number) => void} run gets the time of the press @param {string} [key] shown
 *  beside the label @returns {HTMLButtonElement} */
export function pressButton(label, run, key = "") {
  const button = /** @type {HTMLButtonElement} */ (element("button"));
  button.type = "button";
  button.append(element("span", label));
  if (key) button.append(element("kbd", key));
  button.addEventListener("click", (event) => run(event.timeStamp));
  return button;
}
