/** The reader is stopped before certain cases, and at the same cases after a reload. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { following, haltBefore, readElsewhere, remembered } from "../../../../ui/viewer/js/room/deciding.js";
import { START } from "../../../../ui/viewer/js/room/machine.js";
import { desk, facts, item } from "./desks.mjs";

const state = (about = {}, more = {}) => ({ ...START, facts: facts(about), ...more });
const before = (about, position, more) => haltBefore(state(about), item(position, more));

test("with the protocol's defaults the reader starts once and is not stopped again", () => {
  assert.deepEqual([before({}, 1).name, before({}, 1).button], ["begin", "Start"]);
  const begun = { been: true, condition: "unaided" };
  for (let position = 2; position <= 10; position += 1) assert.equal(before(begun, position), null);
  assert.equal(before({ running: { case: "c1" } }, 1), null, "a reload in the first case does not begin again");
});

test("after signing in again the reader must continue explicitly, after a reload not", () => {
  assert.deepEqual([before({}, 5).name, before({}, 5).button], ["begin", "Continue"]);
  assert.equal(haltBefore(state({}, { lifted: "c5" }), item(5)), null);
  assert.equal(before({ been: true }, 6), null);
});

test("breaks come at the given interval, and never before the first case", () => {
  const breaks = { desk: desk({ total: 10, rules: { break_every: 3 } }) };
  const stopped = [1, 2, 3, 4, 5, 6, 7, 8].filter((position) => before(breaks, position)?.name === "break");
  assert.deepEqual(stopped, [4, 7]);
  assert.match(before(breaks, 4).text, /^3 of 10 read/);
});

test("a started case, or one whose curtain was opened, has no further stop", () => {
  const breaks = { desk: desk({ rules: { break_every: 3 } }) };
  assert.equal(before(breaks, 4, { presented: true }), null);
  assert.equal(before({ ...breaks, running: { case: "c4" } }, 4), null);
  assert.equal(before({ ...breaks, running: { case: "c3" } }, 4).name, "break");
  assert.equal(haltBefore(state(breaks, { lifted: "c4" }), item(4)), null);
});

test("the study starts with a curtain after practice, even after a reload", () => {
  const practised = { desk: desk({ practice_total: 2 }) };
  const practice = before(practised, 1, { practice: true });
  assert.equal(practice.name, "begin");
  assert.match(practice.title, /Practice/);
  assert.equal(before(practised, 2, { practice: true }), null);
  assert.equal(before(practised, 1).name, "begin");
  assert.match(before(practised, 1).title, /study begins/);
  assert.equal(before(practised, 1, { presented: true }), null);
});

test("open-ended cases are announced before the first case, and so are cases with options", () => {
  const open = { condition: "open-ended", options: [] };
  assert.match(before({}, 1, open).text, /own words/);
  assert.doesNotMatch(before({}, 1).text, /own words/);
  const practised = { desk: desk({ practice_total: 2 }) };
  assert.match(before(practised, 1, { practice: true, ...open }).text, /own words/);
  const read = { been: true, condition: "open-ended" };
  assert.equal(before(read, 4, open), null);
  assert.match(before(read, 4).text, /one of the options/);
  assert.match(before(read, 4, { condition: "image-absent" }).text, /one of the options.*without images/);
});

test("a new condition is announced before its first case, also in a break", () => {
  const read = { been: true, condition: "unaided", desk: desk({ rules: { break_every: 4 } }) };
  assert.equal(before(read, 4), null);
  const block = before(read, 4, { condition: "image-absent" });
  assert.equal(block.name, "block");
  assert.match(block.text, /without images/);
  const rest = before(read, 5, { condition: "image-absent" });
  assert.equal(rest.name, "break");
  assert.match(rest.text, /without images/);
});

test("a session begins with the feedback on the one before, if there is any", () => {
  const second = (more) => before({ been: true, desk: desk({ session: 2, sessions: 2, total: 20, ...more }) }, 1);
  assert.match(second({ session_feedback: "About half." }).text, /^About half. 20 cases/);
  assert.match(second({}).text, /^20 cases/);
});

test("the next case follows an earlier case, up to the current case or the end", () => {
  const read = (position) => ({ item: item(position, { reading: { id: "old" } }) });
  const from = (position, more, about) => following(state(about, { shown: read(position), ...more }));
  const aside = { item: item(4) };
  assert.deepEqual([from(2, { aside }), from(3, { aside })], [3, 0]);
  assert.equal(following(state({}, { shown: { item: item(1) }, aside })), 0, "the running case itself");
  assert.equal(from(2, {}, { desk: desk({ cases: [item(4)] }) }), 3, "where nothing waits aside");
  const finished = { desk: desk({ finished: true, total: 4, cases: [] }) };
  assert.deepEqual([2, 3, 4].map((position) => from(position, {}, finished)), [3, 4, 0]);
});

test("cases of a previous session are not remembered", () => {
  const read = { session: 1, cases: [item(1)] };
  assert.equal(remembered(state({}, { read })).length, 1);
  assert.equal(remembered(state({ desk: desk({ session: 2 }) }, { read })).length, 0);
});

test("a case that disappears from the desk unanswered was read in another window", () => {
  const shows = (more, about) => readElsewhere(state(about, { shown: { item: item(1), committed: false, ...more } }));
  const gone = { desk: desk({ cases: [item(2)] }) };
  assert.equal(shows({}), false);
  assert.equal(shows({}, gone), true);
  assert.equal(shows({ committed: true }, gone), false);
  assert.equal(shows({ item: item(1, { reading: { id: "old" } }) }, gone), false);
  assert.equal(readElsewhere(state(gone)), false);
  for (const more of [{ hold: "paused" }, { preparation: [{ step: "display" }] }]) {
    assert.equal(shows({}, { desk: desk({ cases: [], ...more }) }), false);
  }
});
