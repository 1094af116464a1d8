/** The films of the current case and of the coming ones: fetched, decoded and on the card before they are needed. */

import { DecoderPool } from "./decoder-pool.js";
import { FilmError } from "./film-error.js";

/** @import { FilmRenderer } from "./film-renderer.js" */
/** @import { Case, View, Window } from "../page/types.js" */

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
   *  @param {(loaded: LoadedFilm[]) => void} prepare makes the picture of these films in advance */
  constructor(renderer, prepare) {
    this.#renderer = renderer;
    this.#prepare = prepare;
  }

  /** @param {string} id @returns {LoadedFilm[]|null} the films, if everything is on the card */
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

  /** Pictures made in advance do not fit the canvas any more: make them anew. */
  prepareAnew() {
    for (const { loaded } of this.#jobs.values()) if (loaded) this.#prepare(loaded);
  }

  /** Let go of every film but these cases'. @param {Set<string>} ids */
  keepOnly(ids) {
    for (const [id, job] of this.#jobs) if (!ids.has(id)) this.#forget(id, job);
  }

  /** The card lost everything: forget without releasing. */
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
    Promise.allSettled(films); // one that fails while another is waited for is no error of the page
    const loaded = [];
    try {
      // One after the other: the first film is on its way up while the second is still being decoded.
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
