/** The scale bar has a round length, as long as there is room for, whatever the zoom. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { scaleBar } from "../../../../ui/viewer/js/viewer/pane-labels.js";

test("the longest round length that fits", () => {
  assert.deepEqual(scaleBar(1, 130), { mm: 100, px: 100 });
  assert.deepEqual(scaleBar(2, 130), { mm: 50, px: 100 });
  assert.deepEqual(scaleBar(1.3, 130), { mm: 100, px: 130 });
  assert.deepEqual(scaleBar(200, 130), { mm: 0.5, px: 100 });
});

test("at every zoom it is round, fits, and is more than a third of what fits", () => {
  for (let zoom = 0.01; zoom < 500; zoom *= 1.07) {
    const { mm, px } = scaleBar(zoom, 130);
    assert.match(String(mm), /^(0\.0*)?[125]0*$/);
    assert.ok(px <= 130.001 && px > 130 / 2.6, `${px} at ${zoom}`);
    assert.ok(Math.abs(mm * zoom - px) < 1e-6);
  }
});
