/** Window and level follow the formula at every grey value. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { dragged, openingPreset, preset, PRESETS, shade, shadeTable } from "../../../../ui/viewer/js/film/window-level.js";

test("the ends of the window are black and white, and beyond them nothing changes", () => {
  const window = { low: 1000, high: 3000 };
  assert.deepEqual([0, 1000, 2000, 3000, 65535].map((grey) => shade(grey, window, false)), [0, 0, 128, 255, 255]);
});

test("inverted is the mirror image, within a rounding", () => {
  const window = { low: 100, high: 900 };
  for (let grey = 0; grey <= 1000; grey += 1) {
    assert.ok(Math.abs(shade(grey, window, true) + shade(grey, window, false) - 255) <= 1);
  }
});

test("the table is the formula, in steps finer than a grey value too", () => {
  const window = { low: 20.5, high: 180 };
  const table = shadeTable(65536, 256, window, false);
  for (const entry of [0, 5248, 20_000, 46_080, 65_535]) {
    assert.equal(table[entry], shade(entry / 256, window, false));
  }
});

test("a wider window never makes two greys change places", () => {
  const table = shadeTable(65536, 1, { low: -500, high: 70_000 }, false);
  assert.ok(table.every((value, i) => i === 0 || value >= table[i - 1]));
});

test("presets: soft is wider than automatic, hard is narrower, all about one centre", () => {
  const full = { low: 0, high: 65535 };
  const auto = { low: 1000, high: 2000 };
  assert.deepEqual(preset("full", full, auto), full);
  assert.deepEqual(preset("auto", full, auto), auto);
  assert.deepEqual(preset("soft", full, auto), { low: 750, high: 2250 });
  assert.deepEqual(preset("hard", full, auto), { low: 1200, high: 1800 });
});

test("lungs are seen in the darker part of the film, bones in the lighter, and neither beyond it", () => {
  const auto = { low: 1000, high: 2000 };
  assert.deepEqual(preset("lungs", { low: 0, high: 65535 }, auto), { low: 1000, high: 1650 });
  assert.deepEqual(preset("bones", { low: 0, high: 65535 }, auto), { low: 1350, high: 2000 });
});

test("8 bits open at every level, more bits at the 1st to the 99th percentile", () => {
  assert.deepEqual([8, 16].map((bits) => PRESETS[openingPreset(bits)]), ["full", "auto"]);
});

test("dragging right widens, dragging up brightens", () => {
  const full = { low: 0, high: 4095 };
  const wider = dragged(full, 50, 0, full);
  assert.ok(wider.high - wider.low > 4095);
  const brighter = dragged(full, 0, -50, full);
  assert.ok(shade(2000, brighter, false) > shade(2000, full, false));
});

test("the window stays within reason however long the drag", () => {
  const full = { low: 0, high: 255 };
  let window = full;
  for (let i = 0; i < 100; i += 1) window = dragged(window, -100, 100, full);
  assert.ok(window.high - window.low >= 0.99);
  assert.ok(window.low < 400);
});
