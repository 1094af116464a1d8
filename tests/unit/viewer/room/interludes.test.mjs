/** Before which cases the reader is stopped, and that a reload stops them at the same place. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Interludes } from "../../../../ui/viewer/js/room/interludes.js";
import { Keep } from "../../../../ui/viewer/js/page/keep.js";

class Storage {
  setItem(name, text) { this[name] = text; }
  getItem(name) { return this[name] ?? null; }
}

const item = (position, more = {}) =>
  ({ case: `c${position}`, position, condition: "unaided", presented: false, practice: false, ...more });
const courier = (rules = {}, desk = {}) =>
  ({ keep: new Keep(new Storage(), "seal"), desk: { total: 10, practice_total: 0, rules, ...desk } });

test("with the protocol's defaults the reader begins, and is not stopped again", () => {
  const room = courier({ break_every: 0 });
  const interludes = new Interludes(room);
  assert.deepEqual([interludes.before(item(1)).name, interludes.before(item(1)).button], ["begin", "Begin"]);
  interludes.began(item(1));
  for (let position = 2; position <= 10; position += 1) assert.equal(interludes.before(item(position)), null);
  room.keep.put("running", { case: "c1" });
  assert.equal(new Interludes(room).before(item(1)), null, "a reload in the first case does not begin again");
});

test("who signs in again goes on when they say so, and a reload does not ask", () => {
  const room = courier();
  const again = new Interludes(room).before(item(5));
  assert.deepEqual([again.name, again.button], ["begin", "Continue"]);
  const interludes = new Interludes(room);
  interludes.lift(item(5));
  assert.equal(interludes.before(item(5)), null);
  interludes.began(item(5));
  assert.equal(new Interludes(room).before(item(6)), null);
});

test("a break comes after every so many cases, and never before the first", () => {
  const interludes = new Interludes(courier({ break_every: 3 }));
  const stopped = [1, 2, 3, 4, 5, 6, 7, 8].filter((position) => interludes.before(item(position))?.name === "break");
  assert.deepEqual(stopped, [4, 7]);
  assert.match(interludes.before(item(4)).text, /^3 of 10 read/);
});

test("a case that was begun, or whose curtain was lifted, is not stopped before again", () => {
  const room = courier({ break_every: 3 });
  const interludes = new Interludes(room);
  assert.equal(interludes.before(item(4, { presented: true })), null);
  room.keep.put("running", { case: "c4" });
  assert.equal(new Interludes(room).before(item(4)), null);
  room.keep.put("running", { case: "c3" });
  assert.equal(new Interludes(room).before(item(4)).name, "break");
  interludes.lift(item(4));
  assert.equal(interludes.before(item(4)), null);
});

test("the study begins behind a curtain after practice, also after a reload", () => {
  const room = courier({}, { practice_total: 2 });
  const practice = new Interludes(room).before(item(1, { practice: true }));
  assert.equal(practice.name, "begin");
  assert.match(practice.title, /Practice/);
  assert.equal(new Interludes(room).before(item(2, { practice: true })), null);
  assert.equal(new Interludes(room).before(item(1)).name, "begin");
  assert.match(new Interludes(room).before(item(1)).title, /study begins/);
  assert.equal(new Interludes(room).before(item(1, { presented: true })), null);
});

test("another condition is said before its first case, and a break says it as well", () => {
  const room = courier({ break_every: 4 });
  new Interludes(room).began(item(3));
  assert.equal(new Interludes(room).before(item(4)), null);
  const block = new Interludes(room).before(item(4, { condition: "image-absent" }));
  assert.equal(block.name, "block");
  assert.match(block.text, /without the film/);
  const rest = new Interludes(room).before(item(5, { condition: "image-absent" }));
  assert.equal(rest.name, "break");
  assert.match(rest.text, /without the film/);
});

test("practice and cases looked at again say nothing about the condition", () => {
  const room = courier();
  const interludes = new Interludes(room);
  interludes.began(item(1, { practice: true, condition: "aided" }));
  interludes.began(item(1, { reading: { id: "old" }, condition: "aided" }));
  assert.equal(room.keep.get("condition"), null);
});
