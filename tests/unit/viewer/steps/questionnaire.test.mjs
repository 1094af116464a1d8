/** The fields of the questionnaire become answers, or a message about the missing answer. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { afterEnter, answersOf, askedAfter, faultOf, fitting } from "../../../../ui/viewer/js/steps/questionnaire.js";

const years = { id: "years", kind: "number", options: [], required: true };
const level = { id: "level", kind: "choice", options: ["Resident", "Specialist"], required: true };
const site = { id: "site", kind: "text", options: [], required: false };

test("required questions need an answer, optional ones do not", () => {
  assert.equal(faultOf(level), "choice");
  assert.equal(faultOf(years, "  "), "number");
  assert.equal(faultOf(site, ""), "");
  assert.equal(faultOf({ ...site, required: true }, " "), "text");
  assert.equal(faultOf(level, "Resident"), "");
});

test("numbers may have a point or a comma, other text is refused", () => {
  for (const [text, number] of [["3", 3], [" 2,5 ", 2.5], ["2.5", 2.5], ["-1", -1], [".5", 0.5]]) {
    assert.equal(faultOf(years, text), "");
    assert.deepEqual(answersOf([years], { years: text }), { years: number });
  }
  for (const text of ["three", "3 years", "1e3", "0x10", "1,2,3", "Infinity", "-"]) {
    assert.equal(faultOf(years, text), "noNumber");
    assert.equal(faultOf({ ...years, required: false }, text), "noNumber");
  }
});

test("unanswered questions are not among the answers", () => {
  assert.deepEqual(answersOf([years, level, site], { years: "4", level: "Resident", site: "  " }),
    { years: 4, level: "Resident" });
});

test("stored answers are restored only if they match the current questions", () => {
  assert.deepEqual(fitting([years, level], { years: "4", level: "Professor", gone: "x" }), { years: "4" });
  assert.deepEqual(fitting([site], { site: 7 }), {});
  assert.deepEqual(fitting([site], null), {});
});

test("Enter stays at a question with a missing or invalid answer", () => {
  const questions = [level, years, site];
  assert.deepEqual(afterEnter(questions, {}, "level"), { stay: level });
  assert.deepEqual(afterEnter(questions, { level: "Resident" }, "level"), { next: years });
  assert.deepEqual(afterEnter(questions, { years: "  " }, "years"), { stay: years });
  assert.deepEqual(afterEnter(questions, { years: "three" }, "years"), { stay: years });
  assert.deepEqual(afterEnter([{ ...years, required: false }, site], { years: "x" }, "years").stay?.id, "years");
});

test("Enter skips an optional question, and after the last question all are checked", () => {
  assert.deepEqual(afterEnter([site, level], {}, "site"), { next: level });
  assert.deepEqual(afterEnter([level, site], {}, "site"), { next: undefined });
});

test("a question is asked only after the answer that it depends on", () => {
  const year = { ...years, id: "year", shown_if: { question: "level", is: "Resident" } };
  const rotation = { ...level, id: "rotation", options: ["yes", "no"], shown_if: year.shown_if };
  const which = { ...site, id: "which", shown_if: { question: "rotation", is: "yes" } };
  const questions = [level, year, rotation, which, site];
  for (const [values, ids] of [
    [{}, "level site"],
    [{ level: "Specialist" }, "level site"],
    [{ level: "Resident" }, "level year rotation site"],
    [{ level: "Resident", rotation: "yes" }, "level year rotation which site"],
    [{ level: "Specialist", rotation: "yes" }, "level site"],
  ]) assert.equal(askedAfter(questions, values).map(({ id }) => id).join(" "), ids);
  const changed = { level: "Specialist", year: "3", rotation: "yes", which: "chest" };
  assert.deepEqual(answersOf(askedAfter(questions, changed), changed), { level: "Specialist" });
  assert.deepEqual(afterEnter(askedAfter(questions, changed), changed, "level"), { next: site });
});
