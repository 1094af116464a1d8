/** What cannot be stored lives as long as the page. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Keep } from "../../../../ui/viewer/js/page/keep.js";

const full = { setItem() { throw new Error("full"); }, getItem: () => '"old"', removeItem() {} };

test("what does not fit is remembered all the same, before what was stored earlier", () => {
  for (const storage of [full, null]) {
    const keep = new Keep(storage, "s");
    assert.equal(keep.put("running", { option: "A" }), false);
    assert.deepEqual(keep.get("running"), { option: "A" });
    keep.drop("running");
    assert.equal(keep.get("running"), storage ? "old" : null);
  }
});
