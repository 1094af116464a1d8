/** Derives from the state of the room what is still to be read, what comes next, and what comes before it. */

import { needsAid } from "../page/aid-panel.js";
import { asksWords } from "../page/question-panel.js";
import { fits } from "../steps/preparation.js";
import { texts } from "../page/texts.js";

/** @import { Case, Desk, PreparationStep, Reasons, Record, Shown } from "../page/types.js" */
/** @import { Facts, State } from "./machine.js" */

/** @typedef {{name: "absent"|"again"|"begin"|"block"|"break", title: string, text: string, button: string}} Halt */
/** @typedef {{what: "window"|"steps"|"review"|"finish"|"hold"|"wait"|"aid"} | {what: "halt", halt: Halt}
 *   | {what: "case", item: Case}} Next  the first three on a sheet of their own; aid: the next case waits for the model's
 *   answer */

/** A second Enter this soon is the second half of the last answer's: no question, and no wish to go on. */
export const QUIET_MS = 600;

const MOST_UNTOUCHED = 3; // one case may be looked at with folded arms, three in a row hardly

/** Where the reader goes from here. @param {State} state @returns {Next} */
export function upNext(state) {
  const { desk, unsent, size } = state.facts;
  const [item] = coming(state);
  const steps = stepsDue(state.facts);
  if ((steps.length || item) && !state.roomy && !fits(size, desk.rules.smallest_window ?? [])) return { what: "window" };
  if (steps.length) return { what: "steps" };
  if (item && state.untouched >= MOST_UNTOUCHED) return { what: "halt", halt: { name: "absent", ...texts.absent } };
  const again = released(state) ? /** @type {Halt} */ ({ name: "again", ...texts.onAgain }) : null;
  const halt = item && (haltBefore(state, item) ?? again);
  if (halt) return { what: "halt", halt };
  if (item) return needsAid(item) ? { what: "aid" } : { what: "case", item };
  if (unsent.length) return { what: "wait" };
  if (desk.review) return { what: "review" };
  if (desk.finished) return { what: "finish" };
  return { what: desk.hold ? "hold" : "wait" };
}

/** The cases still to be brought to the reader: those on the desk that were not answered here, whether or not the
 *  server knows yet. @param {State} state @returns {Case[]} */
export function coming({ facts, answered }) {
  return facts.desk.cases.filter((item) => !answered.includes(item.case));
}

/** The steps before the first case that are not done, sent or not. @param {Facts} facts @returns {PreparationStep[]} */
export function stepsDue({ desk, unsent }) {
  const waiting = unsent.filter(({ kind }) => kind === "preparation").map(({ step }) => step);
  return (desk.preparation ?? []).filter(({ step }) => !waiting.includes(step));
}

/** What keeps the next case off the screen; "" if nothing does. @param {State} state @returns {string} */
export function halted({ halt, held, facts }) {
  return halt.name || (held ? facts.desk.hold : "");
}

/** Whether the reader is looking at the feedback on a case. @param {State} state */
export function feedbackShown({ feedback, feedbackIs }) {
  return feedback !== null && feedbackIs === "shown";
}

/** The page said that nothing is to be read, and that has passed. @param {State} state */
export function released({ held, facts }) {
  return held && !facts.desk.hold;
}

/** Whether Enter continues: not for a reader who may have left, whose hand may rest on the keyboard.
 *  @param {State} state @param {number} now */
export function endsWithEnter({ halt }, now) {
  return !["", "absent"].includes(halt.name) && now - halt.since > QUIET_MS;
}

/**
 * Before which cases the reader is stopped for a moment, with the next case hidden and no clock running. Every reader
 * is before their first one, and before the next one after signing in anew: no clock starts because the reader signed
 * in. Signing out makes this browser forget that the reader was here; a reload does not. Told from the case itself, so
 * that a reload brings the same curtain again, until the case was begun.
 * @param {State} state @param {Case} item the next case @returns {Halt|null}
 */
export function haltBefore({ facts, lifted }, item) {
  const { desk, running, condition: last, been } = facts;
  if (item.presented || item.stage === 2 || running?.case === item.case || lifted === item.case) return null;
  if (item.practice) return item.position === 1 ? begun(item, texts.beginPractice(desk.practice_total)) : null;
  const { break_every: every = 0 } = desk.rules;
  const read = item.position - 1;
  const turned = (read || desk.session > 1) && last && last !== readingOf(item) ? turnedTo(item, last) : "";
  if (!read) return begun(item, beginning(desk, turned));
  if (every && read % every === 0) return { name: "break", ...texts.rest(read, desk.total, turned) };
  if (turned) return { name: "block", ...texts.block(turned) };
  return been ? null : { name: "begin", ...texts.onAgain };
}

