/** A case being read becomes the right record, also across a reload. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Attempt } from "../../../../ui/viewer/js/case/attempt.js";

const item = (more = {}) => ({ case: "c1", position: 1, options: [], presented: false, reading: null, ...more });
const answer = (option = null, confidence = null, comment = "") => ({ option, confidence, comment });
const seated = (more, options = {}) => new Attempt(item(more), { readingId: "r1", ...options });

test("an answer carries its times, its choices in order, and its moments", () => {
  const attempt = seated();
  attempt.begin(100, 5000);
  attempt.choose("B", 300);
  attempt.choose("A", 400);
  attempt.used("zoom");
  attempt.used("zoom");
  assert.deepEqual(attempt.reading(600, 5500, "answered", answer("A")), {
    kind: "reading", id: "r1", case: "c1", status: "answered", option: "A", confidence: null, comment: null,
    times: { response_ms: 500, elapsed_ms: 500, hidden_ms: 0, paused_ms: 0, first_selection_ms: 200 },
    selections: [{ option: "B", at_ms: 200 }, { option: "A", at_ms: 300 }], behaviour: { zoom: 2 },
    presented_epoch_ms: 5000, committed_epoch_ms: 5500, flags: [], supersedes: null,
  });
});

test("words are the answer to an open-ended case, and the first sign of them its first selection", () => {
  const attempt = seated({ condition: "open-ended" });
  attempt.begin(100, 5000);
  attempt.written(300);
  attempt.written(400);
  const kept = attempt.keep(450, 5350, { ...answer(), words: "left\neff" });
  assert.equal(kept.words, "left\neff");
  const record = attempt.reading(600, 5500, "answered", { ...answer(), words: "left\neffusion " });
  assert.deepEqual([record.option, record.words, record.selections], [null, "left\neffusion ", []]);
  assert.equal(record.times.first_selection_ms, 200);
  assert.equal(attempt.reading(600, 5500, "timed_out", { ...answer(), words: "left" }).words, null);
  assert.equal("words" in seated().reading(600, 5500, "answered", answer("A")), false);
});

test("time out leaves no option, and no first selection is null, not 0", () => {
  const attempt = seated();
  attempt.begin(0, 0);
  const record = attempt.reading(2000, 2000, "timed_out", answer("B", 3));
  assert.deepEqual([record.option, record.confidence], [null, null]);
  assert.equal(record.times.first_selection_ms, null);
});

test("selections are bounded and end with the latest", () => {
  const attempt = seated();
  attempt.begin(0, 0);
  for (let i = 1; i <= 501; i += 1) attempt.choose(i % 2 ? "A" : "B", i);
  const { selections } = attempt.reading(600, 600, "answered", answer("A"));
  assert.equal(selections.length, 200);
  assert.deepEqual(selections.at(-1), { option: "A", at_ms: 501 });
});

test("a reload keeps choice, times and order, and says so", () => {
  const before = seated();
  before.begin(100, 5000);
  before.choose("C", 200);
  const kept = JSON.parse(JSON.stringify(before.keep(400, 5300, answer("C"))));
  const after = seated({ presented: true }, { kept });
  assert.equal(kept.option, "C");
  after.begin(50, 6300);
  after.choose("D", 150);
  const record = after.reading(250, 6500, "answered", answer("D"));
  assert.equal(after.unrecorded, false);
  assert.deepEqual(record.times,
    { response_ms: 500, elapsed_ms: 1500, hidden_ms: 1000, paused_ms: 0, first_selection_ms: 100 });
  assert.deepEqual(record.selections.map(({ option }) => option), ["C", "D"]);
  assert.deepEqual(record.flags, ["resumed"]);
  assert.equal(record.presented_epoch_ms, 5000);
});

test("a case begun in another browser has no times", () => {
  const attempt = seated({ presented: true });
  attempt.begin(0, 0);
  attempt.choose("A", 10);
  const record = attempt.reading(20, 20, "answered", answer("A"));
  assert.deepEqual(Object.values(record.times), [null, null, null, null, null]);
  assert.deepEqual(record.flags, ["resumed_elsewhere"]);
});

test("a revisited answer supersedes the one before, and is no presentation", () => {
  const attempt = seated({ presented: true, reading: { id: "r0", option: "B", confidence: null, comment: null } });
  attempt.begin(0, 0);
  assert.equal(attempt.unrecorded, false);
  attempt.choose("C", 10);
  const { supersedes, flags } = attempt.reading(20, 20, "answered", answer("C"));
  assert.deepEqual([supersedes, flags], ["r0", ["revisited"]]);
});

const YEAR_MS = 365 * 24 * 3600 * 1000;
const reloadedAfter = (gap_ms, { paused = false } = {}) => {
  const before = seated();
  before.begin(0, 1_000_000);
  before.choose("A", 100);
  if (paused) before.clock.setPaused(200, true);
  const kept = JSON.parse(JSON.stringify(before.keep(300, 1_000_300, answer("A"))));
  const after = seated({ presented: true }, { kept });
  after.begin(50, 1_000_300 + gap_ms);
  if (paused) after.clock.setPaused(60, false);
  return after;
};

test("after the clock was set, what hangs on it is null and what was measured stays", () => {
  for (const gap_ms of [-1, -YEAR_MS, 40 * YEAR_MS, Number.NaN]) {
    const record = reloadedAfter(gap_ms).reading(150, 5, "answered", answer());
    assert.deepEqual(record.times,
      { response_ms: 400, elapsed_ms: null, hidden_ms: null, paused_ms: 0, first_selection_ms: 100 });
    assert.deepEqual(record.flags, ["resumed", "clock_implausible"]);
  }
});

test("a clock set within a pause takes the paused time", () => {
  const { times } = reloadedAfter(YEAR_MS, { paused: true }).reading(160, 5, "answered", answer());
  assert.deepEqual(times,
    { response_ms: 300, elapsed_ms: null, hidden_ms: 0, paused_ms: null, first_selection_ms: 100 });
});

test("an implausible gap is remembered over the next reload, and a weekend is plausible", () => {
  const kept = JSON.parse(JSON.stringify(reloadedAfter(-5).keep(150, 2_000_000, answer())));
  const again = seated({ presented: true }, { kept });
  again.begin(0, 2_001_000);
  const record = again.reading(10, 2_001_010, "answered", answer());
  assert.equal(record.times.hidden_ms, null);
  assert.deepEqual(record.flags, ["resumed", "clock_implausible"]);
  assert.equal(reloadedAfter(3 * 24 * 3600 * 1000).reading(60, 5, "answered", answer()).flags.length, 1);
});

test("coming back to a case set aside is no new gap", () => {
  const attempt = reloadedAfter(1000);
  attempt.begin(500, -YEAR_MS);
  assert.deepEqual(attempt.reading(600, 5, "answered", answer()).flags, ["resumed"]);
});

test("a question marked as faulty is a flag of the reading, and kept over a reload", () => {
  const attempt = seated();
  const marked = { ...answer("A"), faulty: true };
  assert.equal(attempt.keep(2000, 5, marked).faulty, true);
  assert.deepEqual(attempt.reading(2000, 5, "answered", marked).flags, ["question_faulty"]);
  assert.deepEqual(attempt.reading(2000, 5, "answered", { ...answer("A"), faulty: false }).flags, []);
});
