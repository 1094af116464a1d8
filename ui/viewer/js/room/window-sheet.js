/** The sheet in which the limits of a window are typed as width and level. */

import { announce, button, element, keepPrivate } from "../page/elements.js";
import { numberOf } from "../steps/questionnaire.js";
import { texts } from "../page/texts.js";

/** @import { Window } from "../page/types.js" */

/**
 * @param {{window: Window, of: "only"|"one"|"every", set: (width: number, level: number) => void}} typed of: which films
 * @param {() => void} close
 * @returns {{children: HTMLElement[], first: HTMLInputElement}} the elements of the sheet, its title first
 */
export function windowSheet({ window: { low, high }, of, set }, close) {
  const { title, notes, width, level, apply, faults } = texts.typedWindow;
  const form = element("form", "", "rr-window");
  const fields = [field(width, high - low), field(level, (high + low) / 2)];
  const fault = element("p", "", "rr-missing");
  fault.setAttribute("role", "alert");
  const choices = element("div", "", "rr-choices");
  choices.append(element("button", apply), button(texts.labels.close, close));
  form.append(...fields.map(({ label }) => label), fault, choices);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation(); // the room treats other forms as signing out
    const numbers = fields.map(({ input }) => numberOf(input.value));
    const wrong = numbers.map((number, i) => (Number.isNaN(number) ? faults.number : !i && number <= 0 ? faults.width : ""));
    fields.forEach(({ input }, i) => input.setAttribute("aria-invalid", String(wrong[i] !== "")));
    const first = wrong.findIndex(Boolean);
    announce(fault, wrong[first] ?? "");
    if (first >= 0) {
      fields[first].input.select();
      return;
    }
    close();
    set(numbers[0], numbers[1]);
  });
  const note = element("p", notes[of], "rr-note");
  return { children: [element("h2", title), note, form], first: fields[0].input };
}

/** @param {string} name @param {number} value */
function field(name, value) {
  const label = element("label");
  const input = element("input");
  Object.assign(input, { type: "text", inputMode: "decimal", value: String(Math.round(value)) });
  keepPrivate(input);
  label.append(element("span", name), input);
  return { label, input };
}
