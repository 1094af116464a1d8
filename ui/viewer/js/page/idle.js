/** Reports the user's activity to the server, and warns before an idle sign-in ends. */

const LOOK_MS = 15_000;
const TELL_MS = 60_000;
export const WARN_MS = 5 * 60_000;

/** @typedef {{warn: () => void, calm: () => void, ended: () => void}} Page callbacks before the end (called
 * repeatedly), after the user's return, and at the end */

export class Idle {
  #url;
  #page;
  #fetch;
  #clock;
  #used = false;
  #reportedAt = -Infinity;
  #endsAt = -Infinity;
  #warned = false;
  #asking = false;
  #over = false;

  /** @param {string} url @param {Page} page @param {typeof fetch} [fetcher] @param {() => number} [clock] */
  constructor(url, page, fetcher = (...args) => fetch(...args), clock = () => Date.now()) {
    this.#url = url;
    this.#page = page;
    this.#fetch = fetcher;
    this.#clock = clock;
  }

  /** The user pressed a key or moved the mouse. @returns {Promise<void>|undefined} */
  used() {
    this.#used = true;
    return this.#warned ? this.look() : undefined;
  }

  /** Report activity to the server or ask for it, because another window of the sign-in may have been used. */
  async look() {
    const now = this.#clock();
    const tell = this.#used && (this.#warned || now - this.#reportedAt >= TELL_MS);
    // After the end only a new sign-in is reported: the user may have signed in again in another window.
    if (this.#asking || (!tell && (this.#over || this.#endsAt - now > WARN_MS))) return;
    this.#asking = true;
    if (tell) this.#used = false;
    const left_ms = await this.#left(tell ? "POST" : "GET");
    this.#asking = false;
    if (left_ms === null) this.#used ||= tell;
    else this.#take(left_ms, tell);
  }

  #take(left_ms, reported) {
    const now = this.#clock();
    if (reported) this.#reportedAt = now;
    this.#endsAt = now + left_ms;
    const warned = this.#warned;
    this.#warned = left_ms > 0 && left_ms <= WARN_MS;
    const over = this.#over;
    this.#over = left_ms === 0;
    if (this.#warned) this.#page.warn(); // repeated, because another sheet may have been open
    if (this.#over && !over) this.#page.ended();
    else if (warned && !this.#warned) this.#page.calm();
  }

  /** @returns {Promise<number|null>} 0: the sign-in has ended; null: no answer */
  async #left(method) {
    try {
      const answer = await this.#fetch(this.#url, { method, credentials: "same-origin", cache: "no-store" });
      if (answer.status === 401) return 0;
      return answer.ok ? Math.max((await answer.json()).left_s * 1000, 1) : null;
    } catch {
      return null;
    }
  }
}

/** Watches over a page. @param {string} url @param {Page} page @returns {() => void} ends it */
export function watchOver(url, page) {
  const idle = new Idle(new URL(url, document.baseURI).href, page);
  const stop = new AbortController();
  const on = (target, type, run) => target.addEventListener(type, run, { capture: true, passive: true, signal: stop.signal });
  for (const type of ["keydown", "pointerdown", "wheel"]) on(window, type, () => idle.used());
  // Browsers report a pointer move whenever an element moves under a still pointer.
  on(window, "pointermove", (event) => { if (event.movementX || event.movementY) idle.used(); });
  on(document, "visibilitychange", () => idle.look());
  const timer = setInterval(() => idle.look(), LOOK_MS);
  idle.look();
  return () => {
    clearInterval(timer);
    stop.abort();
  };
}
