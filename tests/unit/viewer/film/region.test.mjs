/** The grey values in an ellipse are those of the pixels whose centre it contains. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { greyValues, samplesOf } from "../../../../ui/viewer/js/film/region.js";

const film = (width, height, grey) => {
  const samples = new Uint16Array(width * height);
  for (let i = 0; i < samples.length; i += 1) samples[i] = grey(i % width, Math.floor(i / width));
  return { samples, width, height };
};
const measured = (film, box) => greyValues(box, film, (part) => samplesOf(film, part));
const noise = film(60, 50, (x, y) => (x * 7919 + y * 104_729) % 65536);

/** The same values by definition, over every pixel of the film. */
function expected({ samples, width }, { x, y, width: across, height: down }) {
  const inside = [...samples].filter((_, i) => {
    const [dx, dy] = [(i % width) + 0.5 - x - across / 2, Math.floor(i / width) + 0.5 - y - down / 2];
    return (2 * dx / across) ** 2 + (2 * dy / down) ** 2 <= 1;
  });
  const mean = inside.reduce((sum, value) => sum + value, 0) / inside.length;
  const sd = Math.sqrt(inside.reduce((sum, value) => sum + (value - mean) ** 2, 0) / inside.length);
  return { n: inside.length, mean, sd, min: Math.min(...inside), max: Math.max(...inside) };
}

test("number, mean, standard deviation and range follow their definitions, also beyond the film's edge", () => {
  for (const box of [
    { x: 5.2, y: 3.7, width: 30, height: 20.4 }, { x: -10, y: -10, width: 40, height: 30 }, { x: 40, y: 30, width: 50, height: 50 },
  ]) {
    const [values, right] = [measured(noise, box), expected(noise, box)];
    for (const [name, value] of Object.entries(right)) assert.ok(Math.abs(values[name] - value) <= 1e-6 * Math.abs(value), name);
  }
});

test("a box of one pixel contains that pixel", () => {
  const value = noise.samples[30 * 60 + 20];
  assert.deepEqual(measured(noise, { x: 20, y: 30, width: 1, height: 1 }), { n: 1, mean: value, sd: 0, min: value, max: value });
});

test("a uniform film has no deviation at any level", () => {
  const { mean, sd } = measured(film(40, 40, () => 65_535), { x: 0, y: 0, width: 40, height: 40 });
  assert.deepEqual([mean, sd], [65_535, 0]);
});

test("there are no values if no pixel has its centre inside", () => {
  for (const box of [
    { x: 3, y: 3, width: 0, height: 0 }, { x: 3.6, y: 3.6, width: 0.3, height: 0.3 }, { x: 70, y: 3, width: 9, height: 9 },
  ]) assert.equal(measured(noise, box), null);
});
