/** The reading room itself: which case is on the screen, what the reader may do now, and what comes next. */

import { circumstances } from "./circumstances.js";
import { newId } from "./ids.js";
import { epochAt } from "./paint.js";
import { Sitting } from "./sitting.js";
import { texts } from "./texts.js";

/** @typedef {"loading"|"ready"|"paused"|"finished"} State */

const QUIET_MS = 600; // a second Enter this soon after a commit is a double press, not a question
const KEEP_EVERY_MS = 1000;
const ASK_AGAIN_MS = 1000;

export class Room {
  /** @type {State} */
  state = "loading";
  /** @type {Sitting|null} */
  sitting = null;
  /** Whether digits now mean confidence. */
  askingSure = false;
  #root;
  #panel;
  #stage;
  #overlays;
  /** @type {import("./courier.js").Courier} */
  #courier;
  /** @type {Sitting|null} the running case while an earlier one is looked at */
  #aside = null;
  /** Cases answered here, whether or not the server knows yet. */
  #answered = new Set();
  /** @type {{readingId: string, option: string|null, shown: boolean}|null} */
  #feedback = null;
  #readyAt = 0;
  #keptAt = 0;
  #asking = null;

  /** @param {{root: HTMLElement, panel: import("./panel.js").Panel, stage: import("./stage.js").Stage,
   *   overlays: import("./overlays.js").Overlays}} parts */
  constructor({ root, panel, stage, overlays }) {
    this.#root = root;
    this.#panel = panel;
    this.#stage = stage;
    this.#overlays = overlays;
  }

