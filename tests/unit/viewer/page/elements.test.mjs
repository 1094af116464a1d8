/** A case is on the screen when the frame after its first frame begins. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { afterPaint } from "../../../../ui/viewer/js/page/elements.js";

/** A screen whose frames run on request. */
function screen(t) {
  const waiting = [];
  let now = 0;
  t.mock.method(performance, "now", () => now);
  globalThis.requestAnimationFrame = (run) => waiting.push(run);
  t.after(() => delete globalThis.requestAnimationFrame);
  return (frame, at) => {
    now = at;
    for (const run of waiting.splice(0)) run(frame);
  };
}

test("the onset is the frame after the first frame with the film", async (t) => {
  const draw = screen(t);
  const onsets = [];
  await afterPaint(Promise.resolve(), (frame) => onsets.push(frame));
  draw(100, 101);
  assert.deepEqual(onsets, []);
  draw(117, 118);
  draw(133, 134);
  assert.deepEqual(onsets, [117]);
});

test("a frame dated before the film was shown is not the onset", async (t) => {
  const draw = screen(t);
  const onsets = [];
  await afterPaint(Promise.resolve(), (frame) => onsets.push(frame));
  draw(100, 130);
  draw(117, 131);
  assert.deepEqual(onsets, []);
  draw(133, 134);
  assert.deepEqual(onsets, [133]);
});
