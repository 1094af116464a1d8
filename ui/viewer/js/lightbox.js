/** The light box: the canvas that pictures hang on, and its true size in device pixels. */

import { Darkroom } from "./darkroom.js";

const NEARLY_PX = 2;

export class LightBox {
  /** @type {Darkroom} */
  darkroom;
  #canvas;
  #observer;
  #resized;
  #density;
  #size;

  /**
   * @param {HTMLElement} place @param {boolean} forceCanvas
   * @param {{resized: () => void, lost: () => void}} listener lost: every uploaded film is gone
   */
  constructor(place, forceCanvas, { resized, lost }) {
    this.#resized = resized;
    this.#canvas = document.createElement("canvas");
    this.#canvas.className = "rr-canvas";
    place.prepend(this.#canvas);
    this.darkroom = new Darkroom(this.#canvas, forceCanvas, lost);
    this.#density = window.devicePixelRatio || 1;
    this.#size = {
      width: Math.round(place.clientWidth * this.#density), height: Math.round(place.clientHeight * this.#density),
    };
    this.#observer = new ResizeObserver((entries) => this.#measure(entries.at(-1)));
    try {
      this.#observer.observe(this.#canvas, { box: "device-pixel-content-box" });
    } catch {
      this.#observer.observe(this.#canvas);
    }
  }

  /** Device pixels per CSS pixel: measured, since the browser's own ratio can differ from what the canvas gets. */
  get density() { return this.#density; }

  /** In device pixels. */
  get size() { return this.#size; }

  stop() {
    this.#observer.disconnect();
    this.darkroom.close();
    this.#canvas.remove();
  }

  #measure(entry) {
    const ratio = window.devicePixelRatio || 1;
    const width = exactly(entry.devicePixelContentBoxSize?.[0]?.inlineSize, entry.contentRect.width * ratio);
    const height = exactly(entry.devicePixelContentBoxSize?.[0]?.blockSize, entry.contentRect.height * ratio);
    const density = width / entry.contentRect.width;
    if (width < 1 || height < 1) return;
    const anew = width !== this.#size.width || height !== this.#size.height || density !== this.#density;
    this.#size = { width, height };
    this.#density = density;
    if (anew) this.#resized();
  }
}

/** The browser's own count of device pixels, unless it leaves the pixel ratio out, as an emulated screen does.
 *  @param {number|undefined} counted @param {number} computed */
function exactly(counted, computed) {
  return counted !== undefined && Math.abs(counted - computed) < NEARLY_PX ? counted : Math.round(computed);
}