  get rules() { return this.#courier.desk.rules; }

  /** Whether the reader may see and handle the film. */
  get filmShown() { return this.state === "ready" || Boolean(this.#feedback?.shown); }

  /** @param {import("./courier.js").Courier} courier */
  async open(courier) {
    this.#courier = courier;
    this.#enter("loading");
    this.#panel.showLoading(texts.loading.opening);
    if (!(await courier.open())) return;
    this.#panel.showReader(courier.desk);
    this.#root.dataset.back = String(this.rules.back_navigation);
    this.#panel.showRenderer(this.#stage.renderer.name);
    for (const record of courier.outbox.readings) this.#answered.add(record.case);
    this.outboxChanged();
    this.next();
  }

  /** Go on to the next case that is not answered, or to the end. */
  next() {
    this.#feedback = null;
    const item = this.#coming()[0];
    const aside = this.#aside;
    this.#aside = null;
    if (aside && item?.case === aside.item.case) this.#seat(aside);
    else if (item) this.#seat(this.#newSitting(item));
    else this.#wait();
  }

  /** @param {string} option @param {number} now */
  choose(option, now) {
    if (this.state !== "ready" || !this.sitting.item.options.some((each) => each.option === option)) return;
    this.sitting.choose(option, now);
    this.#ask(false);
    this.#panel.showChoice(option);
    this.#panel.hint("");
    this.#panel.say(texts.said.chosen(option));
    this.keep(now);
  }

  /** @param {number} step */
  sure(step) {
    if (this.state !== "ready" || step < 1 || step > this.rules.confidence_steps) return;
    this.sitting.confidence = step;
    this.#panel.showConfidence(step);
    this.#panel.hint("");
  }

  stopAskingSure() {
    this.#ask(false);
    this.#panel.hint("");
  }

  /** @param {string} text */
  comment(text) {
    if (this.state === "ready") this.sitting.comment = text;
  }

  /** @param {number} now the time of the key or click that confirms */
  confirm(now) {
    if (this.#feedback?.shown) {
      this.next();
      return;
    }
    if (this.state !== "ready") return;
    const { option, confidence } = this.sitting;
    if (option === null) {
      if (now - this.#readyAt > QUIET_MS) this.#panel.hint(texts.hints.chooseFirst);
    } else if (this.rules.confidence_steps && confidence === null) {
      this.#ask(true);
      this.#panel.hint(texts.hints.sayHowSure(this.rules.confidence_steps));
    } else {
      this.#commit(now, "answered");
    }
  }

  /** Pause or go on. @param {number} now */
  pause(now) {
    const paused = this.state === "ready";
    if (!paused && !(this.state === "paused" && this.sitting.clock.paused)) return;
    this.sitting.clock.setPaused(now, paused);
    this.keep(now);
    if (paused) this.#drawCurtain();
    else this.#overlays.drawBack();
    this.#enter(paused ? "paused" : "ready");
  }

  /** Look at the case before, where the protocol allows it. */
  back() {
    if (this.state !== "ready" || !this.rules.back_navigation || this.sitting.item.position < 2) return;
    this.#visit(this.sitting.item.position - 1);
  }

  /** The tab, or the case in it, may have been hidden or shown again. @param {number} now */
  visibility(now) {
    if (!this.sitting || this.sitting.committed) return;
    this.sitting.clock.setHidden(now, this.#outOfSight());
    this.keep(now);
  }

  /** Some times a second: the checkpoint and the countdown. @param {number} now */
  tick(now) {
    if (!this.sitting?.clock.running || this.sitting.committed) return;
    if (now - this.#keptAt >= KEEP_EVERY_MS) this.keep(now);
    const limit_ms = this.rules.time_limit_s * 1000;
    if (!limit_ms || this.sitting.revisited) return;
    const left_ms = limit_ms - this.sitting.clock.read(now).response_ms;
    this.#panel.showCountdown(Math.max(0, Math.ceil(left_ms / 1000)));
    if (left_ms <= 0 && this.state === "ready") this.#commit(now, "timed_out");
  }

  /** Write down where the running case stands, for a reload. @param {number} now */
  keep(now) {
    const { sitting } = this;
    if (!sitting?.clock.running || sitting.revisited || sitting.committed) return;
    this.#keptAt = now;
    this.#courier.keep.put("running", sitting.keep(now, epochAt(now)));
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
    this.#leave(sitting, performance.now());
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
    if (this.state === "loading") this.#panel.showLoading(text);
  }

  /**
   * The server has answered.
   * @param {import("./types.js").Receipt} receipt @param {import("./types.js").Record[]} sent
   */
  receipt(receipt, sent) {
    for (const { id, why } of receipt.refused) {
      const record = sent.find((each) => each.id === id);
      if (record?.kind !== "reading") continue;
      // If the desk still lists the case, it is to be read again.
      this.#answered.delete(record.case);
      this.#panel.toast(texts.hints.refused(why));
    }
    const waiting = this.#feedback;
    if (waiting && !waiting.shown && sent.some(({ id }) => id === waiting.readingId)) {
      const feedback = receipt.feedback?.[waiting.readingId];
      if (feedback) this.#showFeedback(feedback);
      else this.next();
    } else if (this.state === "loading" && !this.sitting) {
      this.next();
    }
    if (this.state !== "loading") this.#prefetch();
  }

  #coming() {
    return this.#courier.desk.cases.filter((item) => !this.#answered.has(item.case));
  }

  #newSitting(item) {
    const kept = item.reading ? null : this.#courier.keep.get("running");
    return new Sitting(item, {
      readingId: newId(), kept: kept?.case === item.case ? kept : null,
    });
  }

  /** Bring a case to the screen. @param {Sitting} sitting */
  #seat(sitting) {
    this.sitting = sitting;
    this.#ask(false);
    this.#enter("loading");
    this.#panel.showPosition(sitting.item.position, this.#courier.desk.total, sitting.revisited);
    this.#panel.showCountdown(null);
    const freshen = async () => {
      await this.#courier.refresh();
      return this.#courier.desk.cases.find((item) => item.case === sitting.item.case);
    };
    this.#stage.bring(sitting, this.rules, freshen, (frame) => this.#begin(sitting, frame));
  }

  #begin(sitting, t0) {
    sitting.away = false;
    sitting.clock.setHidden(t0, this.#outOfSight());
    sitting.begin(t0, epochAt(t0));
    this.#readyAt = t0;
    if (sitting.clock.paused) this.#drawCurtain();
    this.#enter(sitting.clock.paused ? "paused" : "ready");
    if (sitting.unrecorded) {
      this.#courier.outbox.put(sitting.presentation(newId(), circumstances(this.#stage.renderer)));
    }
    this.keep(t0);
    this.tick(t0);
    this.#prefetch();
  }

  #commit(now, status) {
    const { sitting } = this;
    sitting.committed = true;
    this.#ask(false);
    this.#enter("loading");
    if (sitting.revisited && sitting.unchanged) {
      this.#onward(sitting);
      return;
    }
    const record = sitting.reading(now, epochAt(now), status);
    this.#courier.outbox.put(record);
    if (!sitting.revisited) this.#courier.keep.drop("running");
    this.#answered.add(sitting.item.case);
    if (this.rules.feedback === "after case") {
      this.#feedback = { readingId: record.id, option: record.option, shown: false };
      this.#panel.hint(texts.loading.saving);
    } else {
      this.#onward(sitting);
    }
  }

  /** From an earlier case to the one after it, until the running case is reached. */
  #onward(sitting) {
    const following = sitting.item.position + 1;
    const running = this.#aside?.item.position ?? this.#coming()[0]?.position ?? 0;
    if (sitting.revisited && following < running) this.#visit(following);
    else this.next();
  }

  async #visit(position) {
    const from = this.sitting;
    let item;
    try {
      item = await this.#courier.earlier(position);
    } catch {
      this.#panel.toast(texts.hints.earlierFailed);
      if (from.committed) this.next();
      return;
    }
    // The reader may have gone on, or paused, while the case was on its way.
    if (from !== this.sitting || !(this.state === "ready" || from.committed)) return;
    if (!from.revisited && !from.committed) {
      this.#leave(from, performance.now());
      this.#aside = from;
    }
    const own = this.#courier.outbox.readings.filter((record) => record.case === item.case).at(-1);
    this.#seat(this.#newSitting(own ? { ...item, reading: own } : item));
  }

