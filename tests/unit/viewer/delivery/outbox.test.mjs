/** Records stay in the outbox under their reader's seal until they are acknowledged, with any connection. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Outbox } from "../../../../ui/viewer/js/delivery/outbox.js";
import { ReaderStorage } from "../../../../ui/viewer/js/page/storage.js";

/** The part of localStorage that is used; its keys are properties of the object. */
class Storage {
  setItem(key, value) { this[key] = String(value); }
  getItem(key) { return Object.hasOwn(this, key) ? this[key] : null; }
  removeItem(key) { delete this[key]; }
}

const reading = (id) => ({ id, kind: "reading", case: `case-${id}` });
const settled = () => new Promise((resolve) => { setImmediate(resolve); });

/** An outbox whose timers the test runs. */
function outboxWith(storage, { seal = "s", deliver, order = 0 } = {}) {
  const seen = { waits: [], receipts: [], failures: [], sent: [] };
  let due = null;
  const outbox = new Outbox({
    storage: new ReaderStorage(storage, seal),
    order,
    deliver: async (records, leaving) => {
      seen.sent.push({ ids: records.map(({ id }) => id), leaving });
      return deliver(records);
    },
    listener: {
      changed: () => {},
      receipt: (receipt) => seen.receipts.push(receipt),
      failed: (error) => seen.failures.push(error),
    },
    later: (run, ms) => {
      due = run;
      seen.waits.push(ms);
      return run;
    },
    cancel: () => { due = null; },
  });
  const tick = async () => {
    const run = due;
    due = null;
    run?.();
    await settled();
  };
  return { outbox, seen, tick };
}

const accept = (records) => ({ stored: records.map(({ id }) => id), refused: [], feedback: {}, desk: {} });
const fail = () => { throw new Error("no line"); };

test("an acknowledged record leaves the outbox, and the browser's storage at sign-out", async () => {
  const storage = new Storage();
  const { outbox, tick } = outboxWith(storage, { deliver: accept });
  outbox.put(reading("a"));
  assert.equal(Object.keys(storage).length, 1);
  assert.equal(outbox.state, "sending");
  await tick();
  assert.equal(outbox.size, 0);
  assert.equal(outbox.state, "empty");
  assert.deepEqual(Object.keys(storage), ["reading-room:s:done:a"]);
  outbox.forget();
  assert.equal(Object.keys(storage).length, 0);
});

/** A server that accepts readings only in order, and can be reset to an earlier state. */
class Server {
  ids = [];
  take(records) {
    const refused = [];
    for (const { id } of records) {
      if (this.ids.includes(id)) continue;
      if (id === "abcdefgh"[this.ids.length]) this.ids.push(id);
      else refused.push({ id, why: "not available yet" });
    }
    const stored = records.map(({ id }) => id).filter((id) => this.ids.includes(id));
    return { stored, refused, feedback: {}, desk: { stored: this.ids.length } };
  }
}

async function readOn(outbox, tick, ids) {
  for (const id of ids) {
    outbox.put(reading(id));
    await tick();
  }
}

test("acknowledged records are sent again to an older store, and no answer is refused for that", async () => {
  const server = new Server();
  const { outbox, seen, tick } = outboxWith(new Storage(), { deliver: (records) => server.take(records) });
  await readOn(outbox, tick, "abcde");
  const told = seen.receipts.length;
  server.ids.length = 2; // restored to an earlier state
  outbox.put(reading("f")); // which the restored state has not provided
  await tick();
  assert.deepEqual(outbox.readings.map(({ id }) => id), [..."abcdef"]);
  assert.equal(seen.receipts.length, told, "the desk of that moment lists cases that were read");
  await tick();
  assert.deepEqual(server.ids, [..."abcdef"]);
  assert.equal(outbox.size, 0);
  assert.deepEqual(seen.receipts.at(-1).refused, []);
  assert.equal(seen.receipts.length, told + 1);
});

