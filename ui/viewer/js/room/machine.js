/**
 * The reading room as a pure state machine: maps a state and an event to a new state and effects.
 *
 * It has no clock, page, storage or connection: times arrive in events, external state in the state's `facts`, and
 * effects are carried out in order by room.js.
 *
 * @typedef {"loading"|"ready"|"paused"|"finished"} Phase
 * @typedef {{item: Case, record: Record, reference: ReferenceAnswer|null, answered: boolean, epoch_ms: number}} Awaited
 *   the feedback on a reading, and whether the server has answered
 * @typedef {{desk: Desk, unsent: Record[], running: any, condition: string|null, been: boolean,
 *   size: [number, number]}} Facts
 *   unsent: what is in the outbox; running: the stored state of the running case; condition: of the last case; been:
 * the reader has used this page since signing in; size: of the window
 * @typedef {{phase: Phase, here: boolean, facts: Facts, shown: Shown|null, aside: Shown|null, brought: number,
 *   readyAt: number, reasons: Reasons|null, answered: string[], read: {session: number, cases: Case[]},
 *   asked: {position: number, n: number, phase: Phase}|null, feedback: Awaited|null, feedbackIs: "awaited"|"held"|"shown",
 *   halt: {name: Halt["name"]|"", since: number}, lifted: string, held: boolean, met: boolean, untouched: number,
 *   roomy: boolean, aidAwaited: boolean, sheet: ""|"window"|"steps"|"review", refused: {[step: string]: string}}} State
 *   here: the reader reads in this window; aside: the running case, while an earlier one is on the screen; answered:
 *   cases, here; read: on this page, with their answers; asked: an earlier case that is being loaded; feedbackIs held:
 * until its case is shown again; lifted: the case whose curtain is not shown again; held: the page states that there is
 * nothing to read; met: something has been shown to the reader: until then no Enter can be the second half of a double
 * press; untouched: consecutive cases that timed out without input; roomy: the window has been large enough;
 * aidAwaited: the next case waits for
 *   the model's answer; refused: steps, and why
 *
 * @typedef {{is: "readHere", kept: Awaited|null, epoch: number} | {is: "handOver"} | {is: "next"} | {is: "another"}
 *   | {is: "resized"} | {is: "anyway"} | {is: "stepDone", step: string} | {is: "review"} | {is: "touched"}
 *   | {is: "confirm"} | {is: "pause"} | {is: "back"} | {is: "choose", option: string} | {is: "digit", number: number}
 *   | {is: "letter", letter: string} | {is: "write", text: string} | {is: "sure", step: number} | {is: "comment", text: string} | {is: "faulty", faulty?: boolean} | {is: "giveUp"} | {is: "reason", number: number}
 *   | {is: "words", text: string} | {is: "painted", n: number} | {is: "freshened", n: number, views: View[]|null}
 *   | {is: "fetched", position: number, item: Case|null} | {is: "corrected", n: number, id: string, item: Case|null}
 *   | {is: "aid"} | {is: "recorded", record: Record} | {is: "timeUp"} | {is: "filmsLost"} | {is: "trouble", text: string}
 *   | {is: "receipt", receipt: Receipt, sent: Record[]}} Happening
 * @typedef {Happening & {now: number}} Event  now: on the monotonic clock
 *
 * @typedef {{do: "enter", phase: Phase} | {do: "welcome"} | {do: "present", shown: Shown} | {do: "begin", now: number}
 *   | {do: "leave", shown: Shown, now: number, flag?: string} | {do: "clear"} | {do: "filmsLost"}
 *   | {do: "prefetch", beside: string[], coming: Case[]} | {do: "setPaused", paused: boolean, now: number}
 *   | {do: "chosen", option: string, confidence: number|null, changed: boolean, now: number} | {do: "sure", step: number}
 *   | {do: "written", now: number} | {do: "answerField"} | {do: "mark", faulty: boolean}
 *   | {do: "reasons", reasons: Reasons|null, option: string|null} | {do: "reset"}
 *   | {do: "submit", shown: Shown, status: "answered"|"skipped"|"timed_out", reason: string, now: number}
 *   | {do: "requestAid", item: Case, now: number} | {do: "showAid", item: Case} | {do: "offerAid", item: Case}
 *   | {do: "put", record: Record} | {do: "flush"} | {do: "retryNow"} | {do: "askAgain", ms: number}
 *   | {do: "fetch", position: number} | {do: "recheck", n: number, position: number, id: string}
 *   | {do: "remember", name: string, value: any} | {do: "forget", name: string}
 *   | {do: "feedback", reference: ReferenceAnswer, record: Record} | {do: "halt", halt: Halt} | {do: "curtain"}
 *   | {do: "uncover"} | {do: "hold"} | {do: "finish"} | {do: "window"} | {do: "steps", steps: PreparationStep[], hint: string}
 *   | {do: "review"} | {do: "closeSheet"} | {do: "closeHelp"} | {do: "hint", text: string}
 *   | {do: "toast", text: string} | {do: "say", text: string} | {do: "loading", text: string}
 *   | {do: "trouble", text: string}} Effect  leave: off the screen unfinished
 */

