/** Fetches, decodes and uploads the films of the current and the next cases before they are needed. */

import { texts } from "../page/texts.js";

/** @import { Case, Film, View, Window } from "../page/types.js" */
/** @import { FilmRenderer } from "./film-renderer.js" */

/**
 * `line`: it did not arrive; `refused`: the server refused it; `unreadable`: the response is not this film;
 * `unshowable`: this computer's graphics cannot show it.
 * @typedef {"line"|"refused"|"unreadable"|"unshowable"} Kind
 */

export class FilmError extends Error {
  /**
   * @param {string} message for the log
   * @param {{kind: Kind, status?: number, words?: string}} more the HTTP status, 0 where there was none, and the
   * server's message, "" if there is none
   */
  constructor(message, { kind, status = 0, words = "" }) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.words = words;
  }
}

/** @param {unknown} error @returns {string} the message for the reader */
export function filmTrouble(error) {
  const { kind = "line", words = "" } = /** @type {Partial<FilmError>} */ (error ?? {});
  return [words || texts.filmFailed.why[kind], texts.filmFailed.text].filter(Boolean).join(" ");
}

/** @typedef {{worker: Worker, waiting: Map<number, {resolve: (film: any) => void, reject: (error: Error) => void}>}} Seat */

const MOST = 2; // more would slow the page down

/** Two workers that fetch and decode, so that both views of an examination are decoded at the same time. */
export class DecoderPool {
  #hire;
  #most;
  /** @type {Seat[]} */
  #seats = [];
  #lastId = 0;

  /** @param {() => Worker} [hire] @param {number} [cores] */
  constructor(hire = hireWorker, cores = navigator.hardwareConcurrency ?? MOST) {
    this.#hire = hire;
    this.#most = Math.max(1, Math.min(MOST, cores));
  }

  /**
   * @param {View} view
   * @returns {{film: Promise<Film>, abandon: () => void}} the promise fails with a FilmError
   */
  decode(view) {
    const id = this.#lastId += 1;
    const seat = this.#leastBusy();
    const film = new Promise((resolve, reject) => {
      seat.waiting.set(id, { resolve, reject });
      seat.worker.postMessage({ id, view: { ...view, url: new URL(view.url, document.baseURI).href } });
    });
    return { film, abandon: () => seat.worker.postMessage({ id, abandon: true }) };
  }

  stop() {
    for (const { worker } of this.#seats) worker.terminate();
  }

  #leastBusy() {
    const free = this.#seats.find(({ waiting }) => !waiting.size);
    if (free || this.#seats.length === this.#most) {
      return free ?? this.#seats.reduce((best, seat) => (seat.waiting.size < best.waiting.size ? seat : best));
    }
    const seat = { worker: this.#hire(), waiting: new Map() };
    seat.worker.addEventListener("message", ({ data }) => heard(seat, data));
    seat.worker.addEventListener("error", () => this.#failed(seat));
    this.#seats.push(seat);
    return seat;
  }

  #failed(seat) {
    this.#seats = this.#seats.filter((each) => each !== seat);
    seat.worker.terminate();
    const failed = new FilmError("the film worker failed", { kind: "line" });
    for (const { reject } of seat.waiting.values()) reject(failed);
  }
}

function heard({ waiting }, { id, film, error, why }) {
  const request = waiting.get(id);
  waiting.delete(id);
  if (film) request?.resolve(film);
  else request?.reject(new FilmError(error, why));
}

/** @returns {Worker} */
function hireWorker() {
  return new Worker(new URL("./decode-worker.js", import.meta.url), { type: "module" });
}

/** @typedef {{view: View, auto: Window, own?: boolean, handle: number}} LoadedFilm  on the card, ready to show */
/** @typedef {{promise: Promise<LoadedFilm[]>, loaded: LoadedFilm[]|null, dropped: boolean,
 *   abandon: (() => void)[]}} Job */

export class FilmCache {
  #renderer;
  #prepare;
  #decoders = new DecoderPool();
  /** @type {Map<string, Job>} */
  #jobs = new Map();

  /** @param {FilmRenderer} renderer
   *  @param {(loaded: LoadedFilm[]) => void} prepare draws the picture of these films in advance */
  constructor(renderer, prepare) {
    this.#renderer = renderer;
    this.#prepare = prepare;
  }

  /** @param {string} id @returns {LoadedFilm[]|null} the films, if all of them are uploaded */
  ready(id) {
    return this.#jobs.get(id)?.loaded ?? null;
  }

  /** @param {Case} item @returns {Promise<LoadedFilm[]>} */
  load(item) {
    const known = this.#jobs.get(item.case);
    if (known) return known.promise;
    /** @type {Job} */
    const job = { promise: Promise.resolve([]), loaded: null, dropped: false, abandon: [] };
    this.#jobs.set(item.case, job);
    job.promise = this.#fetch(item, job);
    job.promise.catch(() => this.#forget(item.case, job));
    return job.promise;
  }

  /** Draw pictures again that were prepared for another canvas size. */
  prepareAnew() {
    for (const { loaded } of this.#jobs.values()) if (loaded) this.#prepare(loaded);
  }

  /** Release all films except those of these cases. @param {Set<string>} ids */
  keepOnly(ids) {
    for (const [id, job] of this.#jobs) if (!ids.has(id)) this.#forget(id, job);
  }

  /** The graphics card lost all films: forget them without releasing. */
  lost() {
    for (const [id, job] of this.#jobs) {
      job.loaded = null;
      this.#forget(id, job);
    }
  }

  stop() {
    this.keepOnly(new Set());
    this.#decoders.stop();
  }

  async #fetch(item, job) {
    const decoding = item.views.map((view) => this.#decoders.decode(view));
    const films = decoding.map(({ film }) => film);
    job.abandon = decoding.map(({ abandon }) => abandon);
    Promise.allSettled(films); // a failure while waiting for another film is not an unhandled error
    const loaded = [];
    try {
      // One after another: the first film is uploaded while the second is still being decoded.
      for (const [i, view] of item.views.entries()) {
        const film = await films[i];
        const handle = await this.#upload(film);
        loaded.push({ view, auto: film.auto, own: film.own, handle });
        if (job.dropped) throw new FilmError("no longer wanted", { kind: "line" });
      }
    } catch (error) {
      for (const { handle } of loaded) this.#renderer.release(handle);
      throw error;
    }
    this.#prepare(loaded);
    job.loaded = loaded;
    return loaded;
  }

  async #upload(film) {
    try {
      return await this.#renderer.upload(film);
    } catch (error) {
      throw new FilmError(error instanceof Error ? error.message : String(error), { kind: "unshowable" });
    }
  }

  #forget(id, job) {
    if (this.#jobs.get(id) === job) this.#jobs.delete(id);
    if (job.dropped) return;
    job.dropped = true;
    for (const abandon of job.abandon) abandon();
    for (const { handle } of job.loaded ?? []) this.#renderer.release(handle);
  }
}
