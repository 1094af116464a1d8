/**
 * From a key press to what the reader means by it, on any keyboard layout.
 *
 * Options take A to H and 1 to 8, so no command does: not F but Y mirrors, whose own halves mirror each other. Letters
 * go by what is printed on the key; where that is not a Latin letter, by the key's place. The row of digits goes by
 * place, because on French keyboards it gives signs.
 */

/** @typedef {{do: string, letter?: string, number?: number, right?: number, down?: number,
 *   repeats?: boolean, held?: boolean}} Action  held: the key is down for longer */

// All letters are taken, A to H by options: another command has a sign, or ⇧ and a letter in `actionOf`.
const LETTERS = {
  i: "invert", r: "reset", w: "preset", z: "actualSize", p: "pause", v: "view", t: "comment", l: "theme",
  n: "giveUp",
  y: "flip", x: "swap", k: "link", m: "glass", j: "measure", o: "otherEnd", u: "newLine", q: "question", s: "settings",
};
const SIGNS = {
  "+": { do: "zoomIn", repeats: true },
  "=": { do: "zoomIn", repeats: true },
  "-": { do: "zoomOut", repeats: true },
  "−": { do: "zoomOut", repeats: true },
  "?": { do: "help" },
};
// Where PACS have them; F5 loads the page again.
const PRESETS = { F2: 0, F3: 1, F4: 2, F6: 3, F7: 4, F8: 5 };
const NAMED = { Enter: "confirm", Escape: "close", Backspace: "back", Delete: "remove" };
/** What a key is called that a Chinese or Japanese input method took for itself. */
const TAKEN = "Process";
const PAGES = { PageUp: -1, PageDown: 1 };
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * @param {{key: string, code: string, shiftKey: boolean, ctrlKey: boolean, metaKey: boolean, altKey: boolean,
 *   repeat: boolean, isComposing: boolean}} event
 * @returns {Action|null} null for keys that are not ours
 */
export function actionOf(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return null;
  const { key, shiftKey } = event;
  if (key in NAMED) return { do: NAMED[key] };
  if (key in PRESETS) return { do: "preset", number: PRESETS[key] };
  if (key in PAGES) return { do: "scroll", down: PAGES[key], repeats: true };
  if (key in ARROWS) {
    const [right, down] = ARROWS[key];
    return { do: shiftKey ? "level" : "pan", right, down, repeats: true };
  }
  const digit = digitOf(event);
  if (digit === 0) return { do: "fit" };
  if (digit !== null) return { do: "digit", number: digit };
  if (Object.hasOwn(SIGNS, key)) return SIGNS[key];
  const letter = letterOf(event);
  if (letter === null) return null;
  if (letter <= "h") return { do: "select", letter: letter.toUpperCase() };
  if (letter === "j" && shiftKey) return { do: "heart" };
  if (letter === "t" && shiftKey) return { do: "faulty" };
  if (letter === "v" && shiftKey) return { do: "compare" };
  return { do: LETTERS[letter] ?? "nothing" };
}

function digitOf({ key, code = "", shiftKey }) {
  if (/^[0-9]$/.test(key)) return Number(key);
  const place = /^(?:Digit|Numpad)([0-9])$/.exec(code);
  return place && !shiftKey && (key.length === 1 || key === TAKEN) ? Number(place[1]) : null;
}

function letterOf({ key, code = "" }) {
  if (/^[a-z]$/i.test(key)) return key.toLowerCase();
  const place = /^Key([A-Z])$/.exec(code);
  const foreign = key === TAKEN || (key.length === 1 && key.charCodeAt(0) > 0x2ff);
  return place && foreign ? place[1].toLowerCase() : null;
}
