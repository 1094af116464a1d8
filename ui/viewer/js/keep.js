/** What this browser remembers for one reader of one study: localStorage under the reader's seal. */

const PREFIX = "reading-room";

export class Keep {
  #storage;
  #root;

  /** @param {Storage|null} storage @param {string} seal */
  constructor(storage, seal) {
    this.#storage = storage;
    this.#root = `${PREFIX}:${seal}:`;
  }

  /** @param {string} name @param {any} value @returns {boolean} whether it will survive a reload */
  put(name, value) {
    try {
      this.#storage.setItem(this.#root + name, JSON.stringify(value));
      return true;
    } catch {
      return false; // full, or forbidden: the memory of the page is all there is
    }
  }

  /** @param {string} name @returns {any} null when absent or unreadable */
  get(name) {
    try {
      return JSON.parse(this.#storage.getItem(this.#root + name));
    } catch {
      return null;
    }
  }

  /** @param {string} name */
  drop(name) {
    try {
      this.#storage.removeItem(this.#root + name);
    } catch {
      // nothing was kept
    }
  }

  /** @param {string} prefix @returns {string[]} the names kept under this seal that begin so */
  names(prefix) {
    try {
      const whole = this.#root + prefix;
      return Object.keys(this.#storage)
        .filter((key) => key.startsWith(whole))
        .map((key) => key.slice(this.#root.length));
    } catch {
      return [];
    }
  }
}

/** @returns {Storage|null} reading the property itself throws where storage is forbidden */
export function browserStorage() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}
