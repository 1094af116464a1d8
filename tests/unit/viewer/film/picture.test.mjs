/**
 * The visible part of a film covers whole pixels within the pane, mirrored if the film is flipped.
 * The picture drawn by the processor: exact at 1:1, averages when reduced, no new grey values when enlarged.
 * Window and level follow the formula at every grey value.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  covered, dragged, held, mirrored, openingPreset, origin, preset, PRESETS, resample, resampleTurned, shade, shadeTable,
turnedBack, turnedPoint,
} from "../../../../ui/viewer/js/film/picture.js";

const upright = { width: 2048, height: 2500 };

test("at 1:1 the corner has integer film coordinates", () => {
  const corner = origin({ scale: 1, x: 1023.7, y: 1250.2, fit: false }, { width: 521, height: 899 });
  assert.ok(Number.isInteger(corner.x) && Number.isInteger(corner.y));
});

test("the covered part ends at the pane", () => {
  const pane = { width: 300, height: 200 };
  assert.deepEqual(covered({ scale: 1, x: 1000, y: 1000, fit: false }, pane, upright),
    { x: 0, y: 0, width: 300, height: 200 });
  assert.deepEqual(covered({ scale: 2, x: 50, y: 50, fit: true }, pane, { width: 100, height: 100 }),
    { x: 50, y: 0, width: 200, height: 200 });
});

test("in a flipped pane the covered part is mirrored", () => {
  const part = { x: 20, y: 0, width: 300, height: 10 };
  assert.deepEqual([mirrored(part, { width: 520 }, false), mirrored(part, { width: 520 }, true)], [20, 200]);
});

const film = (width, height, grey) => {
  const samples = new Uint16Array(width * height);
  for (let i = 0; i < samples.length; i += 1) samples[i] = grey(i % width, Math.floor(i / width));
  return { samples, width, height };
};
const noise = film(40, 30, (x, y) => (x * 7919 + y * 104_729) % 65536);

test("at 1:1 every screen pixel is a film pixel", () => {
  const part = resample(noise, { x: 5, y: 3 }, 1, { width: 20, height: 10 }, 1);
  for (let i = 0; i < part.length; i += 1) {
    assert.equal(part[i], noise.samples[(3 + Math.floor(i / 20)) * 40 + 5 + (i % 20)]);
  }
});

test("at half size every pixel is the mean of four", () => {
  const half = resample(noise, { x: 0, y: 0 }, 2, { width: 20, height: 15 }, 1);
  const at = (x, y) => noise.samples[y * 40 + x];
  assert.equal(half[21], Math.floor((at(2, 2) + at(3, 2) + at(2, 3) + at(3, 3)) / 4 + 0.5));
});

test("a uniform film stays uniform at any size", () => {
  const even = film(33, 21, () => 1234);
  for (const step of [3.3, 1.7, 1, 0.6, 0.1]) {
    const part = resample(even, { x: 0, y: 0 }, step, { width: 9, height: 6 }, 1);
    assert.ok(part.every((value) => value === 1234), `at ${step}`);
  }
});

test("reducing a film keeps its mean", () => {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const small = resample(noise, { x: 0, y: 0 }, 2.5, { width: 16, height: 12 }, 1);
  assert.ok(Math.abs(mean([...small]) - mean([...noise.samples])) < 1);
});

test("enlarging keeps grey values between their neighbours", () => {
  const step = film(2, 1, (x) => x * 1000);
  const large = [...resample(step, { x: 0, y: 0 }, 0.25, { width: 8, height: 1 }, 1)];
  assert.deepEqual(large, [0, 0, 125, 375, 625, 875, 1000, 1000]);
});

test("the limits of the window are black and white, also beyond them", () => {
  const window = { low: 1000, high: 3000 };
  assert.deepEqual([0, 1000, 2000, 3000, 65535].map((grey) => shade(grey, window, false)), [0, 0, 128, 255, 255]);
});

test("an inverted picture is the complement, up to rounding", () => {
  const window = { low: 100, high: 900 };
  for (let grey = 0; grey <= 1000; grey += 1) {
    assert.ok(Math.abs(shade(grey, window, true) + shade(grey, window, false) - 255) <= 1);
  }
});

test("the table equals the formula, also in fractions of a grey value", () => {
  const window = { low: 20.5, high: 180 };
  const table = shadeTable(65536, 256, window, false);
  for (const entry of [0, 5248, 20_000, 46_080, 65_535]) {
    assert.equal(table[entry], shade(entry / 256, window, false));
  }
});

test("a wider window keeps the order of grey values", () => {
  const table = shadeTable(65536, 1, { low: -500, high: 70_000 }, false);
  assert.ok(table.every((value, i) => i === 0 || value >= table[i - 1]));
});

test("a film turned to the right has its first column on top, at every scale", () => {
  const size = { width: 30, height: 20 };
  for (const [turns, turn] of [
    [1, (rows) => rows[0].map((_, x) => rows.map((row) => row[x]).reverse())],
    [2, (rows) => rows.map((row) => [...row].reverse()).reverse()],
    [3, (rows) => rows[0].map((_, x) => rows.map((row) => row.at(-1 - x)))],
  ]) {
    for (const step of [0.5, 1, 2]) {
      const lying = { width: size.width / step, height: size.height / step };
      const upright = turns % 2 ? { width: lying.height, height: lying.width } : lying;
      const flat = [...resample({ ...noise, ...size }, { x: 0, y: 0 }, step, lying, 1)];
      const rows = Array.from({ length: lying.height }, (_, y) => flat.slice(y * lying.width, (y + 1) * lying.width));
      const turned = resampleTurned({ ...noise, ...size }, { x: 0, y: 0 }, step, upright, 1, turns);
      assert.deepEqual([...turned], turn(rows).flat(), `${turns} turns, step ${step}`);
    }
  }
});

test("points are turned with their film and back", () => {
  const film = { width: 30, height: 20 };
  assert.deepEqual(turnedPoint({ x: 0, y: 20 }, 1, film), { x: 0, y: 0 });
  for (const turns of [0, 1, 2, 3]) {
    assert.deepEqual(turnedBack(turnedPoint({ x: 7, y: 3 }, turns, film), turns, film), { x: 7, y: 3 });
  }
});

test("presets: soft is wider than automatic, hard is narrower, with the same centre", () => {
  const full = { low: 0, high: 65535 };
  const auto = { low: 1000, high: 2000 };
  assert.deepEqual(preset("full", full, auto), full);
  assert.deepEqual(preset("auto", full, auto), auto);
  assert.deepEqual(preset("soft", full, auto), { low: 750, high: 2250 });
  assert.deepEqual(preset("hard", full, auto), { low: 1200, high: 1800 });
});

test("the presets for lungs and bones lie in the darker and the lighter part of the film's range", () => {
  const auto = { low: 1000, high: 2000 };
  assert.deepEqual(preset("lungs", { low: 0, high: 65535 }, auto), { low: 1000, high: 1650 });
  assert.deepEqual(preset("bones", { low: 0, high: 65535 }, auto), { low: 1350, high: 2000 });
});

test("films of 8 bits open with the full range, others with the 1st to the 99th percentile", () => {
  assert.deepEqual([8, 16].map((bits) => PRESETS[openingPreset(bits)]), ["full", "auto"]);
});

test("dragging right widens, dragging up brightens", () => {
  const full = { low: 0, high: 4095 };
  const wider = dragged(full, 50, 0, full);
  assert.ok(wider.high - wider.low > 4095);
  const brighter = dragged(full, 0, -50, full);
  assert.ok(shade(2000, brighter, false) > shade(2000, full, false));
});

test("the window stays within limits during a long drag", () => {
  const full = { low: 0, high: 255 };
  let window = full;
  for (let i = 0; i < 100; i += 1) window = dragged(window, -100, 100, full);
  assert.ok(window.high - window.low >= 0.99);
  assert.ok(window.low < 400);
});

test("a typed window is kept, unless it would show nothing of the film", () => {
  const full = { low: 0, high: 4095 };
  assert.deepEqual(held(300, 500, full), { low: 50, high: 550 });
  const { low, high } = held(1e9, 1e9, full);
  assert.deepEqual([high - low, (high + low) / 2], [4 * 4095, 1.5 * 4095]);
  assert.ok(held(300, 0.001, full).high - held(300, 0.001, full).low > 1);
});
