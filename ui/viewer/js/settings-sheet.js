/** The sheet on which a reader sets wheel, mouse buttons, views and panel. */

import { CHOICES } from "./settings.js";
import { texts } from "./texts.js";

/**
 * @param {import("./settings.js").Settings} settings @param {() => void} close
 * @returns {HTMLElement[]} what goes on the sheet, its title first
 */
export function settingsSheet(settings, close) {
  const { title, note } = texts.settings;
  const groups = Object.entries(CHOICES).map(([name, values]) => choice(settings, name, values));
  const button = element("button", texts.labels.close);
  button.type = "button";
  button.addEventListener("click", close);
  return [element("h2", title), ...groups, element("p", note, "rr-note"), button];
}

function choice(settings, name, values) {
  const group = element("fieldset", "", "rr-setting");
  group.append(element("legend", texts.settings[name].title));
  for (const value of values) {
    const label = element("label", "");
    const radio = document.createElement("input");
    Object.assign(radio, { type: "radio", name: `rr-${name}`, value, checked: settings.values[name] === value });
    radio.addEventListener("change", () => settings.set(name, value));
    label.append(radio, element("span", texts.settings[name][value]));
    group.append(label);
  }
  return group;
}

function element(tag, text, className = "") {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
}
