/** The connection to the server: its routes, opening the desk, sending the outbox, and messages about failures. */

import { Outbox } from "./outbox.js";
import { ReaderStorage } from "../page/storage.js";
import { texts } from "../page/texts.js";

/** @import { Overlays } from "../page/overlays.js" */
/** @import { Case, Desk, Receipt, Record } from "../page/types.js" */

const REASONS = ["signed-out", "other-reader", "left", "wrong-origin"]; // the server's names of reasons

/** Why a request failed: one of the server's reasons, `refused` (do not repeat) or `unreachable` (repeat). */
export class DeskError extends Error {
  /** @param {string} why @param {number} status @param {string} [words] the server's message for the reader */
  constructor(why, status, words = "") {
    super(`${why} (${status}) ${words}`.trim());
    this.why = why;
    this.status = status;
    this.words = words;
  }
}

/** The routes as functions: the desk, one earlier case, and the delivery of records. */
export class DeskRoutes {
  #base;
  #fetch;
  #wallClock;

  /** @param {string} base @param {typeof fetch} [fetcher] @param {() => number} [wallClock] */
  constructor(base, fetcher = (...args) => fetch(...args), wallClock = () => Date.now()) {
    this.#base = base.replace(/\/$/, "");
    this.#fetch = fetcher;
    this.#wallClock = wallClock;
  }

  /** @returns {Promise<Desk>} */
  desk() {
    return this.#json(this.#base, {});
  }

  /** @param {number} position @returns {Promise<Case>} */
  earlier(position) {
    return this.#json(`${this.#base}/cases/${position}`, {});
  }

  /** @param {string} seal @param {Record[]} records @param {boolean} [leaving] the page closes
   *  @returns {Promise<Receipt>} */
  deliver(seal, records, leaving = false) {
    return this.#json(`${this.#base}/records`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ seal, sent_epoch_ms: this.#wallClock(), records }),
      keepalive: leaving,
    });
  }

  async #json(url, init) {
    // A request without a timeout could block the outbox.
    const signal = AbortSignal.timeout?.(30_000);
    let response;
    try {
      response = await this.#fetch(url, {
        credentials: "same-origin", cache: "no-store", signal, ...init,
      });
    } catch {
      throw new DeskError("unreachable", 0);
    }
    if (response.ok) {
      try {
        return await response.json();
      } catch {
        throw new DeskError("unreachable", response.status); // a proxy's page, or a truncated body
      }
    }
    const { reason, words } = await refusalOf(response);
    throw new DeskError(whyOf(response.status, reason), response.status, words);
  }
}

/** @param {Response} response @returns {Promise<{reason: string, words: string}>} "" if a proxy or nothing answered */
async function refusalOf(response) {
  try {
    const { reason, why } = await response.json();
    return { reason: String(reason ?? ""), words: typeof why === "string" ? why : "" };
  } catch {
    return { reason: "", words: "" };
  }
}

/** @param {number} status @param {string} reason */
function whyOf(status, reason) {
  if (REASONS.includes(reason)) return reason;
  if (status === 401) return "signed-out";
  if (status >= 500 || status === 408 || status === 429) return "unreachable";
  return "refused";
}

const LONGEST_WAIT_MS = 10_000;

export class Connection {
  /** @type {Desk} */
  desk;
  /** @type {ReaderStorage} */
  storage;
  /** @type {Outbox} */
  outbox;
  #routes;
  #room;
  #overlays;
  #browserStorage;
  #stopped = false;
  /** @type {Set<() => void>} functions that end current waiting times */
  #asleep = new Set();

  /**
   * @param {DeskRoutes} routes @param {Overlays} overlays
   * @param {{outboxChanged: () => void, blocked: () => void, trouble: (text: string) => void,
   *   notTaken: (text: string) => void,
   *   receipt: (r: Receipt, sent: Record[]) => void}} room
   * @param {Storage|null} storage that of this browser
   */
  constructor(routes, overlays, room, storage) {
    this.#routes = routes;
    this.#overlays = overlays;
    this.#room = room;
    this.#browserStorage = storage;
  }

  /** Retry until the desk is open; false if the page was left in the meantime. */
  async open() {
    const desk = await this.#ask();
    if (!desk) return false;
    this.desk = desk;
    this.storage = new ReaderStorage(this.#browserStorage, desk.seal);
    this.outbox = new Outbox({
      storage: this.storage,
      order: Date.now() * 1000,
      deliver: (records, leaving) => this.#routes.deliver(desk.seal, records, leaving),
      listener: {
        changed: () => this.#room.outboxChanged(),
        receipt: (receipt, sent) => this.#received(receipt, sent),
        failed: (error) => this.#undelivered(error),
      },
    });
    this.outbox.heard(desk);
    this.outbox.retryNow();
    return true;
  }

  /** Request the reader's position. @returns {Promise<boolean>} false: another reader is signed in, or the page was
   * left */
  async refresh() {
    const desk = await this.#ask();
    if (desk?.seal === this.desk.seal && this.outbox.heard(desk)) this.outbox.retryNow();
    return Boolean(desk) && this.#take(desk);
  }

  /** @param {number} position */
  earlier(position) {
    return this.#routes.earlier(position);
  }

  /** Retry everything at once, because the connection may be back or the reader may have signed in again. */
  retryNow() {
    this.outbox?.retryNow();
    for (const wake of this.#asleep) wake();
  }

  stop() {
    this.#stopped = true;
    this.outbox?.stop();
  }

  async #ask() {
    for (let wait = 500; !this.#stopped; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        const desk = await this.#routes.desk();
        this.#reachable();
        return this.#stopped ? null : desk;
      } catch (error) {
        const failure = /** @type {DeskError} */ (error);
        this.#failed(failure);
        this.#room.trouble(failure.words || texts.loading.noServer);
      }
      await this.#sleep(wait);
    }
    return null;
  }

  #sleep(ms) {
    return new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#asleep.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#asleep.add(wake);
    });
  }

  #received(receipt, sent) {
    this.#reachable();
    this.#take(receipt.desk);
    this.#room.receipt(receipt, sent);
  }

  #take(desk) {
    const same = desk.seal === this.desk.seal;
    if (same) this.desk = desk;
    else this.#otherReader();
    return same;
  }

  #reachable() {
    if (!this.#overlays.awaitsServer) return;
    this.#overlays.close();
    this.#room.blocked();
  }

  /** Reports records that the server refuses permanently. */
  #undelivered(error) {
    this.#failed(error);
    if (error.why === "wrong-origin") this.#room.notTaken(texts.hints.wrongOrigin);
    else if (error.why === "refused") this.#room.notTaken(texts.hints.notTaken(error.words || error.status));
  }

  /** @param {DeskError} error */
  #failed({ why, words }) {
    if (why === "signed-out") this.#block(why, texts.signedOut);
    // Before the desk was open, no other reader can have taken this reader's place.
    else if (why === "other-reader" && this.desk) this.#otherReader();
    else if (why === "left") this.#block(why, texts.left);
    else if (words) this.#room.trouble(words);
  }

  #otherReader() {
    this.#block("other-reader", texts.otherReader);
  }

  #block(name, { title, text, button }) {
    if (this.#overlays.open === name) return;
    const n = this.outbox?.readings.length ?? 0;
    this.#overlays.ask(name, { title, text: text(n) }, [{ label: button, run: () => location.reload() }]);
    this.#room.blocked();
  }
}