import { offersAid } from "../page/aid-panel.js";
import { asksWords } from "../page/question-panel.js";
import { FAULTY } from "../case/attempt.js";
import * as deciding from "./deciding.js";
import { texts } from "../page/texts.js";

/** @import { Halt } from "./deciding.js" */
/** @import { Case, Desk, PreparationStep, Receipt, Reasons, Record, ReferenceAnswer, Shown,
 *  View } from "../page/types.js" */

/** The name under which the browser stores that the reader was here. */
export const HERE = "here";

const FEEDBACK_KEPT_MS = 10 * 60_000; // addresses of films expire
const ASK_AGAIN_MS = 1000;
const HELD_ASK_AGAIN_MS = 10_000;
const MOST_REMEMBERED = 50;

/** @type {State} */
export const START = {
  phase: "loading", here: false, facts: /** @type {any} */ (null), shown: null, aside: null, brought: 0, readyAt: 0,
  reasons: null, answered: [], read: { session: 0, cases: [] }, asked: null, feedback: null, feedbackIs: "awaited",
  halt: { name: "", since: 0 }, lifted: "", held: false, met: false, untouched: 0, roomy: false, aidAwaited: false, sheet: "", refused: {},
};

/** @param {State} state @param {Event} event @returns {{state: State, effects: Effect[]}} */
export function step(state, event) {
  const turn = new Turn(state);
  /** @type {(event: Event) => void} */ (turn[event.is]).call(turn, event);
  return { state: turn.state, effects: turn.effects };
}

/** @typedef {{[Is in Event["is"]]: (event: Extract<Event, {is: Is}>) => void}} Happenings  each event has a method */

/** A transition. The state passed in is never changed: the new state is a copy. @implements {Happenings} */
class Turn {
  /** @type {Effect[]} */
  effects = [];

  /** @param {State} state */
  constructor(state) {
    this.state = { ...state };
  }

  /** Continue reading in this window. Feedback interrupted by a reload is shown again first.
   *  @param {{kept: Awaited|null, epoch: number, now: number}} event */
  readHere({ kept, epoch, now }) {
    this.state.here = true;
    this.state.answered = this.#unsentReadings.map((record) => record.case ?? "");
    this.#do({ do: "welcome" });
    const age_ms = epoch - (kept?.epoch_ms ?? -Infinity);
    if (kept && age_ms >= 0 && age_ms < FEEDBACK_KEPT_MS) {
      this.#recall(kept);
    } else {
      this.#do({ do: "forget", name: "feedback" });
      this.next({ now });
    }
  }

  /** Stop reading in this window. Feedback is hidden; a reload, or another window, shows it again. */
  handOver() {
    this.state.here = false;
    if (this.state.phase === "finished") return;
    this.#change({ shown: null, aside: null, feedback: null, asked: null, halt: START.halt, held: false });
    this.#do({ do: "reset" }, { do: "clear" }, { do: "uncover" });
    this.#closeSheet();
    this.#enter("loading");
  }

