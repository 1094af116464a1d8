/** Names of records are random version 4 UUIDs. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { newId } from "../../../../ui/viewer/js/page/ids.js";

test("ids have the form of a UUID and do not repeat", () => {
  const ids = Array.from({ length: 500 }, newId);
  assert.ok(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)));
  assert.equal(new Set(ids).size, ids.length);
});
