/**
 * The renderer on the graphics card: films as exact integer textures, brought to screen size, then windowed.
 *
 * The screen-sized part of a film (its sheet) is made anew when the view changes, the windowed sheet (its print) when
 * the window does. Both are made in advance for the coming cases, so that showing one is a copy of its pixels. A film
 * that hangs twice, as under the magnifying glass, has both once for each slot. A film larger than the card takes as
 * one texture stays with the processor, which makes its sheets.
 */

import { covered, mirrored, origin } from "./displayed-area.js";
import { resample } from "./resample.js";
import { HALVE, RESAMPLE, VERTEX, WINDOW } from "./shaders.js";

/** @import { Pixels, Rect, Window, ZoomPan } from "../page/types.js" */

/** @typedef {{handle: any, rect: Rect, zoomPan: ZoomPan,
 *   window: Window, inverted: boolean, flipped: boolean, slot?: "pane"|"glass"}} PlacedFilm
 *   a film in its pane, or a part of it in the glass, which lies on black over what hangs before it */

const STRIP_BYTES = 1 << 20; // short enough an upload to leave the frame rate alone
const SMALLEST_LEVEL = 64;
/** What is made of a film for one slot. */
const UNMADE = { rect: null, sheet: null, sheetKey: "", print: null, printKey: "" };

export class WebglRenderer {
  name = "webgl2";
  software;
  #gl;
  #halve;
  #resample;
  #window;
  #buffer;

