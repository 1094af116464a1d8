/** The workers that fetch and decode films: two of them, so that the two views of an examination are decoded at once. */

import { FilmError } from "./film-error.js";

/** @import { Film, View } from "../page/types.js" */

/** @typedef {{worker: Worker, waiting: Map<number, {resolve: (film: any) => void, reject: (error: Error) => void}>}} Seat */

const MOST = 2; // more would take the processor from the page

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
  const asked = waiting.get(id);
  waiting.delete(id);
  if (film) asked?.resolve(film);
  else asked?.reject(new FilmError(error, why));
}

/** @returns {Worker} */
function hireWorker() {
  return new Worker(new URL("./decode-worker.js", import.meta.url), { type: "module" });
}
