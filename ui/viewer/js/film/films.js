/** The films of the current case and of the coming ones: fetched, decoded and on the card before they are needed. */

import { Decoders } from "./decoders.js";
import { FilmError } from "./film-error.js";

/** @typedef {import("../page/types.js").Case} Case */
/** @typedef {{view: import("../page/types.js").View, auto: import("../page/types.js").Window, handle: any}} Hung  ready to show */
/** @typedef {{promise: Promise<Hung[]>, hung: Hung[]|null, dropped: boolean, abandon: (() => void)[]}} Job */

export class Films {
  #picture;
  #decoders = new Decoders();
  /** @type {Map<string, Job>} */
  #jobs = new Map();

  /** @param {{upload: (film: import("../page/types.js").Film) => Promise<any>, release: (handle: any) => void,
   *   prepare: (hung: Hung[]) => void}} picture where they are shown */
  constructor(picture) {
    this.#picture = picture;
  }

  /** @param {string} id @returns {Hung[]|null} the films, if everything is on the card */
  ready(id) {
    return this.#jobs.get(id)?.hung ?? null;
  }

  /** @param {Case} item @returns {Promise<Hung[]>} */
  load(item) {
    let job = this.#jobs.get(item.case);
    if (!job) {
      job = { promise: null, hung: null, dropped: false, abandon: [] };
      this.#jobs.set(item.case, job);
      job.promise = this.#hang(item, job);
      job.promise.catch(() => this.#forget(item.case, job));
    }
    return job.promise;
  }

  /** Pictures made in advance do not fit the light box any more: make them anew. */
  prepareAnew() {
    for (const { hung } of this.#jobs.values()) if (hung) this.#picture.prepare(hung);
  }

  /** Let go of every film but these cases'. @param {Set<string>} ids */
  keepOnly(ids) {
    for (const [id, job] of this.#jobs) if (!ids.has(id)) this.#forget(id, job);
  }

  /** The card lost everything: forget without releasing. */
  lost() {
    for (const [id, job] of this.#jobs) {
      job.hung = null;
      this.#forget(id, job);
    }
  }

  stop() {
    this.keepOnly(new Set());
    this.#decoders.stop();
  }

  async #hang(item, job) {
    const decoding = item.views.map((view) => this.#decoders.decode(view));
    const films = decoding.map(({ film }) => film);
    job.abandon = decoding.map(({ abandon }) => abandon);
    const hung = [];
    try {
      // One after the other: the first film is on its way up while the second is still being decoded.
      for (const [i, view] of item.views.entries()) {
        const film = await films[i];
        const handle = await this.#upload(film);
        hung.push({ view, auto: film.auto, handle });
        if (job.dropped) throw new FilmError("no longer wanted", { kind: "line" });
      }
    } catch (error) {
      Promise.allSettled(films);
      for (const { handle } of hung) this.#picture.release(handle);
      throw error;
    }
    this.#picture.prepare(hung);
    job.hung = hung;
    return hung;
  }

  async #upload(film) {
    try {
      return await this.#picture.upload(film);
    } catch (error) {
      throw new FilmError(String(error.message ?? error), { kind: "unshowable" });
    }
  }

  #forget(id, job) {
    if (this.#jobs.get(id) === job) this.#jobs.delete(id);
    if (job.dropped) return;
    job.dropped = true;
    for (const abandon of job.abandon) abandon();
    for (const { handle } of job.hung ?? []) this.#picture.release(handle);
  }
}
