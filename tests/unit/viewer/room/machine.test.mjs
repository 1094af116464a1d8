/** The new state and the effects of each event: one row per transition. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { QUIET_MS } from "../../../../ui/viewer/js/room/deciding.js";
import { START } from "../../../../ui/viewer/js/room/machine.js";
import { after, aided, CONTENT, desk, facts, item, opened, reading, ready, receipt } from "./desks.mjs";

const NOTHING = [];
const reference = { option: "A", correct: true, explanation: "" };
const unsure = { desk: desk({ rules: { confidence_steps: 5 } }) };
const MARKING = { desk: desk({ rules: { fault_marks: true } }) };
/** The first case is to be answered in the reader's own words. */
const OPEN = item(1, { condition: "open-ended", options: [] });
const open = (rules = {}) => ({ desk: desk({ rules, cases: [OPEN, item(2, { condition: "open-ended", options: [] })] }) });
/** A verdict is chosen by its number. */
const JUDGING = { desk: desk({ rules: { numbered: true } }) };
const giving = { desk: desk({ rules: { cannot_answer: true } }) };
const backwards = (more = {}) => desk({ rules: { back_navigation: true }, ...more });
const [C1, C2, C3, C4] = [1, 2, 3, 4].map((position) => item(position));
const rest = (...cases) => desk({ cases });

/** The state after more events. */
const on = (state, ...events) => after(state, ...events).state;
const chosen = (about, option = "B") => on(ready(about), { is: "choose", option });
const handedIn = (about) => on(chosen(about), { is: "confirm", now: 3000 });
const waiting = (about, record = reading("c1", "B")) =>
  on(handedIn(about), { is: "recorded", record, facts: { unsent: [record] } });
const PRACTICE = { desk: desk({ practice_total: 2, cases: [item(1, { practice: true, case: "p1" }), C1] }) };
const practised = () => waiting(PRACTICE, reading("p1", "B"));
const explained = () =>
  on(practised(), receipt({ unsent: [] }, [reading("p1", "B")], { feedback: { "r-p1": reference } }));
/** At case 2, after the first case was read here. */
const second = (rules = {}) => {
  const state = waiting({ desk: backwards({ rules: { back_navigation: true, ...rules } }) });
  return on(state, { is: "painted", n: 2, now: 4000, facts: { unsent: [], desk: backwards({ cases: [C2, C3] }) } });
};
const revisiting = () => {
  const state = on(second(), { is: "back" });
  return on(state, { is: "painted", n: state.shown.n, now: 5000 });
};
const kept = { case: "c1", option: "C", confidence: null, comment: "so", clock: { paused: false } };
const REVIEW = { desk: backwards({ review: true, cases: [] }), been: true };
const HELD = desk({ hold: "paused", cases: [] });

/** Both stages of the first case of sequential reading; the second with or without the model's answer. */
const S1 = item(1, { case: "c1a", stage: 1 });
const S2 = (content = null) => aided(1, "after", content, { case: "c1b", stage: 2, before: content && { option: "B", confidence: null } });
const SEQUENTIAL = { desk: desk({ cases: [S1, S2(), item(2, { case: "c2a", stage: 1 })] }) };
const committed = () => waiting(SEQUENTIAL, reading("c1a", "B"));
const revealed = () => on(committed(), receipt({ unsent: [], desk: rest(S2(CONTENT)) }, [reading("c1a", "B")]));
const FIRST = { desk: desk({ cases: [aided(1, "first", CONTENT), aided(2, "first")] }) };
const onDemand = (content = null) => ({ desk: desk({ cases: [aided(1, "on demand", content), C2] }) });
const asked = () => on(ready(onDemand()), { is: "aid" });

