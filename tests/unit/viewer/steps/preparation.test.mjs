/** Whether a window is large enough to read in, either way round. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { fits } from "../../../../ui/viewer/js/steps/preparation.js";

test("a window fits either way round, and on the very pixel", () => {
  for (const size of [[1024, 700], [700, 1024], [1440, 900], [1080, 1920]]) assert.ok(fits(size, [1024, 700]), size);
  assert.ok(fits([1024, 700], [700, 1024]), "the study may name it upright");
});

test("a window too short on one side does not fit, however long the other", () => {
  for (const size of [[1023, 700], [1024, 699], [3840, 600], [390, 844], [600, 3840]]) assert.ok(!fits(size, [1024, 700]), size);
});

test("where a study names no window every one will do", () => {
  assert.ok(fits([320, 480], []));
});
