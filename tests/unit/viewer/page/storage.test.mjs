/** What cannot be stored lives as long as the page. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { ReaderStorage } from "../../../../ui/viewer/js/page/storage.js";

const full = { setItem() { throw new Error("full"); }, getItem: () => '"old"', removeItem() {} };

test("what does not fit is remembered all the same, before what was stored earlier", () => {
  for (const browser of [full, null]) {
    const storage = new ReaderStorage(browser, "s");
    assert.equal(storage.put("running", { option: "A" }), false);
    assert.deepEqual(storage.get("running"), { option: "A" });
    storage.drop("running");
    assert.equal(storage.get("running"), browser ? "old" : null);
  }
});
