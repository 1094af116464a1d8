/**
 * The clock of one case: every millisecond since t0 is response, hidden or paused, never two of them.
 *
 * Time comes in as an argument (the browser's monotonic clock, in milliseconds) and is never read here.
 * A paused case counts as paused even while its tab is hidden: the reader said so.
 */

/** @import { Times } from "../page/types.js" */

/** @typedef {Times & {paused: boolean}} ClockState  what survives a reload */

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
   * Start at t0, or go on after a reload.
   * @param {number} now
   * @param {number} [gapMs] how long the case was off the screen since its kept state
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
    // The whole is the sum of its rounded parts, so that the four columns always add up.
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
