/**
 * What a key press means on any keyboard layout.
 *
 * Three rules, in this order:
 * 1. A key that prints a symbol of the page (`+ - = ?`) has the meaning of that symbol, at any position and with any
 * modifier. 2. A key that prints a digit or a letter from A to Z is that digit or letter.
 * 3. Any other key is recognised by its position: the digit row (French and Czech keyboards print é or š there) and
 * the letters of Hebrew, Cyrillic, Greek and other scripts. Latin letters with an accent, punctuation and anything
 * typed with AltGr have no meaning.
 *
 * Options take A to H and 1 to 8, so no command uses them: Y mirrors instead of F.
 */

/** @typedef {{do: string, letter?: string, number?: number, right?: number, down?: number,
 *   repeats?: boolean, held?: boolean}} Action  held: the key is down for longer */

/** @typedef {{key: string, code?: string, shiftKey: boolean, ctrlKey: boolean, metaKey: boolean, altKey: boolean,
 *   isComposing: boolean, keyCode?: number, getModifierState?: (name: string) => boolean}} Press */

const LETTERS = {
  i: "invert", r: "reset", w: "preset", z: "actualSize", p: "pause", v: "view", t: "comment", l: "theme",
  n: "giveUp",
  y: "flip", x: "swap", k: "link", m: "glass", j: "measure", o: "otherEnd", u: "newLine", q: "question", s: "settings",
};
const WITH_SHIFT = { j: "heart", m: "aid", t: "faulty", o: "region", u: "angle", v: "compare", w: "typedWindow", y: "rotate" };
/** @type {{[sign: string]: Action}} */
const SIGNS = {
  "+": { do: "zoomIn", repeats: true },
  "=": { do: "zoomIn", repeats: true },
  "-": { do: "zoomOut", repeats: true },
  "\u2212": { do: "zoomOut", repeats: true }, // the minus sign, which some numeric keypads print
  "?": { do: "help" },
  "\u061f": { do: "help" }, // the Arabic question mark
};
/** Positions at which some scripts have a letter instead of the symbol. */
const SIGN_AT = { Minus: "-", Equal: "=" };
// The keys PACS use for presets, except F5, which reloads the page.
const PRESETS = { F2: 0, F3: 1, F4: 2, F6: 3, F7: 4, F8: 5 };
const NAMED = { Enter: "confirm", Escape: "close", Backspace: "back", Delete: "remove" };
const PAGES = { PageUp: -1, PageDown: 1 };
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** The `key` of a press that a Chinese or Japanese input method has taken. */
const TAKEN = "Process";
/** The `keyCode` of such a press. Safari has already ended the composition at the Enter that confirms it, and only this
 * number distinguishes that press of Enter from others. */
const TAKEN_CODE = 229;
/** Positions of letters where Hebrew, Greek and Bulgarian keyboards print punctuation; Dvorak prints ' and , in them.
    */
const PUNCTUATED = { KeyQ: "/;:,", KeyW: "'" };
/** The two letters I of Turkish keyboards; both are I. */
const TURKISH_I = /^[ıİ]$/;

/** @param {Press & {repeat?: boolean}} event @returns {Action|null} null for keys without a meaning on this page */
export function actionOf(event) {
  const { key, shiftKey } = event;
  const sign = types(event) ? signOf(event) : null;
  if (sign) return sign;
  const digit = digitOf(event);
  if (digit !== null) return digit ? { do: "digit", number: digit } : { do: "fit" };
  if (!isPlain(event)) return null;
  if (key in NAMED) return { do: NAMED[key] };
  if (key in PRESETS) return { do: "preset", number: PRESETS[key] };
  if (key in PAGES) return { do: "scroll", down: PAGES[key], repeats: true };
  if (key in ARROWS) {
    const [right, down] = ARROWS[key];
    return { do: shiftKey ? "level" : "pan", right, down, repeats: true };
  }
  const letter = letterOf(event);
  if (letter === null) return null;
  if (letter <= "h") return { do: "select", letter: letter.toUpperCase() };
  return { do: (shiftKey && WITH_SHIFT[letter]) || LETTERS[letter] };
}

/** The meaning of a key in the field of an open-ended answer: Enter confirms, also with Ctrl or Cmd; with Shift it
 *  starts a new line. @param {Press & {repeat?: boolean}} event @returns {Action|null} */
export function actionInWords(event) {
  if (event.key !== "Enter") return actionOf(event);
  return event.shiftKey || event.altKey || composes(event) ? null : { do: "confirm" };
}

/** Whether a press belongs to a character that an input method is composing. @param {Press} event */
export function composes({ key, keyCode, isComposing }) {
  return isComposing || (keyCode === TAKEN_CODE && key !== TAKEN);
}

/** The digit of a key where symbols have no meaning, as on the sheets before the first case.
 *  @param {Press} event @returns {number|null} */
export function digitOf(event) {
  const { code = "", shiftKey } = event;
  const key = narrow(event.key);
  if (!types(event)) return null;
  if (/^[0-9]$/.test(key)) return Number(key);
  const place = /^(?:Digit|Numpad)([0-9])$/.exec(code);
  const byPlace = !shiftKey && !withAltGr(event) && (key === TAKEN || [...key].length === 1);
  return place && byPlace ? Number(place[1]) : null;
}

/** @param {Press} event @returns {Action|null} */
function signOf(event) {
  const key = narrow(event.key);
  if (Object.hasOwn(SIGNS, key)) return SIGNS[key];
  const sign = isForeign(event) && !event.shiftKey ? SIGN_AT[event.code ?? ""] : undefined;
  return sign ? SIGNS[sign] : null;
}

/** @param {Press} event @returns {string|null} from a to z */
function letterOf(event) {
  const { code = "" } = event;
  const key = narrow(event.key);
  if (/^[a-z]$/i.test(key)) return key.toLowerCase();
  if (TURKISH_I.test(key)) return "i";
  const place = /^Key([A-Z])$/.exec(code);
  const byPlace = isForeign(event) || (PUNCTUATED[code]?.includes(key) && !withAltGr(event));
  return place && byPlace ? place[1].toLowerCase() : null;
}

/** Whether a key prints letters of a script other than Latin (an Arabic key prints two of them), or was taken by an
 *  input method. @param {Press} event */
function isForeign(event) {
  const { key } = event;
  return !withAltGr(event) && (key === TAKEN || (/^[\p{L}\p{M}]+$/u.test(key) && !/[\p{Script=Latin}\xb5]/u.test(key)));
}

/** Whether a press is neither a shortcut of the browser nor part of a character still being composed.
 *  @param {Press} event */
function isPlain(event) {
  const { ctrlKey, metaKey, altKey } = event;
  return !composes(event) && !metaKey && !ctrlKey && !altKey;
}

/** Whether a press types a character: AltGr does, which Windows reports as Ctrl and Alt together.
 *  @param {Press} event */
function types(event) {
  return isPlain(event) || (withAltGr(event) && !composes(event) && !event.metaKey);
}

/** @param {Press} event */
function withAltGr(event) {
  return Boolean(event.getModifierState?.("AltGraph"));
}

/** The standard form of the full-width characters of Japanese and Chinese keyboards. @param {string} key */
function narrow(key) {
  return /^[\uff01-\uff5e]$/.test(key) ? String.fromCharCode(key.charCodeAt(0) - 0xfee0) : key;
}
