/**
 * The page's interface for drawing films: films are uploaded, and pictures of them are shown on a canvas.
 *
 * The work is done in a worker, so that neither an upload nor a picture blocks the page. A picture of the next case
 * is prepared in advance; showing it only copies a finished image to the canvas. Without a graphics card, films are
 * drawn at half resolution during a drag, and at full resolution when it ends.
 */

/** @import { PlacedFilm } from "./renderers.js" */
/** @import { GreyValues } from "./region.js" */
/** @import { Film, Rect } from "../page/types.js" */

/** @typedef {PlacedFilm} PlacedFilm  its handle is the number of an uploaded film */
/** @typedef {{width: number, height: number}} Size  in device pixels */
/** @typedef {{width: number, height: number, placedFilms: PlacedFilm[]}} Order */
/** @typedef {{key: string, films: number[], order: Order, shown: () => void}} Request */

const HIRE_AGAIN_MS = 500;
const MOVING_MS = 150; // pictures requested in closer succession belong to a drag
const STILL_MS = 80;
const IN_ADVANCE = 0; // the id of every prepared picture

export class FilmRenderer {
  /** The renderer in use, after `opened` is resolved. @type {{name: string, software: boolean|null}} */
  graphics = { name: "", software: null };
  /** @type {Promise<void>} */
  opened;
  /** Device pixels per CSS pixel. */
  density = 1;
  #open;
  #worker;
  #hire;
  #canvas;
  #context;
  #lost;
  #again = 0;
  #lastFilm = 0;
  #lastPicture = 0;
  /** @type {Map<number, {resolve: (value?: undefined) => void, reject: (error: Error) => void}>} */
  #uploads = new Map();
  #lastRegion = 0;
  /** @type {Map<number, (values: GreyValues|null) => void>} */
  #regions = new Map();
  /** Prepared pictures; null while they are being drawn. @type {Map<string, {films: number[], bitmap:
   * ImageBitmap|null}>} */
  #prepared = new Map();
  /** The picture being drawn for display, or the full picture that waits for the end of a drag.
   *  @type {{id: number, request: Request, draft: boolean}|null} */
  #underWay = null;
  /** The picture requested in the meantime. @type {Request|null} */
  #next = null;
  /** @type {(() => void)[]} */
  #awaitingPicture = [];
  #resting = 0;
  #askedAt = -Infinity;
  #now;

  /**
   * @param {HTMLCanvasElement} canvas @param {() => void} lost every film is gone
   * @param {() => Worker} [hire] @param {() => number} [now] the monotonic clock, in ms
   */
  constructor(canvas, lost, hire = hireWorker, now = () => performance.now()) {
    this.#now = now;
    this.#canvas = canvas;
    this.#context = /** @type {ImageBitmapRenderingContext} */ (canvas.getContext("bitmaprenderer", { alpha: false }));
    this.#lost = lost;
    this.#hire = hire;
    this.#open = () => {};
    this.opened = new Promise((resolve) => { this.#open = resolve; });
    this.#engage();
  }

  /** @param {Film} film @returns {Promise<number>} its handle */
  async upload(film) {
    const number = this.#lastFilm += 1;
    await new Promise((resolve, reject) => {
      this.#uploads.set(number, { resolve, reject });
      this.#tell({ do: "upload", film: number, samples: film.samples, width: film.width, height: film.height },
        [film.samples.buffer]);
    });
    return number;
  }

  /** @param {number} film */
  release(film) {
    this.#tell({ do: "release", film });
    this.#drop((films) => films.includes(film));
  }

  /** The grey values in the ellipse in a box. @param {number} film @param {Rect} box in film pixels
   *  @returns {Promise<GreyValues|null>} null: no pixel, or the film is gone */
  grey(film, box) {
    const id = this.#lastRegion += 1;
    return new Promise((resolve) => {
      this.#regions.set(id, resolve);
      this.#tell({ do: "region", id, film, box });
    });
  }

  /** Prepare a picture. @param {Size} size @param {PlacedFilm[]} placedFilms */
  prepare(size, placedFilms) {
    const request = requestOf(size, placedFilms);
    if (this.#prepared.has(request.key)) return;
    // A different picture of the same films was prepared for another canvas size.
    this.#drop((films) => films.join() === request.films.join());
    this.#prepared.set(request.key, { films: request.films, bitmap: null });
    this.#tell({ ...request.order, do: "picture", id: IN_ADVANCE, key: request.key, settled: true });
  }

  /**
   * Show a picture, at once if it was prepared. Of several requests, only the latest is certain to be shown.
   * @param {Size} size @param {PlacedFilm[]} placedFilms @param {() => void} [shown] called when it is on the canvas
   */
  draw(size, placedFilms, shown = () => {}) {
    const request = { ...requestOf(size, placedFilms), shown };
    const ready = this.#prepared.get(request.key)?.bitmap;
    if (ready) {
      this.#prepared.delete(request.key);
      this.#forget(); // the result of an earlier request is outdated
      this.#hang(ready, request);
    } else if (this.#underWay && !this.#resting) {
      this.#next = request;
    } else {
      this.#ask(request, this.#moving());
    }
  }

  /** Clear the canvas until the next picture is drawn. */
  blank() {
    this.#canvas.style.visibility = "hidden";
  }

  /** @returns {Promise<void>} when everything requested is on the canvas */
  shown() {
    if (!this.#underWay) return Promise.resolve();
    return new Promise((resolve) => { this.#awaitingPicture.push(resolve); });
  }

  close() {
    clearTimeout(this.#again);
    this.#forget();
    this.#worker.terminate();
    this.#drop(() => true);
  }

  #engage() {
    const heard = {
      opened: ({ graphics }) => { this.graphics = graphics; this.#open(); },
      uploaded: ({ film, error }) => this.#uploaded(film, error),
      picture: ({ id, key, bitmap }) => this.#developed(id, key, bitmap),
      region: ({ id, values }) => this.#measured(id, values),
      lost: ({ graphics }) => { this.graphics = graphics; this.#loseAll(); },
    };
    this.#worker = this.#hire();
    this.#worker.addEventListener("message", ({ data }) => heard[data.reply](data));
    this.#worker.addEventListener("error", () => this.#failed());
    this.#tell({ do: "open" });
  }

  /** The worker could not be loaded or failed: start a new one without films. */
  #failed() {
    this.#worker.terminate();
    this.#again = setTimeout(() => {
      this.#engage();
      this.#loseAll();
    }, HIRE_AGAIN_MS);
  }

  #moving() {
    return this.graphics.software !== false && this.#now() - this.#askedAt < MOVING_MS;
  }

  #ask(request, draft) {
    this.#forget();
    this.#askedAt = this.#now();
    const inAdvance = this.#prepared.get(request.key)?.bitmap === null; // the same picture is being drawn
    const id = inAdvance ? IN_ADVANCE : this.#lastPicture += 1;
    this.#underWay = { id, request, draft: draft && !inAdvance };
    this.#mark(false);
    if (inAdvance) return;
    const order = draft ? halved(request.order) : request.order;
    this.#tell({ ...order, do: "picture", id, key: request.key, settled: false });
  }

  #forget() {
    clearTimeout(this.#resting);
    this.#resting = 0;
    this.#underWay = null;
    this.#next = null;
  }

  /** Discard prepared pictures. @param {(films: number[]) => boolean} which */
  #drop(which) {
    for (const [key, { films, bitmap }] of this.#prepared) {
      if (!which(films)) continue;
      bitmap?.close();
      this.#prepared.delete(key);
    }
  }

  #developed(id, key, bitmap) {
    const awaited = this.#underWay?.id === id && this.#underWay?.request.key === key;
    if (id === IN_ADVANCE && !awaited) {
      this.#keepPrepared(key, bitmap);
      return;
    }
    if (id === IN_ADVANCE) this.#prepared.delete(key);
    if (awaited) this.#show(bitmap);
    else bitmap?.close();
  }

