/** Derives from the room's state the unread cases, the next step, and stops before the next case. */

import { needsAid } from "../page/aid-panel.js";
import { asksWords } from "../page/question-panel.js";
import { fits } from "../steps/preparation.js";
import { texts } from "../page/texts.js";

/** @import { Case, Desk, PreparationStep, Reasons, Record, Shown } from "../page/types.js" */
/** @import { Facts, State } from "./machine.js" */

/** @typedef {{name: "absent"|"again"|"begin"|"block"|"break", title: string, text: string, button: string}} Halt */
/** @typedef {{what: "window"|"steps"|"review"|"finish"|"hold"|"wait"|"aid"} | {what: "halt", halt: Halt}
 * | {what: "case", item: Case}} Next  the first three have a sheet; aid: the next case waits for the model's answer
 * */

/** A second Enter this soon is a double press of the last answer's Enter and has no effect. */
export const QUIET_MS = 600;

const MOST_UNTOUCHED = 3; // a reader may look at one case without moving, but hardly at three in a row

/** Return the reader's next step. @param {State} state @returns {Next} */
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

/** Return the cases on the desk without an answer on this page, sent or not. @param {State} state @returns {Case[]}
 * */
export function coming({ facts, answered }) {
  return facts.desk.cases.filter((item) => !answered.includes(item.case));
}

/** Return the unfinished steps before the first case, sent or not. @param {Facts} facts @returns {PreparationStep[]} */
export function stepsDue({ desk, unsent }) {
  const waiting = unsent.filter(({ kind }) => kind === "preparation").map(({ step }) => step);
  return (desk.preparation ?? []).filter(({ step }) => !waiting.includes(step));
}

/** Return what prevents the next case from being shown; "" if nothing does. @param {State} state @returns {string} */
export function halted({ halt, held, facts }) {
  return halt.name || (held ? facts.desk.hold : "");
}

/** Whether the reader is looking at the feedback on a case. @param {State} state */
export function feedbackShown({ feedback, feedbackIs }) {
  return feedback !== null && feedbackIs === "shown";
}

/** Whether the page showed that there was nothing to read, and this has ended. @param {State} state */
export function released({ held, facts }) {
  return held && !facts.desk.hold;
}

/** Whether Enter continues; it does not if the reader may have left.
 *  @param {State} state @param {number} now */
export function endsWithEnter({ halt }, now) {
  return !["", "absent"].includes(halt.name) && now - halt.since > QUIET_MS;
}

/**
 * The cases before which the reader is stopped briefly, with the next case hidden and no clock running. This applies
 * to the first case and to the next case after a sign-in, so that signing in does not start a clock. Signing out
 * makes this browser forget that the reader was here; a reload does not. Derived from the case, so that a reload
 * shows the same curtain until the case has begun.
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

/** Return the condition of a case; both stages of sequential reading count as one. @param {Case} item @returns
 * {string} */
export function readingOf({ condition, stage }) {
  return stage ? "sequential" : condition;
}

/** Return what changes with this case. @param {Case} item @param {string} last condition of the case before */
function turnedTo(item, last) {
  return (asksWords(/** @type {any} */ ({ condition: last })) ? texts.afterWords : texts.conditions)[readingOf(item)];
}

/** @param {Case} item the first one @param {Omit<Halt, "name">} said @returns {Halt} */
function begun(item, said) {
  return { name: "begin", ...said, text: asksWords(item) ? `${said.text} ${texts.inWords}` : said.text };
}

/** A study, or a session that opened while the page was open, starts only when the reader is ready.
 *  @param {Desk} desk @param {string} turned */
function beginning(desk, turned) {
  const { session, total, practice_total, rules } = desk;
  if (session > 1) return texts.beginSession(desk, turned);
  return (practice_total ? texts.beginAfterPractice : texts.begin)(total, rules);
}

/** Whether the case before the reader was read in another window. @param {State} state */
export function readElsewhere({ shown, facts: { desk } }) {
  // After another sign-in there may be preparation; until it is done the desk lists no cases.
  // During a hold the desk does not list cases either, and the case on the screen may be finished.
  return shown !== null && !shown.committed && !shown.item.reading && !desk.preparation?.length && !desk.hold
    && !desk.cases.some((item) => item.case === shown.item.case);
}

/** Whether a case has an answer: an option, or text if it is open-ended. @param {Shown} shown */
export function isAnswered({ item, option, words }) {
  return asksWords(item) ? words.trim() !== "" : option !== null;
}

/** Whether a case that is shown again still has its earlier answer. @param {Shown} shown */
export function unchanged({ item: { reading }, option, words, confidence, comment, faulty }) {
  return reading !== null && reading.option === option && (reading.words ?? "") === words
    && (reading.confidence ?? null) === confidence
    && (reading.comment ?? "") === comment && Boolean(reading.faulty) === faulty;
}

/** Return the cases read on this page with their answers, oldest first; positions count within a session. @param
 * {State} state @returns {Case[]} */
export function remembered({ read, facts }) {
  return read.session === facts.desk.session ? read.cases : [];
}

/** Return where to continue after an earlier case. @param {State} state
 *  @returns {number} the position after it; 0 when the running case follows, or the end */
export function following(state) {
  const { shown, aside, facts: { desk } } = state;
  if (!shown?.item.reading) return 0;
  const running = aside?.item.position ?? coming(state)[0]?.position ?? (desk.finished ? desk.total + 1 : 0);
  return shown.item.position + 1 < running ? shown.item.position + 1 : 0;
}

/** Return an earlier case with the reader's latest answer, sent or not. @param {Case} item as the server has it
 *  @param {Record[]} unsent @returns {Case} */
export function withOwn(item, unsent) {
  const own = unsent.findLast((record) => record.kind === "reading" && record.case === item.case);
  return own ? { ...item, reading: /** @type {any} */ (own) } : item;
}

/** Return the indices of the offered reasons for not answering; "no option fits" is not offered without options.
 * @param {Case} item @returns {number[]} */
export function reasonsOffered(item) {
  const { reasons, ofOptions } = texts.cannotAnswer;
  return [...reasons.keys()].filter((place) => place !== ofOptions || !asksWords(item));
}

/** Return the reason for not answering as it is stored; "" while it is incomplete. @param {Reasons} reasons */
export function reasonOf({ chosen, words }) {
  if (chosen < 0 || (wantsWords(chosen) && !words.trim())) return "";
  return [texts.cannotAnswer.kept[chosen], wantsWords(chosen) ? words.trim() : ""].filter(Boolean).join(": ");
}

/** The last reason requires a text. @param {number} chosen */
export function wantsWords(chosen) {
  return chosen === texts.cannotAnswer.reasons.length - 1;
}
