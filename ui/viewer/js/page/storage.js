/** What this browser remembers for one reader of one study: localStorage under the reader's seal. */

const PREFIX = "reading-room";

export class ReaderStorage {
  #storage;
  #root;
  /** What could not be stored, for as long as the page lives. @type {Map<string, string>} */
  #memory = new Map();

  /** @param {Storage|null} storage @param {string} seal */
  constructor(storage, seal) {
    this.#storage = storage;
    this.#root = `${PREFIX}:${seal}:`;
  }

  /** @param {string} name @param {any} value @returns {boolean} whether it will survive a reload */
  put(name, value) {
    const text = JSON.stringify(value);
    try {
      if (!this.#storage) throw new Error("forbidden");
      this.#storage.setItem(this.#root + name, text);
      this.#memory.delete(name);
      return true;
    } catch {
      this.#memory.set(name, text); // full, or forbidden: the memory of the page is all there is
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
      // nothing was kept
    }
  }

  /** @param {string} prefix @returns {string[]} the names kept under this seal that begin so */
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

/** @param {boolean} [passing] gone with the tab, and no other window's
 *  @returns {Storage|null} reading the property itself throws where storage is forbidden */
export function browserStorage(passing = false) {
  try {
    return passing ? window.sessionStorage : window.localStorage;
  } catch {
    return null;
  }
}
