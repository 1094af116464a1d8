/** The reading room itself: which case is on the screen, and what the reader may do now. */

import { Answering } from "../case/answering.js";
import { Feedback } from "../case/feedback.js";
import { HandingIn } from "./handing-in.js";
import { LookingBack } from "../case/looking-back.js";
import { OneWindow } from "../delivery/one-window.js";
import { Post } from "./post.js";
import { Progress } from "./progress.js";
import { Seating } from "./seating.js";
import { sign } from "./signs.js";
import { measured } from "../case/surroundings.js";
import { texts } from "../page/texts.js";
import { Watch } from "../case/watch.js";
import { WayBack } from "./way-back.js";
import { Worklist } from "../case/worklist.js";

/** @typedef {import("../case/sitting.js").Sitting} Sitting */
/** @typedef {"loading"|"ready"|"paused"|"finished"} State */
/** @typedef {{root: HTMLElement, panel: import("../page/panel.js").Panel, stage: import("../case/stage.js").Stage,
 *   overlays: import("../page/overlays.js").Overlays, sheet: import("../page/step-sheet.js").StepSheet,
 *   givingUp: import("../case/giving-up.js").GivingUp, preview: boolean}} Parts  preview: of a study, by whoever sets it up */

const QUIET_MS = 600; // a second Enter this soon after a commit is a double press, not a question

export class Room {
  /** @type {State} */
  state = "loading";
  /** @type {Sitting|null} */
  sitting = null;
  answering;
  /** @type {Post} */
  post;
  /** @type {Worklist} */
  list;
  /** @type {Seating} */
  seating;
  #parts;
  #root;
  #panel;
  #stage;
  #overlays;
  /** @type {import("../delivery/courier.js").Courier} */
  #courier;
  /** @type {LookingBack} */
  #past;
  /** @type {WayBack} */
  #wayBack;
  /** @type {HandingIn} */
  #handingIn;
  /** @type {Progress} */
  #progress;
  /** @type {Watch} */
  #watch;
  /** @type {OneWindow} */
  #window;
  /** @type {Feedback} */
  #feedback;

  /** @param {Parts} parts */
  constructor(parts) {
    this.#parts = parts;
    this.#root = parts.root;
    this.#panel = parts.panel;
    this.#stage = parts.stage;
    this.#overlays = parts.overlays;
    const current = () => (this.state === "ready" ? this.sitting : null);
    this.answering = new Answering(parts, current, () => this.rules, (now) => this.keep(now));
  }

