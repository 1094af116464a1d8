/** How a reader likes to work: what wheel and mouse buttons do, one look or another. Remembered for each reader. */

import { button, element } from "./elements.js";
import { texts } from "./texts.js";

/** @import { ReaderStorage } from "./storage.js" */

const NAME = "settings";

/** What can be set, and to what; the first is what a new reader gets. */
export const CHOICES = {
  wheel: ["zoom", "pan"],
  left: ["window", "pan"],
  views: ["separate", "linked"],
  sizes: ["frontal", "equal"],
  windows: ["reset", "keep"],
  panel: ["dark", "light"],
};

export class Settings {
  /** @type {{[name in keyof typeof CHOICES]: string}} */
  values = {
    wheel: CHOICES.wheel[0], left: CHOICES.left[0], views: CHOICES.views[0], sizes: CHOICES.sizes[0],
    windows: CHOICES.windows[0], panel: CHOICES.panel[0],
  };
  /** @type {ReaderStorage|null} */
  #storage = null;
  #changed;

  /** @param {(values: Settings["values"]) => void} changed called at every change, and when the reader is known */
  constructor(changed) {
    this.#changed = changed;
  }

  /** Now it is known who reads. @param {ReaderStorage} storage */
  open(storage) {
    this.#storage = storage;
    const kept = storage.get(NAME) ?? {};
    for (const [name, choices] of Object.entries(CHOICES)) {
      if (choices.includes(kept[name])) this.values[name] = kept[name];
    }
    this.#changed(this.values);
  }

  /** @param {string} name @param {string} value */
  set(name, value) {
    this.values[name] = value;
    this.#storage?.put(NAME, this.values);
    this.#changed(this.values);
  }

  /** To the other of two. @param {string} name */
  turn(name) {
    this.set(name, CHOICES[name].find((value) => value !== this.values[name]));
  }
}

/**
 * The sheet on which they are set.
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
