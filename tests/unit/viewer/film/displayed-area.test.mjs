/** The part of a film that a pane shows lies on whole pixels, within the pane, and on its other side when flipped. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { covered, mirrored, origin } from "../../../../ui/viewer/js/film/displayed-area.js";

const upright = { width: 2048, height: 2500 };

test("at 1:1 the corner lies on a whole film pixel", () => {
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

test("flipped, the covered part begins as far from the other side", () => {
  const part = { x: 20, y: 0, width: 300, height: 10 };
  assert.deepEqual([mirrored(part, { width: 520 }, false), mirrored(part, { width: 520 }, true)], [20, 200]);
});
