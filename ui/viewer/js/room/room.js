/** The reading room itself: which case is on the screen, and what the reader may do now. */

import { Answering } from "../case/answering.js";
import { CaseTimer } from "../case/case-timer.js";
import { EarlierCases } from "../case/earlier-cases.js";
import { Feedback } from "../case/feedback.js";
import { GoingBack } from "./going-back.js";
import { NextStep } from "./next-step.js";
import { OneWindow } from "../delivery/one-window.js";
import { Presenter } from "./presenter.js";
import { Receipts } from "./receipts.js";
import { sign } from "./root-attributes.js";
import { texts } from "../page/texts.js";
import { epochAt } from "../page/paint.js";
import { measured } from "../case/viewing-conditions.js";
import { Worklist } from "../case/worklist.js";

/** @import { Attempt } from "../case/attempt.js" */
/** @import { CannotAnswer } from "../case/cannot-answer.js" */
/** @import { CaseDisplay } from "../case/case-display.js" */
/** @import { Connection } from "../delivery/connection.js" */
/** @import { Awaited } from "../case/feedback.js" */
/** @import { FilmRenderer } from "../film/film-renderer.js" */
/** @import { Overlays } from "../page/overlays.js" */
/** @import { QuestionPanel } from "../page/question-panel.js" */
/** @import { StepSheet } from "../page/step-sheet.js" */
/** @import { Desk, ReferenceAnswer, Rules } from "../page/types.js" */

/** @typedef {"loading"|"ready"|"paused"|"finished"} State */
/** @typedef {{root: HTMLElement, panel: QuestionPanel, display: CaseDisplay,
 *   renderer: FilmRenderer,
 *   overlays: Overlays, sheet: StepSheet,
 *   cannotAnswer: CannotAnswer, preview: boolean}} Parts  preview: of a study, by whoever sets it up */

const QUIET_MS = 600; // a second Enter this soon after a commit is a double press, not a question

export class Room {
  /** @type {State} */
  state = "loading";
  /** @type {Attempt|null} */
  attempt = null;
  answering;
  /** @type {Receipts} */
  receipts;
  /** @type {Worklist} */
  list;
  /** @type {Presenter} */
  presenter;
  #parts;
  #root;
  #panel;
  #display;
  #overlays;
  /** @type {Connection} */
  #connection;
  /** @type {EarlierCases} */
  #earlier;
  /** @type {GoingBack} */
  #goingBack;
  /** @type {NextStep} */
  #nextStep;
  /** @type {CaseTimer} */
  #timer;
  /** @type {OneWindow} */
  #window;
  /** @type {Feedback} */
  #feedback;

  /** @param {Parts} parts */
  constructor(parts) {
    this.#parts = parts;
    this.#root = parts.root;
    this.#panel = parts.panel;
    this.#display = parts.display;
    this.#overlays = parts.overlays;
    const current = () => (this.state === "ready" ? this.attempt : null);
    this.answering = new Answering(parts, current, () => this.rules, (now) => this.keep(now));
  }

