/**
 * The message to a reader when a film does not arrive.
 * The pool of workers that decode films, with simulated workers.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { DecoderPool, FilmError, filmTrouble } from "../../../../ui/viewer/js/film/film-cache.js";

test("the server's message is shown instead of a connection error", () => {
  const words = "This film was changed after its import. Ask your coordinator.";
  const told = filmTrouble(new FilmError("film refused", { kind: "refused", status: 503, words }));
  assert.ok(told.startsWith(words));
  assert.doesNotMatch(told, /connection/);
});

test("only a film that did not arrive is reported as a connection error", () => {
  const told = (kind) => filmTrouble(new FilmError("", { kind }));
  assert.match(told("line"), /connection/);
  for (const kind of ["refused", "unreadable", "unshowable"]) {
    assert.doesNotMatch(told(kind), /connection/);
    assert.match(told(kind), /coordinator/);
  }
  assert.match(filmTrouble(new Error("anything")), /connection/);
});

before(() => { globalThis.document = { baseURI: "http://here/" }; });

class FakeWorker {
  told = [];
  #heard = {};
  addEventListener(type, run) { this.#heard[type] = run; }
  postMessage(message) { this.told.push(message); }
  terminate() { this.ended = true; }
  say(data) { this.#heard.message({ data }); }
  fail() { this.#heard.error(); }
}

function hired(cores = 8) {
  const workers = [];
  const decoders = new DecoderPool(() => {
    workers.push(new FakeWorker());
    return workers.at(-1);
  }, cores);
  return { decoders, workers };
}

test("two films are decoded at once, a third waits for the worker with the shortest queue", () => {
  const { decoders, workers } = hired();
  for (const name of ["a", "b", "c"]) decoders.decode({ url: name });
  assert.deepEqual(workers.map(({ told }) => told.length), [2, 1]);
  assert.equal(workers[0].told[0].view.url, "http://here/a");
});

test("an idle worker is used before another is started", async () => {
  const { decoders, workers } = hired();
  const { film } = decoders.decode({ url: "a" });
  workers[0].say({ id: workers[0].told[0].id, film: "a" });
  assert.equal(await film, "a");
  decoders.decode({ url: "b" });
  assert.equal(workers.length, 1);
});

test("on one core there is one worker", () => {
  const { decoders, workers } = hired(1);
  for (const name of ["a", "b"]) decoders.decode({ url: name });
  assert.equal(workers.length, 1);
});

test("a failed film has the worker's reason", async () => {
  const { decoders, workers } = hired();
  const { film } = decoders.decode({ url: "a" });
  const why = { kind: "refused", status: 503, words: "Ask your coordinator." };
  workers[0].say({ id: workers[0].told[0].id, error: "film refused", why });
  await assert.rejects(film, (error) => error.kind === "refused" && error.words === why.words);
});

test("a broken worker fails its own films only, and is replaced", async () => {
  const { decoders, workers } = hired();
  const [first, second] = ["a", "b"].map((url) => decoders.decode({ url }).film);
  workers[0].fail();
  await assert.rejects(first, /worker failed/);
  workers[1].say({ id: workers[1].told[0].id, film: "b" });
  assert.equal(await second, "b");
  decoders.decode({ url: "c" });
  decoders.decode({ url: "d" });
  assert.equal(workers.length, 3);
});

test("abandoning a film is passed on to its worker", () => {
  const { decoders, workers } = hired();
  decoders.decode({ url: "a" });
  const { abandon } = decoders.decode({ url: "b" });
  abandon();
  assert.deepEqual(workers[1].told.at(-1), { id: 2, abandon: true });
});
