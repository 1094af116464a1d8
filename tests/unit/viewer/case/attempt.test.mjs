/**
 * The clock counts every millisecond exactly once, in the right category.
 * The time in use is the response time, divided among the views on the screen.
 * A reading results in the correct record, even after a reload.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Attempt, Clock, Usage, USES } from "../../../../ui/viewer/js/case/attempt.js";

const times = (response_ms, hidden_ms, paused_ms) =>
  ({ response_ms, elapsed_ms: response_ms + hidden_ms + paused_ms, hidden_ms, paused_ms });

test("no time is counted before t0", () => {
  const clock = new Clock();
  clock.setHidden(100, true);
  clock.setHidden(200, false);
  assert.deepEqual(clock.read(1000), times(0, 0, 0));
});

test("looking without input counts as response time", () => {
  const clock = new Clock();
  clock.start(1000);
  assert.deepEqual(clock.read(61_000), times(60_000, 0, 0));
});

test("hidden and paused time are separate from response time", () => {
  const clock = new Clock();
  clock.start(0);
  clock.setHidden(100, true);
  clock.setHidden(300, false);
  clock.setPaused(400, true);
  clock.setPaused(450, false);
  assert.deepEqual(clock.read(1000), times(750, 200, 50));
});

test("a pause while hidden counts as paused, and as hidden again after it", () => {
  const clock = new Clock();
  clock.start(0);
  clock.setHidden(100, true);
  clock.setPaused(200, true);
  clock.setPaused(500, false);
  clock.setHidden(600, false);
  assert.deepEqual(clock.read(700), times(200, 200, 300));
});

test("a tab hidden within a pause does not count twice", () => {
  const clock = new Clock();
  clock.start(0);
  clock.setPaused(100, true);
  clock.setHidden(200, true);
  clock.setHidden(300, false);
  clock.setPaused(400, false);
  assert.deepEqual(clock.read(500), times(200, 0, 300));
});

test("the hidden time of a tab hidden before t0 starts at t0", () => {
  const clock = new Clock({ hidden: true });
  clock.start(1000);
  clock.setHidden(1500, false);
  assert.deepEqual(clock.read(1600), times(100, 500, 0));
});

test("a repeated event has no effect", () => {
  const clock = new Clock();
  clock.start(0);
  clock.start(50);
  clock.setHidden(100, true);
  clock.setHidden(150, true);
  clock.setHidden(200, false);
  assert.deepEqual(clock.read(300), times(200, 100, 0));
});

test("reading the clock has no effect, and an event may be older than the last reading", () => {
  const clock = new Clock();
  clock.start(0);
  clock.read(500);
  assert.deepEqual(clock.read(400), times(400, 0, 0));
});

test("the time of a reload counts as hidden", () => {
  const before = new Clock();
  before.start(0);
  before.setHidden(100, true);
  before.setHidden(150, false);
  const after = new Clock({ kept: before.keep(1000) });
  after.start(20, 3000);
  assert.deepEqual(after.read(120), times(1050, 3050, 0));
});

test("a pause continues over a reload, whose time counts as paused", () => {
  const before = new Clock();
  before.start(0);
  before.setPaused(100, true);
  const after = new Clock({ kept: before.keep(200) });
  after.start(0, 5000);
  assert.equal(after.paused, true);
  assert.deepEqual(after.read(10), times(100, 0, 5110));
});

test("a wall clock set back does not give a negative gap", () => {
  const clock = new Clock();
  clock.start(0, -5000);
  assert.deepEqual(clock.read(10), times(10, 0, 0));
});

test("the parts add up to the total for any sequence of events", () => {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let run = 0; run < 300; run += 1) {
    const clock = new Clock({ hidden: random() < 0.3 });
    let now = random() * 1000;
    const t0 = now;
    clock.start(t0);
    for (let i = 0; i < 20; i += 1) {
      now += random() * 100;
      if (random() < 0.5) clock.setHidden(now, random() < 0.5);
      else clock.setPaused(now, random() < 0.5);
    }
    const { response_ms, hidden_ms, paused_ms, elapsed_ms } = clock.read(now);
    assert.ok(Math.abs(elapsed_ms - (now - t0)) < 0.01);
    assert.ok(Math.abs(response_ms + hidden_ms + paused_ms - elapsed_ms) < 1e-6);
  }
});

const ANSWER = { option: "A", confidence: null, comment: "" };
const used = (more = {}, options = {}) => new Attempt(
  { case: "c1", position: 1, options: [], presented: false, reading: null, ...more }, { readingId: "r1", ...options });

test("the use of each view and tool is measured in whole milliseconds", () => {
  const usage = new Usage();
  usage.change(["view_1", "view_2"], 0);
  usage.change(["view_1", "alone", "zoomed"], 1000.4);
  usage.change(["view_1", "view_2"], 1500.9);
  assert.deepEqual(usage.read(2000), { view_1_ms: 2000, view_2_ms: 1500, alone_ms: 501, zoomed_ms: 501 });
});

test("a press that is processed late keeps its own time", () => {
  const usage = new Usage();
  usage.change(["view_1", "glass"], 0);
  usage.change(["view_1"], 300);
  usage.keep(1040);
  assert.deepEqual(usage.read(1000), { view_1_ms: 1000, glass_ms: 300 });
  assert.deepEqual(new Usage(usage.keep(1000), 1000).read(1000), { view_1_ms: 1000, glass_ms: 300 });
});

test("unused views and tools are left out, and unknown names are ignored", () => {
  const usage = new Usage();
  usage.change(["view_9", "anything", "glass"], 10);
  assert.deepEqual(usage.read(20), { glass_ms: 10 });
  assert.equal(USES.length, 13);
});

test("hidden and paused time does not count for views and tools", () => {
  const attempt = used();
  attempt.recordUse(["view_1"], 50);
  attempt.begin(100, 5000);
  attempt.recordUse(["view_1", "inverted"], 300);
  attempt.clock.setHidden(400, true);
  attempt.clock.setHidden(1400, false);
  attempt.clock.setPaused(1500, true);
  attempt.recordUse(["view_1"], 2000);
  attempt.clock.setPaused(9000, false);
  const { behaviour, times } = attempt.reading(9500, 9000, "answered", ANSWER);
  assert.deepEqual(behaviour, { view_1_ms: 900, inverted_ms: 200 });
  assert.equal(times.response_ms, 900);
});

test("counts and times both survive a reload", () => {
  const before = used();
  before.begin(0, 1000);
  before.recordUse(["view_1", "glass"], 0);
  before.used("glass");
  const kept = JSON.parse(JSON.stringify(before.keep(400, 1400, ANSWER)));
  const after = used({ presented: true }, { kept });
  after.recordUse(["view_1"], 10);
  after.begin(20, 3000);
  after.used("zoom");
  assert.deepEqual(after.reading(120, 3100, "answered", ANSWER).behaviour,
    { glass: 1, zoom: 1, view_1_ms: 500, glass_ms: 400 });
});

test("no time is reported if earlier times are unknown", () => {
  const attempt = used({ presented: true });
  attempt.recordUse(["view_1"], 0);
  attempt.begin(0, 0);
  attempt.used("flip");
  assert.deepEqual(attempt.reading(100, 100, "answered", ANSWER).behaviour, { flip: 1 });
});

test("a clock that seems to go back does not reduce times", () => {
  const usage = new Usage();
  usage.change(["view_1"], 100);
  usage.change(["view_1"], 50);
  assert.deepEqual(usage.read(60), { view_1_ms: 10 });
});

const item = (more = {}) => ({ case: "c1", position: 1, options: [], presented: false, reading: null, ...more });
const answer = (option = null, confidence = null, comment = "") => ({ option, confidence, comment });
const seated = (more, options = {}) => new Attempt(item(more), { readingId: "r1", ...options });

test("an answer contains its times, its selections in order, and its timestamps", () => {
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

test("text is the answer to an open-ended case, and its first change the first selection", () => {
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

test("a time-out has no option, and a missing first selection is null, not 0", () => {
  const attempt = seated();
  attempt.begin(0, 0);
  const record = attempt.reading(2000, 2000, "timed_out", answer("B", 3));
  assert.deepEqual([record.option, record.confidence], [null, null]);
  assert.equal(record.times.first_selection_ms, null);
});

test("selections are limited in number and end with the latest", () => {
  const attempt = seated();
  attempt.begin(0, 0);
  for (let i = 1; i <= 501; i += 1) attempt.choose(i % 2 ? "A" : "B", i);
  const { selections } = attempt.reading(600, 600, "answered", answer("A"));
  assert.equal(selections.length, 200);
  assert.deepEqual(selections.at(-1), { option: "A", at_ms: 501 });
});

test("a reload keeps selection, times and order, and sets a flag", () => {
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

test("a case started in another browser has no times", () => {
  const attempt = seated({ presented: true });
  attempt.begin(0, 0);
  attempt.choose("A", 10);
  const record = attempt.reading(20, 20, "answered", answer("A"));
  assert.deepEqual(Object.values(record.times), [null, null, null, null, null]);
  assert.deepEqual(record.flags, ["resumed_elsewhere"]);
});

test("a changed answer supersedes the earlier answer and has no new presentation", () => {
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

test("after the clock was set, dependent times are null and measured times stay", () => {
  for (const gap_ms of [-1, -YEAR_MS, 40 * YEAR_MS, Number.NaN]) {
    const record = reloadedAfter(gap_ms).reading(150, 5, "answered", answer());
    assert.deepEqual(record.times,
      { response_ms: 400, elapsed_ms: null, hidden_ms: null, paused_ms: 0, first_selection_ms: 100 });
    assert.deepEqual(record.flags, ["resumed", "clock_implausible"]);
  }
});

test("a clock set during a pause invalidates the paused time", () => {
  const { times } = reloadedAfter(YEAR_MS, { paused: true }).reading(160, 5, "answered", answer());
  assert.deepEqual(times,
    { response_ms: 300, elapsed_ms: null, hidden_ms: 0, paused_ms: null, first_selection_ms: 100 });
});

test("an implausible gap is kept over the next reload, and a weekend is plausible", () => {
  const kept = JSON.parse(JSON.stringify(reloadedAfter(-5).keep(150, 2_000_000, answer())));
  const again = seated({ presented: true }, { kept });
  again.begin(0, 2_001_000);
  const record = again.reading(10, 2_001_010, "answered", answer());
  assert.equal(record.times.hidden_ms, null);
  assert.deepEqual(record.flags, ["resumed", "clock_implausible"]);
  assert.equal(reloadedAfter(3 * 24 * 3600 * 1000).reading(60, 5, "answered", answer()).flags.length, 1);
});

test("returning to a case set aside adds no gap", () => {
  const attempt = reloadedAfter(1000);
  attempt.begin(500, -YEAR_MS);
  assert.deepEqual(attempt.reading(600, 5, "answered", answer()).flags, ["resumed"]);
});

test("marking a question as faulty flags the reading and survives a reload", () => {
  const attempt = seated();
  const marked = { ...answer("A"), faulty: true };
  assert.equal(attempt.keep(2000, 5, marked).faulty, true);
  assert.deepEqual(attempt.reading(2000, 5, "answered", marked).flags, ["question_faulty"]);
  assert.deepEqual(attempt.reading(2000, 5, "answered", { ...answer("A"), faulty: false }).flags, []);
});

const AIDED = item({ condition: "aided", aid: { when: "on demand", html: "", content: null } });

test("the time of the model's answer is recorded once, and survives a reload", () => {
  const attempt = new Attempt(AIDED, { readingId: "r1" });
  attempt.begin(1000, 5000);
  attempt.aidShown(1234.5678);
  attempt.aidShown(2000);
  const kept = attempt.keep(3000, 7000, answer());
  const resumed = new Attempt(AIDED, { readingId: "r1", kept });
  resumed.begin(0, 8000);
  assert.equal(resumed.reading(1000, 9000, "answered", answer()).times.aid_shown_ms, 1234.568);
});

test("an aid that was not shown has no time, and is omitted for a case without an aid", () => {
  const unseen = new Attempt(AIDED, { readingId: "r1" });
  unseen.begin(0, 5000);
  assert.equal(unseen.reading(1000, 6000, "answered", answer()).times.aid_shown_ms, null);
  const plain = new Attempt(item(), { readingId: "r2" });
  plain.begin(0, 5000);
  assert.ok(!("aid_shown_ms" in plain.reading(1000, 6000, "answered", answer()).times));
});
