/** The sheet on which a reader sets wheel, mouse buttons, views and panel. */

import { button, element } from "./elements.js";
import { CHOICES } from "./settings.js";
import { texts } from "./texts.js";

/** @import { Settings } from "./settings.js" */

/**
 * @param {Settings} settings @param {() => void} close
 * @returns {HTMLElement[]} what goes on the sheet, its title first
 */
export function settingsSheet(settings, close) {
  const { title, note } = texts.settings;
  const groups = Object.entries(CHOICES).map(([name, values]) => choice(settings, name, values));
  return [element("h2", title), ...groups, element("p", note, "rr-note"), button(texts.labels.close, close)];
}

function choice(settings, name, values) {
  const group = element("fieldset", "", "rr-setting");
  group.append(element("legend", texts.settings[name].title));
  for (const value of values) {
    const label = element("label");
    const radio = document.createElement("input");
    Object.assign(radio, { type: "radio", name: `rr-${name}`, value, checked: settings.values[name] === value });
    radio.addEventListener("change", () => settings.set(name, value));
    label.append(radio, element("span", texts.settings[name][value]));
    group.append(label);
  }
  return group;
}
