/** The canvas that pictures of films are shown on, and its true size in device pixels. */

import { FilmRenderer } from "../film/film-renderer.js";

const NEARLY_PX = 2;

export class FilmCanvas {
  /** @type {FilmRenderer} */
  renderer;
  #canvas;
  /** Fills the place, and tells its size in device pixels, which only a canvas does. */
  #measure;
  #observer;
  #resized;
  #size;

  /**
   * @param {HTMLElement} place @param {boolean} forceCanvas
   * @param {{resized: () => void, lost: () => void}} listener lost: every uploaded film is gone
   */
  constructor(place, forceCanvas, { resized, lost }) {
    this.#resized = resized;
    [this.#canvas, this.#measure] = ["rr-canvas", "rr-measure"].map((name) => {
      const canvas = document.createElement("canvas");
      canvas.className = name;
      return canvas;
    });
    place.prepend(this.#canvas, this.#measure);
    this.renderer = new FilmRenderer(this.#canvas, forceCanvas, lost);
    this.renderer.density = window.devicePixelRatio || 1;
    this.#size = this.#sizeNow();
    this.#observer = new ResizeObserver((entries) => this.#take(entries.at(-1)));
    try {
      this.#observer.observe(this.#measure, { box: "device-pixel-content-box" });
    } catch {
      this.#observer.observe(this.#measure);
    }
  }

  /** Device pixels per CSS pixel: measured, since the browser's own ratio can differ from what the canvas gets. */
  get density() { return this.renderer.density; }

  /** In device pixels. */
  get size() { return this.#size; }

  stop() {
    this.#observer.disconnect();
    this.renderer.close();
    this.#canvas.remove();
    this.#measure.remove();
  }

  /** The page around was laid out anew a moment ago, and the observer will say so only with the next frame. */
  look() {
    const { width, height } = this.#sizeNow();
    const changed = Math.max(Math.abs(width - this.#size.width), Math.abs(height - this.#size.height)) >= NEARLY_PX;
    if (changed && width > 0 && height > 0) this.#size = { width, height };
  }

  #sizeNow() {
    const { width, height } = this.#measure.getBoundingClientRect();
    return { width: Math.round(width * this.density), height: Math.round(height * this.density) };
  }

  #take(entry) {
    const ratio = window.devicePixelRatio || 1;
    const width = exactly(entry.devicePixelContentBoxSize?.[0]?.inlineSize, entry.contentRect.width * ratio);
    const height = exactly(entry.devicePixelContentBoxSize?.[0]?.blockSize, entry.contentRect.height * ratio);
    const density = width / entry.contentRect.width;
    if (width < 1 || height < 1) return;
    const anew = width !== this.#size.width || height !== this.#size.height || density !== this.density;
    this.#size = { width, height };
    this.renderer.density = density;
    if (anew) this.#resized();
  }
}

/** The browser's own count of device pixels, unless it leaves the pixel ratio out, as an emulated screen does.
 *  @param {number|undefined} counted @param {number} computed */
function exactly(counted, computed) {
  return counted !== undefined && Math.abs(counted - computed) < NEARLY_PX ? counted : Math.round(computed);
}
