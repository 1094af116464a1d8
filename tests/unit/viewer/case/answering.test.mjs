/** What keys mean while an answer is found: above all that no digit meant as confidence ever changes the answer. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Answering } from "../../../../ui/viewer/js/case/answering.js";
import { Attempt } from "../../../../ui/viewer/js/case/attempt.js";

const options = ["A", "B", "C", "D"].map((option) => ({ option, text: option }));

function room(rules = {}, item = {}) {
  const said = { hint: "" };
  const panel = {
    leaveComment() {}, showChoice() {}, showConfidence() {}, say() {}, hint(text) { said.hint = text; },
  };
  const cannotAnswer = { open: false, chosen: 0, reason: "", leave() { this.open = false; }, enter() { this.open = true; },
    choose(number) { this.chosen = number; } };
  const attempt = new Attempt({ case: "c1", options, presented: false, reading: null, ...item }, { readingId: "r1" });
  attempt.begin(0, 0);
  const answering = new Answering({ panel, cannotAnswer }, () => attempt, () => ({ confidence_steps: 0, ...rules }), () => {});
  return { answering, attempt, said, cannotAnswer };
}

const stands = ({ option, confidence }) => [option, confidence];

test("a letter, a digit and Enter are a whole answer where confidence is asked", () => {
  const { answering, attempt } = room({ confidence_steps: 5 });
  answering.choose("A", 1);
  answering.digit(4, 2);
  assert.deepEqual(stands(attempt), ["A", 4]);
  assert.deepEqual(answering.confirm(false), { status: "answered", reason: "" });
});

test("an Enter too many between letter and digit does no harm", () => {
  const { answering, attempt, said } = room({ confidence_steps: 5 });
  answering.choose("A", 1);
  assert.equal(answering.confirm(false), null);
  assert.match(said.hint, /1 to 5/);
  answering.digit(4, 2);
  assert.deepEqual(stands(attempt), ["A", 4]);
  assert.equal(answering.confirm(false).status, "answered");
});

test("a digit before any letter chooses nothing, and says what comes first", () => {
  const { answering, attempt, said } = room({ confidence_steps: 5 });
  for (const number of [1, 2, 3, 4, 5, 8]) answering.digit(number, number);
  assert.deepEqual(stands(attempt), [null, null]);
  assert.match(said.hint, /a letter/);
  answering.sure(3);
  assert.deepEqual(stands(attempt), [null, null]);
  assert.match(said.hint, /answer first/);
});

test("a digit beyond the scale changes neither the answer nor what was said of it", () => {
  const { answering, attempt, said } = room({ confidence_steps: 3 });
  answering.choose("A", 1);
  answering.digit(2, 2);
  answering.digit(4, 3);
  assert.deepEqual(stands(attempt), ["A", 2]);
  assert.match(said.hint, /1 to 3/);
});

test("another letter takes back how sure the reader was of the first", () => {
  const { answering, attempt } = room({ confidence_steps: 5 });
  answering.choose("A", 1);
  answering.digit(4, 2);
  answering.choose("D", 3);
  assert.deepEqual(stands(attempt), ["D", null]);
  assert.equal(answering.confirm(false), null);
});

test("of an earlier case, too, digits say how sure, and choose nothing", () => {
  const reading = { id: "old", option: "B", confidence: 2, comment: null, status: "answered" };
  const { answering, attempt } = room({ confidence_steps: 5 }, { reading });
  answering.digit(4, 1);
  assert.deepEqual(stands(attempt), ["B", 4]);
});

test("where confidence is not asked digits choose, and none beyond the options", () => {
  const { answering, attempt } = room();
  answering.digit(4, 1);
  assert.deepEqual(stands(attempt), ["D", null]);
  answering.digit(5, 2);
  assert.deepEqual(stands(attempt), ["D", null]);
});

test("digits mean reasons while a case is given up, whatever else is asked", () => {
  const { answering, attempt, cannotAnswer } = room({ confidence_steps: 5, cannot_answer: true });
  answering.choose("A", 1);
  answering.giveUp();
  answering.digit(2, 2);
  assert.equal(cannotAnswer.chosen, 2);
  assert.deepEqual(stands(attempt), ["A", null]);
  assert.equal(answering.stepBack(), true);
  assert.equal(answering.stepBack(), false);
});