  /** @returns {Rules} none until the desk is open */
  get rules() { return this.#connection?.desk?.rules; }

  /** @returns {Desk} */
  get desk() { return this.#connection.desk; }

  /** Whether the reader reads in this window. */
  get here() { return Boolean(this.#window?.here); }

  /** Whether the reader may see and handle the film. */
  get filmShown() { return this.state === "ready" || Boolean(this.#feedback?.shown); }

  /** @param {Connection} connection @param {() => void} opened it is known who reads */
  async open(connection, opened) {
    this.#connection = connection;
    this.#earlier = new EarlierCases(connection);
    this.#timer = new CaseTimer(connection, this.#overlays, () => measured(this.#root, this.#parts.renderer.graphics));
    this.#feedback = new Feedback(connection, this.#panel);
    const parts = { ...this.#parts, earlier: this.#earlier, timer: this.#timer, feedback: this.#feedback };
    const goingBack = new GoingBack(this, parts);
    const nextStep = new NextStep(this, { ...parts, goingBack }, connection);
    this.presenter = new Presenter(this, parts, connection);
    this.receipts = new Receipts(this, { ...parts, nextStep }, connection);
    this.#goingBack = goingBack;
    this.#nextStep = nextStep;
    this.enter("loading");
    this.#panel.showLoading(texts.loading.opening);
    if (!(await connection.open())) return;
    opened();
    await this.#parts.renderer.opened;
    this.#window = new OneWindow(connection, this.#overlays, {
      goOn: () => this.#goOn(),
      wait: (text) => this.#panel.showLoading(text),
      handOver: () => this.#handOver(),
      finished: () => this.state === "finished",
    });
    this.receipts.outboxChanged();
    this.#window.enter();
  }

  /** The page is being left. @param {boolean} asleep it may come back as it is */
  leave(asleep) {
    this.keep(performance.now());
    if (asleep) this.#window?.sleep();
    this.#window?.leave();
  }

  /** The page is back as it was left. */
  comeBack() {
    this.#window?.enter(true);
  }

  /** Go on to the next case that is not answered, or to the end. */
  next() {
    if (!this.here) return;
    this.#feedback.end();
    this.#nextStep.next();
  }

  /** The window has another size. */
  resized() {
    this.#nextStep?.resized();
  }

  /** The reader moved a hand. */
  touched() {
    if (this.attempt) this.attempt.touched = true;
    this.#nextStep?.touched();
  }

  /** @param {number} now the time of the key or click that confirms */
  confirm(now) {
    if (this.#feedback?.shown) {
      this.next();
      return;
    }
    if (this.#pausedByReader) {
      this.pause(now);
      return;
    }
    this.#nextStep.enter(now);
    if (this.state !== "ready") return;
    const decision = this.answering.confirm(now - this.presenter.readyAt <= QUIET_MS);
    if (decision && this.attempt) this.#handIn(this.attempt, now, decision);
  }

  /** Pause or go on. @param {number} now */
  pause(now) {
    if (this.#nextStep.halted) {
      this.#nextStep.resume();
      return;
    }
    if (this.state === "paused" && this.list.readElsewhere(this.attempt)) {
      this.touched();
      this.giveOver();
      return;
    }
    const paused = this.state === "ready";
    if (!paused && !this.#pausedByReader) return;
    this.attempt?.clock.setPaused(now, paused);
    this.keep(now);
    if (paused) this.#drawCurtain();
    else this.#overlays.hideCurtain();
    this.enter(paused ? "paused" : "ready");
  }

  get #pausedByReader() { return this.state === "paused" && Boolean(this.attempt?.clock.paused); }

  /** Look at the case before, where the protocol allows it. */
  back() {
    if (this.state !== "ready" || !this.rules.back_navigation) return;
    if (this.answering.givingUp) this.answering.stepBack();
    else if (this.attempt) this.#goingBack.back(this.attempt);
  }

  /** The tab, or the case in it, may have been hidden or shown again. @param {number} now */
  visibility(now) {
    this.#window?.look();
    if (!this.attempt || this.attempt.committed) return;
    this.#timer.look(this.attempt, now);
    this.keep(now);
  }

  /** Some times a second. @param {number} now */
  tick(now) {
    if (!this.attempt?.clock.running || this.attempt.committed) return;
    const left_ms = this.#timer.tick(this.attempt, now);
    if (left_ms === null) return;
    this.#panel.showCountdown(Math.max(0, Math.ceil(left_ms / 1000)));
    if (left_ms > 0 || this.state !== "ready") return;
    if (["help", "settings"].includes(this.#overlays.open)) this.#overlays.close();
    this.#handIn(this.attempt, now, { status: "timed_out", reason: "" });
  }

  /** Write down where the running case stands, for a reload. @param {number} now */
  keep(now) {
    this.#timer?.keep(this.attempt, now);
  }

  /** @param {string} tool */
  used(tool) {
    if (this.state === "ready") this.attempt?.used(tool);
  }

  /** The card lost its films: bring them back, and count the time until then as hidden. */
  filmsLost() {
    this.#display.lost();
    const { attempt } = this;
    if (!this.here) return;
    if (!attempt || attempt.committed) {
      const cutShort = this.#feedback.hold();
      if (cutShort) this.#recall(cutShort);
      else this.presenter.prefetch();
      return;
    }
    if (attempt.clock.running) attempt.flag("display_lost");
    this.#timer.leave(attempt, performance.now());
    this.presenter.present(attempt);
  }

  /** The case on the screen is done: its record is written down, then sent; and on to what follows.
   *  @param {Attempt} attempt @param {number} now the moment that counts
   *  @param {{status: "answered"|"skipped"|"timed_out", reason: string}} decision */
  #handIn(attempt, now, { status, reason }) {
    this.#timer.close(attempt, now);
    attempt.committed = true;
    this.#nextStep.done(status === "timed_out" && !attempt.touched);
    this.answering.reset();
    this.enter("loading");
    if (status === "answered" && attempt.revisited && attempt.unchanged) {
      this.#onward(attempt);
      return;
    }
    const record = { ...attempt.reading(now, epochAt(now), status), ...(reason && { reason }) };
    const feedback = attempt.item.practice || this.rules.feedback === "after case";
    if (feedback) this.#feedback.expect(attempt.item, record, epochAt(now));
    this.#store(attempt, record);
    if (!feedback) {
      this.#onward(attempt);
      return;
    }
    this.#panel.hint(texts.loading.saving);
    this.#connection.outbox.flush();
  }

  #store(attempt, record) {
    const { outbox, storage } = this.#connection;
    outbox.put(record);
    this.#earlier.remember(attempt.item, record);
    if (!attempt.revisited) storage.drop("running");
    this.list.answered(attempt.item.case);
  }

  #onward(attempt) {
    if (!this.#goingBack.onward(attempt)) this.next();
  }

  /** The case on the screen was read in another browser. */
  giveOver() {
    if (this.attempt) this.attempt.committed = true;
    this.#connection.storage.drop("running");
    this.next();
  }

  /** Read in this window from now on. */
  #goOn() {
    const { desk } = this.#connection;
    this.list = new Worklist(this.#connection);
    this.#panel.showReader(desk);
    this.#root.dataset.back = String(this.rules.back_navigation);
    this.#root.dataset.cannotAnswer = String(Boolean(this.rules.cannot_answer));
    this.#panel.showRenderer(this.#parts.renderer.graphics.name);
    const cutShort = this.#feedback.resume(Date.now());
    if (cutShort) this.#recall(cutShort);
    else this.next();
  }

  /** Stop reading in this window. @returns {object|null} where the running case stands */
  #handOver() {
    if (this.state === "finished") return null;
    const now = performance.now();
    const running = this.#earlier.takeBack(this.#earlier.aside?.item.case) ?? this.attempt;
    const stands = running && this.#timer.stands(running, now);
    this.attempt = null;
    this.#feedback.leave();
    this.#nextStep.leave();
    this.answering.reset();
    this.#display.clear();
    this.#overlays.hideCurtain();
    this.#parts.sheet.close();
    this.#panel.showCountdown(null);
    this.enter("loading");
    return stands;
  }

  /** The case is on the screen: it goes on, unless it was paused before. @param {Attempt} attempt */
  began(attempt) {
    this.#nextStep.began(attempt.item);
    if (attempt.clock.paused) this.#drawCurtain();
    this.enter(attempt.clock.paused ? "paused" : "ready");
  }

  /** @param {ReferenceAnswer|null|undefined} told undefined: not yet */
  tell(told) {
    if (told) {
      this.#feedback.show();
      this.enter("paused");
    } else if (told === null) {
      this.next();
    }
  }

  /** Bring the case back whose feedback a reload, or the loss of its film, cut short.
   *  @param {Awaited} cutShort */
  #recall(cutShort) {
    this.presenter.recall(cutShort, () => this.tell(this.#feedback.release()));
  }

  #drawCurtain() {
    const { title, text, button } = texts.paused;
    const goOn = { label: button, run: () => this.pause(performance.now()) };
    this.#overlays.showCurtain({ title, text }, goOn).focus({ preventScroll: true });
  }

  /** @param {State} state */
  enter(state) {
    this.state = state;
    sign(this.#root, {
      state, item: this.attempt?.item, total: this.#connection.desk?.total, halt: this.#nextStep.halted,
      feedback: Boolean(this.#feedback.shown),
    });
    this.#panel.say(state === "ready" ? this.#panel.position : texts.said[state]);
  }
}