  /** @param {OffscreenCanvas} canvas */
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", {
      alpha: false, antialias: false, depth: false, powerPreference: "high-performance",
    });
    if (!gl) throw new Error("no WebGL2");
    this.#gl = gl;
    this.#halve = program(gl, HALVE, ["u_film", "u_gain"]);
    this.#resample = program(gl, RESAMPLE, ["u_film", "u_origin", "u_step", "u_gain"]);
    this.#window = program(gl, WINDOW, ["u_sheet", "u_last", "u_low", "u_high", "u_inverted", "u_flipped"]);
    this.#buffer = gl.createFramebuffer();
    this.software = drawsInSoftware(gl);
  }

  /**
   * @param {Pixels} film
   * @param {() => Promise<void>} breathe resolves when the next strip may go up
   */
  async upload(film, breathe) {
    const gl = this.#gl;
    const { samples, width, height } = film;
    const eight = samples instanceof Uint8Array;
    if (Math.max(width, height) > gl.getParameter(gl.MAX_TEXTURE_SIZE)) {
      return { width, height, levels: [], film, unit: eight ? 256 : 1, made: {} };
    }
    const levels = [texture(gl, eight ? gl.R8UI : gl.R16UI, width, height)];
    const type = eight ? gl.UNSIGNED_BYTE : gl.UNSIGNED_SHORT;
    const rows = Math.max(1, Math.floor(STRIP_BYTES / (width * samples.BYTES_PER_ELEMENT)));
    for (let y = 0; y < height; y += rows) {
      if (y) await breathe();
      const count = Math.min(rows, height - y);
      gl.bindTexture(gl.TEXTURE_2D, levels[0].name);
      gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, y, width, count, gl.RED_INTEGER, type,
        samples.subarray(y * width, (y + count) * width));
      gl.flush(); // or the card would begin only when the film is shown
    }
    await breathe();
    this.#addHalves(levels, eight ? 256 : 1);
    // In 256ths: what one unit of the first level and of the halved levels counts.
    return { width, height, levels, gains: [256, eight ? 1 : 256], made: {} };
  }

  /** Make the sheet and the print, unless they are there already. @param {PlacedFilm} placed */
  prepare({ handle, rect, zoomPan, window, inverted, flipped, slot = "pane" }) {
    const made = (handle.made[slot] ??= { ...UNMADE });
    const sheetKey = [zoomPan.scale, zoomPan.x, zoomPan.y, rect.width, rect.height].join();
    const printKey = [sheetKey, window.low, window.high, inverted, flipped].join();
    if (made.sheetKey !== sheetKey) this.#makeSheet(handle, made, zoomPan, rect);
    if (made.printKey !== printKey) this.#makePrint(made, window, inverted, flipped);
    Object.assign(made, { sheetKey, printKey });
  }

  /** @param {PlacedFilm[]} placedFilms */
  draw(placedFilms) {
    const gl = this.#gl;
    for (const placed of placedFilms) this.prepare(placed);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.#buffer);
    for (const { handle, rect, flipped, slot = "pane" } of placedFilms) {
      const { print, rect: part } = handle.made[slot];
      if (slot === "glass") this.#blacken(rect);
      const { width, height } = part;
      const left = rect.x + mirrored(part, rect, flipped);
      const bottom = gl.drawingBufferHeight - rect.y - part.y - height;
      gl.framebufferTexture2D(gl.READ_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, print.name, 0);
      gl.blitFramebuffer(0, 0, width, height, left, bottom, left + width, bottom + height,
        gl.COLOR_BUFFER_BIT, gl.NEAREST);
    }
  }

  /** @returns {() => boolean} whether the card has done everything asked of it until now */
  fence() {
    const gl = this.#gl;
    const sync = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    if (!sync) return () => true;
    return () => {
      if (gl.getSyncParameter(sync, gl.SYNC_STATUS) === gl.UNSIGNALED) return false;
      gl.deleteSync(sync);
      return true;
    };
  }

  release(handle) {
    for (const level of handle.levels) this.#gl.deleteTexture(level.name);
    for (const { sheet, print } of Object.values(handle.made)) {
      for (const texture of [sheet, print]) if (texture) this.#gl.deleteTexture(texture.name);
    }
  }

  #blacken({ x, y, width, height }) {
    const gl = this.#gl;
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(x, gl.drawingBufferHeight - y - height, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.disable(gl.SCISSOR_TEST);
  }

  #makeSheet(handle, made, zoomPan, pane) {
    const gl = this.#gl;
    const part = covered(zoomPan, pane, handle);
    made.sheet = this.#sized(made.sheet, gl.R32UI, part);
    made.rect = part;
    const step = 1 / zoomPan.scale;
    if (!handle.levels.length) {
      this.#fillSheet(handle, made, zoomPan, pane, step);
      return;
    }
    const halvings = Math.min(handle.levels.length - 1, Math.max(0, Math.floor(Math.log2(step))));
    const share = 2 ** halvings;
    const corner = origin(zoomPan, pane);
    const { uniforms } = this.#into(made.sheet, this.#resample, handle.levels[halvings].name);
    gl.uniform2f(uniforms.u_origin, (corner.x + part.x * step) / share, (corner.y + part.y * step) / share);
    gl.uniform1f(uniforms.u_step, step / share);
    gl.uniform1f(uniforms.u_gain, handle.gains[Math.min(1, halvings)]);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.flush();
  }

  /** The sheet of a film that is not on the card. */
  #fillSheet({ film, unit }, { rect, sheet }, zoomPan, pane, step) {
    const gl = this.#gl;
    const { x, y } = origin(zoomPan, pane);
    const greys = resample(film, { x: x + rect.x * step, y: y + rect.y * step }, step, rect, unit);
    const gain = 256 / unit;
    gl.bindTexture(gl.TEXTURE_2D, sheet.name);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 4);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, rect.width, rect.height, gl.RED_INTEGER, gl.UNSIGNED_INT,
      Uint32Array.from(greys, (grey) => grey * gain));
  }

  #makePrint(made, window, inverted, flipped) {
    const gl = this.#gl;
    made.print = this.#sized(made.print, gl.RGBA8, made.rect);
    const { uniforms } = this.#into(made.print, this.#window, made.sheet.name);
    gl.uniform2i(uniforms.u_last, made.rect.width - 1, made.rect.height - 1);
    gl.uniform1f(uniforms.u_low, window.low);
    gl.uniform1f(uniforms.u_high, window.high);
    gl.uniform1i(uniforms.u_inverted, inverted ? 1 : 0);
    gl.uniform1i(uniforms.u_flipped, flipped ? 1 : 0);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.flush();
  }

  #sized(old, format, { width, height }) {
    if (old?.width === width && old.height === height) return old;
    if (old) this.#gl.deleteTexture(old.name);
    return texture(this.#gl, format, width, height);
  }

  #addHalves(levels, gain) {
    const gl = this.#gl;
    for (let last = levels[0]; Math.min(last.width, last.height) > SMALLEST_LEVEL; last = levels.at(-1)) {
      const half = texture(gl, gl.R16UI, Math.ceil(last.width / 2), Math.ceil(last.height / 2));
      const { uniforms } = this.#into(half, this.#halve, last.name);
      gl.uniform1f(uniforms.u_gain, last === levels[0] ? gain : 1);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
      levels.push(half);
    }
    gl.flush();
  }

  #into(target, use, source) {
    const gl = this.#gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.#buffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target.name, 0);
    gl.viewport(0, 0, target.width, target.height);
    gl.useProgram(use.name);
    gl.bindTexture(gl.TEXTURE_2D, source);
    return use;
  }
}

function texture(gl, format, width, height) {
  const name = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, name);
  gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
  // Integer textures are complete only with these filters.
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  return { name, width, height };
}

function program(gl, fragment, names) {
  const name = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(name, shader);
  }
  gl.linkProgram(name);
  if (!gl.getProgramParameter(name, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`shader: ${gl.getProgramInfoLog(name)}`);
  }
  const uniforms = Object.fromEntries(names.map((key) => [key, gl.getUniformLocation(name, key)]));
  return { name, uniforms };
}

/** @returns {boolean|null} null where the browser does not tell */
function drawsInSoftware(gl) {
  const told = gl.getExtension("WEBGL_debug_renderer_info");
  const card = gl.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  if (!card || card === "WebKit WebGL") return null;
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(card);
}
