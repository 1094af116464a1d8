/**
 * The browser's storage for one reader: state to keep over a reload, and preferences. Also creates IDs.
 *
 * It is localStorage under the reader's seal. IDs are created without a secure context, which plain http is not.
 */

import { button, element } from "./elements.js";
import { texts } from "./texts.js";

const PREFIX = "reading-room";

export class ReaderStorage {
  #storage;
  #root;
  /** Values that could not be stored, kept while the page is open. @type {Map<string, string>} */
  #memory = new Map();

  /** @param {Storage|null} storage @param {string} seal */
  constructor(storage, seal) {
    this.#storage = storage;
    this.#root = `${PREFIX}:${seal}:`;
  }

  /** @param {string} name @param {any} value @returns {boolean} whether the value survives a reload */
  put(name, value) {
    const text = JSON.stringify(value);
    try {
      if (!this.#storage) throw new Error("forbidden");
      this.#storage.setItem(this.#root + name, text);
      this.#memory.delete(name);
      return true;
    } catch {
      this.#memory.set(name, text); // if storage is full or forbidden, values are kept in the page's memory
      return false;
    }
  }

  /** @param {string} name @returns {any} null when absent or unreadable */
  get(name) {
    try {
      return JSON.parse(this.#memory.get(name) ?? this.#storage?.getItem(this.#root + name) ?? "null");
    } catch {
      return null;
    }
  }

  /** @param {string} name */
  drop(name) {
    this.#memory.delete(name);
    try {
      this.#storage?.removeItem(this.#root + name);
    } catch {
      // nothing was stored
    }
  }

  /** @param {string} prefix @returns {string[]} the names under this seal with the prefix */
  names(prefix) {
    try {
      const whole = this.#root + prefix;
      return Object.keys(this.#storage ?? {})
        .filter((key) => key.startsWith(whole))
        .map((key) => key.slice(this.#root.length));
    } catch {
      return [];
    }
  }
}

/** @param {boolean} [passing] sessionStorage, which belongs to one tab
 *  @returns {Storage|null} reading the property throws if storage is forbidden */
export function browserStorage(passing = false) {
  try {
    return passing ? window.sessionStorage : window.localStorage;
  } catch {
    return null;
  }
}

const SETTINGS = "settings";

/** The settings with their values; the first value is the default. */
export const CHOICES = {
  wheel: ["zoom", "pan"],
  left: ["window", "pan"],
  views: ["separate", "linked"],
  sizes: ["frontal", "equal"],
  windows: ["reset", "keep"],
  panel: ["dark", "light"],
};

/** A reader's preferences: functions of wheel and mouse buttons, and the appearance. */
export class Settings {
  /** @type {{[name in keyof typeof CHOICES]: string}} */
  values = {
    wheel: CHOICES.wheel[0], left: CHOICES.left[0], views: CHOICES.views[0], sizes: CHOICES.sizes[0],
    windows: CHOICES.windows[0], panel: CHOICES.panel[0],
  };
  /** @type {ReaderStorage|null} */
  #storage = null;
  #changed;

  /** @param {(values: Settings["values"]) => void} changed called after every change, and when the reader is known */
  constructor(changed) {
    this.#changed = changed;
  }

  /** The reader is known now. @param {ReaderStorage} storage */
  open(storage) {
    this.#storage = storage;
    const kept = storage.get(SETTINGS) ?? {};
    for (const [name, choices] of Object.entries(CHOICES)) {
      if (choices.includes(kept[name])) this.values[name] = kept[name];
    }
    this.#changed(this.values);
  }

  /** @param {string} name @param {string} value */
  set(name, value) {
    this.values[name] = value;
    this.#storage?.put(SETTINGS, this.values);
    this.#changed(this.values);
  }

  /** Switch between two values. @param {string} name */
  turn(name) {
    this.set(name, CHOICES[name].find((value) => value !== this.values[name]));
  }
}

/**
 * The sheet with the settings.
 * @param {Settings} settings @param {() => void} close
 * @returns {HTMLElement[]} the elements of the sheet, its title first
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

/** @returns {string} a random version 4 UUID */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]].map(([a, b]) => hex.slice(a, b)).join("-");
}