  /** Continue with the next unanswered case, or with the end. @param {{now: number}} event */
  next({ now }) {
    if (!this.state.here) return;
    if (this.state.feedback) this.#do({ do: "forget", name: "feedback" });
    this.#change({ feedback: null, asked: null, halt: START.halt, aidAwaited: false });
    const next = deciding.upNext(this.state);
    if (deciding.released(this.state)) this.#lift();
    if (["steps", "halt", "case"].includes(next.what)) this.state.roomy = true;
    if (!["window", "steps", "review"].includes(next.what)) this.#closeSheet();
    switch (next.what) {
      case "window": this.#ask("window", { do: "window" }); break;
      case "steps": this.#prepare(); break;
      case "halt": this.#stop(next.halt, now); break;
      case "case": this.#goTo(next.item); break;
      case "aid": this.#awaitAid(); break;
      default: this.#wait(next.what);
    }
  }

  /** Check for new cases while nothing was left to read and no earlier case is being loaded.
   *  @param {{now: number}} event */
  another({ now }) {
    this.#takeAid();
    const idle = !this.state.shown && !this.state.asked && (this.state.phase === "loading" || this.state.held);
    if (idle || this.state.aidAwaited) this.next({ now });
  }

  /** The window has another size. The reader is asked to enlarge it once per visit; a later change is flagged in the
   * reading.
   *  @param {{now: number}} event */
  resized({ now }) {
    if (this.state.sheet === "window") this.next({ now });
  }

  /** In a preview the reader may continue in a window that is too small. @param {{now: number}} event */
  anyway({ now }) {
    this.state.roomy = true;
    this.next({ now });
  }

  /** @param {{step: string, now: number}} event */
  stepDone({ step: done, now }) {
    this.#change({ refused: { ...this.state.refused, [done]: "" } });
    this.next({ now });
  }

  /** From the end of the study to its last case. @param {{now: number}} event */
  review({ now }) {
    this.#closeSheet();
    this.#enter("loading");
    this.#visit(this.#desk.total, now);
  }

  /** The reader moved the mouse or pressed a key. */
  touched() {
    this.state.untouched = 0;
    this.#show({ touched: true });
  }

