/** What becomes of the room, and what is done, at each thing that can happen to it: one row a transition. */
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
/** At case 2, having read the first one here. */
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

/** In words, the state before, the event; then what is done, in order, and what the state says afterwards. */
const ROWS = [
  // Begin
  ["a study begins behind its curtain, with its films on their way", () => ({ ...START, facts: facts() }),
    { is: "goOn", kept: null, epoch: 0 }, ["welcome", "forget", "clear", "halt", "enter", "say", "prefetch"],
    { phase: "paused", shown: null, halt: { name: "begin", since: -Infinity } }],
  ["Enter begins", () => opened(), { is: "confirm" }, ["uncover", "reset", "enter", "present"], { phase: "loading", lifted: "c1" }],
  ["so does the button", () => opened(), { is: "pause" }, ["uncover", "reset", "enter", "present"], { phase: "loading" }],
  ["no other key does", () => opened(), { is: "choose", option: "A" }, NOTHING, { phase: "paused" }],
  ["the clock begins when the film is on the screen, not before", () => on(opened(), { is: "pause" }),
    { is: "painted", n: 1, now: 7 }, ["remember", "remember", "enter", "begin", "prefetch"], { phase: "ready", readyAt: 7 }],
  ["a film that another case has followed begins nothing", () => on(opened(), { is: "pause" }),
    { is: "painted", n: 9 }, NOTHING, { phase: "loading" }],
  ["and begins once", () => ready(), { is: "painted", n: 1, now: 9 }, NOTHING, { readyAt: 1000 }],
  ["practice has its own curtain", () => ({ ...START, facts: facts(PRACTICE) }), { is: "goOn", kept: null, epoch: 0 },
    ["welcome", "forget", "clear", "halt", "enter", "say", "prefetch"], { halt: { name: "begin", since: -Infinity } }],
  ["who was begun in this sign-in is asked nothing", () => ({ ...START, facts: facts({ been: true, desk: rest(C4) }) }),
    { is: "goOn", kept: null, epoch: 0 }, ["welcome", "forget", "reset", "enter", "present"], { phase: "loading" }],
  // The letters of options
  ["a letter chooses its option", () => ready(), { is: "letter", letter: "B" }, ["chosen"], { phase: "ready" }],
  ["a letter leads into the field of an open-ended case", () => ready(open()), { is: "letter", letter: "A" }, ["answerField"], {}],
  ["where options have numbers a letter chooses nothing, and says so", () => ready(JUDGING), { is: "letter", letter: "B" }, ["hint"],
    { phase: "ready" }],
  ["their numbers do", () => ready(JUDGING), { is: "digit", number: 2 }, ["chosen"], {}],
  ["a letter is nothing while nothing is to be answered", () => opened(JUDGING), { is: "letter", letter: "A" }, NOTHING, {}],
  // Before the first case
  ["a window too small comes before everything", () => ({ ...START, facts: facts({ size: [900, 600],
    desk: desk({ rules: { smallest_window: [1024, 700] }, preparation: [{ step: "consent" }] }) }) }),
  { is: "goOn", kept: null, epoch: 0 }, ["welcome", "forget", "clear", "enter", "window"], { sheet: "window", phase: "paused" }],
  ["it says how large it is by now", () => opened({ size: [900, 600], desk: desk({ rules: { smallest_window: [1024, 700] } }) }),
    { is: "resized", facts: { size: [1000, 600] } }, ["window"], { sheet: "window" }],
  ["made large enough it goes on", () => opened({ size: [900, 600], desk: desk({ rules: { smallest_window: [1024, 700] } }) }),
    { is: "resized", facts: { size: [700, 1024] } }, ["closeSheet", "clear", "halt", "enter", "say", "prefetch"], { sheet: "", roomy: true }],
  ["whoever tries a study out may go on", () => opened({ size: [900, 600], desk: desk({ rules: { smallest_window: [1024, 700] } }) }),
    { is: "anyway" }, ["closeSheet", "clear", "halt", "enter", "say", "prefetch"], { roomy: true }],
  ["a window made small later is not asked for again", () => ready({ desk: desk({ rules: { smallest_window: [1024, 700] } }) }),
    { is: "resized", facts: { size: [300, 300] } }, NOTHING, { phase: "ready" }],
  ["whoever has finished may see so in any window", () => ({ ...START, facts: facts({ size: [390, 844],
    desk: desk({ finished: true, cases: [], rules: { smallest_window: [1024, 700] } }) }) }),
  { is: "goOn", kept: null, epoch: 0 }, ["welcome", "forget", "clear", "finish", "enter"], { phase: "finished" }],
  ["a step that is done is followed by the next, its record not yet sent",
    () => opened({ desk: desk({ preparation: [{ step: "consent" }, { step: "display" }] }) }),
    { is: "stepDone", step: "consent", facts: { unsent: [{ kind: "preparation", id: "p", step: "consent" }] } },
    ["steps"], { sheet: "steps" }],
  ["the last step is followed by the curtain of the first case", () => opened({ desk: desk({ preparation: [{ step: "consent" }] }) }),
    { is: "stepDone", step: "consent", facts: { unsent: [{ kind: "preparation", id: "p", step: "consent" }] } },
    ["closeSheet", "clear", "halt", "enter", "say", "prefetch"], { sheet: "" }],
  ["without cases it waits for the server to have the steps", () => opened({ desk: desk({ preparation: [{ step: "consent" }], cases: [] }) }),
    { is: "stepDone", step: "consent", facts: { unsent: [{ kind: "preparation", id: "p", step: "consent" }] } },
    ["closeSheet", "clear", "loading", "hurry", "enter"], { phase: "loading" }],
  // The answer
  ["a letter chooses", () => ready(), { is: "choose", option: "B", now: 1500 }, ["chosen"], { shown: { option: "B" } }],
  ["no letter beyond the options does", () => ready(), { is: "choose", option: "E" }, NOTHING, { shown: { option: null } }],
  ["a digit chooses where nobody asks how sure", () => ready(), { is: "digit", number: 4 }, ["chosen"], { shown: { option: "D" } }],
  ["and none beyond the options", () => ready(), { is: "digit", number: 5 }, NOTHING, { shown: { option: null } }],
  ["a digit before any letter chooses nothing where it means how sure", () => ready(unsure), { is: "digit", number: 4 },
    ["hint"], { shown: { option: null, confidence: null } }],
  ["after it, it says how sure", () => chosen(unsure), { is: "digit", number: 4 }, ["sure"], { shown: { option: "B", confidence: 4 } }],
  ["beyond the scale it changes nothing", () => on(chosen(unsure), { is: "digit", number: 2 }), { is: "digit", number: 8 },
    ["hint"], { shown: { option: "B", confidence: 2 } }],
  ["the button is asked for an answer first as well", () => ready(unsure), { is: "sure", step: 3 }, ["hint"], { shown: { confidence: null } }],
  ["another letter takes back how sure the reader was", () => on(chosen(unsure), { is: "sure", step: 4 }),
    { is: "choose", option: "A" }, ["chosen"], { shown: { option: "A", confidence: null } }],
  ["the same letter does not", () => on(chosen(unsure), { is: "sure", step: 4 }), { is: "choose", option: "B" },
    ["chosen"], { shown: { option: "B", confidence: 4 } }],
  ["a mark belongs to the case and leaves its answer", () => chosen(MARKING), { is: "faulty" }, ["mark"],
    { shown: { faulty: true, option: "B" } }],
  ["the same key takes it off", () => on(ready(MARKING), { is: "faulty" }), { is: "faulty" }, ["mark"],
    { shown: { faulty: false } }],
  ["nothing is marked where readers may not", () => ready(), { is: "faulty" }, NOTHING, { shown: { faulty: false } }],
  ["a comment belongs to the case", () => ready(), { is: "comment", text: "so" }, NOTHING, { shown: { comment: "so" } }],
  // In the reader's own words
  ["a letter leads to the field of the answer", () => ready(open()), { is: "choose", option: "A" }, ["answerField"],
    { shown: { option: null, words: "" } }],
  ["so does a digit", () => ready(open()), { is: "digit", number: 2 }, ["answerField"], { shown: { option: null } }],
  ["what is written is the answer so far", () => ready(open()), { is: "write", text: "eff" }, ["written"],
    { shown: { words: "eff", option: null } }],
  ["nothing is written to a case with options", () => ready(), { is: "write", text: "eff" }, NOTHING, { shown: { words: "" } }],
  ["nor in a pause", () => on(ready(open()), { is: "pause" }), { is: "write", text: "eff" }, NOTHING, { shown: { words: "" } }],
  ["nor among the reasons", () => on(ready(open({ cannot_answer: true })), { is: "giveUp" }), { is: "write", text: "eff" },
    NOTHING, { shown: { words: "" } }],
  ["without words Enter says so and leads to the field", () => ready(open()), { is: "confirm", now: 3000 },
    ["hint", "answerField"], { phase: "ready" }],
  ["blanks are no words", () => on(ready(open()), { is: "write", text: " \n" }), { is: "confirm", now: 3000 },
    ["hint", "answerField"], { phase: "ready" }],
  ["nor does a double press", () => ready(open()), { is: "confirm", now: 1000 + QUIET_MS }, NOTHING, { phase: "ready" }],
  ["with words Enter hands in", () => on(ready(open()), { is: "write", text: "effusion" }), { is: "confirm", now: 3000 },
    ["handIn", "reset", "enter"], { phase: "loading", shown: { committed: true, words: "effusion" } }],
  ["how sure is asked of words as of options", () => on(ready(open({ confidence_steps: 5 })), { is: "write", text: "effusion" }),
    { is: "confirm", now: 3000 }, ["hint"], { phase: "ready" }],
  ["but not before there are any", () => ready(open({ confidence_steps: 5 })), { is: "digit", number: 3 },
    ["hint", "answerField"], { shown: { confidence: null } }],
  ["a digit then says how sure", () => on(ready(open({ confidence_steps: 5 })), { is: "write", text: "effusion" }),
    { is: "digit", number: 3 }, ["sure"], { shown: { confidence: 3, words: "effusion" } }],
  ["words that were begun come back after a reload", () => opened({ been: true, ...open(),
    running: { case: "c1", option: null, words: "eff", confidence: null, comment: "", clock: { paused: false } } }),
  { is: "painted", n: 1 }, ["remember", "remember", "enter", "begin", "prefetch"], { shown: { words: "eff", resumed: true } }],
  ["that no option fits is no reason where there are none", () => on(ready(open({ cannot_answer: true })), { is: "giveUp" }),
    { is: "digit", number: 3 }, ["reasons", "hint"], { reasons: { chosen: 3 } }],
  ["an earlier case comes up with its words", () => on(ready({ desk: backwards({ cases: [item(2)] }) }), { is: "back" }),
    { is: "fetched", position: 1, item: { ...OPEN, presented: true, reading: reading("c1", null, { words: "effusion" }) } },
    ["leave", "reset", "enter", "present"], { shown: { words: "effusion" }, aside: { item: { position: 2 } } }],
  // Handing in
  ["without an answer Enter says what is missing", () => ready(), { is: "confirm", now: 3000 }, ["hint"], { phase: "ready" }],
  ["but not the second half of a double press", () => ready(), { is: "confirm", now: 1000 + QUIET_MS }, NOTHING, { phase: "ready" }],
  ["nor without being told how sure", () => chosen(unsure), { is: "confirm", now: 3000 }, ["hint"], { phase: "ready" }],
  ["Enter hands in", () => chosen(), { is: "confirm", now: 3000 }, ["handIn", "reset", "enter"], { phase: "loading", shown: { committed: true } }],
  ["a second Enter, or click, hands nothing in", () => handedIn(), { is: "confirm", now: 3001 }, NOTHING, { phase: "loading" }],
  ["nor does it while the next film is on its way", () => waiting(), { is: "confirm", now: 3002 }, NOTHING, { phase: "loading" }],
  ["the next case comes once the answer is written down", () => handedIn(),
    { is: "recorded", record: reading("c1"), facts: { unsent: [reading("c1")] } }, ["forget", "reset", "enter", "present"],
    { answered: ["c1"], shown: { item: C2, option: null } }],
  ["after the last it waits until the server has all", () => handedIn({ desk: rest(C1) }),
    { is: "recorded", record: reading("c1"), facts: { unsent: [reading("c1")] } },
    ["forget", "clear", "loading", "hurry", "enter"], { phase: "loading", shown: null }],
  ["and then it is the end", () => waiting({ desk: rest(C1) }), receipt({ unsent: [], desk: desk({ finished: true, cases: [] }) }, [reading("c1")]),
    ["clear", "finish", "enter", "prefetch"], { phase: "finished" }],
  ["time that is over hands in what was not answered", () => ready(), { is: "timeUp", now: 9000 },
    ["closeHelp", "handIn", "reset", "enter"], { phase: "loading", untouched: 1 }],
  ["an answer chosen but not confirmed runs out as well", () => on(chosen(), { is: "touched" }), { is: "timeUp", now: 9000 },
    ["closeHelp", "handIn", "reset", "enter"], { untouched: 0 }],
  ["in a pause no time runs out", () => on(ready(), { is: "pause" }), { is: "timeUp", now: 9000 }, NOTHING, { phase: "paused" }],
  ["three cases that ran out untouched stop before the next", () => ({ ...handedIn(), untouched: 3 }),
    { is: "recorded", record: reading("c1") }, ["forget", "clear", "halt", "enter", "say", "prefetch"], { halt: { name: "absent" }, phase: "paused" }],
  ["where a hand lying on Enter is nobody's", () => on({ ...handedIn(), untouched: 3 }, { is: "recorded", record: reading("c1") }),
    { is: "confirm", now: 99_000 }, NOTHING, { phase: "paused" }],
  ["and the button goes on", () => on({ ...handedIn(), untouched: 3 }, { is: "recorded", record: reading("c1") }),
    { is: "pause" }, ["uncover", "reset", "enter", "present"], { untouched: 0 }],
  ["an Enter too many does not end a break", () => on(handedIn({ desk: desk({ rules: { break_every: 1 } }) }), { is: "recorded", record: reading("c1"), now: 3001 }),
    { is: "confirm", now: 3001 + QUIET_MS }, NOTHING, { halt: { name: "break" } }],
  ["one that is meant does", () => on(handedIn({ desk: desk({ rules: { break_every: 1 } }) }), { is: "recorded", record: reading("c1"), now: 3001 }),
    { is: "confirm", now: 3002 + QUIET_MS }, ["uncover", "reset", "enter", "present"], { halt: { name: "" }, lifted: "c2" }],
  // Giving up
  ["where it is not allowed nothing happens", () => ready(), { is: "giveUp" }, NOTHING, { reasons: null }],
  ["reasons come in place of the options", () => ready(giving), { is: "giveUp" }, ["reasons", "hint"], { reasons: { chosen: -1, words: "" } }],
  ["digits mean reasons then", () => on(ready(giving), { is: "giveUp" }), { is: "digit", number: 2 }, ["reasons", "hint"], { reasons: { chosen: 1 } }],
  ["and letters nothing", () => on(ready(giving), { is: "giveUp" }), { is: "choose", option: "A" }, NOTHING, { shown: { option: null } }],
  ["a reason is asked for", () => on(ready(giving), { is: "giveUp" }), { is: "confirm", now: 3000 }, ["hint"], { phase: "ready" }],
  ["the last one wants words", () => on(ready(giving), { is: "giveUp" }, { is: "reason", number: 4 }), { is: "confirm", now: 3000 }, ["hint"], { phase: "ready" }],
  ["with them it is handed in", () => on(ready(giving), { is: "giveUp" }, { is: "reason", number: 4 }, { is: "words", text: " blurred " }),
    { is: "confirm", now: 3000 }, ["handIn", "reset", "enter"], { reasons: null, phase: "loading" }],
  ["the same key leads back to the options", () => on(chosen(giving), { is: "giveUp" }), { is: "giveUp" },
    ["reasons", "hint"], { reasons: null, shown: { option: "B" } }],
  // Pause
  ["a pause hides the case and stops its clock", () => ready(), { is: "pause", now: 2000 }, ["setPaused", "curtain", "enter"],
    { phase: "paused", shown: { paused: true } }],
  ["Enter goes on", () => on(ready(), { is: "pause" }), { is: "confirm" }, ["setPaused", "uncover", "enter"], { phase: "ready", shown: { paused: false } }],
  ["nothing is chosen in a pause", () => on(ready(), { is: "pause" }), { is: "choose", option: "A" }, NOTHING, { shown: { option: null } }],
  ["there is no pause while a film is on its way", () => on(opened(), { is: "pause" }), { is: "pause" }, NOTHING, { phase: "loading" }],
  // Reload
  ["a reload in the middle brings the case back as it was", () => ({ ...START, facts: facts({ running: kept }) }),
    { is: "goOn", kept: null, epoch: 0 }, ["welcome", "forget", "reset", "enter", "present"],
    { shown: { option: "C", comment: "so", resumed: true, touched: true } }],
  ["one in a pause stays paused", () => opened({ running: { ...kept, clock: { paused: true } } }), { is: "painted", n: 1 },
    ["remember", "remember", "curtain", "enter", "begin", "prefetch"], { phase: "paused" }],
  ["an answer that the server has stands before what was kept", () => ready({ running: kept,
    desk: rest(item(1, { presented: true, reading: reading("c1", "D") })) }), { is: "touched" }, NOTHING, { shown: { option: "D" } }],
  ["answers not sent yet are not asked for again", () => ({ ...START, facts: facts({ been: true, unsent: [reading("c1")] }) }),
    { is: "goOn", kept: null, epoch: 0 }, ["welcome", "forget", "reset", "enter", "present"], { shown: { item: C2 } }],
  // Connection lost and back
  ["trouble is said where the reader waits", () => waiting({ desk: rest(C1) }), { is: "trouble", text: "no line" }, ["trouble"], { phase: "loading" }],
  ["and beside the answer whose feedback is awaited", () => practised(), { is: "trouble", text: "no line" }, ["trouble", "hint"], { phase: "loading" }],
  ["without a line reading goes on as far as the desk goes", () => waiting(), { is: "painted", n: 2 },
    ["remember", "remember", "enter", "begin", "prefetch"], { phase: "ready" }],
  ["the line is back while a case is read: only its films change", () => ready(), receipt({ desk: rest(C1, C2, C3) }), ["prefetch"], { phase: "ready" }],
  ["the line is back while the reader waits", () => waiting({ desk: rest(C1) }), receipt({ unsent: [], desk: rest(C2) }, [reading("c1")]),
    ["reset", "enter", "present"], { shown: { item: C2 } }],
  ["nothing more to read yet: the desk is asked again", () => waiting({ desk: rest(C1) }), receipt({ unsent: [], desk: rest() }, [reading("c1")]),
    ["clear", "loading", "askAgain", "enter"], { phase: "loading" }],
  ["asked in vain it waits on", () => on(waiting({ desk: rest(C1) }), receipt({ unsent: [], desk: rest() })), { is: "another" },
    ["clear", "loading", "askAgain", "enter"], { phase: "loading" }],
  ["a late reply to that asking disturbs no case", () => ready(), { is: "another" }, NOTHING, { phase: "ready" }],
  ["the sign-in ended: the next case waits for the reader again", () => handedIn(), { is: "recorded", record: reading("c1"), facts: { been: false } },
    ["forget", "clear", "halt", "enter", "say", "prefetch"], { halt: { name: "begin" } }],
  // Two tabs
  ["another window reads on: nothing of the case stays", () => chosen(), { is: "handOver" }, ["reset", "clear", "uncover", "enter"],
    { here: false, shown: null, phase: "loading" }],
  ["a sheet goes as well", () => opened({ desk: desk({ preparation: [{ step: "consent" }] }) }), { is: "handOver" },
    ["reset", "clear", "uncover", "closeSheet", "enter"], { sheet: "" }],
  ["a window that has finished stays as it is when another opens", () => on(waiting({ desk: rest(C1) }), receipt({ unsent: [], desk: desk({ finished: true, cases: [] }) })),
    { is: "handOver" }, NOTHING, { phase: "finished", here: false }],
  ["a key in the window left behind does nothing", () => on(chosen(), { is: "handOver" }), { is: "confirm" }, NOTHING, { shown: null }],
  ["nor a film that was on its way", () => on(waiting(), { is: "handOver" }), { is: "painted", n: 2 }, NOTHING, { shown: null }],
  ["nor what the server says", () => on(chosen(), { is: "handOver" }), receipt({ desk: rest(C2) }), NOTHING, { shown: null }],
  ["not even what it refuses", () => on(chosen(), { is: "handOver" }), receipt({}, [reading("c1")], { refused: [{ id: "r-c1", why: "no" }] }),
    NOTHING, { here: false }],
  ["nor a step", () => on(chosen(), { is: "handOver" }), { is: "next" }, NOTHING, { shown: null }],
  ["it can take the case back", () => on(chosen(), { is: "handOver" }), { is: "goOn", kept: null, epoch: 0, facts: { running: kept } },
    ["welcome", "forget", "reset", "enter", "present"], { here: true, shown: { option: "C", n: 2 } }],
  ["a case read in another browser leaves the screen", () => chosen(), receipt({ desk: rest(C2) }),
    ["toast", "forget", "reset", "enter", "present"], { shown: { item: C2 } }],
  ["a paused reader is told, and the case stays", () => on(ready(), { is: "pause" }), receipt({ desk: rest(C2) }), ["toast", "prefetch"], { shown: { item: C1 } }],
  ["until they go on", () => on(ready(), { is: "pause" }, receipt({ desk: rest(C2) })), { is: "pause" }, ["forget", "reset", "enter", "present"], { shown: { item: C2 } }],
  ["a desk with something to prepare tells nothing of the case on the screen", () => chosen(),
    receipt({ desk: desk({ cases: [], preparation: [{ step: "display" }] }) }), ["prefetch"], { shown: { item: C1 } }],
  // Refused
  ["a refused answer is told, and its case comes again", () => waiting(), receipt({ unsent: [] }, [reading("c1", "B")],
    { refused: [{ id: "r-c1", why: "too late" }] }), ["toast"], { answered: [], read: { cases: [] } }],
  ["of a refused step the sheet says why", () => opened({ desk: desk({ preparation: [{ step: "consent" }], cases: [] }) }),
    receipt({}, [{ kind: "preparation", id: "p", step: "consent" }], { refused: [{ id: "p", why: "no" }] }), ["prefetch"], {}],
  ["a case shown too late is taken off the screen", () => chosen(), receipt({ desk: HELD }, [{ kind: "presentation", id: "p", case: "c1" }],
    { refused: [{ id: "p", why: "paused" }] }), ["forget", ...Array(2).fill(["clear", "hold", "askAgain", "enter"]).flat(), "prefetch"], { held: true, shown: null }],
  // Held up
  ["a hold lets the case on the screen be finished", () => chosen(), receipt({ desk: HELD }), ["prefetch"], { phase: "ready" }],
  ["then nothing more is shown", () => handedIn({ desk: { ...HELD, cases: [C1] } }), { is: "recorded", record: reading("c1") },
    ["forget", "clear", "hold", "askAgain", "enter"], { phase: "paused", held: true }],
  ["when it has passed the reader is asked to go on", () => opened({ been: true, desk: HELD }), { is: "another", facts: { desk: rest(C4) } },
    ["uncover", "clear", "halt", "enter", "say", "prefetch"], { held: false, halt: { name: "again" } }],
  ["a reader who cannot wait asks the page, and is told the same", () => opened({ been: true, desk: HELD }), { is: "pause" },
    ["uncover", "clear", "hold", "askAgain", "enter"], { held: true }],
  // Feedback
  ["practice is handed in at once, and its feedback awaited", () => handedIn(PRACTICE), { is: "recorded", record: reading("p1", "B") },
    ["forget", "remember", "hint", "flush"], { phase: "loading", feedbackIs: "awaited" }],
  ["it is shown when the server has the answer", () => practised(),
    receipt({ unsent: [] }, [reading("p1", "B")], { feedback: { "r-p1": reference } }), ["remember", "feedback", "enter", "prefetch"],
    { phase: "paused", feedbackIs: "shown" }],
  ["a receipt for something else shows nothing", () => practised(), receipt({}, [{ id: "other" }], { feedback: { "r-p1": reference } }), NOTHING, { feedbackIs: "awaited" }],
  ["a server that tells nothing is not waited for", () => practised(), receipt({ unsent: [] }, [reading("p1", "B")]),
    ["remember", "forget", "clear", "halt", "enter", "say", "prefetch", "prefetch"], { feedback: null }],
  ["Enter goes on from it, to the study's own curtain", () => explained(), { is: "confirm" },
    ["forget", "clear", "halt", "enter", "say", "prefetch"], { feedback: null, halt: { name: "begin" } }],
  ["a reload brings its case back first", () => ({ ...START, facts: facts() }),
    { is: "goOn", kept: { item: C1, record: reading("c1", "B"), reference, answered: true, epoch_ms: 1000 }, epoch: 2000 },
    ["welcome", "reset", "enter", "present"], { feedbackIs: "held", shown: { option: "B", committed: true } }],
  ["and then the feedback", () => on({ ...START, facts: facts() },
    { is: "goOn", kept: { item: C1, record: reading("c1", "B"), reference, answered: true, epoch_ms: 1000 }, epoch: 2000 }),
  { is: "painted", n: 1 }, ["feedback", "enter"], { phase: "paused", feedbackIs: "shown" }],
  ["where the receipt was lost the answer is sent once more", () => on({ ...START, facts: facts() },
    { is: "goOn", kept: { item: C1, record: reading("c1"), reference: null, answered: false, epoch_ms: 1000 }, epoch: 2000 }),
  { is: "painted", n: 1 }, ["put"], { feedbackIs: "awaited" }],
  ["unless it is waiting to be", () => on({ ...START, facts: facts({ unsent: [reading("c1")] }) },
    { is: "goOn", kept: { item: C1, record: reading("c1"), reference: null, answered: false, epoch_ms: 1000 }, epoch: 2000 }),
  { is: "painted", n: 1 }, NOTHING, { feedbackIs: "awaited" }],
  ["a receipt that comes before its case is back is shown with it", () => on({ ...START, facts: facts() },
    { is: "goOn", kept: { item: C1, record: reading("c1"), reference: null, answered: false, epoch_ms: 1000 }, epoch: 2000 }),
  receipt({}, [reading("c1")], { feedback: { "r-c1": reference } }), ["remember"], { feedbackIs: "held", feedback: { reference } }],
  ["after ten minutes nothing comes back", () => ({ ...START, facts: facts({ been: true, desk: rest(C4) }) }),
    { is: "goOn", kept: { item: C1, record: reading("c1"), reference, answered: true, epoch_ms: 0 }, epoch: 600_000 },
    ["welcome", "forget", "reset", "enter", "present"], { feedback: null, shown: { item: C4 } }],
  ["a film that comes no more is not waited for", () => on({ ...START, facts: facts({ been: true, desk: rest(C4) }) },
    { is: "goOn", kept: { item: C1, record: reading("c1"), reference, answered: true, epoch_ms: 1000 }, epoch: 2000 }),
  { is: "freshened", n: 1, views: null }, ["forget", "reset", "enter", "present"], { shown: { item: C4 } }],
  ["another window takes feedback over, and it holds nothing up here", () => explained(), { is: "handOver" },
    ["reset", "clear", "uncover", "enter"], { feedback: null }],
  // The card lost its films
  ["the same case comes back, its clock stopped meanwhile", () => chosen(), { is: "filmsLost" },
    ["filmsLost", "leave", "reset", "enter", "present"], { phase: "loading", shown: { n: 1, option: "B" } }],
  ["a paused one comes back paused", () => on(ready(), { is: "pause" }, { is: "filmsLost" }), { is: "painted", n: 1 },
    ["remember", "remember", "curtain", "enter", "begin", "prefetch"], { phase: "paused" }],
  ["feedback comes back with its case", () => explained(), { is: "filmsLost" }, ["filmsLost", "reset", "enter", "present"], { feedbackIs: "held" }],
  ["behind a curtain they are fetched anew", () => opened(), { is: "filmsLost" }, ["filmsLost", "prefetch"], { phase: "paused" }],
  ["in a window left behind they are not", () => on(ready(), { is: "handOver" }), { is: "filmsLost" }, ["filmsLost"], {}],
  ["new addresses of its films are the case's own", () => waiting(), { is: "freshened", n: 2, views: [{ url: "new" }] }, NOTHING,
    { shown: { item: { views: [{ url: "new" }] } } }],
  // Going back
  ["where it is not allowed nothing happens", () => on(waiting(), { is: "painted", n: 2 }), { is: "back" }, NOTHING, { shown: { item: C2 } }],
  ["before the first case there is none", () => ready({ desk: backwards() }), { is: "back" }, NOTHING, { phase: "ready" }],
  ["a case read here is there at once, and the running one waits aside", () => second(), { is: "back", now: 4500 },
    ["leave", "reset", "enter", "present", "recheck"], { aside: { n: 2 }, shown: { n: 3, option: "B" } }],
  ["one that was not is fetched, and the case stays meanwhile", () => ready({ desk: backwards({ cases: [C4] }) }), { is: "back" },
    ["fetch"], { phase: "ready", asked: { position: 3 } }],
  ["when it comes it is shown", () => on(ready({ desk: backwards({ cases: [C4] }) }), { is: "back" }),
    { is: "fetched", position: 3, item: item(3, { reading: reading("c3") }) }, ["leave", "reset", "enter", "present"], { aside: { n: 1 }, shown: { option: "A" } }],
  ["with an answer that was not sent yet", () => on(ready({ desk: backwards({ cases: [C4] }), unsent: [reading("c3", "D")] }), { is: "back" }),
    { is: "fetched", position: 3, item: item(3, { reading: reading("c3") }) }, ["leave", "reset", "enter", "present"], { shown: { option: "D" } }],
  ["not if the reader has paused meanwhile", () => on(ready({ desk: backwards({ cases: [C4] }) }), { is: "back" }, { is: "pause" }),
    { is: "fetched", position: 3, item: item(3, { reading: reading("c3") }) }, NOTHING, { aside: null }],
  ["nor if they have handed in", () => on(ready({ desk: backwards({ cases: [C4] }) }), { is: "choose", option: "A" }, { is: "back" }, { is: "confirm" }),
    { is: "fetched", position: 3, item: item(3, { reading: reading("c3") }) }, NOTHING, { aside: null }],
  ["if it cannot be had the case stays", () => on(ready({ desk: backwards({ cases: [C4] }) }), { is: "back" }),
    { is: "fetched", position: 3, item: null }, ["toast"], { phase: "ready" }],
  ["an answer left as it was is not handed in again", () => revisiting(), { is: "confirm", now: 6000 },
    ["reset", "enter", "reset", "enter", "present"], { aside: null, shown: { n: 2 } }],
  ["one that is changed is", () => on(revisiting(), { is: "choose", option: "C" }), { is: "confirm", now: 6000 },
    ["handIn", "reset", "enter"], { shown: { option: "C", committed: true } }],
  ["how sure the reader is of the new one is asked", () => chosen({ desk: backwards({ rules: { confidence_steps: 5 },
    cases: [item(1, { presented: true, reading: reading("c1", "A", { confidence: 5 }) })] }) }),
  { is: "confirm", now: 9000 }, ["hint"], { shown: { option: "B", confidence: null } }],
  ["and then the running case goes on where it was", () => on(revisiting(), { is: "choose", option: "C" }, { is: "confirm", now: 6000 }),
    { is: "recorded", record: reading("c1", "C", { id: "r-new" }) }, ["reset", "enter", "present"],
    { shown: { n: 2 }, read: { cases: [{ case: "c1", reading: { id: "r-new", option: "C" } }] } }],
  ["an answer given elsewhere comes up instead", () => revisiting(),
    { is: "corrected", n: 3, id: "r-c1", item: item(1, { reading: reading("c1", "D", { id: "elsewhere" }) }) },
    ["reset", "enter", "present"], { shown: { option: "D" }, read: { cases: [] } }],
  ["not over what the reader has changed", () => on(revisiting(), { is: "choose", option: "C" }),
    { is: "corrected", n: 3, id: "r-c1", item: item(1, { reading: reading("c1", "D", { id: "elsewhere" }) }) }, NOTHING, { shown: { option: "C" } }],
  ["the same answer disturbs nobody", () => revisiting(),
    { is: "corrected", n: 3, id: "r-c1", item: item(1, { reading: reading("c1", "B") }) }, NOTHING, { read: { cases: [{ case: "c1" }] } }],
  ["nor does a cut line", () => revisiting(), { is: "corrected", n: 3, id: "r-c1", item: null }, NOTHING, { phase: "ready" }],
  ["an earlier case stays when the desk no longer lists it", () => revisiting(), receipt({}), ["prefetch"], { shown: { n: 3 } }],
  // The last review
  ["every case read: the reader says that it is the end", () => ({ ...START, facts: facts(REVIEW) }), { is: "goOn", kept: null, epoch: 0 },
    ["welcome", "forget", "clear", "enter", "review"], { sheet: "review", phase: "paused" }],
  ["not before the server has all", () => waiting({ desk: backwards({ cases: [C1] }) }), receipt({ desk: REVIEW.desk, unsent: [reading("c5")] }),
    ["clear", "loading", "hurry", "enter"], { sheet: "" }],
  ["one Enter too many ends nothing", () => opened(REVIEW), { is: "confirm", now: 99_000 }, NOTHING, { sheet: "review" }],
  ["back leads to the last case", () => opened(REVIEW), { is: "review" }, ["closeSheet", "enter", "fetch"], { asked: { position: 5, n: 0 } }],
  ["which is shown when it comes", () => on(opened(REVIEW), { is: "review" }),
    { is: "fetched", position: 5, item: item(5, { reading: reading("c5") }) }, ["reset", "enter", "present"], { aside: null, shown: { option: "A" } }],
  ["though the desk is told of meanwhile", () => on(opened(REVIEW), { is: "review" }), { is: "another" }, NOTHING,
    { phase: "loading", sheet: "", asked: { position: 5 } }],
  ["by a late receipt too", () => on(opened(REVIEW), { is: "review" }, receipt(REVIEW)), { is: "fetched", position: 5,
    item: item(5, { reading: reading("c5") }) }, ["reset", "enter", "present"], { shown: { item: { position: 5 } } }],
  ["or the question is put again", () => on(opened(REVIEW), { is: "review" }), { is: "fetched", position: 5, item: null },
    ["toast", "clear", "enter", "review"], { sheet: "review" }],
  ["said so, it is the end once the server knows", () => opened(REVIEW), { is: "next", facts: { unsent: [{ kind: "finish", id: "f" }] } },
    ["closeSheet", "clear", "loading", "hurry", "enter"], { phase: "loading" }],
  // A model's answer
  ["a case is shown together with a model's answer that is there", () => ({ ...START, facts: facts({ been: true, ...FIRST }) }),
    { is: "goOn", kept: null, epoch: 0 }, ["welcome", "forget", "clear", "halt", "enter", "say", "prefetch"], { phase: "paused" }],
  ["without it the case waits, and the server is asked again", () => opened({ desk: rest(aided(1, "first")) }), { is: "confirm" },
    ["uncover", "enter", "loading", "askAgain"], { phase: "loading", shown: null, aidAwaited: true }],
  ["the next case with an answer that is not there leaves this case on the screen", () => handedIn(FIRST),
    { is: "recorded", record: reading("c1"), facts: { unsent: [reading("c1")] } }, ["forget", "hint", "hurry"],
    { phase: "loading", shown: { item: { case: "c1" }, committed: true }, aidAwaited: true }],
  ["in sequential reading the answer of stage 1 is sent at once", () => handedIn(SEQUENTIAL),
    { is: "recorded", record: reading("c1a"), facts: { unsent: [reading("c1a")] } }, ["forget", "hint", "hurry"], { aidAwaited: true }],
  ["once it is stored the model's answer is revealed, with the reader's own chosen", () => committed(),
    receipt({ unsent: [], desk: rest(S2(CONTENT)) }, [reading("c1a", "B")]), ["reset", "enter", "present"],
    { aidAwaited: false, shown: { item: { case: "c1b" }, option: "B", confidence: null, committed: false } }],
  ["a receipt without it changes nothing", () => committed(), receipt({ unsent: [], desk: rest(S2()) }, []), ["hint", "askAgain"],
    { aidAwaited: true, shown: { item: { case: "c1a" } } }],
  ["nor does a lost connection: the server is asked again", () => on(committed(), { is: "another", facts: { unsent: [] } }),
    { is: "another", facts: { desk: rest(S2(CONTENT)) } }, ["reset", "enter", "present"], { shown: { item: { case: "c1b" } } }],
  ["no curtain separates the stages", () => revealed(), { is: "painted", n: 2, now: 5000 },
    ["remember", "remember", "enter", "begin", "prefetch"], { phase: "ready" }],
  ["Enter keeps the answer of stage 1", () => on(revealed(), { is: "painted", n: 2, now: 5000 }), { is: "confirm", now: 7000 },
    ["handIn", "reset", "enter"], { shown: { committed: true, option: "B" } }],
  ["a second Enter of stage 1 does not keep it", () => on(revealed(), { is: "painted", n: 2, now: 5000 }), { is: "confirm", now: 5100 },
    NOTHING, { shown: { committed: false } }],
  ["⇧M requests an answer on demand", () => ready(onDemand()), { is: "aid" }, ["requestAid", "hint"], { shown: { asked: true } }],
  ["once", () => asked(), { is: "aid" }, NOTHING, {}],
  ["and not where the answer is there already", () => ready(onDemand(CONTENT)), { is: "aid" }, NOTHING, {}],
  ["nor in a case without a model", () => ready(), { is: "aid" }, NOTHING, {}],
  ["nor before the case is on the screen", () => opened(onDemand()), { is: "aid" }, NOTHING, {}],
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

/** What the row says is so; what it does not speak of may be as it likes. */
function agrees(found, said, at = "state") {
  if (said === null || typeof said !== "object") assert.equal(found, said, at);
  else if (Array.isArray(said) && !said.length) assert.deepEqual(found, [], at);
  else for (const [name, value] of Object.entries(said)) agrees(found[name], value, `${at}.${name}`);
}

test("what is handed in is what was chosen, and why", () => {
  const [{ shown, status, reason, now }] = after(chosen(), { is: "confirm", now: 3000 }).effects;
  assert.deepEqual([shown.n, shown.option, status, reason, now], [1, "B", "answered", "", 3000]);
  const words = on(ready(giving), { is: "giveUp" }, { is: "reason", number: 4 }, { is: "words", text: " blurred " });
  const [skipped] = after(words, { is: "confirm", now: 3000 }).effects;
  assert.deepEqual([skipped.status, skipped.reason], ["skipped", "Something else: blurred"]);
  assert.equal(after(ready(), { is: "timeUp" }).effects[1].status, "timed_out");
});

test("a refused step is shown with the server's reason, and once done anew without it", () => {
  const steps = { desk: desk({ preparation: [{ step: "consent" }], cases: [] }) };
  const sent = { kind: "preparation", id: "p", step: "consent" };
  const gone = on(opened(steps), { is: "stepDone", step: "consent", facts: { unsent: [sent] } });
  const again = after(gone, receipt({ unsent: [] }, [sent], { refused: [{ id: "p", why: "no" }] }));
  assert.match(again.effects.find((effect) => effect.do === "steps").hint, /no/);
  const done = after(again.state, { is: "stepDone", step: "consent" });
  assert.equal(done.effects.find((effect) => effect.do === "steps").hint, "");
});

test("the hint says what is missing", () => {
  const hint = (state, event) => after(state, { now: 9000, ...event }).effects.find((effect) => effect.do === "hint").text;
  assert.match(hint(ready(unsure), { is: "digit", number: 2 }), /a letter/);
  assert.match(hint(ready(unsure), { is: "sure", step: 2 }), /answer first/);
  assert.match(hint(chosen(unsure), { is: "digit", number: 8 }), /1 to 5/);
  assert.match(hint(chosen(unsure), { is: "confirm" }), /1 to 5/);
});

test("what is remembered of the cases read is bounded, and practice is not: its positions are others'", () => {
  let state = ready();
  for (let position = 1; position <= 60; position += 1) {
    const practice = position === 60;
    state = on({ ...state, shown: { ...state.shown, item: item(position, { practice }), committed: true } },
      { is: "recorded", record: reading(`c${position}`) });
  }
  const positions = state.read.cases.map(({ position }) => position);
  assert.deepEqual([positions.length, positions[0], positions.at(-1)], [50, 10, 59]);
});