/** Description, earlier state and event; then the effects in order, and the expected new state. */
const ROWS = [
  // Begin
  ["a study starts behind its curtain while its films are loading", () => ({ ...START, facts: facts() }),
    { is: "readHere", kept: null, epoch: 0 }, ["welcome", "forget", "clear", "halt", "enter", "say", "prefetch"],
    { phase: "paused", shown: null, halt: { name: "begin", since: -Infinity } }],
  ["Enter begins", () => opened(), { is: "confirm" }, ["uncover", "reset", "enter", "present"], { phase: "loading", lifted: "c1" }],
  ["the button begins too", () => opened(), { is: "pause" }, ["uncover", "reset", "enter", "present"], { phase: "loading" }],
  ["no other key begins", () => opened(), { is: "choose", option: "A" }, NOTHING, { phase: "paused" }],
  ["the clock starts when the film is on the screen", () => on(opened(), { is: "pause" }),
    { is: "painted", n: 1, now: 7 }, ["remember", "remember", "enter", "begin", "prefetch"], { phase: "ready", readyAt: 7 }],
  ["a late film of an earlier case has no effect", () => on(opened(), { is: "pause" }),
    { is: "painted", n: 9 }, NOTHING, { phase: "loading" }],
  ["the clock starts only once", () => ready(), { is: "painted", n: 1, now: 9 }, NOTHING, { readyAt: 1000 }],
  ["practice has its own curtain", () => ({ ...START, facts: facts(PRACTICE) }), { is: "readHere", kept: null, epoch: 0 },
    ["welcome", "forget", "clear", "halt", "enter", "say", "prefetch"], { halt: { name: "begin", since: -Infinity } }],
  ["a reader who has begun in this sign-in is not stopped", () => ({ ...START, facts: facts({ been: true, desk: rest(C4) }) }),
    { is: "readHere", kept: null, epoch: 0 }, ["welcome", "forget", "reset", "enter", "present"], { phase: "loading" }],
  // The letters of options
  ["a letter selects its option", () => ready(), { is: "letter", letter: "B" }, ["chosen"], { phase: "ready" }],
  ["a letter focuses the field of an open-ended case", () => ready(open()), { is: "letter", letter: "A" }, ["answerField"], {}],
  ["a letter selects nothing and shows a hint if options have numbers", () => ready(JUDGING), { is: "letter", letter: "B" }, ["hint"],
    { phase: "ready" }],
  ["numbers select options that have numbers", () => ready(JUDGING), { is: "digit", number: 2 }, ["chosen"], {}],
  ["a letter has no effect while no case can be answered", () => opened(JUDGING), { is: "letter", letter: "A" }, NOTHING, {}],
  // Before the first case
  ["a window that is too small is reported first", () => ({ ...START, facts: facts({ size: [900, 600],
    desk: desk({ rules: { smallest_window: [1024, 700] }, preparation: [{ step: "consent" }] }) }) }),
  { is: "readHere", kept: null, epoch: 0 }, ["welcome", "forget", "clear", "enter", "window"], { sheet: "window", phase: "paused" }],
  ["the current size of the window is shown", () => opened({ size: [900, 600], desk: desk({ rules: { smallest_window: [1024, 700] } }) }),
    { is: "resized", facts: { size: [1000, 600] } }, ["window"], { sheet: "window" }],
  ["a window that is large enough continues", () => opened({ size: [900, 600], desk: desk({ rules: { smallest_window: [1024, 700] } }) }),
    { is: "resized", facts: { size: [700, 1024] } }, ["closeSheet", "clear", "halt", "enter", "say", "prefetch"], { sheet: "", roomy: true }],
  ["a preview may continue in a small window", () => opened({ size: [900, 600], desk: desk({ rules: { smallest_window: [1024, 700] } }) }),
    { is: "anyway" }, ["closeSheet", "clear", "halt", "enter", "say", "prefetch"], { roomy: true }],
  ["a window reduced later is not reported again", () => ready({ desk: desk({ rules: { smallest_window: [1024, 700] } }) }),
    { is: "resized", facts: { size: [300, 300] } }, NOTHING, { phase: "ready" }],
  ["the end is shown in a window of any size", () => ({ ...START, facts: facts({ size: [390, 844],
    desk: desk({ finished: true, cases: [], rules: { smallest_window: [1024, 700] } }) }) }),
  { is: "readHere", kept: null, epoch: 0 }, ["welcome", "forget", "clear", "finish", "enter"], { phase: "finished" }],
  ["a finished step is followed by the next before its record is sent",
    () => opened({ desk: desk({ preparation: [{ step: "consent" }, { step: "display" }] }) }),
    { is: "stepDone", step: "consent", facts: { unsent: [{ kind: "preparation", id: "p", step: "consent" }] } },
    ["steps"], { sheet: "steps" }],
  ["the last step is followed by the curtain of the first case", () => opened({ desk: desk({ preparation: [{ step: "consent" }] }) }),
    { is: "stepDone", step: "consent", facts: { unsent: [{ kind: "preparation", id: "p", step: "consent" }] } },
    ["closeSheet", "clear", "halt", "enter", "say", "prefetch"], { sheet: "" }],
  ["without cases it waits until the server has the steps", () => opened({ desk: desk({ preparation: [{ step: "consent" }], cases: [] }) }),
    { is: "stepDone", step: "consent", facts: { unsent: [{ kind: "preparation", id: "p", step: "consent" }] } },
    ["closeSheet", "clear", "loading", "retryNow", "enter"], { phase: "loading" }],
  // The answer
  ["a letter selects an option", () => ready(), { is: "choose", option: "B", now: 1500 }, ["chosen"], { shown: { option: "B" } }],
  ["a letter without an option has no effect", () => ready(), { is: "choose", option: "E" }, NOTHING, { shown: { option: null } }],
  ["a digit selects an option if confidence is not asked", () => ready(), { is: "digit", number: 4 }, ["chosen"], { shown: { option: "D" } }],
  ["a digit without an option has no effect", () => ready(), { is: "digit", number: 5 }, NOTHING, { shown: { option: null } }],
  ["a digit before a letter selects nothing if it means confidence", () => ready(unsure), { is: "digit", number: 4 },
    ["hint"], { shown: { option: null, confidence: null } }],
  ["a digit after a letter sets the confidence", () => chosen(unsure), { is: "digit", number: 4 }, ["sure"], { shown: { option: "B", confidence: 4 } }],
  ["a digit beyond the scale has no effect", () => on(chosen(unsure), { is: "digit", number: 2 }), { is: "digit", number: 8 },
    ["hint"], { shown: { option: "B", confidence: 2 } }],
  ["the confidence buttons require an answer too", () => ready(unsure), { is: "sure", step: 3 }, ["hint"], { shown: { confidence: null } }],
  ["another letter clears the confidence", () => on(chosen(unsure), { is: "sure", step: 4 }),
    { is: "choose", option: "A" }, ["chosen"], { shown: { option: "A", confidence: null } }],
  ["the same letter keeps the confidence", () => on(chosen(unsure), { is: "sure", step: 4 }), { is: "choose", option: "B" },
    ["chosen"], { shown: { option: "B", confidence: 4 } }],
  ["marking the question keeps the answer", () => chosen(MARKING), { is: "faulty" }, ["mark"],
    { shown: { faulty: true, option: "B" } }],
  ["the same key removes the mark", () => on(ready(MARKING), { is: "faulty" }), { is: "faulty" }, ["mark"],
    { shown: { faulty: false } }],
  ["marking has no effect if the protocol does not allow it", () => ready(), { is: "faulty" }, NOTHING, { shown: { faulty: false } }],
  ["a comment belongs to the case", () => ready(), { is: "comment", text: "so" }, NOTHING, { shown: { comment: "so" } }],
  // In the reader's own words
  ["a letter focuses the answer field", () => ready(open()), { is: "choose", option: "A" }, ["answerField"],
    { shown: { option: null, words: "" } }],
  ["a digit focuses the answer field", () => ready(open()), { is: "digit", number: 2 }, ["answerField"], { shown: { option: null } }],
  ["text in the field is the current answer", () => ready(open()), { is: "write", text: "eff" }, ["written"],
    { shown: { words: "eff", option: null } }],
  ["text has no effect in a case with options", () => ready(), { is: "write", text: "eff" }, NOTHING, { shown: { words: "" } }],
  ["text has no effect during a pause", () => on(ready(open()), { is: "pause" }), { is: "write", text: "eff" }, NOTHING, { shown: { words: "" } }],
  ["text has no effect while reasons are shown", () => on(ready(open({ cannot_answer: true })), { is: "giveUp" }), { is: "write", text: "eff" },
    NOTHING, { shown: { words: "" } }],
  ["Enter without text shows a hint and focuses the field", () => ready(open()), { is: "confirm", now: 3000 },
    ["hint", "answerField"], { phase: "ready" }],
  ["spaces are not an answer", () => on(ready(open()), { is: "write", text: " \n" }), { is: "confirm", now: 3000 },
    ["hint", "answerField"], { phase: "ready" }],
  ["a double press without text shows no hint", () => ready(open()), { is: "confirm", now: 1000 + QUIET_MS }, NOTHING, { phase: "ready" }],
  ["Enter with text confirms", () => on(ready(open()), { is: "write", text: "effusion" }), { is: "confirm", now: 3000 },
    ["submit", "reset", "enter"], { phase: "loading", shown: { committed: true, words: "effusion" } }],
  ["confidence is asked for open-ended answers too", () => on(ready(open({ confidence_steps: 5 })), { is: "write", text: "effusion" }),
    { is: "confirm", now: 3000 }, ["hint"], { phase: "ready" }],
  ["confidence cannot be set before there is text", () => ready(open({ confidence_steps: 5 })), { is: "digit", number: 3 },
    ["hint", "answerField"], { shown: { confidence: null } }],
  ["a digit sets the confidence of a text", () => on(ready(open({ confidence_steps: 5 })), { is: "write", text: "effusion" }),
    { is: "digit", number: 3 }, ["sure"], { shown: { confidence: 3, words: "effusion" } }],
  ["an unfinished text is restored after a reload", () => opened({ been: true, ...open(),
    running: { case: "c1", option: null, words: "eff", confidence: null, comment: "", clock: { paused: false } } }),
  { is: "painted", n: 1 }, ["remember", "remember", "enter", "begin", "prefetch"], { shown: { words: "eff", resumed: true } }],
  ["'no option fits' is not offered without options", () => on(ready(open({ cannot_answer: true })), { is: "giveUp" }),
    { is: "digit", number: 3 }, ["reasons", "hint"], { reasons: { chosen: 3 } }],
  ["an earlier case is shown with its text", () => on(ready({ desk: backwards({ cases: [item(2)] }) }), { is: "back" }),
    { is: "fetched", position: 1, item: { ...OPEN, presented: true, reading: reading("c1", null, { words: "effusion" }) } },
    ["leave", "reset", "enter", "present"], { shown: { words: "effusion" }, aside: { item: { position: 2 } } }],
  // Handing in
  ["Enter without an answer names what is missing", () => ready(), { is: "confirm", now: 3000 }, ["hint"], { phase: "ready" }],
  ["the second half of a double press shows no hint", () => ready(), { is: "confirm", now: 1000 + QUIET_MS }, NOTHING, { phase: "ready" }],
  ["Enter without confidence names what is missing", () => chosen(unsure), { is: "confirm", now: 3000 }, ["hint"], { phase: "ready" }],
  ["Enter confirms", () => chosen(), { is: "confirm", now: 3000 }, ["submit", "reset", "enter"], { phase: "loading", shown: { committed: true } }],
  ["a second Enter or click has no effect", () => handedIn(), { is: "confirm", now: 3001 }, NOTHING, { phase: "loading" }],
  ["Enter has no effect while the next film is loading", () => waiting(), { is: "confirm", now: 3002 }, NOTHING, { phase: "loading" }],
  ["the next case is shown when the answer is stored", () => handedIn(),
    { is: "recorded", record: reading("c1"), facts: { unsent: [reading("c1")] } }, ["forget", "reset", "enter", "present"],
    { answered: ["c1"], shown: { item: C2, option: null } }],
  ["after the last case it waits until the server has all answers", () => handedIn({ desk: rest(C1) }),
    { is: "recorded", record: reading("c1"), facts: { unsent: [reading("c1")] } },
    ["forget", "clear", "loading", "retryNow", "enter"], { phase: "loading", shown: null }],
  ["when the server has all answers the end is shown", () => waiting({ desk: rest(C1) }), receipt({ unsent: [], desk: desk({ finished: true, cases: [] }) }, [reading("c1")]),
    ["clear", "finish", "enter", "prefetch"], { phase: "finished" }],
  ["the time limit confirms an unanswered case", () => ready(), { is: "timeUp", now: 9000 },
    ["closeHelp", "submit", "reset", "enter"], { phase: "loading", untouched: 1 }],
  ["the time limit also ends a case with an unconfirmed answer", () => on(chosen(), { is: "touched" }), { is: "timeUp", now: 9000 },
    ["closeHelp", "submit", "reset", "enter"], { untouched: 0 }],
  ["the time limit does not run during a pause", () => on(ready(), { is: "pause" }), { is: "timeUp", now: 9000 }, NOTHING, { phase: "paused" }],
  ["three untouched time-outs stop before the next case", () => ({ ...handedIn(), untouched: 3 }),
    { is: "recorded", record: reading("c1") }, ["forget", "clear", "halt", "enter", "say", "prefetch"], { halt: { name: "absent" }, phase: "paused" }],
  ["Enter does not continue after an absence", () => on({ ...handedIn(), untouched: 3 }, { is: "recorded", record: reading("c1") }),
    { is: "confirm", now: 99_000 }, NOTHING, { phase: "paused" }],
  ["the button continues after an absence", () => on({ ...handedIn(), untouched: 3 }, { is: "recorded", record: reading("c1") }),
    { is: "pause" }, ["uncover", "reset", "enter", "present"], { untouched: 0 }],
  ["a repeated Enter does not end a break", () => on(handedIn({ desk: desk({ rules: { break_every: 1 } }) }), { is: "recorded", record: reading("c1"), now: 3001 }),
    { is: "confirm", now: 3001 + QUIET_MS }, NOTHING, { halt: { name: "break" } }],
  ["a later Enter ends the break", () => on(handedIn({ desk: desk({ rules: { break_every: 1 } }) }), { is: "recorded", record: reading("c1"), now: 3001 }),
    { is: "confirm", now: 3002 + QUIET_MS }, ["uncover", "reset", "enter", "present"], { halt: { name: "" }, lifted: "c2" }],
  // Giving up
  ["without permission there is no effect", () => ready(), { is: "giveUp" }, NOTHING, { reasons: null }],
  ["reasons replace the options", () => ready(giving), { is: "giveUp" }, ["reasons", "hint"], { reasons: { chosen: -1, words: "" } }],
  ["digits select reasons", () => on(ready(giving), { is: "giveUp" }), { is: "digit", number: 2 }, ["reasons", "hint"], { reasons: { chosen: 1 } }],
  ["letters have no effect while reasons are shown", () => on(ready(giving), { is: "giveUp" }), { is: "choose", option: "A" }, NOTHING, { shown: { option: null } }],
  ["Enter without a reason shows a hint", () => on(ready(giving), { is: "giveUp" }), { is: "confirm", now: 3000 }, ["hint"], { phase: "ready" }],
  ["the last reason requires a text", () => on(ready(giving), { is: "giveUp" }, { is: "reason", number: 4 }), { is: "confirm", now: 3000 }, ["hint"], { phase: "ready" }],
  ["the last reason with a text confirms", () => on(ready(giving), { is: "giveUp" }, { is: "reason", number: 4 }, { is: "words", text: " blurred " }),
    { is: "confirm", now: 3000 }, ["submit", "reset", "enter"], { reasons: null, phase: "loading" }],
  ["the same key returns to the options", () => on(chosen(giving), { is: "giveUp" }), { is: "giveUp" },
    ["reasons", "hint"], { reasons: null, shown: { option: "B" } }],
  // Pause
  ["a pause hides the case and stops its clock", () => ready(), { is: "pause", now: 2000 }, ["setPaused", "curtain", "enter"],
    { phase: "paused", shown: { paused: true } }],
  ["Enter ends the pause", () => on(ready(), { is: "pause" }), { is: "confirm" }, ["setPaused", "uncover", "enter"], { phase: "ready", shown: { paused: false } }],
  ["no option can be selected during a pause", () => on(ready(), { is: "pause" }), { is: "choose", option: "A" }, NOTHING, { shown: { option: null } }],
  ["pausing has no effect while a film is loading", () => on(opened(), { is: "pause" }), { is: "pause" }, NOTHING, { phase: "loading" }],
  // Reload
  ["a reload restores the case", () => ({ ...START, facts: facts({ running: kept }) }),
    { is: "readHere", kept: null, epoch: 0 }, ["welcome", "forget", "reset", "enter", "present"],
    { shown: { option: "C", comment: "so", resumed: true, touched: true } }],
  ["a reload during a pause restores the pause", () => opened({ running: { ...kept, clock: { paused: true } } }), { is: "painted", n: 1 },
    ["remember", "remember", "curtain", "enter", "begin", "prefetch"], { phase: "paused" }],
  ["an answer on the server takes precedence over stored state", () => ready({ running: kept,
    desk: rest(item(1, { presented: true, reading: reading("c1", "D") })) }), { is: "touched" }, NOTHING, { shown: { option: "D" } }],
  ["cases with unsent answers are not shown again", () => ({ ...START, facts: facts({ been: true, unsent: [reading("c1")] }) }),
    { is: "readHere", kept: null, epoch: 0 }, ["welcome", "forget", "reset", "enter", "present"], { shown: { item: C2 } }],
  // Connection lost and back
  ["a connection error is shown while the reader waits", () => waiting({ desk: rest(C1) }), { is: "trouble", text: "no line" }, ["trouble"], { phase: "loading" }],
  ["a connection error is shown while feedback is awaited", () => practised(), { is: "trouble", text: "no line" }, ["trouble", "hint"], { phase: "loading" }],
  ["without a connection reading continues with the cases on the desk", () => waiting(), { is: "painted", n: 2 },
    ["remember", "remember", "enter", "begin", "prefetch"], { phase: "ready" }],
  ["a restored connection changes only the films' addresses of the current case", () => ready(), receipt({ desk: rest(C1, C2, C3) }), ["prefetch"], { phase: "ready" }],
  ["a restored connection shows the next case to a waiting reader", () => waiting({ desk: rest(C1) }), receipt({ unsent: [], desk: rest(C2) }, [reading("c1")]),
    ["reset", "enter", "present"], { shown: { item: C2 } }],
  ["without cases the desk is requested again", () => waiting({ desk: rest(C1) }), receipt({ unsent: [], desk: rest() }, [reading("c1")]),
    ["clear", "loading", "askAgain", "enter"], { phase: "loading" }],
  ["a desk without cases is requested again later", () => on(waiting({ desk: rest(C1) }), receipt({ unsent: [], desk: rest() })), { is: "another" },
    ["clear", "loading", "askAgain", "enter"], { phase: "loading" }],
  ["a late response does not affect the current case", () => ready(), { is: "another" }, NOTHING, { phase: "ready" }],
  ["after the end of the sign-in the next case waits for the reader", () => handedIn(), { is: "recorded", record: reading("c1"), facts: { been: false } },
    ["forget", "clear", "halt", "enter", "say", "prefetch"], { halt: { name: "begin" } }],
  // Two tabs
  ["when another window takes over, the case is hidden", () => chosen(), { is: "handOver" }, ["reset", "clear", "uncover", "enter"],
    { here: false, shown: null, phase: "loading" }],
  ["when another window takes over, a sheet is closed", () => opened({ desk: desk({ preparation: [{ step: "consent" }] }) }), { is: "handOver" },
    ["reset", "clear", "uncover", "closeSheet", "enter"], { sheet: "" }],
  ["a finished window stays unchanged when another opens", () => on(waiting({ desk: rest(C1) }), receipt({ unsent: [], desk: desk({ finished: true, cases: [] }) })),
    { is: "handOver" }, NOTHING, { phase: "finished", here: false }],
  ["keys have no effect in the window left behind", () => on(chosen(), { is: "handOver" }), { is: "confirm" }, NOTHING, { shown: null }],
  ["a late film has no effect in the window left behind", () => on(waiting(), { is: "handOver" }), { is: "painted", n: 2 }, NOTHING, { shown: null }],
  ["a response has no effect in the window left behind", () => on(chosen(), { is: "handOver" }), receipt({ desk: rest(C2) }), NOTHING, { shown: null }],
  ["a refusal has no effect in the window left behind", () => on(chosen(), { is: "handOver" }), receipt({}, [reading("c1")], { refused: [{ id: "r-c1", why: "no" }] }),
    NOTHING, { here: false }],
  ["nor a step", () => on(chosen(), { is: "handOver" }), { is: "next" }, NOTHING, { shown: null }],
  ["the window left behind can take the case back", () => on(chosen(), { is: "handOver" }), { is: "readHere", kept: null, epoch: 0, facts: { running: kept } },
    ["welcome", "forget", "reset", "enter", "present"], { here: true, shown: { option: "C", n: 2 } }],
  ["a case read in another browser leaves the screen", () => chosen(), receipt({ desk: rest(C2) }),
    ["toast", "forget", "reset", "enter", "present"], { shown: { item: C2 } }],
  ["a paused reader is notified, and the case stays", () => on(ready(), { is: "pause" }), receipt({ desk: rest(C2) }), ["toast", "prefetch"], { shown: { item: C1 } }],
  ["the case leaves the screen when the paused reader continues", () => on(ready(), { is: "pause" }, receipt({ desk: rest(C2) })), { is: "pause" }, ["forget", "reset", "enter", "present"], { shown: { item: C2 } }],
  ["a desk with preparation does not affect the case on the screen", () => chosen(),
    receipt({ desk: desk({ cases: [], preparation: [{ step: "display" }] }) }), ["prefetch"], { shown: { item: C1 } }],
  // Refused
  ["a refused answer is reported, and its case is shown again", () => waiting(), receipt({ unsent: [] }, [reading("c1", "B")],
    { refused: [{ id: "r-c1", why: "too late" }] }), ["toast"], { answered: [], read: { cases: [] } }],
  ["the sheet of a refused step shows the reason", () => opened({ desk: desk({ preparation: [{ step: "consent" }], cases: [] }) }),
    receipt({}, [{ kind: "preparation", id: "p", step: "consent" }], { refused: [{ id: "p", why: "no" }] }), ["prefetch"], {}],
  ["a case shown too late is removed", () => chosen(), receipt({ desk: HELD }, [{ kind: "presentation", id: "p", case: "c1" }],
    { refused: [{ id: "p", why: "paused" }] }), ["forget", ...Array(2).fill(["clear", "hold", "askAgain", "enter"]).flat(), "prefetch"], { held: true, shown: null }],
  // Held up
  ["during a hold the case on the screen can be finished", () => chosen(), receipt({ desk: HELD }), ["prefetch"], { phase: "ready" }],
  ["during a hold no further case is shown", () => handedIn({ desk: { ...HELD, cases: [C1] } }), { is: "recorded", record: reading("c1") },
    ["forget", "clear", "hold", "askAgain", "enter"], { phase: "paused", held: true }],
  ["after a hold the reader is asked to continue", () => opened({ been: true, desk: HELD }), { is: "another", facts: { desk: rest(C4) } },
    ["uncover", "clear", "halt", "enter", "say", "prefetch"], { held: false, halt: { name: "again" } }],
  ["Enter during a hold requests the desk again", () => opened({ been: true, desk: HELD }), { is: "pause" },
    ["uncover", "clear", "hold", "askAgain", "enter"], { held: true }],
  // Feedback
  ["a practice answer is sent at once and its feedback awaited", () => handedIn(PRACTICE), { is: "recorded", record: reading("p1", "B") },
    ["forget", "remember", "hint", "flush"], { phase: "loading", feedbackIs: "awaited" }],
  ["feedback is shown when the server has the answer", () => practised(),
    receipt({ unsent: [] }, [reading("p1", "B")], { feedback: { "r-p1": reference } }), ["remember", "feedback", "enter", "prefetch"],
    { phase: "paused", feedbackIs: "shown" }],
  ["a receipt for another record shows no feedback", () => practised(), receipt({}, [{ id: "other" }], { feedback: { "r-p1": reference } }), NOTHING, { feedbackIs: "awaited" }],
  ["a receipt without feedback continues", () => practised(), receipt({ unsent: [] }, [reading("p1", "B")]),
    ["remember", "forget", "clear", "halt", "enter", "say", "prefetch", "prefetch"], { feedback: null }],
  ["Enter continues from feedback to the study's curtain", () => explained(), { is: "confirm" },
    ["forget", "clear", "halt", "enter", "say", "prefetch"], { feedback: null, halt: { name: "begin" } }],
  ["a reload shows the case of the feedback first", () => ({ ...START, facts: facts() }),
    { is: "readHere", kept: { item: C1, record: reading("c1", "B"), reference, answered: true, epoch_ms: 1000 }, epoch: 2000 },
    ["welcome", "reset", "enter", "present"], { feedbackIs: "held", shown: { option: "B", committed: true } }],
  ["after its case the feedback is shown again", () => on({ ...START, facts: facts() },
    { is: "readHere", kept: { item: C1, record: reading("c1", "B"), reference, answered: true, epoch_ms: 1000 }, epoch: 2000 }),
  { is: "painted", n: 1 }, ["feedback", "enter"], { phase: "paused", feedbackIs: "shown" }],
  ["an answer without a receipt is sent again", () => on({ ...START, facts: facts() },
    { is: "readHere", kept: { item: C1, record: reading("c1"), reference: null, answered: false, epoch_ms: 1000 }, epoch: 2000 }),
  { is: "painted", n: 1 }, ["put"], { feedbackIs: "awaited" }],
  ["an answer that is waiting is not sent twice", () => on({ ...START, facts: facts({ unsent: [reading("c1")] }) },
    { is: "readHere", kept: { item: C1, record: reading("c1"), reference: null, answered: false, epoch_ms: 1000 }, epoch: 2000 }),
  { is: "painted", n: 1 }, NOTHING, { feedbackIs: "awaited" }],
  ["a receipt that arrives before its case is shown with it", () => on({ ...START, facts: facts() },
    { is: "readHere", kept: { item: C1, record: reading("c1"), reference: null, answered: false, epoch_ms: 1000 }, epoch: 2000 }),
  receipt({}, [reading("c1")], { feedback: { "r-c1": reference } }), ["remember"], { feedbackIs: "held", feedback: { reference } }],
  ["feedback is not restored after ten minutes", () => ({ ...START, facts: facts({ been: true, desk: rest(C4) }) }),
    { is: "readHere", kept: { item: C1, record: reading("c1"), reference, answered: true, epoch_ms: 0 }, epoch: 600_000 },
    ["welcome", "forget", "reset", "enter", "present"], { feedback: null, shown: { item: C4 } }],
  ["a film that is not available is not awaited", () => on({ ...START, facts: facts({ been: true, desk: rest(C4) }) },
    { is: "readHere", kept: { item: C1, record: reading("c1"), reference, answered: true, epoch_ms: 1000 }, epoch: 2000 }),
  { is: "freshened", n: 1, views: null }, ["forget", "reset", "enter", "present"], { shown: { item: C4 } }],
  ["feedback taken over by another window does not block this window", () => explained(), { is: "handOver" },
    ["reset", "clear", "uncover", "enter"], { feedback: null }],
  // The card lost its films
  ["the same case is restored, with its clock stopped in the meantime", () => chosen(), { is: "filmsLost" },
    ["filmsLost", "leave", "reset", "enter", "present"], { phase: "loading", shown: { n: 1, option: "B" } }],
  ["a paused case is restored as paused", () => on(ready(), { is: "pause" }, { is: "filmsLost" }), { is: "painted", n: 1 },
    ["remember", "remember", "curtain", "enter", "begin", "prefetch"], { phase: "paused" }],
  ["feedback is restored with its case", () => explained(), { is: "filmsLost" }, ["filmsLost", "reset", "enter", "present"], { feedbackIs: "held" }],
  ["films are loaded again behind a curtain", () => opened(), { is: "filmsLost" }, ["filmsLost", "prefetch"], { phase: "paused" }],
  ["films are not loaded in a window left behind", () => on(ready(), { is: "handOver" }), { is: "filmsLost" }, ["filmsLost"], {}],
  ["new addresses of films are used for the case", () => waiting(), { is: "freshened", n: 2, views: [{ url: "new" }] }, NOTHING,
    { shown: { item: { views: [{ url: "new" }] } } }],
  // Going back
  ["without permission there is no effect", () => on(waiting(), { is: "painted", n: 2 }), { is: "back" }, NOTHING, { shown: { item: C2 } }],
  ["there is no case before the first", () => ready({ desk: backwards() }), { is: "back" }, NOTHING, { phase: "ready" }],
  ["a case read here is shown at once, and the running case waits aside", () => second(), { is: "back", now: 4500 },
    ["leave", "reset", "enter", "present", "recheck"], { aside: { n: 2 }, shown: { n: 3, option: "B" } }],
  ["a case not read here is loaded while the current case stays", () => ready({ desk: backwards({ cases: [C4] }) }), { is: "back" },
    ["fetch"], { phase: "ready", asked: { position: 3 } }],
  ["a loaded earlier case is shown", () => on(ready({ desk: backwards({ cases: [C4] }) }), { is: "back" }),
    { is: "fetched", position: 3, item: item(3, { reading: reading("c3") }) }, ["leave", "reset", "enter", "present"], { aside: { n: 1 }, shown: { option: "A" } }],
  ["a loaded earlier case has its unsent answer", () => on(ready({ desk: backwards({ cases: [C4] }), unsent: [reading("c3", "D")] }), { is: "back" }),
    { is: "fetched", position: 3, item: item(3, { reading: reading("c3") }) }, ["leave", "reset", "enter", "present"], { shown: { option: "D" } }],
  ["an earlier case is not shown if the reader has paused", () => on(ready({ desk: backwards({ cases: [C4] }) }), { is: "back" }, { is: "pause" }),
    { is: "fetched", position: 3, item: item(3, { reading: reading("c3") }) }, NOTHING, { aside: null }],
  ["an earlier case is not shown if the reader has confirmed", () => on(ready({ desk: backwards({ cases: [C4] }) }), { is: "choose", option: "A" }, { is: "back" }, { is: "confirm" }),
    { is: "fetched", position: 3, item: item(3, { reading: reading("c3") }) }, NOTHING, { aside: null }],
  ["if the earlier case is not available the current case stays", () => on(ready({ desk: backwards({ cases: [C4] }) }), { is: "back" }),
    { is: "fetched", position: 3, item: null }, ["toast"], { phase: "ready" }],
  ["an unchanged answer is not sent again", () => revisiting(), { is: "confirm", now: 6000 },
    ["reset", "enter", "reset", "enter", "present"], { aside: null, shown: { n: 2 } }],
  ["a changed answer is sent", () => on(revisiting(), { is: "choose", option: "C" }), { is: "confirm", now: 6000 },
    ["submit", "reset", "enter"], { shown: { option: "C", committed: true } }],
  ["a changed answer requires a new confidence", () => chosen({ desk: backwards({ rules: { confidence_steps: 5 },
    cases: [item(1, { presented: true, reading: reading("c1", "A", { confidence: 5 }) })] }) }),
  { is: "confirm", now: 9000 }, ["hint"], { shown: { option: "B", confidence: null } }],
  ["afterwards the running case continues", () => on(revisiting(), { is: "choose", option: "C" }, { is: "confirm", now: 6000 }),
    { is: "recorded", record: reading("c1", "C", { id: "r-new" }) }, ["reset", "enter", "present"],
    { shown: { n: 2 }, read: { cases: [{ case: "c1", reading: { id: "r-new", option: "C" } }] } }],
  ["an answer given in another browser is shown instead", () => revisiting(),
    { is: "corrected", n: 3, id: "r-c1", item: item(1, { reading: reading("c1", "D", { id: "elsewhere" }) }) },
    ["reset", "enter", "present"], { shown: { option: "D" }, read: { cases: [] } }],
  ["an answer given elsewhere does not replace the reader's change", () => on(revisiting(), { is: "choose", option: "C" }),
    { is: "corrected", n: 3, id: "r-c1", item: item(1, { reading: reading("c1", "D", { id: "elsewhere" }) }) }, NOTHING, { shown: { option: "C" } }],
  ["the same answer has no effect", () => revisiting(),
    { is: "corrected", n: 3, id: "r-c1", item: item(1, { reading: reading("c1", "B") }) }, NOTHING, { read: { cases: [{ case: "c1" }] } }],
  ["a lost connection has no effect", () => revisiting(), { is: "corrected", n: 3, id: "r-c1", item: null }, NOTHING, { phase: "ready" }],
  ["an earlier case stays when the desk no longer lists it", () => revisiting(), receipt({}), ["prefetch"], { shown: { n: 3 } }],
  // The last review
  ["after every case the reader confirms the end", () => ({ ...START, facts: facts(REVIEW) }), { is: "readHere", kept: null, epoch: 0 },
    ["welcome", "forget", "clear", "enter", "review"], { sheet: "review", phase: "paused" }],
  ["the end cannot be confirmed before the server has all answers", () => waiting({ desk: backwards({ cases: [C1] }) }), receipt({ desk: REVIEW.desk, unsent: [reading("c5")] }),
    ["clear", "loading", "retryNow", "enter"], { sheet: "" }],
  ["a repeated Enter does not confirm the end", () => opened(REVIEW), { is: "confirm", now: 99_000 }, NOTHING, { sheet: "review" }],
  ["back loads the last case", () => opened(REVIEW), { is: "review" }, ["closeSheet", "enter", "fetch"], { asked: { position: 5, n: 0 } }],
  ["the loaded last case is shown", () => on(opened(REVIEW), { is: "review" }),
    { is: "fetched", position: 5, item: item(5, { reading: reading("c5") }) }, ["reset", "enter", "present"], { aside: null, shown: { option: "A" } }],
  ["the last case is shown after a desk in between", () => on(opened(REVIEW), { is: "review" }), { is: "another" }, NOTHING,
    { phase: "loading", sheet: "", asked: { position: 5 } }],
  ["the last case is shown after a late receipt", () => on(opened(REVIEW), { is: "review" }, receipt(REVIEW)), { is: "fetched", position: 5,
    item: item(5, { reading: reading("c5") }) }, ["reset", "enter", "present"], { shown: { item: { position: 5 } } }],
  ["if the last case is not available the question is shown again", () => on(opened(REVIEW), { is: "review" }), { is: "fetched", position: 5, item: null },
    ["toast", "clear", "enter", "review"], { sheet: "review" }],
  ["the end is shown when the server has the confirmation", () => opened(REVIEW), { is: "next", facts: { unsent: [{ kind: "finish", id: "f" }] } },
    ["closeSheet", "clear", "loading", "retryNow", "enter"], { phase: "loading" }],
  // A model's answer
  ["a case is shown together with an available model's answer", () => ({ ...START, facts: facts({ been: true, ...FIRST }) }),
    { is: "readHere", kept: null, epoch: 0 }, ["welcome", "forget", "clear", "halt", "enter", "say", "prefetch"], { phase: "paused" }],
  ["without the model's answer the case waits and the desk is requested", () => opened({ desk: rest(aided(1, "first")) }), { is: "confirm" },
    ["uncover", "enter", "loading", "askAgain"], { phase: "loading", shown: null, aidAwaited: true }],
  ["while the next model's answer is missing the current case stays", () => handedIn(FIRST),
    { is: "recorded", record: reading("c1"), facts: { unsent: [reading("c1")] } }, ["forget", "hint", "retryNow"],
    { phase: "loading", shown: { item: { case: "c1" }, committed: true }, aidAwaited: true }],
  ["in sequential reading the answer of stage 1 is sent at once", () => handedIn(SEQUENTIAL),
    { is: "recorded", record: reading("c1a"), facts: { unsent: [reading("c1a")] } }, ["forget", "hint", "retryNow"], { aidAwaited: true }],
  ["the model's answer is revealed when the answer is stored, which stays selected", () => committed(),
    receipt({ unsent: [], desk: rest(S2(CONTENT)) }, [reading("c1a", "B")]), ["reset", "enter", "present"],
    { aidAwaited: false, shown: { item: { case: "c1b" }, option: "B", confidence: null, committed: false } }],
  ["a receipt without the model's answer has no effect", () => committed(), receipt({ unsent: [], desk: rest(S2()) }, []), ["hint", "askAgain"],
    { aidAwaited: true, shown: { item: { case: "c1a" } } }],
  ["after a lost connection the desk is requested again", () => on(committed(), { is: "another", facts: { unsent: [] } }),
    { is: "another", facts: { desk: rest(S2(CONTENT)) } }, ["reset", "enter", "present"], { shown: { item: { case: "c1b" } } }],
  ["no curtain separates the stages", () => revealed(), { is: "painted", n: 2, now: 5000 },
    ["remember", "remember", "enter", "begin", "prefetch"], { phase: "ready" }],
  ["Enter keeps the answer of stage 1", () => on(revealed(), { is: "painted", n: 2, now: 5000 }), { is: "confirm", now: 7000 },
    ["submit", "reset", "enter"], { shown: { committed: true, option: "B" } }],
  ["a second Enter of stage 1 does not confirm stage 2", () => on(revealed(), { is: "painted", n: 2, now: 5000 }), { is: "confirm", now: 5100 },
    NOTHING, { shown: { committed: false } }],
  ["⇧M requests an answer on demand", () => ready(onDemand()), { is: "aid" }, ["requestAid", "hint"], { shown: { asked: true } }],
  ["the answer on demand is requested only once", () => asked(), { is: "aid" }, NOTHING, {}],
  ["an available answer is not requested", () => ready(onDemand(CONTENT)), { is: "aid" }, NOTHING, {}],
  ["nothing is requested in a case without a model", () => ready(), { is: "aid" }, NOTHING, {}],
  ["nothing is requested before the case is on the screen", () => opened(onDemand()), { is: "aid" }, NOTHING, {}],
  ["the answer is shown when it arrives, and the timer runs on", () => asked(), receipt(onDemand(CONTENT)),
    ["showAid", "hint", "prefetch"], { phase: "ready", shown: { n: 1, item: { aid: { content: CONTENT } } } }],
  ["a refused request can be repeated", () => asked(),
    receipt({}, [{ kind: "aid request", id: "q", case: "c1" }], { refused: [{ id: "q", why: "paused" }] }),
    ["offerAid", "toast", "prefetch"], { shown: { asked: false } }],
  ["an answer that arrives after the confirmation is not shown", () => on(asked(), { is: "choose", option: "A" }, { is: "confirm", now: 3000 }),
    receipt(onDemand(CONTENT)), [], { shown: { committed: true } }],
];

