/** What is still to be read: what the desk lists and was not answered here. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Worklist } from "../../../../ui/viewer/js/case/worklist.js";

const item = (id) => ({ case: id, position: 1, options: [], presented: false, reading: null });
const connection = (ids, { waiting = [], kept = null } = {}) => ({
  desk: { cases: ids.map(item) },
  outbox: { readings: waiting.map((id) => ({ case: id })) },
  storage: { get: () => kept },
});

test("an answered case does not come again, unless its answer was refused", () => {
  const list = new Worklist(connection(["a", "b", "c"], { waiting: ["a"] }));
  assert.deepEqual(list.coming.map((one) => one.case), ["b", "c"]);
  list.answered("b");
  list.again("a");
  assert.deepEqual(list.coming.map((one) => one.case), ["a", "c"]);
});

test("a case that left the desk unanswered was read elsewhere", () => {
  const made = connection(["a", "b"]);
  const list = new Worklist(made);
  const attempt = list.attempt(made.desk.cases[0]);
  assert.equal(list.readElsewhere(attempt), false);
  made.desk = { cases: [item("b")] };
  assert.equal(list.readElsewhere(attempt), true);
  attempt.committed = true;
  assert.equal(list.readElsewhere(attempt), false);
  assert.equal(list.readElsewhere(null), false);
});

test("a desk that lists nothing because something is to be prepared tells nothing of the case on the screen", () => {
  const made = connection(["a"]);
  const list = new Worklist(made);
  const attempt = list.attempt(made.desk.cases[0]);
  made.desk = { cases: [], preparation: [{ step: "display" }] };
  assert.equal(list.readElsewhere(attempt), false);
});
