/** The action of every key of real keyboards. The layouts are data: keyboards.json, one string for each row of keys.
    */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { actionOf, digitOf } from "../../../../ui/viewer/js/page/keys.js";

const codes = (text) => text.split(" ");
const keysOf = (letters) => [...letters].map((letter) => `Key${letter}`);
const ROWS = [
  codes("Backquote Digit1 Digit2 Digit3 Digit4 Digit5 Digit6 Digit7 Digit8 Digit9 Digit0 Minus Equal"),
  [...keysOf("QWERTYUIOP"), "BracketLeft", "BracketRight"],
  [...keysOf("ASDFGHJKL"), "Semicolon", "Quote", "Backslash"],
  ["IntlBackslash", ...keysOf("ZXCVBNM"), "Comma", "Period", "Slash"],
];
const DEAD = "◌";
const NO_KEY = "∅";
const SIGNS = ["zoomIn", "zoomOut", "help"];
const COMMANDS = {
  i: "invert", j: "measure", k: "link", l: "theme", m: "glass", n: "giveUp", o: "otherEnd", p: "pause", q: "question",
  r: "reset", s: "settings", t: "comment", u: "newLine", v: "view", w: "preset", x: "swap", y: "flip", z: "actualSize",
};
const SHIFTED = { j: "heart", m: "aid", t: "faulty", o: "region", u: "angle", v: "compare", w: "typedWindow", y: "rotate" };

const layouts = Object.entries(JSON.parse(readFileSync(new URL("./keyboards.json", import.meta.url), "utf8")));

/** Every possible key press of a layout. */
function* pressesOf({ plain, shift, altgr = {} }) {
  for (const [held, rows] of [["", plain], ["Shift+", shift]]) {
    for (const [row, line] of rows.entries()) {
      for (const [place, key] of codes(line).entries()) {
        if (key !== NO_KEY) yield { code: ROWS[row][place], key, held };
      }
    }
  }
  for (const [code, key] of Object.entries(altgr)) {
    yield { code, key, held: "AltGr+" };
    yield { code, key, held: "AltGr+", windows: true };
  }
}

function event({ code, key, held, windows = false }) {
  return {
    code, key: key === DEAD ? "Dead" : key, shiftKey: held === "Shift+", ctrlKey: windows, altKey: windows, metaKey: false,
    isComposing: false, repeat: false, getModifierState: (name) => name === "AltGraph" && held === "AltGr+",
  };
}

/** The expected action of a press: by the layout's list, then by the printed character, then by position. */
function wanted(layout, { code, key, held }) {
  const sign = SIGNS.find((command) => layout[command].includes(held + code));
  if (sign) return sign;
  if (key === DEAD) return null;
  const printed = key.normalize("NFKC");
  if (/^[0-9]$/.test(printed) && !"²³".includes(key)) return digit(printed);
  if (code.startsWith("Digit") && !held) return digit(code.at(-1));
  if (/^[a-z]$/i.test(printed) && !"ªº".includes(key)) return letter(printed.toLowerCase(), held);
  if ("ıİ".includes(key)) return "invert";
  const byPlace = !layout.latin && code.startsWith("Key") && held !== "AltGr+" && !/^[\p{P}\p{S}\p{N}\p{Cf}]/u.test(key);
  return byPlace ? letter(code.at(-1).toLowerCase(), held) : null;
}

const digit = (printed) => (printed === "0" ? "fit" : `digit ${printed}`);
const letter = (name, held) => (name <= "h" ? `select ${name.toUpperCase()}`
  : (held === "Shift+" && SHIFTED[name]) || COMMANDS[name]);
const words = (action) => action && [action.do, action.number ?? action.letter].filter((part) => part !== undefined).join(" ");

/** Letters of scripts whose keyboards print punctuation at that position. */
const PUNCTUATED = {
  Hebrew: { KeyQ: "question", KeyW: "preset" }, Greek: { KeyQ: "question", "Shift+KeyQ": "question" },
  Bulgarian: { KeyQ: "question" },
};
/** Characters that are not on the main keys of a layout, but on the numeric keypad or on buttons. */
const UNREACHED = { Arabic: ["aid", "region", "angle", "compare"], Persian: ["region"], Thai: ["aid", "typedWindow", "digit 3"], "Japanese, kana": ["help", "heart", "aid", "faulty", "region", "angle", "compare", "typedWindow", "rotate"] };

for (const [name, layout] of layouts) {
  test(`${name}: every key does what is printed on it, or what is at its position`, () => {
    for (const press of pressesOf(layout)) {
      const what = PUNCTUATED[name]?.[press.held + press.code] ?? wanted(layout, press);
      assert.equal(words(actionOf(event(press))), what, `${press.held}${press.code} prints ${press.key}`);
    }
  });

  test(`${name}: every digit, option and letter command has a key`, () => {
    const reached = new Set([...pressesOf(layout)].map((press) => words(actionOf(event(press)))));
    const everything = ["fit", ...SIGNS, ...Object.values(COMMANDS), ...Object.values(SHIFTED),
      ...[..."ABCDEFGH"].map((option) => `select ${option}`), ...[..."123456789"].map((number) => `digit ${number}`)];
    assert.deepEqual(everything.filter((what) => !reached.has(what)), UNREACHED[name] ?? []);
  });

  test(`${name}: in the steps before the first case the digit row enters digits, whatever is printed on it`, () => {
    for (const press of pressesOf(layout)) {
      if (press.held || !press.code.startsWith("Digit")) continue;
      assert.equal(digitOf(event(press)), press.key === DEAD ? null : Number(press.code.at(-1)));
    }
  });
}