for (const [words, given, event, does, says] of ROWS) {
  test(words, () => {
    const became = after(given(), event);
    assert.deepEqual(became.does, does);
    agrees(became.state, says);
  });
}

/** The values in the row are checked; other values are ignored. */
function agrees(found, said, at = "state") {
  if (said === null || typeof said !== "object") assert.equal(found, said, at);
  else if (Array.isArray(said) && !said.length) assert.deepEqual(found, [], at);
  else for (const [name, value] of Object.entries(said)) agrees(found[name], value, `${at}.${name}`);
}

test("the record contains the selection and the reason", () => {
  const [{ shown, status, reason, now }] = after(chosen(), { is: "confirm", now: 3000 }).effects;
  assert.deepEqual([shown.n, shown.option, status, reason, now], [1, "B", "answered", "", 3000]);
  const words = on(ready(giving), { is: "giveUp" }, { is: "reason", number: 4 }, { is: "words", text: " blurred " });
  const [skipped] = after(words, { is: "confirm", now: 3000 }).effects;
  assert.deepEqual([skipped.status, skipped.reason], ["skipped", "Something else: blurred"]);
  assert.equal(after(ready(), { is: "timeUp" }).effects[1].status, "timed_out");
});

test("a refused step is shown with the server's reason until it is repeated", () => {
  const steps = { desk: desk({ preparation: [{ step: "consent" }], cases: [] }) };
  const sent = { kind: "preparation", id: "p", step: "consent" };
  const gone = on(opened(steps), { is: "stepDone", step: "consent", facts: { unsent: [sent] } });
  const again = after(gone, receipt({ unsent: [] }, [sent], { refused: [{ id: "p", why: "no" }] }));
  assert.match(again.effects.find((effect) => effect.do === "steps").hint, /no/);
  const done = after(again.state, { is: "stepDone", step: "consent" });
  assert.equal(done.effects.find((effect) => effect.do === "steps").hint, "");
});

test("the hint names missing input", () => {
  const hint = (state, event) => after(state, { now: 9000, ...event }).effects.find((effect) => effect.do === "hint").text;
  assert.match(hint(ready(unsure), { is: "digit", number: 2 }), /a letter/);
  assert.match(hint(ready(unsure), { is: "sure", step: 2 }), /answer first/);
  assert.match(hint(chosen(unsure), { is: "digit", number: 8 }), /1 to 5/);
  assert.match(hint(chosen(unsure), { is: "confirm" }), /1 to 5/);
  const { length } = ready(JUDGING).shown.item.options;
  const numbered = hint(ready(JUDGING), { is: "letter", letter: "B" });
  assert.equal(numbered, `Press 1 to ${length} to choose, not a letter.`);
});

test("the page remembers a limited number of cases, and no practice cases", () => {
  let state = ready();
  for (let position = 1; position <= 60; position += 1) {
    const practice = position === 60;
    state = on({ ...state, shown: { ...state.shown, item: item(position, { practice }), committed: true } },
      { is: "recorded", record: reading(`c${position}`) });
  }
  const positions = state.read.cases.map(({ position }) => position);
  assert.deepEqual([positions.length, positions[0], positions.at(-1)], [50, 10, 59]);
});