  /** @returns {import("../page/types.js").Rules|undefined} undefined: the desk is not open yet */
  get rules() { return this.#courier?.desk?.rules; }

  /** @returns {import("../page/types.js").Desk} */
  get desk() { return this.#courier.desk; }

  /** Whether the reader reads in this window. */
  get here() { return Boolean(this.#window?.here); }

  /** Whether the reader may see and handle the film. */
  get filmShown() { return this.state === "ready" || Boolean(this.#feedback?.shown); }

  /** @param {import("../delivery/courier.js").Courier} courier @param {() => void} opened it is known who reads */
  async open(courier, opened) {
    this.#courier = courier;
    this.#past = new LookingBack(courier);
    this.#watch = new Watch(courier, this.#overlays, () => measured(this.#root, this.#stage.renderer));
    this.#feedback = new Feedback(courier, this.#panel);
    const parts = { ...this.#parts, past: this.#past, watch: this.#watch, feedback: this.#feedback };
    const wayBack = new WayBack(this, parts);
    const progress = new Progress(this, { ...parts, wayBack }, courier);
    this.seating = new Seating(this, parts, courier);
    this.post = new Post(this, { ...parts, progress }, courier);
    this.#handingIn = new HandingIn(this, { ...parts, wayBack, progress }, courier);
    this.#wayBack = wayBack;
    this.#progress = progress;
    this.enter("loading");
    this.#panel.showLoading(texts.loading.opening);
    if (!(await courier.open())) return;
    opened();
    await this.#stage.opened;
    this.#window = new OneWindow(courier, this.#overlays, {
      goOn: () => this.#goOn(),
      wait: (text) => this.#panel.showLoading(text),
      handOver: () => this.#handOver(),
      finished: () => this.state === "finished",
    });
    this.post.outboxChanged();
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
    this.#progress.next();
  }

  /** The window has another size. */
  resized() {
    this.#progress?.resized();
  }

  /** The reader moved a hand. */
  touched() {
    if (this.sitting) this.sitting.touched = true;
    this.#progress?.touched();
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
    this.#progress.enter(now);
    if (this.state !== "ready") return;
    const decision = this.answering.confirm(now - this.seating.readyAt <= QUIET_MS);
    if (decision) this.#handingIn.handIn(now, decision);
  }

  /** Pause or go on. @param {number} now */
  pause(now) {
    if (this.#progress.halted) {
      this.#progress.resume();
      return;
    }
    if (this.state === "paused" && this.list.readElsewhere(this.sitting)) {
      this.touched();
      this.giveOver();
      return;
    }
    const paused = this.state === "ready";
    if (!paused && !this.#pausedByReader) return;
    this.sitting.clock.setPaused(now, paused);
    this.keep(now);
    if (paused) this.#drawCurtain();
    else this.#overlays.drawBack();
    this.enter(paused ? "paused" : "ready");
  }

  get #pausedByReader() { return this.state === "paused" && Boolean(this.sitting?.clock.paused); }

  /** Look at the case before, where the protocol allows it. */
  back() {
    if (this.state !== "ready" || !this.rules.back_navigation) return;
    if (this.answering.givingUp) this.answering.stepBack();
    else this.#wayBack.back();
  }

  /** The tab, or the case in it, may have been hidden or shown again. @param {number} now */
  visibility(now) {
    this.#window?.look();
    if (!this.sitting || this.sitting.committed) return;
    this.#watch.look(this.sitting, now);
    this.keep(now);
  }

  /** Some times a second. @param {number} now */
  tick(now) {
    if (!this.sitting?.clock.running || this.sitting.committed) return;
    const left_ms = this.#watch.tick(this.sitting, now);
    if (left_ms === null) return;
    this.#panel.showCountdown(Math.max(0, Math.ceil(left_ms / 1000)));
    if (left_ms > 0 || this.state !== "ready") return;
    if (["help", "settings"].includes(this.#overlays.open)) this.#overlays.close();
    this.#handingIn.handIn(now, { status: "timed_out", reason: "" });
  }

  /** Write down where the running case stands, for a reload. @param {number} now */
  keep(now) {
    this.#watch?.keep(this.sitting, now);
  }

  /** @param {string} tool */
  used(tool) {
    if (this.state === "ready") this.sitting.used(tool);
  }

  /** The card lost its films: bring them back, and count the time until then as hidden. */
  filmsLost() {
    this.#stage.lost();
    const { sitting } = this;
    if (!this.here) return;
    if (!sitting || sitting.committed) {
      const cutShort = this.#feedback.hold();
      if (cutShort) this.#recall(cutShort);
      else this.seating.prefetch();
      return;
    }
    if (sitting.clock.running) sitting.flag("display_lost");
    this.#watch.leave(sitting, performance.now());
    this.seating.seat(sitting);
  }

  /** The case on the screen was read in another browser. */
  giveOver() {
    this.sitting.committed = true;
    this.#courier.keep.drop("running");
    this.next();
  }

  /** Read in this window from now on. */
  #goOn() {
    const { desk } = this.#courier;
    this.list = new Worklist(this.#courier);
    this.#panel.showReader(desk);
    this.#root.dataset.back = String(this.rules.back_navigation);
    this.#root.dataset.cannotAnswer = String(Boolean(this.rules.cannot_answer));
    this.#panel.showRenderer(this.#stage.renderer.name);
    const cutShort = this.#feedback.resume(Date.now());
    if (cutShort) this.#recall(cutShort);
    else this.next();
  }

  /** Stop reading in this window. @returns {object|null} where the running case stands */
  #handOver() {
    if (this.state === "finished") return null;
    const now = performance.now();
    const running = this.#past.takeBack(this.#past.aside?.item.case) ?? this.sitting;
    const stands = running && this.#watch.stands(running, now);
    this.sitting = null;
    this.#feedback.leave();
    this.#progress.leave();
    this.answering.reset();
    this.#stage.clear();
    this.#overlays.drawBack();
    this.#parts.sheet.close();
    this.#panel.showCountdown(null);
    this.enter("loading");
    return stands;
  }

  /** The case is on the screen: it goes on, unless it was paused before. @param {Sitting} sitting */
  began(sitting) {
    this.#progress.began(sitting.item);
    if (sitting.clock.paused) this.#drawCurtain();
    this.enter(sitting.clock.paused ? "paused" : "ready");
  }

  /** @param {import("../page/types.js").Feedback|null|undefined} told undefined: not yet */
  tell(told) {
    if (told) {
      this.#feedback.show();
      this.enter("paused");
    } else if (told === null) {
      this.next();
    }
  }

  /** Bring the case back whose feedback a reload, or the loss of its film, cut short.
   *  @param {import("../case/feedback.js").Awaited} cutShort */
  #recall(cutShort) {
    this.seating.recall(cutShort, () => this.tell(this.#feedback.release()));
  }

  #drawCurtain() {
    const { title, text, button } = texts.paused;
    const goOn = { label: button, run: () => this.pause(performance.now()) };
    this.#overlays.draw({ title, text }, goOn).focus({ preventScroll: true });
  }

  /** @param {State} state */
  enter(state) {
    this.state = state;
    sign(this.#root, {
      state, item: this.sitting?.item, total: this.#courier.desk?.total, halt: this.#progress.halted,
      feedback: Boolean(this.#feedback.shown),
    });
    this.#panel.say(state === "ready" ? this.#panel.position : texts.said[state]);
  }
}
