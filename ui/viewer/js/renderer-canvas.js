/** The fallback renderer: the same picture on a plain 2D canvas, computed by the processor from the samples. */

import { covered, origin } from "./layout.js";
import { resample } from "./resample.js";
import { shadeTable } from "./window.js";

/** @typedef {import("./renderer-webgl.js").Hanging} Hanging */

const BLACK = 0xff000000;
const STEPS = 65536;

export class CanvasRenderer {
  name = "canvas2d";
  software = null; // not known: a 2D canvas does not say who draws it
  #context;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.#context = canvas.getContext("2d", { alpha: false });
  }

  /** @param {import("./types.js").Film} film */
  async upload(film) {
    // Eight bits keep eight more below the point; sixteen are fine as they are. Either way 65536 steps.
    const unit = film.samples instanceof Uint8Array ? 256 : 1;
    return { film, unit, rect: null, sheet: null, sheetKey: "", print: null, printKey: "" };
  }

  /** Make the screen-sized part and its windowed image, unless they are there already. @param {Hanging} hanging */
  prepare({ handle, rect, gaze, window, inverted }) {
    const sheetKey = [gaze.scale, gaze.x, gaze.y, rect.width, rect.height].join();
    const printKey = [sheetKey, window.low, window.high, inverted].join();
    if (handle.sheetKey !== sheetKey) {
      handle.rect = covered(gaze, rect, handle.film);
      handle.sheet = resample(handle.film, corner(gaze, rect, handle.rect), 1 / gaze.scale, handle.rect, handle.unit);
    }
    if (handle.printKey !== printKey) handle.print = this.#print(handle, window, inverted);
    Object.assign(handle, { sheetKey, printKey });
  }

  /** @param {Hanging[]} hangings */
  draw(hangings) {
    const { canvas } = this.#context;
    this.#context.fillStyle = "#000";
    this.#context.fillRect(0, 0, canvas.width, canvas.height);
    for (const hanging of hangings) {
      this.prepare(hanging);
      const { handle, rect } = hanging;
      this.#context.putImageData(handle.print, rect.x + handle.rect.x, rect.y + handle.rect.y);
    }
  }

  fence() {
    return () => true;
  }

  release() {}

  #print({ sheet, rect, unit }, window, inverted) {
    const table = shadeTable(STEPS, unit, window, inverted);
    const image = this.#context.createImageData(rect.width, rect.height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; i += 1) pixels[i] = BLACK | (table[sheet[i]] * 0x010101);
    return image;
  }
}

/** The film coordinates of the top left corner of the covered part. */
function corner(gaze, pane, part) {
  const { x, y } = origin(gaze, pane);
  return { x: x + part.x / gaze.scale, y: y + part.y / gaze.scale };
}
