/** Before which cases the reader is stopped, and that a reload stops them at the same place. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Halts } from "../../../../ui/viewer/js/room/halts.js";
import { ReaderStorage } from "../../../../ui/viewer/js/page/storage.js";

class Storage {
  setItem(name, text) { this[name] = text; }
  getItem(name) { return this[name] ?? null; }
}

const item = (position, more = {}) =>
  ({ case: `c${position}`, position, condition: "unaided", presented: false, practice: false, ...more });
const connection = (rules = {}, desk = {}) =>
  ({ storage: new ReaderStorage(new Storage(), "seal"), desk: { total: 10, practice_total: 0, rules, ...desk } });

test("with the protocol's defaults the reader begins, and is not stopped again", () => {
  const room = connection({ break_every: 0 });
  const halts = new Halts(room);
  assert.deepEqual([halts.before(item(1)).name, halts.before(item(1)).button], ["begin", "Begin"]);
  halts.began(item(1));
  for (let position = 2; position <= 10; position += 1) assert.equal(halts.before(item(position)), null);
  room.storage.put("running", { case: "c1" });
  assert.equal(new Halts(room).before(item(1)), null, "a reload in the first case does not begin again");
});

test("who signs in again goes on when they say so, and a reload does not ask", () => {
  const room = connection();
  const again = new Halts(room).before(item(5));
  assert.deepEqual([again.name, again.button], ["begin", "Continue"]);
  const halts = new Halts(room);
  halts.lift(item(5));
  assert.equal(halts.before(item(5)), null);
  halts.began(item(5));
  assert.equal(new Halts(room).before(item(6)), null);
});

test("a break comes after every so many cases, and never before the first", () => {
  const halts = new Halts(connection({ break_every: 3 }));
  const stopped = [1, 2, 3, 4, 5, 6, 7, 8].filter((position) => halts.before(item(position))?.name === "break");
  assert.deepEqual(stopped, [4, 7]);
  assert.match(halts.before(item(4)).text, /^3 of 10 read/);
});

test("a case that was begun, or whose curtain was lifted, is not stopped before again", () => {
  const room = connection({ break_every: 3 });
  const halts = new Halts(room);
  assert.equal(halts.before(item(4, { presented: true })), null);
  room.storage.put("running", { case: "c4" });
  assert.equal(new Halts(room).before(item(4)), null);
  room.storage.put("running", { case: "c3" });
  assert.equal(new Halts(room).before(item(4)).name, "break");
  halts.lift(item(4));
  assert.equal(halts.before(item(4)), null);
});

test("the study begins behind a curtain after practice, also after a reload", () => {
  const room = connection({}, { practice_total: 2 });
  const practice = new Halts(room).before(item(1, { practice: true }));
  assert.equal(practice.name, "begin");
  assert.match(practice.title, /Practice/);
  assert.equal(new Halts(room).before(item(2, { practice: true })), null);
  assert.equal(new Halts(room).before(item(1)).name, "begin");
  assert.match(new Halts(room).before(item(1)).title, /study begins/);
  assert.equal(new Halts(room).before(item(1, { presented: true })), null);
});

test("another condition is said before its first case, and a break says it as well", () => {
  const room = connection({ break_every: 4 });
  new Halts(room).began(item(3));
  assert.equal(new Halts(room).before(item(4)), null);
  const block = new Halts(room).before(item(4, { condition: "image-absent" }));
  assert.equal(block.name, "block");
  assert.match(block.text, /without the film/);
  const rest = new Halts(room).before(item(5, { condition: "image-absent" }));
  assert.equal(rest.name, "break");
  assert.match(rest.text, /without the film/);
});

test("practice and cases looked at again say nothing about the condition", () => {
  const room = connection();
  const halts = new Halts(room);
  halts.began(item(1, { practice: true, condition: "aided" }));
  halts.began(item(1, { reading: { id: "old" }, condition: "aided" }));
  assert.equal(room.storage.get("condition"), null);
});
