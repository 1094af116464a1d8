/** The server's routes as functions: the desk, one earlier case, and the delivery of records. */

/** @typedef {import("./types.js").Desk} Desk */

/** Why a request failed: `signed-out`, `other-reader`, `refused` (do not repeat) or `unreachable` (repeat). */
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

  /** @param {string} base @param {typeof fetch} [fetcher] */
  constructor(base, fetcher = (...args) => fetch(...args)) {
    this.#base = base.replace(/\/$/, "");
    this.#fetch = fetcher;
  }

  /** @returns {Promise<Desk>} */
  desk() {
    return this.#json(this.#base, {});
  }

  /** @param {number} position @returns {Promise<import("./types.js").Case>} */
  earlier(position) {
    return this.#json(`${this.#base}/cases/${position}`, {});
  }

  /** @param {string} seal @param {import("./types.js").Record[]} records @param {boolean} [leaving] the page closes
   *  @returns {Promise<import("./types.js").Receipt>} */
  deliver(seal, records, leaving = false) {
    return this.#json(`${this.#base}/records`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ seal, records }),
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
    throw new DeskError(reason(response.status), response.status, await wordsOf(response));
  }
}

/** @param {Response} response @returns {Promise<string>} "" where a proxy answered, or nobody */
async function wordsOf(response) {
  try {
    const { why } = await response.json();
    return typeof why === "string" ? why : "";
  } catch {
    return "";
  }
}

/** @param {number} status */
function reason(status) {
  if (status === 401) return "signed-out";
  if (status === 403) return "other-reader";
  if (status >= 500 || status === 408 || status === 429) return "unreachable";
  return "refused";
}
