/** Keys have the same meaning on every keyboard, and the browser keeps its shortcuts. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { actionInWords, actionOf, composes, digitOf } from "../../../../ui/viewer/js/page/keys.js";

const press = (key, code = "", more = {}) => actionOf({
  key, code, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, repeat: false, isComposing: false, ...more,
});

test("letters A to H, in either case, and digits select options", () => {
  assert.deepEqual(press("a", "KeyA"), { do: "select", letter: "A" });
  assert.deepEqual(press("H", "KeyH", { shiftKey: true }), { do: "select", letter: "H" });
  assert.deepEqual(press("3", "Digit3"), { do: "digit", number: 3 });
  assert.deepEqual(press("3", "Numpad3"), { do: "digit", number: 3 });
});

test("no command uses an option's key", () => {
  for (const letter of "abcdefgh") assert.equal(press(letter).do, "select");
});

test("the digits of a French keyboard work with and without shift, except for the page's symbols", () => {
  assert.deepEqual(press("&", "Digit1"), { do: "digit", number: 1 });
  assert.deepEqual(press("-", "Digit6"), { do: "zoomOut", repeats: true });
  assert.deepEqual(press("1", "Digit1", { shiftKey: true }), { do: "digit", number: 1 });
});

test("letters are recognised by the printed character", () => {
  assert.deepEqual(press("a", "KeyQ"), { do: "select", letter: "A" });
  assert.equal(press("z", "KeyY").do, "actualSize");
});

test("keys of other scripts are recognised by position", () => {
  assert.deepEqual(press("ф", "KeyA"), { do: "select", letter: "A" });
  assert.deepEqual(press("Process", "KeyB"), { do: "select", letter: "B" });
  assert.deepEqual(press("Process", "Digit2"), { do: "digit", number: 2 });
  assert.deepEqual(press("Process", "Numpad2"), { do: "digit", number: 2 });
  assert.deepEqual(press("ｂ", "KeyB"), { do: "select", letter: "B" });
});

test("symbols are found on German and American keyboards", () => {
  assert.equal(press("?", "Minus", { shiftKey: true }).do, "help");
  assert.equal(press("+", "BracketRight").do, "zoomIn");
  assert.equal(press("+", "Equal", { shiftKey: true }).do, "zoomIn");
  assert.equal(press("-", "Slash").do, "zoomOut");
});

test("the numeric keypad zooms and selects", () => {
  assert.equal(press("+", "NumpadAdd").do, "zoomIn");
  assert.equal(press("=", "NumpadEqual").do, "zoomIn");
  for (const minus of ["-", "\u2212"]) assert.equal(press(minus, "NumpadSubtract").do, "zoomOut");
  assert.deepEqual(press("۲", "Numpad2"), { do: "digit", number: 2 });
  assert.equal(press("End", "Numpad1"), null);
});

test("a key taken by an input method is recognised by position", () => {
  assert.equal(press("Process", "Minus").do, "zoomOut");
  assert.equal(press("Process", "KeyW").do, "preset");
  assert.equal(press("Unidentified", "Digit2"), null);
});

test("page zoom and typing with the Option key are left to the browser", () => {
  for (const key of ["+", "-", "=", "0"]) assert.equal(press(key, "", { ctrlKey: true }), null);
  for (const key of ["+", "-", "=", "0"]) assert.equal(press(key, "", { metaKey: true }), null);
  assert.equal(press("–", "Minus", { altKey: true }), null);
  // Windows and macOS report Ctrl + Alt, or Option, as AltGr as well.
  const withAltGr = { ctrlKey: true, altKey: true, getModifierState: () => true };
  for (const key of ["Enter", "ArrowLeft", "Backspace", "a", "i"]) assert.equal(press(key, "KeyA", withAltGr), null);
});

test("keys of a composition have no meaning, in browsers that report it and in Safari, which has a key code for it",
() => {
  const event = (key, code, how) => ({ key, code, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...how });
  for (const how of [{ isComposing: true, keyCode: 13 }, { isComposing: false, keyCode: 229 }]) {
    for (const [key, code] of [["Enter", "Enter"], ["Escape", "Escape"], ["Backspace", "Backspace"], ["b", "KeyB"], ["2", "Digit2"], ["+", "Equal"]]) {
      const composed = event(key, code, how);
      for (const meaning of [actionOf, actionInWords, digitOf]) assert.equal(meaning(composed), null, `${key}: ${meaning.name}`);
      assert.ok(composes(composed), key);
    }
  }
  assert.deepEqual(actionInWords(event("Enter", "Enter", { isComposing: false, keyCode: 13 })), { do: "confirm" });
  const taken = event("Process", "KeyB", { isComposing: false, keyCode: 229 }); // outside of a field
  assert.deepEqual(actionOf(taken), { do: "select", letter: "B" });
});

test("arrow keys move the film, with shift they change the window", () => {
  assert.deepEqual(press("ArrowLeft"), { do: "pan", right: -1, down: 0, repeats: true });
  assert.deepEqual(press("ArrowUp", "", { shiftKey: true }), { do: "level", right: 0, down: -1, repeats: true });
});

test("browser shortcuts and unfinished input are ignored", () => {
  assert.equal(press("r", "KeyR", { ctrlKey: true }), null);
  assert.equal(press("c", "KeyC", { metaKey: true }), null);
  assert.equal(press("ArrowLeft", "", { altKey: true }), null);
  assert.equal(press("a", "KeyA", { isComposing: true }), null);
  for (const key of ["Tab", "F5", "Shift", " ", "Dead"]) assert.equal(press(key), null);
});

test("every letter is handled, so that Streamlit does not receive it", () => {
  for (const letter of "abcdefghijklmnopqrstuvwxyz") assert.notEqual(press(letter), null);
});

test("the film's tools have letters that no option has, and Delete removes lines", () => {
  const tools = { y: "flip", x: "swap", k: "link", m: "glass", j: "measure", o: "otherEnd", u: "newLine", q: "question" };
  for (const [letter, tool] of Object.entries(tools)) assert.equal(press(letter).do, tool);
  assert.equal(press("s").do, "settings");
  assert.equal(press("Delete").do, "remove");
});

test("only film movements and scrolling repeat", () => {
  assert.deepEqual(press("PageDown"), { do: "scroll", down: 1, repeats: true });
  for (const key of ["Enter", "a", "1", "p", "i", "Backspace"]) assert.ok(!press(key).repeats);
});

test("J measures, and with shift the heart against the chest", () => {
  assert.deepEqual(press("j", "KeyJ"), { do: "measure" });
  assert.deepEqual(press("J", "KeyJ"), { do: "measure" }, "caps lock");
  assert.deepEqual(press("J", "KeyJ", { shiftKey: true }), { do: "heart" });
});

test("F2 to F8 set windows, except F5, which reloads the page", () => {
  assert.deepEqual(["F2", "F3", "F4", "F6", "F7", "F8"].map((key) => press(key, key).number), [0, 1, 2, 3, 4, 5]);
  assert.equal(press("F5", "F5"), null);
});

test("Shift + V hides and shows prior films, V alone does not", () => {
  assert.equal(press("V", "KeyV", { shiftKey: true }).do, "compare");
  assert.equal(press("v", "KeyV").do, "view");
});

test("Shift + Y rotates, Y alone mirrors", () => {
  assert.equal(press("Y", "KeyY", { shiftKey: true }).do, "rotate");
  assert.equal(press("Y", "KeyY").do, "flip", "caps lock");
});
