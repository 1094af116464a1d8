/** The room carries out the machine's effects even if one of them fails. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Room } from "../../../../ui/viewer/js/room/room.js";
import { desk } from "./desks.mjs";

/** An object whose methods do nothing. */
const nothing = new Proxy(() => null, { get: (_, name) => (name === Symbol.toPrimitive ? () => "" : nothing) });

test("a failed effect is reported and does not prevent the following effects", () => {
  globalThis.window = { innerWidth: 1440, innerHeight: 900 };
  const reported = [];
  globalThis.reportError = (error) => reported.push(error.message);
  const root = { dataset: {} };
  const halted = [];
  const room = new Room({
    root, display: nothing, renderer: nothing, sheet: nothing, cannotAnswer: nothing, apart: null,
    panel: new Proxy({}, { get: (_, name) => () => { throw new Error(name); } }),
    overlays: { showCurtain: ({ title }) => halted.push(title) },
    connection: { desk: desk(), outbox: { records: [] }, storage: { get: () => null, put: () => true, drop: () => {} } },
  });
  room.send({ is: "readHere", kept: null, epoch: 0 });
  assert.deepEqual([room.state.phase, root.dataset.state], ["paused", "paused"]);
  assert.equal(reported[0], "showReader");
});
