/** Earlier cases can be looked at while the running one waits, and nothing is lost on the way. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { EarlierCases } from "../../../../ui/viewer/js/case/earlier-cases.js";

const stored = async (position) => ({ case: `c${position}`, position, reading: { id: "old" } });
const connection = ({ readings = [], earlier = stored } = {}) => ({ desk: { session: 1 }, outbox: { readings }, earlier });
const attempt = (position, revisited) => ({ item: { case: `c${position}`, position }, revisited });

test("an answer that is still to be sent stands before the one the server knows", async () => {
  const unsent = { id: "new", case: "c1", option: "B" };
  assert.equal((await new EarlierCases(connection()).fetch(1)).reading.id, "old");
  assert.equal((await new EarlierCases(connection({ readings: [unsent] })).fetch(1)).reading.id, "new");
});

test("a case that cannot be had is null", async () => {
  const earlier = new EarlierCases(connection({ earlier: async () => { throw new Error("no line"); } }));
  assert.equal(await earlier.fetch(1), null);
});

test("from an earlier case it goes on to the one after it, until the running case", () => {
  const earlier = new EarlierCases(connection());
  earlier.setAside(attempt(4, false));
  assert.equal(earlier.after(attempt(2, true)), 3);
  assert.equal(earlier.after(attempt(3, true)), 0);
  assert.equal(earlier.after(attempt(4, false)), 0);
});

test("where every case is read it goes on to the last one, and then to the end", () => {
  const earlier = new EarlierCases({ ...connection(), desk: { session: 1, finished: true, total: 4 } });
  assert.deepEqual([2, 3, 4].map((position) => earlier.after(attempt(position, true))), [3, 4, 0]);
});

test("the case set aside is taken back once, and only if it is still the next", () => {
  const earlier = new EarlierCases(connection());
  const running = attempt(4, false);
  earlier.setAside(running);
  assert.equal(earlier.takeBack("c4"), running);
  assert.equal(earlier.takeBack("c4"), null);
  earlier.setAside(running);
  assert.equal(earlier.takeBack("c5"), null);
  assert.equal(earlier.aside, null);
});

const record = (option, id = `r-${option}`) => ({ id, option, status: "answered", confidence: null, comment: null });
const item = (position) => ({ case: `c${position}`, position, question: "?", presented: false, reading: null });

test("what was read here is there at once, with its latest answer", () => {
  const earlier = new EarlierCases(connection());
  earlier.remember(item(1), record("A"));
  earlier.remember(item(1), record("B"));
  const { reading, presented, question } = earlier.remembered(1);
  assert.deepEqual([reading.option, reading.id, presented, question], ["B", "r-B", true, "?"]);
  assert.equal(earlier.remembered(2), undefined);
});

test("an answer that was not taken is not remembered, nor is a practice case", () => {
  const earlier = new EarlierCases(connection());
  earlier.remember(item(1), record("A"));
  earlier.forget("c1");
  earlier.remember({ ...item(2), practice: true }, record("A"));
  assert.equal(earlier.remembered(1), undefined);
  assert.equal(earlier.remembered(2), undefined);
});

test("the server is right where it knows another answer, and only there", async () => {
  const serverSays = (id) => connection({ earlier: async (position) => ({ ...item(position), reading: { id } }) });
  for (const [id, corrected] of [["r-A", false], ["elsewhere", true]]) {
    const earlier = new EarlierCases(serverSays(id));
    earlier.remember(item(1), record("A"));
    const correction = await earlier.correction(earlier.remembered(1));
    assert.equal(correction?.reading.id ?? null, corrected ? id : null);
    assert.equal(Boolean(earlier.remembered(1)), !corrected);
  }
});

test("on a cut line the memory stands", async () => {
  const earlier = new EarlierCases(connection({ earlier: async () => { throw new Error("no line"); } }));
  earlier.remember(item(1), record("A"));
  assert.equal(await earlier.correction(earlier.remembered(1)), null);
});

test("the memory is bounded, and the latest stay", () => {
  const earlier = new EarlierCases(connection());
  for (let position = 1; position <= 200; position += 1) earlier.remember(item(position), record("A"));
  assert.equal(earlier.remembered(100), undefined);
  assert.ok(earlier.remembered(200));
});

test("beside a case lie the one after it and the one before, as far as they were read here", () => {
  const earlier = new EarlierCases(connection());
  for (const position of [1, 2, 3]) earlier.remember(item(position), record("A"));
  const beside = (position) => earlier.beside(position).map((each) => each.position);
  assert.deepEqual([beside(2), beside(3), beside(4), beside(1), beside(7)], [[3, 1], [2], [3], [2], []]);
});

test("in another session nothing of the one before is remembered", () => {
  const from = connection();
  const earlier = new EarlierCases(from);
  earlier.remember(item(1), record("A"));
  from.desk = { session: 2 };
  assert.equal(earlier.remembered(1), undefined);
  assert.deepEqual(earlier.beside(2), []);
  earlier.remember(item(1), record("B"));
  assert.equal(earlier.remembered(1).reading.option, "B");
});
