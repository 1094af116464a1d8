/** Feedback belongs to one reading, and a reload neither loses it nor shows that of another. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Feedback } from "../../../../ui/viewer/js/case/feedback.js";
import { ReaderStorage } from "../../../../ui/viewer/js/page/storage.js";

class Storage {
  setItem(name, text) { this[name] = text; }
  getItem(name) { return this[name] ?? null; }
  removeItem(name) { delete this[name]; }
}

const record = { kind: "reading", id: "r1", case: "c1", option: "B", status: "answered" };
const told = { option: "A", correct: false, explanation: "" };
const receipt = { feedback: { r1: told } };

function opened(storage = new Storage()) {
  const readings = [];
  const shown = [];
  const outbox = { readings, put: (each) => readings.push(each) };
  const feedback = new Feedback({ storage: new ReaderStorage(storage, "seal"), outbox },
    { showFeedback: (...args) => shown.push(args) });
  return { feedback, readings, shown, storage };
}

test("it waits for the receipt of its own reading", () => {
  const { feedback, shown } = opened();
  assert.equal(feedback.from(receipt, [record]), undefined);
  feedback.expect({ case: "c1" }, record, 0);
  assert.equal(feedback.from(receipt, [{ id: "r2" }]), undefined);
  assert.equal(feedback.awaited, true);
  assert.deepEqual(feedback.from(receipt, [record]), told);
  feedback.show();
  assert.deepEqual(shown, [[told, record]]);
  assert.equal(feedback.awaited, false);
});

test("a server that tells nothing is not waited for", () => {
  const { feedback } = opened();
  feedback.expect({ case: "c1" }, record, 0);
  assert.equal(feedback.from({ feedback: {} }, [record]), null);
});

test("after a reload it is shown again, once its case is back", () => {
  const before = opened();
  before.feedback.expect({ case: "c1" }, record, 1000);
  before.feedback.from(receipt, [record]);
  const after = opened(before.storage);
  assert.equal(after.feedback.resume(2000).item.case, "c1");
  assert.deepEqual(after.feedback.release(), told);
  assert.deepEqual(after.readings, []);
});

test("a receipt lost with the page is asked for again by the same record", () => {
  const before = opened();
  before.feedback.expect({ case: "c1" }, record, 1000);
  const after = opened(before.storage);
  after.feedback.resume(2000);
  assert.equal(after.feedback.release(), undefined);
  assert.deepEqual(after.readings, [record]);
  assert.deepEqual(after.feedback.from(receipt, [record]), told);
});

test("a receipt that comes before the case is back is shown with it", () => {
  const before = opened();
  before.feedback.expect({ case: "c1" }, record, 1000);
  const after = opened(before.storage);
  after.feedback.resume(2000);
  assert.equal(after.feedback.from(receipt, [record]), undefined);
  assert.deepEqual(after.feedback.release(), told);
});

test("once the reader has gone on, or after a long while, nothing comes back", () => {
  const before = opened();
  before.feedback.expect({ case: "c1" }, record, 1000);
  assert.equal(opened(before.storage).feedback.resume(1000 + 11 * 60_000), null);
  before.feedback.expect({ case: "c1" }, record, 1000);
  before.feedback.end();
  assert.equal(opened(before.storage).feedback.resume(2000), null);
});

test("feedback that another window took over does not hold up the feedback of later cases", () => {
  const { feedback, storage } = opened();
  feedback.expect({ case: "c1" }, record, 1000);
  feedback.resume(2000);
  feedback.leave();
  delete storage["reading-room:seal:feedback"];
  assert.equal(feedback.resume(3000), null);
  feedback.expect({ case: "c1" }, record, 4000);
  assert.deepEqual(feedback.from(receipt, [record]), told);
});

test("feedback whose film was lost is shown once more, when the film is back", () => {
  const { feedback, shown } = opened();
  feedback.expect({ case: "c1" }, record, 1000);
  feedback.from(receipt, [record]);
  feedback.show();
  assert.equal(feedback.hold().item.case, "c1");
  assert.equal(feedback.shown, false);
  assert.deepEqual(feedback.release(), told);
  feedback.show();
  assert.equal(shown.length, 2);
});
