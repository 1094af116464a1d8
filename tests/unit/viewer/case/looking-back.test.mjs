/** Earlier cases can be looked at while the running one waits, and nothing is lost on the way. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { LookingBack } from "../../../../ui/viewer/js/case/looking-back.js";

const stored = async (position) => ({ case: `c${position}`, position, reading: { id: "old" } });
const courier = ({ readings = [], earlier = stored } = {}) => ({ desk: { session: 1 }, outbox: { readings }, earlier });
const sitting = (position, revisited) => ({ item: { case: `c${position}`, position }, revisited });

test("an answer that is still to be sent stands before the one the server knows", async () => {
  const unsent = { id: "new", case: "c1", option: "B" };
  assert.equal((await new LookingBack(courier()).fetch(1)).reading.id, "old");
  assert.equal((await new LookingBack(courier({ readings: [unsent] })).fetch(1)).reading.id, "new");
});

test("a case that cannot be had is null", async () => {
  const past = new LookingBack(courier({ earlier: async () => { throw new Error("no line"); } }));
  assert.equal(await past.fetch(1), null);
});

test("from an earlier case it goes on to the one after it, until the running case", () => {
  const past = new LookingBack(courier());
  past.setAside(sitting(4, false));
  assert.equal(past.after(sitting(2, true)), 3);
  assert.equal(past.after(sitting(3, true)), 0);
  assert.equal(past.after(sitting(4, false)), 0);
});

test("where every case is read it goes on to the last one, and then to the end", () => {
  const past = new LookingBack({ ...courier(), desk: { session: 1, finished: true, total: 4 } });
  assert.deepEqual([2, 3, 4].map((position) => past.after(sitting(position, true))), [3, 4, 0]);
});

test("the case set aside is taken back once, and only if it is still the next", () => {
  const past = new LookingBack(courier());
  const running = sitting(4, false);
  past.setAside(running);
  assert.equal(past.takeBack("c4"), running);
  assert.equal(past.takeBack("c4"), null);
  past.setAside(running);
  assert.equal(past.takeBack("c5"), null);
  assert.equal(past.aside, null);
});

const record = (option, id = `r-${option}`) => ({ id, option, status: "answered", confidence: null, comment: null });
const item = (position) => ({ case: `c${position}`, position, question: "?", presented: false, reading: null });

test("what was read here is there at once, with its latest answer", () => {
  const past = new LookingBack(courier());
  past.remember(item(1), record("A"));
  past.remember(item(1), record("B"));
  const { reading, presented, question } = past.remembered(1);
  assert.deepEqual([reading.option, reading.id, presented, question], ["B", "r-B", true, "?"]);
  assert.equal(past.remembered(2), undefined);
});

test("an answer that was not taken is not remembered, nor is a practice case", () => {
  const past = new LookingBack(courier());
  past.remember(item(1), record("A"));
  past.forget("c1");
  past.remember({ ...item(2), practice: true }, record("A"));
  assert.equal(past.remembered(1), undefined);
  assert.equal(past.remembered(2), undefined);
});

test("the server is right where it knows another answer, and only there", async () => {
  const serverSays = (id) => courier({ earlier: async (position) => ({ ...item(position), reading: { id } }) });
  for (const [id, corrected] of [["r-A", false], ["elsewhere", true]]) {
    const past = new LookingBack(serverSays(id));
    past.remember(item(1), record("A"));
    const correction = await past.correction(past.remembered(1));
    assert.equal(correction?.reading.id ?? null, corrected ? id : null);
    assert.equal(Boolean(past.remembered(1)), !corrected);
  }
});

test("on a cut line the memory stands", async () => {
  const past = new LookingBack(courier({ earlier: async () => { throw new Error("no line"); } }));
  past.remember(item(1), record("A"));
  assert.equal(await past.correction(past.remembered(1)), null);
});

test("the memory is bounded, and the latest stay", () => {
  const past = new LookingBack(courier());
  for (let position = 1; position <= 200; position += 1) past.remember(item(position), record("A"));
  assert.equal(past.remembered(100), undefined);
  assert.ok(past.remembered(200));
});

test("beside a case lie the one after it and the one before, as far as they were read here", () => {
  const past = new LookingBack(courier());
  for (const position of [1, 2, 3]) past.remember(item(position), record("A"));
  const beside = (position) => past.beside(position).map((each) => each.position);
  assert.deepEqual([beside(2), beside(3), beside(4), beside(1), beside(7)], [[3, 1], [2], [3], [2], []]);
});

test("in another session nothing of the one before is remembered", () => {
  const from = courier();
  const past = new LookingBack(from);
  past.remember(item(1), record("A"));
  from.desk = { session: 2 };
  assert.equal(past.remembered(1), undefined);
  assert.deepEqual(past.beside(2), []);
  past.remember(item(1), record("B"));
  assert.equal(past.remembered(1).reading.option, "B");
});
