/** The light box: the canvas that films hang on, the renderer that draws it, and its true size in device pixels. */

import { CanvasRenderer } from "./renderer-canvas.js";
import { WebglRenderer } from "./renderer-webgl.js";

export class LightBox {
  renderer;
  canvas;
  #place;
  #forceCanvas;
  #observer;
  #listener;
  #density = 1;

  /**
   * @param {HTMLElement} place @param {boolean} forceCanvas
   * @param {{resized: () => void, lost: () => void}} listener lost: every uploaded film is gone
   */
  constructor(place, forceCanvas, listener) {
    this.#place = place;
    this.#forceCanvas = forceCanvas;
    this.#listener = listener;
    this.#observer = new ResizeObserver((entries) => this.#measure(entries.at(-1)));
    this.#hang();
  }

  /** Device pixels per CSS pixel: measured, since the browser's own ratio can differ from what the canvas gets. */
  get density() { return this.#density; }

  get size() { return { width: this.canvas.width, height: this.canvas.height }; }

  stop() {
    this.#observer.disconnect();
    this.canvas.remove();
  }

  #hang() {
    this.canvas = document.createElement("canvas");
    this.canvas.className = "rr-canvas";
    this.#place.prepend(this.canvas);
    this.renderer = this.#chooseRenderer();
    this.canvas.addEventListener("webglcontextlost", () => this.#replace(), { once: true });
    this.#density = window.devicePixelRatio || 1;
    this.#setSize(Math.round(this.#place.clientWidth * this.#density),
      Math.round(this.#place.clientHeight * this.#density));
    try {
      this.#observer.observe(this.canvas, { box: "device-pixel-content-box" });
    } catch {
      this.#observer.observe(this.canvas);
    }
  }

  #chooseRenderer() {
    if (!this.#forceCanvas) {
      try {
        return new WebglRenderer(this.canvas);
      } catch {
        // A canvas keeps the kind of context it was first asked for.
        const fresh = this.canvas.cloneNode();
        this.canvas.replaceWith(fresh);
        this.canvas = fresh;
      }
    }
    return new CanvasRenderer(this.canvas);
  }

  #replace() {
    this.#observer.disconnect();
    this.canvas.remove();
    this.#hang();
    this.#listener.lost();
  }

  #measure(entry) {
    const exact = entry.devicePixelContentBoxSize?.[0];
    const ratio = window.devicePixelRatio || 1;
    const width = exact ? exact.inlineSize : Math.round(entry.contentRect.width * ratio);
    const height = exact ? exact.blockSize : Math.round(entry.contentRect.height * ratio);
    const density = width / entry.contentRect.width;
    if (width < 1 || height < 1) return;
    const anew = this.#setSize(width, height) || density !== this.#density;
    this.#density = density;
    if (anew) this.#listener.resized();
  }

  #setSize(width, height) {
    if (width < 1 || height < 1 || (this.canvas.width === width && this.canvas.height === height)) return false;
    this.canvas.width = width;
    this.canvas.height = height;
    return true;
  }
}
