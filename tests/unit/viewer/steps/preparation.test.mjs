/** Whether a window is large enough for reading, in either orientation. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { fits } from "../../../../ui/viewer/js/steps/preparation.js";

test("a window may have either orientation, and its exact minimum size suffices", () => {
  for (const size of [[1024, 700], [700, 1024], [1440, 900], [1080, 1920]]) assert.ok(fits(size, [1024, 700]), size);
  assert.ok(fits([1024, 700], [700, 1024]), "the study may name it upright");
});

test("a window that is too small in one dimension is refused", () => {
  for (const size of [[1023, 700], [1024, 699], [3840, 600], [390, 844], [600, 3840]]) assert.ok(!fits(size, [1024, 700]), size);
});

test("without a minimum every window is accepted", () => {
  assert.ok(fits([320, 480], []));
});
