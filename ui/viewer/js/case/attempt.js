/** Measures one case: its clock, the views and tools in use, the selections, and the resulting records. */

import { asksWords } from "../page/question-panel.js";

/** @import { Answer, Case, Record, Times } from "../page/types.js" */

/** @typedef {Times & {paused: boolean}} ClockState  what survives a reload */

/**
 * Every millisecond since t0 counts as response, hidden or paused time, and only as one of them.
 *
 * Time comes in as an argument (the browser's monotonic clock, in milliseconds) and is never read here.
 * A paused case counts as paused even while its tab is hidden, because the reader paused it.
 */
export class Clock {
  #running = false;
  #since = 0;
  #hidden;
  #paused;
  #spent;

  /** @param {{hidden?: boolean, kept?: ClockState|null}} [options] kept: the state before a reload */
  constructor({ hidden = false, kept = null } = {}) {
    this.#hidden = hidden;
    this.#paused = kept?.paused ?? false;
    this.#spent = {
      response_ms: kept?.response_ms ?? 0,
      hidden_ms: kept?.hidden_ms ?? 0,
      paused_ms: kept?.paused_ms ?? 0,
    };
  }

  get running() { return this.#running; }
  get paused() { return this.#paused; }

  /**
   * Start at t0, or continue after a reload.
   * @param {number} now
   * @param {number} [gapMs] time off the screen since the kept state was stored
   */
  start(now, gapMs = 0) {
    if (this.#running) return;
    this.#spent[this.#paused ? "paused_ms" : "hidden_ms"] += Math.max(0, gapMs);
    this.#running = true;
    this.#since = now;
  }

  /** @param {number} now @param {boolean} hidden */
  setHidden(now, hidden) {
    this.#settle(now);
    this.#hidden = hidden;
  }

  /** @param {number} now @param {boolean} paused */
  setPaused(now, paused) {
    this.#settle(now);
    this.#paused = paused;
  }

  /** @param {number} now @returns {Times} */
  read(now) {
    const spent = { ...this.#spent };
    if (this.#running) spent[this.#account()] += Math.max(0, now - this.#since);
    const [response_ms, hidden_ms, paused_ms] =
      [spent.response_ms, spent.hidden_ms, spent.paused_ms].map(toMicroseconds);
    // The total is the sum of the rounded parts, so that the four columns always add up.
    const elapsed_ms = toMicroseconds(response_ms + hidden_ms + paused_ms);
    return { response_ms, elapsed_ms, hidden_ms, paused_ms };
  }

  /** @param {number} now @returns {ClockState} */
  keep(now) {
    return { ...this.read(now), paused: this.#paused };
  }

  #account() {
    if (this.#paused) return "paused_ms";
    return this.#hidden ? "hidden_ms" : "response_ms";
  }

  #settle(now) {
    if (!this.#running || now <= this.#since) return;
    this.#spent[this.#account()] += now - this.#since;
    this.#since = now;
  }
}

const toMicroseconds = (ms) => Math.round(ms * 1000) / 1000;

/** Number of views with a separate time. */
export const MOST_VIEWS = 8;

/** Views and tools whose use is timed. The names are those of the record without "_ms"; views by index. */
export const USES = [
  ...Array.from({ length: MOST_VIEWS }, (_, i) => `view_${i + 1}`), "alone", "zoomed", "windowed", "inverted", "glass",
];

/**
 * How long each view and each tool was in use, in charged time.
 *
 * It has no clock: every time is the response time of the case's clock, which stops while the case is hidden or
 * paused, so that such time is never counted.
 */
export class Usage {
  /** @type {{[use: string]: number}} */
  #spent_ms;
  /** @type {string[]} */
  #now = [];
  #since_ms;

  /** @param {{[use: string]: number}} [kept] what `keep` returned before a reload
   *  @param {number} [response_ms] the time of the case's clock at that moment */
  constructor(kept = {}, response_ms = 0) {
    this.#spent_ms = { ...kept };
    this.#since_ms = response_ms;
  }

  /** From now on only these are in use. @param {string[]} uses @param {number} response_ms */
  change(uses, response_ms) {
    this.#settle(response_ms);
    this.#now = USES.filter((use) => uses.includes(use));
  }

  /** @param {number} response_ms @returns {{[name: string]: number}} integer ms; unused views and tools are left out */
  read(response_ms) {
    this.#settle(response_ms);
    return Object.fromEntries(USES.filter((use) => use in this.#spent_ms)
      .map((use) => [`${use}_ms`, Math.round(this.#spent_ms[use])]));
  }

  /** The state to keep over a reload. @param {number} response_ms */
  keep(response_ms) {
    this.#settle(response_ms);
    return { ...this.#spent_ms };
  }

  /** A key press may be older than the last reading of the clock on a busy computer: time counted after it is
   * subtracted. */
  #settle(response_ms) {
    const passed_ms = response_ms - this.#since_ms;
    for (const use of this.#now) this.#spent_ms[use] = Math.max(0, (this.#spent_ms[use] ?? 0) + passed_ms);
    this.#since_ms = response_ms;
  }
}

/** The flag of a reading whose reader marked the question as faulty. */
export const FAULTY = "question_faulty";
const MOST_SELECTIONS = 200;
const LONGEST_GAP_MS = 30 * 24 * 3600 * 1000; // a longer absence means that the clock was set

export class Attempt {
  item;
  readingId;
  clock;
  /** @type {number|null} */
  presentedEpoch = null;
  /** Not on the screen although the page is visible, because the reader is looking at an earlier case. */
  away = false;
  #recorded = false;
  #selections = [];
  /** @type {number|null} */
  #firstSelection = null;
  #behaviour = {};
  #usage;
  #flags = new Set();
  #kept;
  #timed = true;
  /** From t0 to the first frame with the model's answer. @type {number|null} */
  #aidShown_ms = null;
  /** Times that are invalid because the clock was set in the meantime. @type {string[]} */
  #unmeasured = [];

  /**
   * @param {Case} item
   * @param {{readingId: string, kept?: any}} options kept: what `keep` returned before a reload
   */
  constructor(item, { readingId, kept = null }) {
    this.item = item;
    this.readingId = readingId;
    this.clock = new Clock({ kept: kept?.clock });
    this.#usage = new Usage(kept?.usage, this.clock.read(0).response_ms);
    this.#kept = kept;
    if (kept) this.#restore(kept);
    else if (item.reading) this.#flags.add("revisited");
    else if (item.presented) {
      this.#flags.add("resumed_elsewhere");
      this.#timed = false;
    }
  }

  /** @returns {boolean} whether its presentation is still to be recorded */
  get unrecorded() { return !this.#recorded && !this.#kept && !this.item.presented && !this.item.reading; }

  /**
   * The case is on the screen, at t0 or after an interruption.
   * @param {number} now @param {number} epoch
   */
  begin(now, epoch) {
    this.presentedEpoch ??= epoch;
    if (this.clock.running) return;
    const gap_ms = this.#kept ? epoch - this.#kept.epoch : 0;
    const plausible = gap_ms >= 0 && gap_ms <= LONGEST_GAP_MS;
    if (!plausible) this.#flagClockChange();
    this.clock.start(now, plausible ? gap_ms : 0);
  }

  /** An option was selected. @param {string} option @param {number} now */
  choose(option, now) {
    const at_ms = this.clock.read(now).response_ms;
    this.#firstSelection ??= at_ms;
    // Limited in length: the last entry is always the latest selection.
    if (this.#selections.length === MOST_SELECTIONS) this.#selections.pop();
    this.#selections.push({ option, at_ms });
  }

  /** The text of an open-ended answer was changed. @param {number} now */
  written(now) {
    this.#firstSelection ??= this.clock.read(now).response_ms;
  }

  /** The model's answer is on the screen; only the first time counts. @param {number|null} ms since the first frame
   * of the  case; null: not known */
  aidShown(ms) {
    this.#aidShown_ms ??= ms === null ? null : toMicroseconds(ms);
  }

  /** @param {string} tool */
  used(tool) {
    this.#behaviour[tool] = (this.#behaviour[tool] ?? 0) + 1;
  }

  /** From now on only these views and tools are in use. @param {string[]} uses @param {number} now */
  recordUse(uses, now) {
    this.#usage.change(uses, this.clock.read(now).response_ms);
  }

  /** Duration of use of each view and tool; empty if earlier times are unknown.
   *  @param {number} now @returns {{[name: string]: number}} */
  inUse(now) {
    return this.#timed ? this.#usage.read(this.clock.read(now).response_ms) : {};
  }

  /** @param {string} flag */
  flag(flag) {
    this.#flags.add(flag);
  }

  /** The state to keep over a reload. @param {number} now @param {number} epoch @param {Answer} answer */
  keep(now, epoch, { option, words, confidence, comment, faulty }) {
    return {
      case: this.item.case, epoch, clock: this.clock.keep(now), option, words, confidence, comment, faulty,
      selections: this.#selections, firstSelection: this.#firstSelection, behaviour: this.#behaviour,
      usage: this.#usage.keep(this.clock.read(now).response_ms),
      flags: [...this.#flags], presentedEpoch: this.presentedEpoch, timed: this.#timed,
      aidShown_ms: this.#aidShown_ms, unmeasured: this.#unmeasured,
    };
  }

  /** @param {string} id @param {object} circumstances @returns {Record} */
  presentation(id, circumstances) {
    this.#recorded = true;
    return { kind: "presentation", id, case: this.item.case, shown_epoch_ms: this.presentedEpoch, circumstances };
  }

  /**
   * @param {number} now the commit on the monotonic clock @param {number} epoch
   * @param {"answered"|"skipped"|"timed_out"} status @param {Answer} answer @returns {Record}
   */
  reading(now, epoch, status, { option, words, confidence, comment, faulty }) {
    const answered = status === "answered";
    return {
      kind: "reading", id: this.readingId, case: this.item.case, status,
      option: answered ? option : null, ...(asksWords(this.item) && { words: answered ? words : null }),
      confidence: answered ? confidence : null,
      comment: comment.trim() || null,
      times: this.#times(now),
      selections: this.#selections, behaviour: { ...this.#behaviour, ...this.inUse(now) },
      presented_epoch_ms: this.presentedEpoch, committed_epoch_ms: epoch,
      flags: [...this.#flags, ...(faulty ? [FAULTY] : [])], supersedes: this.item.reading?.id ?? null,
    };
  }

  /** Null for times that were not measured. */
  #times(now) {
    const { response_ms, elapsed_ms, hidden_ms, paused_ms } = this.clock.read(now);
    /** @type {{[name: string]: number|null}} */
    const times = { response_ms, elapsed_ms, hidden_ms, paused_ms, first_selection_ms: this.#firstSelection };
    if (this.item.aid) times.aid_shown_ms = this.#aidShown_ms;
    for (const name of this.#timed ? this.#unmeasured : Object.keys(times)) times[name] = null;
    return times;
  }

  /** The wall clock was set while the case was off the screen, so that the duration is unknown. */
  #flagClockChange() {
    this.#flags.add("clock_implausible");
    this.#unmeasured = [...new Set([...this.#unmeasured, "elapsed_ms", this.clock.paused ? "paused_ms" : "hidden_ms"])];
  }

  #restore(kept) {
    this.presentedEpoch = kept.presentedEpoch;
    this.#selections = kept.selections;
    this.#firstSelection = kept.firstSelection;
    this.#behaviour = kept.behaviour;
    this.#timed = kept.timed;
    this.#aidShown_ms = kept.aidShown_ms ?? null;
    this.#unmeasured = kept.unmeasured ?? [];
    this.#flags = new Set([...kept.flags, "resumed"]);
  }
}