test("acknowledged records survive a reload, and a repeated record is flagged", async () => {
  const storage = new Storage();
  const server = new Server();
  const sent = [];
  const first = outboxWith(storage, { deliver: (records) => server.take(records) });
  await readOn(first.outbox, first.tick, "abc");
  server.ids.length = 0;
  const deliver = (records) => { sent.push(...records); return server.take(records); };
  const { outbox, tick } = outboxWith(storage, { deliver });
  assert.equal(outbox.heard({ stored: 0 }), true);
  outbox.retryNow();
  await tick();
  assert.deepEqual(server.ids, [..."abc"]);
  assert.deepEqual(sent.map(({ again }) => again), [true, true, true]);
  assert.equal(outbox.heard({ stored: 3 }), false);
});

test("records are not sent again while the server's count increases", async () => {
  const server = new Server();
  const { outbox, seen, tick } = outboxWith(new Storage(), { deliver: (records) => server.take(records) });
  await readOn(outbox, tick, "abc");
  assert.equal(outbox.heard({ stored: 3 }), false);
  assert.equal(outbox.heard({}), false);
  assert.deepEqual(seen.sent.map(({ ids }) => ids), [["a"], ["b"], ["c"]]);
});

test("records are sent again in batches of a hundred, and the page is notified at the end", async () => {
  const taken = new Set();
  const deliver = (records) => {
    records.forEach(({ id }) => taken.add(id));
    return { ...accept(records), desk: { stored: taken.size } };
  };
  const { outbox, seen, tick } = outboxWith(new Storage(), { deliver });
  for (let n = 0; n < 250; n += 1) outbox.put(reading(`r${n}`));
  while (outbox.size) await tick();
  taken.clear();
  seen.sent.length = 0;
  seen.receipts.length = 0;
  assert.equal(outbox.heard({ stored: 0 }), true);
  outbox.retryNow();
  while (outbox.size) await tick();
  assert.deepEqual(seen.sent.map(({ ids }) => ids.length), [100, 100, 50]);
  assert.equal(taken.size, 250);
  assert.equal(seen.receipts.length, 1);
});

test("acknowledged records are removed first if the storage is full", () => {
  const storage = new Storage();
  new ReaderStorage(storage, "s").put("done:a", { order: 1, record: reading("a") });
  const { setItem } = Storage.prototype;
  storage.setItem = function full(key, value) {
    if (Object.keys(this).filter((name) => name.includes("reading-room")).length) throw new Error("full");
    setItem.call(this, key, value);
  };
  const { outbox } = outboxWith(storage, { deliver: fail });
  outbox.put(reading("b"));
  assert.equal(outbox.unkept, false);
});

test("a failed delivery keeps the records, and the delay grows up to a limit", async () => {
  const { outbox, seen, tick } = outboxWith(new Storage(), { deliver: fail });
  outbox.put(reading("a"));
  for (let i = 0; i < 8; i += 1) await tick();
  assert.equal(outbox.size, 1);
  assert.equal(outbox.state, "kept");
  assert.deepEqual(seen.waits, [100, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000, 20_000]);
});

test("records survive a reload, in their order", async () => {
  const storage = new Storage();
  const first = outboxWith(storage, { deliver: fail, order: 10 });
  first.outbox.put(reading("b"));
  first.outbox.put(reading("a"));
  const second = outboxWith(storage, { deliver: accept, order: 20 });
  second.outbox.put(reading("0"));
  assert.deepEqual(second.outbox.readings.map(({ id }) => id), ["b", "a", "0"]);
  await second.tick();
  assert.deepEqual(second.seen.sent[0].ids, ["b", "a", "0"]);
});

test("no answer counts as saved before one was sent", async () => {
  const { outbox, tick } = outboxWith(new Storage(), { deliver: accept });
  outbox.put({ id: "p", kind: "presentation", case: "c" });
  await tick();
  assert.equal(outbox.state, "idle");
  outbox.put(reading("a"));
  await tick();
  assert.equal(outbox.state, "empty");
});

