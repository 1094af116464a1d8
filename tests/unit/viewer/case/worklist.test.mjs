/** What is still to be read: what the desk lists and was not answered here. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Worklist } from "../../../../ui/viewer/js/case/worklist.js";

const item = (id) => ({ case: id, position: 1, options: [], presented: false, reading: null });
const courier = (ids, { waiting = [], kept = null } = {}) => ({
  desk: { cases: ids.map(item) },
  outbox: { readings: waiting.map((id) => ({ case: id })) },
  keep: { get: () => kept },
});

test("an answered case does not come again, unless its answer was refused", () => {
  const list = new Worklist(courier(["a", "b", "c"], { waiting: ["a"] }));
  assert.deepEqual(list.coming.map((one) => one.case), ["b", "c"]);
  list.answered("b");
  list.again("a");
  assert.deepEqual(list.coming.map((one) => one.case), ["a", "c"]);
});

test("a case that left the desk unanswered was read elsewhere", () => {
  const made = courier(["a", "b"]);
  const list = new Worklist(made);
  const sitting = list.sitting(made.desk.cases[0]);
  assert.equal(list.readElsewhere(sitting), false);
  made.desk = { cases: [item("b")] };
  assert.equal(list.readElsewhere(sitting), true);
  sitting.committed = true;
  assert.equal(list.readElsewhere(sitting), false);
  assert.equal(list.readElsewhere(null), false);
});

test("a desk that lists nothing because something is to be prepared tells nothing of the case on the screen", () => {
  const made = courier(["a"]);
  const list = new Worklist(made);
  const sitting = list.sitting(made.desk.cases[0]);
  made.desk = { cases: [], preparation: [{ step: "display" }] };
  assert.equal(list.readElsewhere(sitting), false);
});
