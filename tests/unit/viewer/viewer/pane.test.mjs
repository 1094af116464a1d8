/** A window that is taken along means the same share of the next film. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { asItComes, inUse, windowAgain, windowSet } from "../../../../ui/viewer/js/viewer/pane.js";

const film = (low, high) => ({
  view: { low: 0, high: 65535, bits: 16, width: 10, height: 10 }, auto: { low, high }, handle: 1,
});
const pane = (one) => asItComes(one, { x: 0, y: 0, width: 10, height: 10 });

test("a window drawn by hand has the same place among the next film's grey levels", () => {
  const set = windowSet({ ...pane(film(1000, 2000)), window: { low: 1250, high: 1750 }, preset: -1 });
  assert.deepEqual(windowAgain(film(0, 400), set), { window: { low: 100, high: 300 }, preset: -1 });
});

test("a preset is taken as itself, and the window a film opened at is nothing to take along", () => {
  const full = windowSet({ ...pane(film(1000, 2000)), window: { low: 0, high: 65535 }, preset: 0 });
  assert.deepEqual(windowAgain(film(5, 9), full), { window: { low: 0, high: 65535 }, preset: 0 });
  assert.equal(windowSet(pane(film(1000, 2000))), null);
  assert.deepEqual(windowAgain(film(5, 9), null), {});
});

test("a film of 16 bits opens between the outermost hundredths, and that is no window in use", () => {
  const opened = { ...pane(film(1000, 2000)), index: 0 };
  assert.deepEqual(opened.window, { low: 1000, high: 2000 });
  const box = { alone: false, inverted: false, glass: false };
  assert.deepEqual(inUse([opened], box), ["view_1"]);
  assert.deepEqual(inUse([{ ...opened, window: { low: 0, high: 65535 } }], box), ["view_1", "windowed"]);
});