  /** @param {{now: number}} event the time of the key or click that confirms */
  confirm({ now }) {
    const { phase, shown, readyAt } = this.state;
    if (deciding.feedbackShown(this.state)) this.next({ now });
    else if (this.#pausedByReader) this.pause({ now });
    else if (deciding.endsWithEnter(this.state, now)) this.#resume(now);
    else if (phase === "ready" && shown) this.#decide(shown, now, now - readyAt <= deciding.QUIET_MS);
  }

  /** Pause or continue. @param {{now: number}} event */
  pause({ now }) {
    const { phase } = this.state;
    if (deciding.halted(this.state)) {
      this.#resume(now);
    } else if (phase === "paused" && deciding.readElsewhere(this.state)) {
      this.touched();
      this.#leaveCase(now);
    } else if (phase === "ready" || this.#pausedByReader) {
      const paused = phase === "ready";
      this.#show({ paused });
      this.#do({ do: "setPaused", paused, now }, { do: paused ? "curtain" : "uncover" });
      this.#enter(paused ? "paused" : "ready");
    }
  }

  /** Show the previous case, if the protocol allows it. @param {{now: number}} event */
  back({ now }) {
    const item = this.#open?.item;
    if (!item || !this.#desk.rules.back_navigation) return;
    if (this.state.reasons) this.#reasons(null);
    else if (!item.practice && item.position > 1) this.#visit(item.position - 1, now);
  }

  /** @param {{option: string, now: number}} event */
  choose({ option, now }) {
    const shown = this.#open;
    if (!shown || this.state.reasons) return;
    if (asksWords(shown.item)) this.#do({ do: "answerField" });
    if (!shown.item.options.some((each) => each.option === option)) return;
    const changed = option !== shown.option;
    const confidence = changed ? null : shown.confidence; // it belonged to the earlier answer
    this.#show({ option, confidence });
    this.#do({ do: "chosen", option, confidence, changed, now });
  }

  /** The key of a letter selects an option, unless options have numbers. @param {{letter: string, now: number}} event
   */
  letter({ letter, now }) {
    const shown = this.#open;
    if (!this.#desk.rules.numbered) this.choose({ option: letter, now });
    else if (shown && !this.state.reasons) this.#hint(texts.hints.chooseNumber(shown.item.options.length));
  }

  /** The current answer to an open-ended case. @param {{text: string, now: number}} event */
  write({ text, now }) {
    const shown = this.#open;
    if (!shown || this.state.reasons || !asksWords(shown.item)) return;
    this.#show({ words: text });
    this.#do({ do: "written", now });
  }

  /**
   * If confidence is asked, a digit never means an option, to avoid confusion.
   * @param {{number: number, now: number}} event on the key: the confidence, an option if confidence is not asked, or
   * a reason
   */
  digit({ number, now }) {
    const shown = this.#open;
    if (!shown) return;
    const steps = this.#desk.rules.confidence_steps;
    if (this.state.reasons) this.reason({ number });
    else if (!steps) this.choose({ option: shown.item.options[number - 1]?.option, now });
    else if (!deciding.isAnswered(shown)) this.#answerFirst(shown, texts.hints.letterFirst(steps));
    else if (number > steps) this.#hint(texts.hints.sayHowSure(steps));
    else this.sure({ step: number });
  }

  /** @param {{step: number}} event */
  sure({ step: confidence }) {
    const shown = this.#open;
    if (!shown || this.state.reasons) return;
    if (!deciding.isAnswered(shown)) {
      this.#answerFirst(shown, texts.hints.chooseFirst);
      return;
    }
    this.#show({ confidence });
    this.#do({ do: "sure", step: confidence });
  }

  /** @param {{text: string}} event */
  comment({ text }) {
    if (this.#open) this.#show({ comment: text });
  }

  /** The question is faulty, independent of the answer; without a value, the mark is toggled. @param {{faulty?: boolean}} event */
  faulty({ faulty }) {
    const shown = this.#open;
    if (!shown || this.state.reasons || !this.#desk.rules.fault_marks) return;
    this.#show({ faulty: faulty ?? !shown.faulty });
    this.#do({ do: "mark", faulty: faulty ?? !shown.faulty });
  }

  /** Request the model's answer, where it is shown on demand. @param {{now: number}} event */
  aid({ now }) {
    const shown = this.#open;
    if (!shown || shown.asked || !offersAid(shown.item)) return;
    this.#show({ asked: true });
    this.#do({ do: "requestAid", item: shown.item, now });
    this.#hint(texts.aid.waiting);
  }

  /** Show the reasons for not answering, or the options again, if the protocol allows it. */
  giveUp() {
    if (!this.#open || !this.#desk.rules.cannot_answer) return;
    if (this.state.reasons) this.#reasons(null);
    else this.#reasons({ chosen: -1, words: "" });
  }

  /** @param {{number: number}} event from 1, as on the key; other numbers have no effect */
  reason({ number }) {
    const { reasons, shown } = this.state;
    const chosen = shown && deciding.reasonsOffered(shown.item)[number - 1];
    if (reasons && typeof chosen === "number") this.#reasons({ ...reasons, chosen });
  }

  /** @param {{text: string}} event */
  words({ text }) {
    const { reasons } = this.state;
    if (reasons) this.#reasons({ ...reasons, words: text });
  }

  /** The case is on the screen; its clock runs unless it was paused before. @param {{n: number, now: number}} event */
  painted({ n, now }) {
    const { shown, phase } = this.state;
    if (shown?.n !== n || phase !== "loading") return;
    if (shown.committed) {
      this.#release(now);
      return;
    }
    this.#change({ met: true, readyAt: now });
    const { item, paused } = shown;
    if (!item.practice && !item.reading) {
      this.#do({ do: "remember", name: "condition", value: deciding.readingOf(item) }, { do: "remember", name: HERE, value: true });
    }
    if (paused) this.#do({ do: "curtain" });
    this.#enter(paused ? "paused" : "ready");
    this.#do({ do: "begin", now });
    this.#prefetch();
  }

  /** The case has new addresses of its films, or none: if it was answered and is here for its feedback only, no film
   *  will come any more. @param {{n: number, views: View[]|null, now: number}} event */
  freshened({ n, views, now }) {
    const { shown } = this.state;
    if (shown?.n !== n) return;
    if (views) this.#show({ item: { ...shown.item, views } });
    else if (shown.committed && !shown.item.reading) this.next({ now });
  }

  /** An earlier case was loaded, or is not available. The reader may have continued or paused in the meantime.
   *  @param {{position: number, item: Case|null, now: number}} event */
  fetched({ position, item, now }) {
    const { asked, shown, phase, here } = this.state;
    if (!here || asked?.position !== position || asked.n !== (shown?.n ?? 0) || asked.phase !== phase) return;
    this.state.asked = null;
    if (item) {
      this.#turnTo(deciding.withOwn(item, this.state.facts.unsent), now);
    } else {
      this.#do({ do: "toast", text: texts.hints.earlierFailed });
      if (phase === "loading") this.next({ now });
    }
  }

  /** An earlier case is shown as this page remembers it; check whether it was answered again elsewhere.
   *  @param {{n: number, id: string, item: Case|null}} event id: of the answer as remembered */
  corrected({ n, id, item }) {
    const correct = item && deciding.withOwn(item, this.state.facts.unsent);
    if (!correct || correct.reading?.id === id) return;
    this.#unremember(correct.case);
    const { shown } = this.state;
    if (shown?.n === n && !shown.committed && deciding.unchanged(shown)) this.#bring(this.#made(correct));
  }

  /** The answer is stored: continue, or wait for the server's feedback.
   *  @param {{record: Record, now: number}} event */
  recorded({ record, now }) {
    const { shown, answered } = this.state;
    if (!shown) return;
    const { item } = shown;
    this.#remember(item, record);
    if (!item.reading) this.#do({ do: "forget", name: "running" });
    this.state.answered = [...answered, item.case];
    if (item.stage !== 1 && (item.practice || this.#desk.rules.feedback === "after case")) {
      this.state.feedbackIs = "awaited";
      this.#await({ item, record, reference: null, answered: false, epoch_ms: record.committed_epoch_ms });
      this.#hint(texts.loading.saving);
      this.#do({ do: "flush" });
    } else {
      this.#onward(now);
    }
  }

  /** @param {{now: number}} event */
  timeUp({ now }) {
    const shown = this.#open;
    if (!shown) return;
    this.#do({ do: "closeHelp" });
    this.#submit(shown, now, "timed_out");
  }

  /** The graphics card lost its films: load them again, and count the time until then as hidden. @param {{now:
   * number}} event */
  filmsLost({ now }) {
    const { here, shown, feedback } = this.state;
    this.#do({ do: "filmsLost" });
    if (!here) return;
    if (shown && !shown.committed) {
      this.#do({ do: "leave", shown, now, flag: "display_lost" });
      this.#bring(shown);
    } else if (feedback) {
      this.#recall(feedback);
    } else {
      this.#prefetch();
    }
  }

  /** @param {{text: string}} event */
  trouble({ text }) {
    this.#do({ do: "trouble", text });
    if (this.state.feedback && !deciding.feedbackShown(this.state)) this.#hint(text);
  }

  /** The server has responded. @param {{receipt: Receipt, sent: Record[], now: number}} event */
  receipt({ receipt, sent, now }) {
    if (!this.state.here) return;
    this.#takeAid();
    for (const { id, why } of receipt.refused) this.#refused(sent.find((record) => record.id === id), why, now);
    const reference = this.#answerTo(receipt, sent);
    if (reference !== undefined) {
      this.#tell(reference, now);
    } else if (deciding.readElsewhere(this.state)) {
      this.#do({ do: "toast", text: texts.hints.readElsewhere });
      // The reader is paused: the next case is shown when they continue.
      if (this.state.phase !== "paused") this.#leaveCase(now);
    } else {
      this.another({ now });
    }
    if (this.state.phase !== "loading") this.#prefetch();
  }

  get #desk() { return this.state.facts.desk; }

  /** The case that can currently be answered. */
  get #open() { return this.state.phase === "ready" ? this.state.shown : null; }

  get #pausedByReader() {
    const { phase, shown } = this.state;
    return phase === "paused" && shown !== null && shown.paused && !shown.committed;
  }

  get #unsentReadings() { return this.state.facts.unsent.filter((record) => record.kind === "reading"); }

  /** @param {Effect[]} effects */
  #do(...effects) {
    this.effects.push(...effects);
  }

  /** @param {Partial<State>} change */
  #change(change) {
    Object.assign(this.state, change);
  }

  /** @param {Partial<Shown>} change of the case on the screen */
  #show(change) {
    if (this.state.shown) this.state.shown = { ...this.state.shown, ...change };
  }

  /** @param {Phase} phase */
  #enter(phase) {
    this.state.phase = phase;
    this.#do({ do: "enter", phase });
  }

  #hint(text) {
    this.#do({ do: "hint", text });
  }

  /** Show a sheet before or after the cases.
   *  @param {State["sheet"]} sheet @param {Effect} shows */
  #ask(sheet, shows) {
    if (this.state.sheet !== sheet) {
      this.#change({ met: true, sheet });
      this.#do({ do: "clear" });
      this.#enter("paused");
    }
    this.#do(shows);
  }

