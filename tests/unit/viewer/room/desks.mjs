/** Cases, desks and states for the tests of the room's machine. */
import { START, step } from "../../../../ui/viewer/js/room/machine.js";

export const RULES = {
  confidence_steps: 0, comments: true, fault_marks: false, back_navigation: false, time_limit_s: 0, feedback: "never", cannot_answer: false,
  break_every: 0, smallest_window: [], score_card: "own",
};

export const item = (position, more = {}) => ({
  case: `c${position}`, position, question: "?", condition: "unaided", context: [], views: [],
  options: ["A", "B", "C", "D"].map((option) => ({ option, text: option })), presented: false, practice: false,
  reading: null, ...more,
});

/** The model's answer, as the server sends it once the reader may see it. */
export const CONTENT = { missing: false, answer: "C", confidence: 0.8, explanation: null, boxes: [] };

/** A case with a model's answer. @param {"first"|"on demand"|"after"} when @param {object|null} [content] */
export const aided = (position, when, content = null, more = {}) =>
  item(position, { condition: "aided", aid: { when, html: "", content }, ...more });

export const desk = ({ rules = {}, ...more } = {}) => ({
  seal: "seal", study: "Chest", reader: "R1", notice: "", total: 5, read: 0, finished: false, rules: { ...RULES, ...rules },
  practice_total: 0, preparation: [], session: 1, sessions: 1, review: false, hold: "", opens_at_utc: null,
  opens_in_ms: null, stored: 0, receipt: "", cases: [item(1), item(2), item(3)], ...more,
});

export const facts = (more = {}) => ({
  desk: desk(), unsent: [], running: null, condition: null, been: false, size: [1440, 900], ...more,
});

/** A frozen state, which the machine cannot modify. */
export function frozen(value) {
  if (value && typeof value === "object" && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

/** The state after these events, one per second unless they have a time. The facts of an event remain valid
    afterwards. */
export function after(state, ...events) {
  let effects = [];
  for (const { facts: news = {}, ...event } of events) {
    const given = frozen({ ...state, facts: { ...state.facts, ...news } });
    ({ state, effects } = step(given, frozen({ now: 1000, ...event })));
  }
  return { state, effects, does: effects.map((effect) => effect.do) };
}

/** @param {object} about facts @returns the state of a page whose desk is open */
export const opened = (about = {}) =>
  after({ ...START, facts: facts(about) }, { is: "readHere", kept: null, epoch: 0, now: 0 }).state;

/** The first case has begun and has been on the screen since the first second. */
export function ready(about = {}) {
  const { state } = after(opened({ been: true, ...about }), { is: "pause", now: 900 });
  return after(state, { is: "painted", n: state.shown.n, now: 1000 }).state;
}

export const reading = (id, option = "A", more = {}) => ({
  kind: "reading", id: `r-${id}`, case: id, option, status: "answered", confidence: null, comment: null,
  committed_epoch_ms: 5000, ...more,
});

/** The server acknowledges these records and reports the reader's position. */
export const receipt = (about = {}, sent = [], more = {}) => ({
  is: "receipt", sent, receipt: { stored: sent.map(({ id }) => id), refused: [], feedback: {}, ...more }, facts: about,
});
