/** Earlier cases can be looked at while the running one waits, and nothing is lost on the way. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { LookingBack } from "../../../ui/viewer/js/looking-back.js";

const stored = async (position) => ({ case: `c${position}`, position, reading: { id: "old" } });
const courier = ({ readings = [], earlier = stored } = {}) => ({ outbox: { readings }, earlier });
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
