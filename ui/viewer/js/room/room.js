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
/** @typedef {{root: HTMLElement, panel: QuestionPanel, display: CaseDisplay, renderer: FilmRenderer, overlays: Overlays,
 *   sheet: StepSheet, cannotAnswer: CannotAnswer, preview: boolean}} Parts  preview: of a study, by whoever sets it up */
/** @typedef {Parts & {connection: Connection, earlier: EarlierCases, timer: CaseTimer, feedback: Feedback}} OpenParts */

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
  /** More of them once the desk is open. @type {OpenParts} */
  #parts;
  /** @type {GoingBack} */
  #goingBack;
  /** @type {NextStep} */
  #nextStep;
  /** @type {OneWindow} */
  #window;

  /** @param {Parts} parts */
  constructor(parts) {
    this.#parts = /** @type {OpenParts} */ (parts);
    const current = () => (this.state === "ready" ? this.attempt : null);
    this.answering = new Answering(parts, current, () => this.rules, (now) => this.keep(now));
  }

  /** @returns {Rules} none until the desk is open */
  get rules() { return this.#parts.connection?.desk?.rules; }

  /** @returns {Desk} */
  get desk() { return this.#parts.connection.desk; }

  /** Whether the reader reads in this window. */
  get here() { return Boolean(this.#window?.here); }

  /** Whether the reader may see and handle the film. */
  get filmShown() { return this.state === "ready" || Boolean(this.#parts.feedback?.shown); }

  /** @param {Connection} connection @param {() => void} opened it is known who reads */
  async open(connection, opened) {
    const { root, panel, overlays, renderer } = this.#parts;
    const parts = {
      ...this.#parts, connection, earlier: new EarlierCases(connection), feedback: new Feedback(connection, panel),
      timer: new CaseTimer(connection, overlays, () => measured(root, renderer.graphics)),
    };
    this.#parts = parts;
    this.#goingBack = new GoingBack(this, parts);
    this.#nextStep = new NextStep(this, parts, this.#goingBack);
    this.presenter = new Presenter(this, parts);
    this.receipts = new Receipts(this, parts, this.#nextStep);
    this.enter("loading");
    panel.showLoading(texts.loading.opening);
    if (!(await connection.open())) return;
    opened();
    await renderer.opened;
    this.#window = new OneWindow(connection, overlays, {
      goOn: () => this.#goOn(),
      wait: (text) => panel.showLoading(text),
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
    this.#parts.feedback.end();
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
    if (this.#parts.feedback?.shown) {
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
    else this.#parts.overlays.hideCurtain();
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
    this.#parts.timer.look(this.attempt, now);
    this.keep(now);
  }

  /** Some times a second. @param {number} now */
  tick(now) {
    if (!this.attempt?.clock.running || this.attempt.committed) return;
    const left_ms = this.#parts.timer.tick(this.attempt, now);
    if (left_ms === null) return;
    this.#parts.panel.showCountdown(Math.max(0, Math.ceil(left_ms / 1000)));
    if (left_ms > 0 || this.state !== "ready") return;
    if (["help", "settings"].includes(this.#parts.overlays.open)) this.#parts.overlays.close();
    this.#handIn(this.attempt, now, { status: "timed_out", reason: "" });
  }

  /** Write down where the running case stands, for a reload. @param {number} now */
  keep(now) {
    this.#parts.timer?.keep(this.attempt, now);
  }

  /** @param {string} tool */
  used(tool) {
    if (this.state === "ready") this.attempt?.used(tool);
  }

  /** The card lost its films: bring them back, and count the time until then as hidden. */
  filmsLost() {
    this.#parts.display.lost();
    const { attempt } = this;
    if (!this.here) return;
    if (!attempt || attempt.committed) {
      const cutShort = this.#parts.feedback.hold();
      if (cutShort) this.#recall(cutShort);
      else this.presenter.prefetch();
      return;
    }
    if (attempt.clock.running) attempt.flag("display_lost");
    this.#parts.timer.leave(attempt, performance.now());
    this.presenter.present(attempt);
  }

  /** The case on the screen is done: its record is written down, then sent; and on to what follows.
   *  @param {Attempt} attempt @param {number} now the moment that counts
   *  @param {{status: "answered"|"skipped"|"timed_out", reason: string}} decision */
  #handIn(attempt, now, { status, reason }) {
    this.#parts.timer.close(attempt, now);
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
    if (feedback) this.#parts.feedback.expect(attempt.item, record, epochAt(now));
    this.#store(attempt, record);
    if (!feedback) {
      this.#onward(attempt);
      return;
    }
    this.#parts.panel.hint(texts.loading.saving);
    this.#parts.connection.outbox.flush();
  }

  #store(attempt, record) {
    const { outbox, storage } = this.#parts.connection;
    outbox.put(record);
    this.#parts.earlier.remember(attempt.item, record);
    if (!attempt.revisited) storage.drop("running");
    this.list.answered(attempt.item.case);
  }

  #onward(attempt) {
    if (!this.#goingBack.onward(attempt)) this.next();
  }

  /** The case on the screen was read in another browser. */
  giveOver() {
    if (this.attempt) this.attempt.committed = true;
    this.#parts.connection.storage.drop("running");
    this.next();
  }

  /** Read in this window from now on. */
  #goOn() {
    const { desk } = this.#parts.connection;
    this.list = new Worklist(this.#parts.connection);
    this.#parts.panel.showReader(desk);
    this.#parts.root.dataset.back = String(this.rules.back_navigation);
    this.#parts.root.dataset.cannotAnswer = String(Boolean(this.rules.cannot_answer));
    this.#parts.panel.showRenderer(this.#parts.renderer.graphics.name);
    const cutShort = this.#parts.feedback.resume(Date.now());
    if (cutShort) this.#recall(cutShort);
    else this.next();
  }

  /** Stop reading in this window. @returns {object|null} where the running case stands */
  #handOver() {
    if (this.state === "finished") return null;
    const now = performance.now();
    const running = this.#parts.earlier.takeBack(this.#parts.earlier.aside?.item.case) ?? this.attempt;
    const stands = running && this.#parts.timer.stands(running, now);
    this.attempt = null;
    this.#parts.feedback.leave();
    this.#nextStep.leave();
    this.answering.reset();
    this.#parts.display.clear();
    this.#parts.overlays.hideCurtain();
    this.#parts.sheet.close();
    this.#parts.panel.showCountdown(null);
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
      this.#parts.feedback.show();
      this.enter("paused");
    } else if (told === null) {
      this.next();
    }
  }

  /** Bring the case back whose feedback a reload, or the loss of its film, cut short.
   *  @param {Awaited} cutShort */
  #recall(cutShort) {
    this.presenter.recall(cutShort, () => this.tell(this.#parts.feedback.release()));
  }

  #drawCurtain() {
    const { title, text, button } = texts.paused;
    const goOn = { label: button, run: () => this.pause(performance.now()) };
    this.#parts.overlays.showCurtain({ title, text }, goOn).focus({ preventScroll: true });
  }

  /** @param {State} state */
  enter(state) {
    this.state = state;
    sign(this.#parts.root, {
      state, item: this.attempt?.item, total: this.#parts.connection.desk?.total, halt: this.#nextStep.halted,
      feedback: Boolean(this.#parts.feedback.shown),
    });
    this.#parts.panel.say(state === "ready" ? this.#parts.panel.position : texts.said[state]);
  }
}