  #closeSheet() {
    if (this.state.sheet) this.#do({ do: "closeSheet" });
    this.state.sheet = "";
  }

  #prepare() {
    const steps = deciding.stepsDue(this.state.facts);
    this.#ask("steps", { do: "steps", steps, hint: this.state.refused[steps[0].step] ?? "" });
  }

  /** Show no further cases until the reader continues. @param {Halt} halt @param {number} now */
  #stop(halt, now) {
    this.#change({ halt: { name: halt.name, since: this.state.met ? now : -Infinity }, met: true });
    this.#do({ do: "clear" }, { do: "halt", halt });
    this.#enter("paused");
    this.#do({ do: "say", text: halt.title });
    this.#prefetch();
  }

  /** The reader continues. */
  #resume(now) {
    if (!["", "absent"].includes(this.state.halt.name)) this.state.lifted = deciding.coming(this.state)[0]?.case ?? "";
    this.#lift();
    this.touched();
    this.next({ now });
  }

  #lift() {
    this.#change({ halt: START.halt, held: false });
    this.#do({ do: "uncover" });
  }

  /** Nothing to read at the moment: the end, a hold, or cases that are still loading.
   *  @param {"review"|"finish"|"hold"|"wait"} what */
  #wait(what) {
    this.#change({ shown: null, aside: null });
    if (what === "review") {
      this.#ask("review", { do: "review" });
      return;
    }
    this.#do({ do: "clear" });
    if (what === "wait") this.#waitForCases();
    else this.#do({ do: what });
    if (what === "hold") {
      this.state.held = true;
      const ms = Math.min(this.#desk.opens_in_ms ?? HELD_ASK_AGAIN_MS, HELD_ASK_AGAIN_MS);
      this.#do({ do: "askAgain", ms: Math.max(ms, ASK_AGAIN_MS) });
    }
    this.#enter(what === "finish" ? "finished" : what === "hold" ? "paused" : "loading");
  }

  /** The next case is shown together with the model's answer, which the server sends once the answers before it are
   *  stored. The case before stays on the screen until then. */
  #awaitAid() {
    this.state.aidAwaited = true;
    if (this.state.phase !== "loading") this.#enter("loading");
    this.#do(this.state.shown ? { do: "hint", text: texts.aid.waiting } : { do: "loading", text: texts.aid.waiting });
    this.#do(this.state.facts.unsent.length ? { do: "retryNow" } : { do: "askAgain", ms: ASK_AGAIN_MS });
  }

  /** The model's answer for the case on the screen, once the server has sent it. */
  #takeAid() {
    const { shown } = this.state;
    if (!shown || shown.committed || !offersAid(shown.item)) return;
    const aid = this.#desk.cases.find((item) => item.case === shown.item.case)?.aid;
    if (!aid?.content) return;
    const item = { ...shown.item, aid };
    this.#show({ item });
    this.#do({ do: "showAid", item });
    this.#hint("");
  }

  #waitForCases() {
    const { cases, finished, preparation, total } = this.#desk;
    const end = cases.at(-1);
    const last = finished || (end?.position === total && !end.practice);
    const words = last ? texts.loading.saving : texts.loading.waiting;
    this.#do({ do: "loading", text: preparation?.length ? texts.loading.opening : words });
    this.#do(this.state.facts.unsent.length ? { do: "retryNow" } : { do: "askAgain", ms: ASK_AGAIN_MS });
  }

  /** Return to the running case if it was set aside, or show a new case. @param {Case} item */
  #goTo(item) {
    const { aside } = this.state;
    this.state.aside = null;
    this.#bring(aside?.item.case === item.case ? aside : this.#made(item));
  }

  /** @param {Case} item @returns {Shown} begun before a reload, answered before, or new */
  #made(item) {
    const { running } = this.state.facts;
    const kept = !item.reading && running?.case === item.case ? running : null;
    const earlier = item.before && { option: item.before.option }; // the confidence must be stated again
    const { option = null, words = null, confidence = null, comment = null, faulty = false } = kept ?? item.reading ?? earlier ?? {};
    this.state.brought += 1;
    return {
      n: this.state.brought, item, option, words: words ?? "", confidence, comment: comment ?? "", faulty, committed: false,
      paused: Boolean(kept?.clock.paused), resumed: Boolean(kept),
      touched: Boolean(kept), // by the reader, who reloaded the page
    };
  }

  /** Show a case. @param {Shown} shown */
  #bring(shown) {
    this.#change({ shown, reasons: null });
    this.#do({ do: "reset" });
    this.#enter("loading");
    this.#do({ do: "present", shown });
  }

  /** Fetch the films of the next cases, keep those that the reader may return to, and release the others. */
  #prefetch() {
    const { shown, aside } = this.state;
    const coming = deciding.coming(this.state);
    const neighbours = this.#desk.rules.back_navigation && shown
      ? [shown.item.position + 1, shown.item.position - 1].flatMap((position) => this.#known(position) ?? []) : [];
    // Films of earlier cases were released: fetch them while this case is on the screen.
    const upcoming = shown?.item.reading ? [...coming, ...neighbours] : coming;
    const current = [shown, aside].flatMap((each) => each?.item ?? []);
    this.#do({ do: "prefetch", beside: [...current, ...neighbours].map((item) => item.case), coming: upcoming });
  }

  /** The meaning of Enter for the case on the screen. @param {Shown} shown @param {number} now
   *  @param {boolean} doubled it is probably the second half of a double press */
  #decide(shown, now, doubled) {
    const { reasons } = this.state;
    const answered = deciding.isAnswered(shown);
    const steps = this.#desk.rules.confidence_steps;
    if (reasons) {
      const reason = deciding.reasonOf(reasons);
      if (reason) this.#submit(shown, now, "skipped", reason);
      else this.#hint(deciding.wantsWords(reasons.chosen) ? texts.hints.reasonWords : texts.hints.chooseReason);
    } else if (!answered && !deciding.unchanged(shown)) {
      if (!doubled) this.#answerFirst(shown, texts.hints.chooseFirst);
    } else if (answered && steps && shown.confidence === null) {
      this.#hint(texts.hints.sayHowSure(steps));
    } else if (!doubled || shown.item.stage !== 2) { // stage 2 starts with the answer of stage 1
      this.#submit(shown, now, "answered");
    }
  }

  /** No answer yet: move the focus to the text field, if there is one. @param {Shown} shown @param {string} hint
   *  for cases with options */
  #answerFirst({ item }, hint) {
    this.#hint(asksWords(item) ? texts.hints.writeFirst : hint);
    if (asksWords(item)) this.#do({ do: "answerField" });
  }

  /** The case on the screen is done: store its record, send it, and continue.
   *  @param {Shown} shown @param {number} now the time of the commit
   *  @param {"answered"|"skipped"|"timed_out"} status @param {string} [reason] */
  #submit(shown, now, status, reason = "") {
    this.#show({ committed: true });
    this.#change({ untouched: status === "timed_out" && !shown.touched ? this.state.untouched + 1 : 0, reasons: null });
    const unchanged = status === "answered" && deciding.unchanged(shown); // shown again and not changed
    if (!unchanged) this.#do({ do: "submit", shown, status, reason, now });
    this.#do({ do: "reset" });
    this.#enter("loading");
    if (unchanged) this.#onward(now);
  }

  /** The case on the screen was read in another browser, or must not be read now. */
  #leaveCase(now) {
    this.#show({ committed: true });
    this.#do({ do: "forget", name: "running" });
    this.next({ now });
  }

  /** Show the case after an earlier one, until the running case is reached. */
  #onward(now) {
    const position = deciding.following(this.state);
    if (position) this.#visit(position, now);
    else this.next({ now });
  }

  #visit(position, now) {
    const known = this.#known(position);
    const { shown, phase } = this.state;
    if (known) {
      const n = this.#turnTo(known, now);
      this.#do({ do: "recheck", n, position, id: known.reading?.id ?? "" });
    } else {
      this.state.asked = { position, n: shown?.n ?? 0, phase };
      this.#do({ do: "fetch", position });
    }
  }

  /** @param {Case} item one that was answered @param {number} now @returns {number} */
  #turnTo(item, now) {
    const { shown } = this.state;
    if (shown && !shown.committed && !shown.item.reading) {
      this.#do({ do: "leave", shown, now });
      this.state.aside = shown;
    }
    const reopened = this.#made(item);
    this.#bring(reopened);
    return reopened.n;
  }

  #known(position) {
    return deciding.remembered(this.state).find((item) => item.position === position);
  }

  /** @param {Case} item @param {Record} record the answer just given to it */
  #remember(item, { id, option, words, status, confidence, comment, flags = [] }) {
    if (item.practice) return; // its position belongs to another session
    const others = deciding.remembered(this.state).filter(({ position }) => position !== item.position);
    const reading = { id, option, words, status, confidence, comment, faulty: flags.includes(FAULTY) };
    const answered = { ...item, presented: true, reading };
    this.state.read = { session: this.#desk.session, cases: [...others, answered].slice(-MOST_REMEMBERED) };
  }

  /** Only the server knows the state of the case. @param {string} id of a case */
  #unremember(id) {
    const { read } = this.state;
    this.state.read = { ...read, cases: read.cases.filter((item) => item.case !== id) };
  }

  /** @param {Reasons|null} reasons null: back to the options */
  #reasons(reasons) {
    this.state.reasons = reasons;
    this.#do({ do: "reasons", reasons, option: this.state.shown?.option ?? null });
    this.#hint("");
  }

  /** @param {Awaited} feedback */
  #await(feedback) {
    this.state.feedback = feedback;
    this.#do({ do: "remember", name: "feedback", value: feedback });
  }

  /** Show the case again whose feedback was interrupted by a reload or the loss of its film; its answer stays.
   *  @param {Awaited} feedback */
  #recall(feedback) {
    this.#change({ feedback, feedbackIs: "held" });
    const { option, words = "" } = feedback.record;
    this.#bring({ ...this.#made(feedback.item), option, words: words ?? "", committed: true });
  }

  /** The case is shown again. A record without a response is sent again, and the server repeats its feedback. */
  #release(now) {
    const { feedback } = this.state;
    if (!feedback) return;
    this.state.feedbackIs = "awaited";
    const { answered, reference, record } = feedback;
    if (answered) this.#tell(reference, now);
    else if (!this.#unsentReadings.some(({ id }) => id === record.id)) this.#do({ do: "put", record });
  }

  /** @param {Receipt} receipt @param {Record[]} sent
   *  @returns {ReferenceAnswer|null|undefined} null: the server sent nothing; undefined: not awaited, or not now */
  #answerTo(receipt, sent) {
    const { feedback, feedbackIs } = this.state;
    if (!feedback || feedbackIs === "shown" || !sent.some(({ id }) => id === feedback.record.id)) return undefined;
    const reference = receipt.feedback?.[feedback.record.id] ?? null;
    this.#await({ ...feedback, reference, answered: true });
    return feedbackIs === "held" ? undefined : reference;
  }

  /** @param {ReferenceAnswer|null} reference */
  #tell(reference, now) {
    const { feedback } = this.state;
    if (!reference || !feedback) {
      this.next({ now });
      return;
    }
    this.state.feedbackIs = "shown";
    this.#do({ do: "feedback", reference, record: feedback.record });
    this.#enter("paused");
  }

  /** @param {Record|undefined} record @param {string} why */
  #refused(record, why, now) {
    const { shown, answered, refused } = this.state;
    if (!record) return;
    const { kind, case: id = "", step: name } = record;
    // Reading was put on hold before the case was shown: it is removed and shown again later.
    if (kind === "presentation" && this.#desk.hold && shown?.item.case === id && !shown.committed) this.#leaveCase(now);
    if (kind === "aid request" && shown?.item.case === id && !shown.committed) {
      this.#show({ asked: false });
      this.#do({ do: "offerAid", item: shown.item }, { do: "toast", text: texts.hints.refused(why) });
    }
    if (kind === "preparation") this.state.refused = { ...refused, [name]: texts.hints.refused(why) };
    if (kind !== "reading") return;
    this.state.answered = answered.filter((each) => each !== id);
    this.#unremember(id);
    this.#do({ do: "toast", text: texts.hints.refused(why) });
  }
}
