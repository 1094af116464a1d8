/** How a reader likes to work: what wheel and mouse buttons do, one look or another. Remembered for each reader. */

const NAME = "settings";

/** What can be set, and to what; the first is what a new reader gets. */
export const CHOICES = {
  wheel: ["zoom", "pan"],
  left: ["window", "pan"],
  views: ["separate", "linked"],
  panel: ["dark", "light"],
};

export class Settings {
  /** @type {{[name in keyof typeof CHOICES]: string}} */
  values = Object.fromEntries(Object.entries(CHOICES).map(([name, [first]]) => [name, first]));
  /** @type {import("./keep.js").Keep|null} */
  #keep = null;
  #changed;

  /** @param {(values: Settings["values"]) => void} changed called at every change, and when the reader is known */
  constructor(changed) {
    this.#changed = changed;
  }

  /** Now it is known who reads. @param {import("./keep.js").Keep} keep */
  open(keep) {
    this.#keep = keep;
    const kept = keep.get(NAME) ?? {};
    for (const [name, choices] of Object.entries(CHOICES)) {
      if (choices.includes(kept[name])) this.values[name] = kept[name];
    }
    this.#changed(this.values);
  }

  /** @param {string} name @param {string} value */
  set(name, value) {
    this.values[name] = value;
    this.#keep?.put(NAME, this.values);
    this.#changed(this.values);
  }

  /** To the other of two. @param {string} name */
  turn(name) {
    this.set(name, CHOICES[name].find((value) => value !== this.values[name]));
  }
}
