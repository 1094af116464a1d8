/** The reading room itself: which case is on the screen, what the reader may do now, and what comes next. */

import { Answering } from "./answering.js";
import { Between } from "./between.js";
import { circumstances } from "./circumstances.js";
import { Feedback } from "./feedback.js";
import { newId } from "./ids.js";
import { Interludes } from "./interludes.js";
import { LookingBack } from "./looking-back.js";
import { OneWindow } from "./one-window.js";
import { epochAt } from "./paint.js";
import { Preparation } from "./preparation.js";
import { measured } from "./surroundings.js";
import { texts } from "./texts.js";
import { Watch } from "./watch.js";
import { Worklist } from "./worklist.js";

/** @typedef {import("./sitting.js").Sitting} Sitting */
/** @typedef {"loading"|"ready"|"paused"|"finished"} State */

const MOST_UNTOUCHED = 3; // one case may be looked at with folded arms, three in a row hardly
const QUIET_MS = 600; // a second Enter this soon after a commit is a double press, not a question

export class Room {
  /** @type {State} */
  state = "loading";
  /** @type {Sitting|null} */
  sitting = null;
  answering;
  #parts;
  #root;
  #panel;
  #stage;
  #overlays;
  /** @type {import("./courier.js").Courier} */
  #courier;
  /** @type {LookingBack} */
  #past;
  /** @type {Between} */
  #between;
  /** @type {Worklist} */
  #list;
  /** @type {Watch} */
  #watch;
  /** @type {OneWindow} */
  #window;
  /** @type {Feedback} */
  #feedback;
  /** @type {Preparation} */
  #preparation;
  /** @type {Interludes} */
  #interludes;
  /** Cases in a row whose time ran out untouched. */
  #ranOut = 0;
  #readyAt = 0;

  /** @param {{root: HTMLElement, panel: import("./panel.js").Panel, stage: import("./stage.js").Stage,
   *   overlays: import("./overlays.js").Overlays, sheet: import("./step-sheet.js").StepSheet,
   *   givingUp: import("./giving-up.js").GivingUp}} parts */
  constructor(parts) {
    this.#parts = parts;
    this.#root = parts.root;
    this.#panel = parts.panel;
    this.#stage = parts.stage;
    this.#overlays = parts.overlays;
    const current = () => (this.state === "ready" ? this.sitting : null);
    this.answering = new Answering(parts, current, () => this.rules, (now) => this.keep(now));
  }