  /** Behind a sheet that only the server can close, nobody can read on. */
  #outOfSight() {
    return document.hidden || this.sitting.away || this.#overlays.blocked;
  }

  /** A case goes off the screen unfinished: from now on its time counts as hidden. */
  #leave(sitting, now) {
    sitting.away = true;
    sitting.clock.setHidden(now, true);
    this.keep(now);
  }

  #showFeedback(feedback) {
    this.#feedback.shown = true;
    this.#panel.showFeedback(feedback, this.#feedback.option);
    this.#enter("paused");
  }

  /** Nothing to read at the moment: the end, or cases still on their way. */
  #wait() {
    this.sitting = null;
    const { desk, outbox } = this.#courier;
    this.#stage.clear();
    if (desk.finished && !outbox.readings.length) {
      this.#finish(desk);
      return;
    }
    this.#enter("loading");
    const last = desk.finished || desk.cases.at(-1)?.position === desk.total;
    this.#panel.showLoading(last ? texts.loading.saving : texts.loading.waiting);
    if (outbox.size) outbox.hurry();
    else this.#asking ??= setTimeout(() => this.#askDesk(), ASK_AGAIN_MS);
  }

  async #askDesk() {
    await this.#courier.refresh();
    this.#asking = null;
    if (this.state === "loading" && !this.sitting) this.next();
  }

  #finish({ total, read, study, score }) {
    this.#stage.prefetch([], []);
    this.#root.dataset.position = String(total);
    this.#enter("finished");
    const lines = [texts.finished.text(read, study)];
    if (score) lines.push(texts.finished.score(score));
    this.#overlays.finish(texts.finished.title, lines);
  }

  #prefetch() {
    const shown = [this.sitting, this.#aside].filter(Boolean).map(({ item }) => item.case);
    this.#stage.prefetch(shown, this.#coming());
  }

  #drawCurtain() {
    const { title, text, button } = texts.paused;
    this.#overlays.draw({ title, text }, { label: button, run: () => this.pause(performance.now()) });
  }

  #ask(sure) {
    this.askingSure = sure;
    this.#panel.showStage(sure);
  }

  /** @param {State} state */
  #enter(state) {
    this.state = state;
    const { dataset } = this.#root;
    const { total } = this.#courier.desk ?? {};
    const { position } = this.sitting?.item ?? {};
    if (total) dataset.total = String(total);
    if (position) dataset.position = String(position);
    dataset.feedback = String(Boolean(this.#feedback?.shown));
    dataset.state = state;
    this.#panel.say(state === "ready" ? texts.said.ready(position, total) : texts.said[state]);
  }
}
