/** The measuring of one case: its clock, what was chosen when, and the records that come of it. */

import { asksWords } from "../page/answer-field.js";
import { Clock } from "./clock.js";
import { Usage } from "./usage.js";

/** @import { Answer, Case, Record } from "../page/types.js" */

/** The flag of a reading whose reader marked the question as faulty. */
export const FAULTY = "question_faulty";
const MOST_SELECTIONS = 200;
const LONGEST_GAP_MS = 30 * 24 * 3600 * 1000; // a longer absence is rather a clock that was set

export class Attempt {
  item;
  readingId;
  clock;
  /** @type {number|null} */
  presentedEpoch = null;
  /** Off the screen although the page is not hidden: the reader is looking at an earlier case. */
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
  /** Times that hang on a clock that was set meanwhile. @type {string[]} */
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
   * The case is on the screen: t0, or the first frame after an interruption.
   * @param {number} now @param {number} epoch
   */
  begin(now, epoch) {
    this.presentedEpoch ??= epoch;
    if (this.clock.running) return;
    const gap_ms = this.#kept ? epoch - this.#kept.epoch : 0;
    const plausible = gap_ms >= 0 && gap_ms <= LONGEST_GAP_MS;
    if (!plausible) this.#distrust();
    this.clock.start(now, plausible ? gap_ms : 0);
  }

  /** Another option than before. @param {string} option @param {number} now */
  choose(option, now) {
    const at_ms = this.clock.read(now).response_ms;
    this.#firstSelection ??= at_ms;
    // Bounded: the last place always holds the latest choice.
    if (this.#selections.length === MOST_SELECTIONS) this.#selections.pop();
    this.#selections.push({ option, at_ms });
  }

  /** The answer was written on, in the reader's own words. @param {number} now */
  written(now) {
    this.#firstSelection ??= this.clock.read(now).response_ms;
  }

  /** @param {string} tool */
  used(tool) {
    this.#behaviour[tool] = (this.#behaviour[tool] ?? 0) + 1;
  }

  /** From now on these views and tools are in use, and no others. @param {string[]} uses @param {number} now */
  looking(uses, now) {
    this.#usage.change(uses, this.clock.read(now).response_ms);
  }

  /** How long each view and tool was in use; nothing where the times before are not known.
   *  @param {number} now @returns {{[name: string]: number}} */
  inUse(now) {
    return this.#timed ? this.#usage.read(this.clock.read(now).response_ms) : {};
  }

  /** @param {string} flag */
  flag(flag) {
    this.#flags.add(flag);
  }

  /** What must survive a reload. @param {number} now @param {number} epoch @param {Answer} answer */
  keep(now, epoch, { option, words, confidence, comment, faulty }) {
    return {
      case: this.item.case, epoch, clock: this.clock.keep(now), option, words, confidence, comment, faulty,
      selections: this.#selections, firstSelection: this.#firstSelection, behaviour: this.#behaviour,
      usage: this.#usage.keep(this.clock.read(now).response_ms),
      flags: [...this.#flags], presentedEpoch: this.presentedEpoch, timed: this.#timed,
      unmeasured: this.#unmeasured,
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

  /** Null for what was not measured. */
  #times(now) {
    const { response_ms, elapsed_ms, hidden_ms, paused_ms } = this.clock.read(now);
    const times = { response_ms, elapsed_ms, hidden_ms, paused_ms, first_selection_ms: this.#firstSelection };
    for (const name of this.#timed ? this.#unmeasured : Object.keys(times)) times[name] = null;
    return times;
  }

  /** The wall clock was set while the case was off the screen: how long that was, nobody knows. */
  #distrust() {
    this.#flags.add("clock_implausible");
    this.#unmeasured = [...new Set([...this.#unmeasured, "elapsed_ms", this.clock.paused ? "paused_ms" : "hidden_ms"])];
  }

  #restore(kept) {
    this.presentedEpoch = kept.presentedEpoch;
    this.#selections = kept.selections;
    this.#firstSelection = kept.firstSelection;
    this.#behaviour = kept.behaviour;
    this.#timed = kept.timed;
    this.#unmeasured = kept.unmeasured ?? [];
    this.#flags = new Set([...kept.flags, "resumed"]);
  }
}
