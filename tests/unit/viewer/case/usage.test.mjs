/** Time in use is charged time: the clock's own, split over what was on the screen. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Attempt } from "../../../../ui/viewer/js/case/attempt.js";
import { Usage, USES } from "../../../../ui/viewer/js/case/usage.js";

const ANSWER = { option: "A", confidence: null, comment: "" };
const seated = (more = {}, options = {}) => new Attempt(
  { case: "c1", position: 1, options: [], presented: false, reading: null, ...more }, { readingId: "r1", ...options });

test("each view and tool gets the time it was in use, in whole milliseconds", () => {
  const usage = new Usage();
  usage.change(["view_1", "view_2"], 0);
  usage.change(["view_1", "alone", "zoomed"], 1000.4);
  usage.change(["view_1", "view_2"], 1500.9);
  assert.deepEqual(usage.read(2000), { view_1_ms: 2000, view_2_ms: 1500, alone_ms: 501, zoomed_ms: 501 });
});

test("a press that was heard late is told of at its own time, however late the clock was looked at", () => {
  const usage = new Usage();
  usage.change(["view_1", "glass"], 0);
  usage.change(["view_1"], 300);
  usage.keep(1040);
  assert.deepEqual(usage.read(1000), { view_1_ms: 1000, glass_ms: 300 });
  assert.deepEqual(new Usage(usage.keep(1000), 1000).read(1000), { view_1_ms: 1000, glass_ms: 300 });
});

test("what was never in use is left out, and what has no name is never counted", () => {
  const usage = new Usage();
  usage.change(["view_9", "anything", "glass"], 10);
  assert.deepEqual(usage.read(20), { glass_ms: 10 });
  assert.equal(USES.length, 13);
});

test("hidden and paused time is charged to nothing", () => {
  const attempt = seated();
  attempt.looking(["view_1"], 50);
  attempt.begin(100, 5000);
  attempt.looking(["view_1", "inverted"], 300);
  attempt.clock.setHidden(400, true);
  attempt.clock.setHidden(1400, false);
  attempt.clock.setPaused(1500, true);
  attempt.looking(["view_1"], 2000);
  attempt.clock.setPaused(9000, false);
  const { behaviour, times } = attempt.reading(9500, 9000, "answered", ANSWER);
  assert.deepEqual(behaviour, { view_1_ms: 900, inverted_ms: 200 });
  assert.equal(times.response_ms, 900);
});

test("counts and times stand beside each other, and both survive a reload", () => {
  const before = seated();
  before.begin(0, 1000);
  before.looking(["view_1", "glass"], 0);
  before.used("glass");
  const kept = JSON.parse(JSON.stringify(before.keep(400, 1400, ANSWER)));
  const after = seated({ presented: true }, { kept });
  after.looking(["view_1"], 10);
  after.begin(20, 3000);
  after.used("zoom");
  assert.deepEqual(after.reading(120, 3100, "answered", ANSWER).behaviour,
    { glass: 1, zoom: 1, view_1_ms: 500, glass_ms: 400 });
});

test("where the times before are not known, no time is told", () => {
  const attempt = seated({ presented: true });
  attempt.looking(["view_1"], 0);
  attempt.begin(0, 0);
  attempt.used("flip");
  assert.deepEqual(attempt.reading(100, 100, "answered", ANSWER).behaviour, { flip: 1 });
});

test("a clock that seems to go back takes nothing away", () => {
  const usage = new Usage();
  usage.change(["view_1"], 100);
  usage.change(["view_1"], 50);
  assert.deepEqual(usage.read(60), { view_1_ms: 10 });
});