/** The condition of a case; both stages of sequential reading are one. @param {Case} item @returns {string} */
export function readingOf({ condition, stage }) {
  return stage ? "sequential" : condition;
}

/** What is other from this case on. @param {Case} item @param {string} last condition of the case before */
function turnedTo(item, last) {
  return (asksWords(/** @type {any} */ ({ condition: last })) ? texts.afterWords : texts.conditions)[readingOf(item)];
}

/** @param {Case} item the first one @param {Omit<Halt, "name">} said @returns {Halt} */
function begun(item, said) {
  return { name: "begin", ...said, text: asksWords(item) ? `${said.text} ${texts.inWords}` : said.text };
}

/** Neither a study begins before its reader is ready, nor a session that opened while the page was there.
 *  @param {Desk} desk @param {string} turned */
function beginning({ session, sessions, total, practice_total, rules }, turned) {
  if (session > 1) return texts.beginSession(session, sessions, total, turned);
  return (practice_total ? texts.beginAfterPractice : texts.begin)(total, rules);
}

/** Whether the case before the reader was read in another window. @param {State} state */
export function readElsewhere({ shown, facts: { desk } }) {
  // After another sign-in something may be to be prepared first; until then no case is listed, read or not.
  // Under a hold none is listed either, and what is on the screen may be finished.
  return shown !== null && !shown.committed && !shown.item.reading && !desk.preparation?.length && !desk.hold
    && !desk.cases.some((item) => item.case === shown.item.case);
}

/** Whether a case has an answer: an option, or words where it asks for them. @param {Shown} shown */
export function isAnswered({ item, option, words }) {
  return asksWords(item) ? words.trim() !== "" : option !== null;
}

/** Whether a case looked at again still has the answer it had. @param {Shown} shown */
export function unchanged({ item: { reading }, option, words, confidence, comment, faulty }) {
  return reading !== null && reading.option === option && (reading.words ?? "") === words
    && (reading.confidence ?? null) === confidence
    && (reading.comment ?? "") === comment && Boolean(reading.faulty) === faulty;
}

/** The cases read on this page with their answers, the oldest first; in another session the positions are those of
 *  other cases. @param {State} state @returns {Case[]} */
export function remembered({ read, facts }) {
  return read.session === facts.desk.session ? read.cases : [];
}

/** Where to continue from an earlier case. @param {State} state
 *  @returns {number} the position after it; 0 when the running case follows, or the end */
export function following(state) {
  const { shown, aside, facts: { desk } } = state;
  if (!shown?.item.reading) return 0;
  const running = aside?.item.position ?? coming(state)[0]?.position ?? (desk.finished ? desk.total + 1 : 0);
  return shown.item.position + 1 < running ? shown.item.position + 1 : 0;
}

/** An earlier case with the latest own answer, sent or not. @param {Case} item as the server has it
 *  @param {Record[]} unsent @returns {Case} */
export function withOwn(item, unsent) {
  const own = unsent.findLast((record) => record.kind === "reading" && record.case === item.case);
  return own ? { ...item, reading: /** @type {any} */ (own) } : item;
}

/** Which of the reasons for giving a case up are offered, by their place in the list: where there are no options, not
 *  that none of them fits. @param {Case} item @returns {number[]} */
export function reasonsOffered(item) {
  const { reasons, ofOptions } = texts.cannotAnswer;
  return [...reasons.keys()].filter((place) => place !== ofOptions || !asksWords(item));
}

/** Why a case is given up, as it is kept; "" while something of it is missing. @param {Reasons} reasons */
export function reasonOf({ chosen, words }) {
  if (chosen < 0 || (wantsWords(chosen) && !words.trim())) return "";
  return [texts.cannotAnswer.kept[chosen], wantsWords(chosen) ? words.trim() : ""].filter(Boolean).join(": ");
}

/** The last reason wants the reader's own words. @param {number} chosen */
export function wantsWords(chosen) {
  return chosen === texts.cannotAnswer.reasons.length - 1;
}
