/** The fallback renderer: the same picture on a plain 2D canvas, computed by the processor from the samples. */

import { covered, mirrored, origin } from "./displayed-area.js";
import { resample } from "./resample.js";
import { shadeTable } from "./window-level.js";

/** @import { PlacedFilm } from "./renderer-webgl.js" */
/** @import { Pixels } from "../page/types.js" */

const BLACK = 0xff000000;
const STEPS = 65536;
const UNMADE = { rect: null, sheet: null, sheetKey: "", print: null, printKey: "" };

export class CanvasRenderer {
  name = "canvas2d";
  software = null; // not known: a 2D canvas does not say who draws it
  #context;

  /** @param {OffscreenCanvas} canvas */
  constructor(canvas) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("no canvas");
    this.#context = context;
  }

  /** @param {Pixels} film */
  async upload(film) {
    // Eight bits keep eight more below the point; sixteen are fine as they are. Either way 65536 steps.
    const unit = film.samples instanceof Uint8Array ? 256 : 1;
    return { film, unit, made: {} };
  }

  /** Make the screen-sized part and its windowed image, unless they are there already. @param {PlacedFilm} placed */
  prepare({ handle, rect, zoomPan, window, inverted, flipped, slot = "pane" }) {
    const made = (handle.made[slot] ??= { ...UNMADE });
    const sheetKey = [zoomPan.scale, zoomPan.x, zoomPan.y, rect.width, rect.height].join();
    const printKey = [sheetKey, window.low, window.high, inverted, flipped].join();
    if (made.sheetKey !== sheetKey) {
      made.rect = covered(zoomPan, rect, handle.film);
      made.sheet = resample(handle.film, corner(zoomPan, rect, made.rect), 1 / zoomPan.scale, made.rect, handle.unit);
    }
    if (made.printKey !== printKey) made.print = this.#print(made, handle.unit, window, inverted, flipped);
    Object.assign(made, { sheetKey, printKey });
  }

  /** @param {PlacedFilm[]} placedFilms */
  draw(placedFilms) {
    const { canvas } = this.#context;
    this.#context.fillStyle = "#000";
    this.#context.fillRect(0, 0, canvas.width, canvas.height);
    for (const placed of placedFilms) {
      this.prepare(placed);
      const { handle, rect, flipped, slot = "pane" } = placed;
      const { print, rect: part } = handle.made[slot];
      if (slot === "glass") this.#context.fillRect(rect.x, rect.y, rect.width, rect.height);
      this.#context.putImageData(print, rect.x + mirrored(part, rect, flipped), rect.y + part.y);
    }
  }

  fence() {
    return () => true;
  }

  release() {}

  #print({ sheet, rect }, unit, window, inverted, flipped) {
    const table = shadeTable(STEPS, unit, window, inverted);
    const image = this.#context.createImageData(rect.width, rect.height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; i += 1) pixels[i] = BLACK | (table[sheet[i]] * 0x010101);
    if (flipped) for (let i = 0; i < pixels.length; i += rect.width) pixels.subarray(i, i + rect.width).reverse();
    return image;
  }
}

/** The film coordinates of the top left corner of the covered part. */
function corner(zoomPan, pane, part) {
  const { x, y } = origin(zoomPan, pane);
  return { x: x + part.x / zoomPan.scale, y: y + part.y / zoomPan.scale };
}
