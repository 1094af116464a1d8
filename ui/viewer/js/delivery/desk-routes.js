/** The server's routes as functions: the desk, one earlier case, and the delivery of records. */

/** @import { Case, Desk, Receipt, Record } from "../page/types.js" */

const REASONS = ["signed-out", "other-reader", "left", "wrong-origin"]; // as the server names them

/** Why a request failed: one of the server's reasons, `refused` (do not repeat) or `unreachable` (repeat). */
export class DeskError extends Error {
  /** @param {string} why @param {number} status @param {string} [words] the server's own, for the reader */
  constructor(why, status, words = "") {
    super(`${why} (${status}) ${words}`.trim());
    this.why = why;
    this.status = status;
    this.words = words;
  }
}

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
    // A request that never ends would block the outbox, so each one has an end.
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
        throw new DeskError("unreachable", response.status); // a proxy's page, or a body cut short
      }
    }
    const { reason, words } = await refusalOf(response);
    throw new DeskError(whyOf(response.status, reason), response.status, words);
  }
}

/** @param {Response} response @returns {Promise<{reason: string, words: string}>} "" where a proxy answered, or nobody */
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