test("new records come after stored records even if the clock was set back", () => {
  const storage = new Storage();
  outboxWith(storage, { deliver: fail, order: 1000 }).outbox.put(reading("a"));
  const { outbox } = outboxWith(storage, { deliver: fail, order: 10 });
  outbox.put(reading("b"));
  assert.deepEqual(outbox.readings.map(({ id }) => id), ["a", "b"]);
});

test("records of another reader's seal are not visible", () => {
  const storage = new Storage();
  outboxWith(storage, { seal: "one", deliver: fail }).outbox.put(reading("a"));
  assert.equal(outboxWith(storage, { seal: "two", deliver: fail }).outbox.size, 0);
});

test("a record added twice is stored once", () => {
  const { outbox } = outboxWith(new Storage(), { deliver: accept });
  outbox.put(reading("a"));
  outbox.put(reading("a"));
  assert.equal(outbox.size, 1);
});

test("records left by another tab are sent too", async () => {
  const storage = new Storage();
  const { outbox, seen, tick } = outboxWith(storage, { deliver: accept });
  outboxWith(storage, { deliver: fail }).outbox.put(reading("a"));
  outbox.retryNow();
  await tick();
  assert.deepEqual(seen.sent[0].ids, ["a"]);
});

test("a refused record leaves the outbox and its reason is reported", async () => {
  const refuse = () => ({ stored: [], refused: [{ id: "a", why: "read already" }], feedback: {}, desk: {} });
  const { outbox, seen, tick } = outboxWith(new Storage(), { deliver: refuse });
  outbox.put(reading("a"));
  await tick();
  assert.equal(outbox.size, 0);
  assert.equal(seen.receipts[0].refused[0].why, "read already");
});

test("a record added during a delivery is sent afterwards", async () => {
  const { outbox, seen, tick } = outboxWith(new Storage(), { deliver: accept });
  outbox.put(reading("a"));
  const underWay = tick();
  outbox.put(reading("b"));
  await underWay;
  await tick();
  assert.deepEqual(seen.sent.map(({ ids }) => ids), [["a"], ["b"]]);
  assert.equal(outbox.size, 0);
});

test("only readings count as answers", () => {
  const { outbox } = outboxWith(new Storage(), { deliver: accept });
  outbox.put({ id: "p", kind: "presentation", case: "c" });
  assert.equal(outbox.readings.length, 0);
  assert.equal(outbox.state, "idle");
  assert.equal(outbox.size, 1);
});

test("without storage the outbox works from memory and warns against closing the page", async () => {
  const { outbox, tick } = outboxWith(null, { deliver: fail });
  outbox.put(reading("a"));
  await tick();
  assert.equal(outbox.size, 1);
  assert.equal(outbox.state, "unkept");
});

test("the last message on leaving contains as many records as fit", () => {
  const { outbox, seen } = outboxWith(new Storage(), { deliver: accept });
  outbox.put(reading("a"));
  outbox.put({ ...reading("b"), comment: "x".repeat(40_000) });
  outbox.sendOnLeaving();
  assert.deepEqual(seen.sent, [{ ids: ["a"], leaving: true }]);
});

test("sending waits for the paint of the next case, but at most a tenth of a second", () => {
  const { outbox, seen } = outboxWith(new Storage(), { deliver: accept });
  outbox.put(reading("a"));
  outbox.flush();
  assert.deepEqual(seen.waits, [100, 0]);
});

test("records are stored as soon as the storage has space again", async () => {
  const storage = new Storage();
  const { setItem } = Storage.prototype;
  storage.setItem = () => { throw new Error("full"); };
  const { outbox, tick } = outboxWith(storage, { deliver: fail });
  outbox.put(reading("a"));
  assert.equal(outbox.unkept, true);
  storage.setItem = setItem;
  await tick();
  assert.equal(outbox.unkept, false);
  assert.equal(outbox.state, "kept");
});

test("only an answer that is not stored prevents closing the page", () => {
  const { outbox } = outboxWith(null, { deliver: fail });
  outbox.put({ id: "p", kind: "presentation", case: "c" });
  assert.equal(outbox.unkept, false);
  outbox.put(reading("a"));
  assert.equal(outbox.unkept, true);
});
