/** The processor's picture: exact at 1:1, true averages below, no new greys above. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { resample } from "../../../../ui/viewer/js/film/resample.js";

const film = (width, height, grey) => {
  const samples = new Uint16Array(width * height);
  for (let i = 0; i < samples.length; i += 1) samples[i] = grey(i % width, Math.floor(i / width));
  return { samples, width, height };
};
const noise = film(40, 30, (x, y) => (x * 7919 + y * 104_729) % 65536);

test("at 1:1 every pixel is the film's own", () => {
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

test("an even film stays even at any size", () => {
  const even = film(33, 21, () => 1234);
  for (const step of [3.3, 1.7, 1, 0.6, 0.1]) {
    const part = resample(even, { x: 0, y: 0 }, step, { width: 9, height: 6 }, 1);
    assert.ok(part.every((value) => value === 1234), `at ${step}`);
  }
});

test("the mean of the film is kept when it is made smaller", () => {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const small = resample(noise, { x: 0, y: 0 }, 2.5, { width: 16, height: 12 }, 1);
  assert.ok(Math.abs(mean([...small]) - mean([...noise.samples])) < 1);
});

test("made larger, greys stay between their neighbours", () => {
  const step = film(2, 1, (x) => x * 1000);
  const large = [...resample(step, { x: 0, y: 0 }, 0.25, { width: 8, height: 1 }, 1)];
  assert.deepEqual(large, [0, 0, 125, 375, 625, 875, 1000, 1000]);
});