  #keepPrepared(key, bitmap) {
    const place = this.#prepared.get(key);
    if (place && bitmap) place.bitmap = bitmap;
    else {
      bitmap?.close();
      this.#prepared.delete(key);
    }
  }

  #show(bitmap) {
    if (!this.#underWay) return;
    const { request, draft } = this.#underWay;
    const next = this.#next;
    if (next || (draft && bitmap)) {
      if (bitmap) this.#transfer(bitmap, request);
      if (next) this.#ask(next, this.#moving());
      else this.#resting = setTimeout(() => this.#ask(request, false), STILL_MS);
    } else {
      this.#underWay = null;
      this.#hang(bitmap, request);
    }
  }

  #hang(bitmap, request) {
    if (bitmap) this.#transfer(bitmap, request);
    this.#mark(true);
    for (const resolve of this.#awaitingPicture.splice(0)) resolve();
  }

  /** Visible from outside: whether the canvas shows the last requested picture in full resolution. @param {boolean}
   * whole */
  #mark(whole) {
    const { dataset } = this.#canvas;
    const picture = whole ? "whole" : "coming";
    if (dataset.picture !== picture) dataset.picture = picture;
  }

  #transfer(bitmap, { order, shown }) {
    const canvas = this.#canvas;
    // Setting the size clears the canvas, even if it does not change.
    if (canvas.width !== bitmap.width) canvas.width = bitmap.width;
    if (canvas.height !== bitmap.height) canvas.height = bitmap.height;
    this.#context.transferFromImageBitmap(bitmap);
    // The picture keeps its size, even if the canvas size has changed.
    canvas.style.width = `${order.width / this.density}px`;
    canvas.style.height = `${order.height / this.density}px`;
    canvas.style.visibility = "";
    shown();
  }

  #uploaded(film, error) {
    const waiting = this.#uploads.get(film);
    this.#uploads.delete(film);
    if (error) waiting?.reject(new Error(error));
    else waiting?.resolve();
  }

  #measured(id, values) {
    this.#regions.get(id)?.(values);
    this.#regions.delete(id);
  }

  #loseAll() {
    this.#drop(() => true);
    for (const id of [...this.#regions.keys()]) this.#measured(id, null);
    for (const film of [...this.#uploads.keys()]) this.#uploaded(film, "the graphics card was lost");
    this.#forget();
    this.#lost();
  }

  #tell(message, transfer = []) {
    this.#worker.postMessage(message, transfer);
  }
}

/** @returns {Worker} */
function hireWorker() {
  return new Worker(new URL("./render-worker.js", import.meta.url), { type: "module" });
}

/** @param {Size} size @param {PlacedFilm[]} placedFilms @returns {Omit<Request, "shown">} */
function requestOf({ width, height }, placedFilms) {
  const order = { width, height, placedFilms };
  return { key: JSON.stringify(order), films: placedFilms.map(({ handle }) => handle), order };
}

/** The same picture with a quarter of the pixels. @param {Order} order @returns {Order} */
function halved({ width, height, placedFilms }) {
  const half = ({ x, y, width: w, height: h }) => ({
    x: Math.round(x / 2), y: Math.round(y / 2), width: Math.max(1, Math.round(w / 2)), height: Math.max(1, Math.round(h / 2)),
  });
  return {
    width: Math.ceil(width / 2), height: Math.ceil(height / 2),
    placedFilms: placedFilms.map((placed) => ({
      ...placed, rect: half(placed.rect), zoomPan: { ...placed.zoomPan, scale: placed.zoomPan.scale / 2 },
    })),
  };
}