  get rules() { return this.#courier.desk.rules; }

  /** Whether the reader may see and handle the film. */
  get filmShown() { return this.state === "ready" || Boolean(this.#feedback?.shown); }

  /** @param {import("./courier.js").Courier} courier @param {() => void} opened it is known who reads */
  async open(courier, opened) {
    this.#courier = courier;
    this.#past = new LookingBack(courier);
    this.#between = new Between(this.#parts, courier, () => this.#another());
    this.#feedback = new Feedback(courier, this.#panel);
    this.#interludes = new Interludes(courier);
    this.#preparation = new Preparation(this.#parts, courier, () => this.next());
    this.#watch = new Watch(courier, this.#overlays, () => measured(this.#root, this.#stage.renderer));
    this.#enter("loading");
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
    this.outboxChanged();
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
    if (!this.#window.here) return;
    this.#feedback.end();
    const item = this.#list.coming[0];
    const interlude = item && this.#interludes.before(item);
    if (this.#preparation.due.length) this.#prepare();
    else if (item && this.#ranOut >= MOST_UNTOUCHED) this.#stop({ name: "absent", ...texts.absent });
    else if (interlude) this.#stop(interlude);
    else if (item) this.#seat(this.#past.takeBack(item.case) ?? this.#list.sitting(item));
    else this.#wait();
  }

  /** The reader moved a hand. */
  touched() {
    if (this.sitting) this.sitting.touched = true;
    this.#ranOut = 0;
  }

  /** @param {number} now the time of the key or click that confirms */
  confirm(now) {
    if (this.#feedback?.shown) {
      this.next();
      return;
    }
    if (this.#between.endsWithEnter(now)) this.#resume();
    if (this.state !== "ready") return;
    const decision = this.answering.confirm(now - this.#readyAt <= QUIET_MS);
    if (decision) this.#commit(now, decision);
  }

  /** Pause or go on. @param {number} now */
  pause(now) {
    if (this.#between.halted || (this.state === "paused" && this.#list.readElsewhere(this.sitting))) {
      this.#resume();
      return;
    }
    const paused = this.state === "ready";
    if (!paused && !(this.state === "paused" && this.sitting?.clock.paused)) return;
    this.sitting.clock.setPaused(now, paused);
    this.keep(now);
    if (paused) this.#drawCurtain();
    else this.#overlays.drawBack();
    this.#enter(paused ? "paused" : "ready");
  }

  /** Look at the case before, where the protocol allows it. */
  back() {
    if (this.state !== "ready" || !this.rules.back_navigation) return;
    const { practice, position } = this.sitting.item;
    if (this.answering.givingUp) this.answering.stepBack();
    else if (!practice && position > 1) this.#visit(position - 1);
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
    this.#commit(now, { status: "timed_out", reason: "" });
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
    if (!sitting || sitting.committed) return;
    this.#watch.leave(sitting, performance.now());
    sitting.flag("display_lost");
    this.#seat(sitting);
  }

  outboxChanged() {
    const { outbox } = this.#courier;
    this.#root.dataset.outbox = String(outbox.readings.length);
    this.#panel.showOutbox(outbox.state);
  }

  /** @param {string} text */
  trouble(text) {
    this.#panel.showTrouble(text);
    if (this.#feedback?.awaited) this.#panel.hint(text);
  }

  /** Answers were refused as they came, not one by one. @param {string} text */
  notTaken(text) {
    this.trouble(text);
    this.#panel.toast(text);
  }

  /**
   * The server has answered.
   * @param {import("./types.js").Receipt} receipt @param {import("./types.js").Record[]} sent
   */
  receipt(receipt, sent) {
    if (!this.#window?.here) return;
    for (const { id, why } of receipt.refused) {
      const record = sent.find((each) => each.id === id);
      if (record?.kind === "preparation") this.#preparation.refused(record.step, why);
      if (record?.kind !== "reading") continue;
      this.#list.again(record.case);
      this.#past.forget(record.case);
      this.#panel.toast(texts.hints.refused(why));
    }
    const told = this.#feedback.from(receipt, sent);
    if (told !== undefined) {
      this.#tell(told);
    } else if (this.#list.readElsewhere(this.sitting)) {
      this.#panel.toast(texts.hints.readElsewhere);
      // A paused reader is not there: the next case comes when they go on.
      if (this.state !== "paused") this.next();
    } else {
      this.#another();
    }
    if (this.state !== "loading") this.#prefetch();
  }

  /** Read in this window from now on. */
  #goOn() {
    const { desk } = this.#courier;
    this.#list = new Worklist(this.#courier);
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
    this.#between.lift();
    this.answering.reset();
    this.#stage.clear();
    this.#overlays.drawBack();
    this.#parts.sheet.close();
    this.#panel.showCountdown(null);
    this.#enter("loading");
    return stands;
  }

  /** Bring a case to the screen. @param {Sitting} sitting @param {(frame: number) => void} [painted] */
  #seat(sitting, painted = (frame) => this.#begin(sitting, frame)) {
    this.sitting = sitting;
    this.answering.reset();
    this.#enter("loading");
    this.#panel.showPosition(sitting.item, this.#courier.desk);
    this.#panel.showCountdown(null);
    const freshen = async () => {
      if (sitting.revisited) return (await this.#past.fetch(sitting.item.position)) ?? undefined;
      await this.#courier.refresh();
      return this.#courier.desk.cases.find((item) => item.case === sitting.item.case);
    };
    this.#stage.bring(sitting, this.rules, freshen, painted);
  }

  #begin(sitting, t0) {
    sitting.away = false;
    this.#watch.look(sitting, t0);
    sitting.begin(t0, epochAt(t0));
    this.#readyAt = t0;
    this.#interludes.began(sitting.item);
    if (sitting.clock.paused) this.#drawCurtain();
    this.#enter(sitting.clock.paused ? "paused" : "ready");
    if (sitting.unrecorded) {
      this.#courier.outbox.put(sitting.presentation(newId(), circumstances(this.#stage.renderer)));
    }
    this.#courier.outbox.flush();
    this.keep(t0);
    this.tick(t0);
    this.#prefetch();
  }

  #commit(now, { status, reason }) {
    const { sitting } = this;
    this.#watch.close(sitting, now);
    sitting.committed = true;
    this.#ranOut = status === "timed_out" && !sitting.touched ? this.#ranOut + 1 : 0;
    this.answering.reset();
    this.#enter("loading");
    if (status === "answered" && sitting.revisited && sitting.unchanged) {
      this.#onward(sitting);
      return;
    }
    const record = { ...sitting.reading(now, epochAt(now), status), ...(reason && { reason }) };
    const feedback = sitting.item.practice || this.rules.feedback === "after case";
    if (feedback) this.#feedback.expect(sitting.item, record, epochAt(now));
    this.#courier.outbox.put(record);
    this.#past.remember(sitting.item, record);
    if (!sitting.revisited) this.#courier.keep.drop("running");
    this.#list.answered(sitting.item.case);
    if (feedback) {
      this.#panel.hint(texts.loading.saving);
      this.#courier.outbox.flush();
    } else {
      this.#onward(sitting);
    }
  }

  /** From an earlier case to the one after it, until the running case is reached. */
  #onward(sitting) {
    const following = this.#past.after(sitting, this.#list.coming[0]);
    if (following) this.#visit(following);
    else this.next();
  }

  async #visit(position) {
    const from = this.sitting;
    const known = this.#past.remembered(position);
    const item = known ?? (await this.#past.fetch(position));
    // The reader may have gone on, or paused, while the case was on its way.
    if (from !== this.sitting || !(this.state === "ready" || from.committed)) return;
    if (!item) {
      this.#panel.toast(texts.hints.earlierFailed);
      if (from.committed) this.next();
      return;
    }
    if (!from.revisited && !from.committed) {
      this.#watch.leave(from, performance.now());
      this.#past.setAside(from);
    }
    this.#seat(this.#list.sitting(item));
    if (known) this.#correct(this.sitting);
  }

  /** An earlier case came up as this page remembers it: has it been answered anew elsewhere? @param {Sitting} sitting */
  async #correct(sitting) {
    const item = await this.#past.correction(sitting.item);
    if (item && sitting === this.sitting && !sitting.committed && sitting.unchanged) this.#seat(this.#list.sitting(item));
  }

  /** @param {import("./types.js").Feedback|null|undefined} told undefined: not yet */
  #tell(told) {
    if (told) {
      this.#feedback.show();
      this.#enter("paused");
    } else if (told === null) {
      this.next();
    }
  }

  /** Bring the case back whose feedback a reload cut short. @param {import("./feedback.js").Awaited} cutShort */
  #recall({ item, record }) {
    const sitting = Object.assign(this.#list.sitting(item), { option: record.option, committed: true });
    this.#seat(sitting, () => this.#tell(this.#feedback.release()));
  }

  #wait() {
    this.sitting = null;
    this.#past.takeBack();
    this.#enter(this.#between.wait());
  }

  #prepare() {
    this.#stage.clear();
    this.#enter("paused");
    this.#preparation.show();
  }

  /** The next case waits behind a curtain, until the reader goes on.
   *  @param {import("./between.js").Halt} halt */
  #stop(halt) {
    this.#between.halt(halt, performance.now(), () => this.#resume());
    this.#enter("paused");
    this.#panel.say(halt.title);
    this.#prefetch();
  }

  #resume() {
    if (this.#between.lift()) this.#interludes.lift(this.#list.coming[0]);
    this.touched();
    this.next();
  }

  /** While nothing was left to read: there may be a case now. */
  #another() {
    if (this.state === "loading" && !this.sitting) this.next();
  }

  #prefetch() {
    const shown = [this.sitting, this.#past.aside].filter(Boolean).map(({ item }) => item);
    const beside = this.rules.back_navigation && this.sitting ? this.#past.beside(this.sitting.item.position) : [];
    // Further back the films have gone from the card: fetch them while this case is looked at.
    const coming = this.sitting?.revisited ? [...this.#list.coming, ...beside] : this.#list.coming;
    this.#stage.prefetch([...shown, ...beside].map((item) => item.case), coming);
  }

  #drawCurtain() {
    const { title, text, button } = texts.paused;
    this.#overlays.draw({ title, text }, { label: button, run: () => this.pause(performance.now()) });
  }

  /** @param {State} state */
  #enter(state) {
    this.state = state;
    const { dataset } = this.#root;
    const { total } = this.#courier.desk ?? {};
    const { position, practice } = this.sitting?.item ?? {};
    if (total) dataset.total = String(total);
    if (position) dataset.position = practice ? "0" : String(position);
    dataset.practice = String(Boolean(practice));
    dataset.halt = this.#between.halted;
    dataset.feedback = String(Boolean(this.#feedback?.shown));
    dataset.state = state;
    this.#panel.say(state === "ready" ? this.#panel.position : texts.said[state]);
  }
}
