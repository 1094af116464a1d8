/** Creates elements with text, finds elements of the markup, and reports when they are on the screen. */

/** @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {string} [text] @param {string} [className]
 *  @returns {HTMLElementTagNameMap[Tag]} */
export function element(tag, text = "", className = "") {
  const node = document.createElement(tag);
  if (text) node.textContent = text;
  if (className) node.className = className;
  return node;
}

/** @param {string} label @param {(now: number) => void} run receives the time of the press @returns
 * {HTMLButtonElement} */
export function button(label, run) {
  const made = element("button", label);
  made.type = "button";
  made.addEventListener("click", (event) => run(event.timeStamp));
  return made;
}

/** A button with its key next to the label. @param {string} label @param {(now: number) => void} run
 *  @param {string} [key] @returns {HTMLButtonElement} */
export function pressButton(label, run, key = "") {
  const made = button("", run);
  made.append(element("span", label));
  if (key) made.append(element("kbd", key));
  return made;
}

/** Attributes that keep browsers and extensions from correcting a field or sending its content elsewhere: the standard
 * attributes, then those of Grammarly, LanguageTool and Microsoft Editor. */
const PRIVATE = {
  spellcheck: "false", autocorrect: "off", autocapitalize: "off", autocomplete: "off", writingsuggestions: "false",
  translate: "no",
  "data-gramm": "false", "data-gramm_editor": "false", "data-enable-grammarly": "false", "data-lt-active": "false",
  "data-ms-editor": "false",
};

/** @param {Element} field for free text */
export function keepPrivate(field) {
  for (const [name, value] of Object.entries(PRIVATE)) field.setAttribute(name, value);
}

/** Write a message into a live region, as a new element so that a repeated message is read out again.
 *  @param {HTMLElement} region @param {string} text */
export function announce(region, text) {
  region.replaceChildren(...(text ? [element("span", text)] : []));
}

/** Return an element that must exist. @template {HTMLElement} [Found=HTMLElement] @param {ParentNode} within
 *  @param {string} selector @returns {Found} */
export function find(within, selector) {
  const found = /** @type {Found|null} */ (within.querySelector(selector));
  if (!found) throw new Error(`no ${selector} on the page`);
  return found;
}

/** Return the nearest ancestor of an event's target. @param {EventTarget|null} target @param {string} selector
 *  @returns {HTMLElement|null} */
export function around(target, selector) {
  return target instanceof Element ? target.closest(selector) : null;
}

/**
 * Call back at the first animation frame after the content has been on the screen for a frame.
 * @param {Promise<void>} shown everything is on the canvas
 * @param {(frame: number) => void} run gets the frame's time on the monotonic clock
 */
export async function afterPaint(shown, run) {
  await shown;
  // The next frame shows the drawing; it has been shown when the frame after that begins. Firefox dates a frame back
  // to the screen's signal, so a late frame may have a time before the case was shown.
  requestAnimationFrame(() => {
    const showing = performance.now();
    const know = (frame) => (frame < showing ? requestAnimationFrame(know) : run(frame));
    requestAnimationFrame(know);
  });
}

/** The wall clock at a time of the monotonic clock. @param {number} now @returns {number} ms since 1970 */
export function epochAt(now) {
  return Date.now() - performance.now() + now;
}
