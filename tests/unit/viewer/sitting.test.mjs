/** A case being read becomes the right record, also across a reload. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Sitting } from "../../../ui/viewer/js/sitting.js";

const item = (more = {}) => ({ case: "c1", position: 1, options: [], presented: false, reading: null, ...more });
const seated = (more, options = {}) => new Sitting(item(more), { readingId: "r1", ...options });

test("an answer carries its times, its choices in order, and its moments", () => {
  const sitting = seated();
  sitting.begin(100, 5000);
  sitting.choose("B", 300);
  sitting.choose("B", 350);
  sitting.choose("A", 400);
  sitting.used("zoom");
  sitting.used("zoom");
  assert.deepEqual(sitting.reading(600, 5500, "answered"), {
    kind: "reading", id: "r1", case: "c1", status: "answered", option: "A", confidence: null, comment: null,
    times: { response_ms: 500, elapsed_ms: 500, hidden_ms: 0, paused_ms: 0, first_selection_ms: 200 },
    selections: [{ option: "B", at_ms: 200 }, { option: "A", at_ms: 300 }], behaviour: { zoom: 2 },
    presented_epoch_ms: 5000, committed_epoch_ms: 5500, flags: [], supersedes: null,
  });
});

test("time out leaves no option, and no first selection is null, not 0", () => {
  const sitting = seated();
  sitting.begin(0, 0);
  const record = sitting.reading(2000, 2000, "timed_out");
  assert.equal(record.option, null);
  assert.equal(record.times.first_selection_ms, null);
});

test("selections are bounded and end with the latest", () => {
  const sitting = seated();
  sitting.begin(0, 0);
  for (let i = 1; i <= 501; i += 1) sitting.choose(i % 2 ? "A" : "B", i);
  const { selections } = sitting.reading(600, 600, "answered");
  assert.equal(selections.length, 200);
  assert.deepEqual(selections.at(-1), { option: "A", at_ms: 501 });
});

test("a reload keeps choice, times and order, and says so", () => {
  const before = seated();
  before.begin(100, 5000);
  before.choose("C", 200);
  const kept = JSON.parse(JSON.stringify(before.keep(400, 5300)));
  const after = seated({ presented: true }, { kept });
  after.begin(50, 6300);
  after.choose("D", 150);
  const record = after.reading(250, 6500, "answered");
  assert.equal(after.unrecorded, false);
  assert.deepEqual(record.times,
    { response_ms: 500, elapsed_ms: 1500, hidden_ms: 1000, paused_ms: 0, first_selection_ms: 100 });
  assert.deepEqual(record.selections.map(({ option }) => option), ["C", "D"]);
  assert.deepEqual(record.flags, ["resumed"]);
  assert.equal(record.presented_epoch_ms, 5000);
});

test("a case begun in another browser has no times", () => {
  const sitting = seated({ presented: true });
  sitting.begin(0, 0);
  sitting.choose("A", 10);
  const record = sitting.reading(20, 20, "answered");
  assert.deepEqual(Object.values(record.times), [null, null, null, null, null]);
  assert.deepEqual(record.flags, ["resumed_elsewhere"]);
});

test("a revisited answer is unchanged until it is changed, and then supersedes", () => {
  const sitting = seated({ presented: true, reading: { id: "r0", option: "B", confidence: null, comment: null } });
  sitting.begin(0, 0);
  assert.equal(sitting.unchanged, true);
  assert.equal(sitting.unrecorded, false);
  sitting.choose("C", 10);
  assert.equal(sitting.unchanged, false);
  assert.equal(sitting.reading(20, 20, "answered").supersedes, "r0");
});
