/**
 * The renderer on the graphics card: films as exact integer textures, brought to screen size, then windowed.
 *
 * The screen-sized part of a film (its sheet) is made anew when the view changes, the windowed sheet (its print) when
 * the window does. Both are made in advance for the coming cases, so that showing one is a copy of its pixels. A film
 * larger than the card takes as one texture stays with the processor, which makes its sheets.
 */

import { covered, origin } from "./layout.js";
import { resample } from "./resample.js";
import { HALVE, RESAMPLE, VERTEX, WINDOW } from "./shaders.js";

/** @typedef {{handle: any, rect: import("./types.js").Rect, gaze: import("./types.js").Gaze,
 *   window: import("./types.js").Window, inverted: boolean}} Hanging  a film in its pane */

const STRIP_BYTES = 1 << 20; // short enough an upload to leave the frame rate alone
const SMALLEST_LEVEL = 64;
const UNMADE = { rect: null, sheet: null, sheetKey: "", print: null, printKey: "" };

export class WebglRenderer {
  name = "webgl2";
  software;
  #gl;
  #halve;
  #resample;
  #window;
  #buffer;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", {
      alpha: false, antialias: false, depth: false, powerPreference: "high-performance",
    });
    if (!gl) throw new Error("no WebGL2");
    this.#gl = gl;
    this.#halve = program(gl, HALVE, ["u_film", "u_gain"]);
    this.#resample = program(gl, RESAMPLE, ["u_film", "u_origin", "u_step", "u_gain"]);
    this.#window = program(gl, WINDOW, ["u_sheet", "u_top", "u_low", "u_high", "u_inverted"]);
    this.#buffer = gl.createFramebuffer();
    this.software = drawsInSoftware(gl);
  }

  /**
   * @param {import("./types.js").Film} film
   * @param {() => Promise<void>} breathe resolves when the next strip may go up
   */
  async upload(film, breathe) {
    const gl = this.#gl;
    const { samples, width, height } = film;
    const eight = samples instanceof Uint8Array;
    if (Math.max(width, height) > gl.getParameter(gl.MAX_TEXTURE_SIZE)) {
      return { ...UNMADE, width, height, levels: [], film, unit: eight ? 256 : 1 };
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
    return { ...UNMADE, width, height, levels, gains: [256, eight ? 1 : 256] };
  }

  /** Make the sheet and the print, unless they are there already. @param {Hanging} hanging */
  prepare({ handle, rect, gaze, window, inverted }) {
    const sheetKey = [gaze.scale, gaze.x, gaze.y, rect.width, rect.height].join();
    const printKey = [sheetKey, window.low, window.high, inverted].join();
    if (handle.sheetKey !== sheetKey) this.#makeSheet(handle, gaze, rect);
    if (handle.printKey !== printKey) this.#makePrint(handle, window, inverted);
    Object.assign(handle, { sheetKey, printKey });
  }

  /** @param {Hanging[]} hangings */
  draw(hangings) {
    const gl = this.#gl;
    for (const hanging of hangings) this.prepare(hanging);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.#buffer);
    for (const { handle, rect } of hangings) {
      const { width, height } = handle.rect;
      const left = rect.x + handle.rect.x;
      const bottom = gl.drawingBufferHeight - rect.y - handle.rect.y - height;
      gl.framebufferTexture2D(gl.READ_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, handle.print.name, 0);
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
    for (const made of [handle.sheet, handle.print]) if (made) this.#gl.deleteTexture(made.name);
  }

  #makeSheet(handle, gaze, pane) {
    const gl = this.#gl;
    const part = covered(gaze, pane, handle);
    handle.sheet = this.#sized(handle.sheet, gl.R32UI, part);
    handle.rect = part;
    const step = 1 / gaze.scale;
    if (!handle.levels.length) {
      this.#fillSheet(handle, gaze, pane, step);
      return;
    }
    const halvings = Math.min(handle.levels.length - 1, Math.max(0, Math.floor(Math.log2(step))));
    const share = 2 ** halvings;
    const corner = origin(gaze, pane);
    const { uniforms } = this.#into(handle.sheet, this.#resample, handle.levels[halvings].name);
    gl.uniform2f(uniforms.u_origin, (corner.x + part.x * step) / share, (corner.y + part.y * step) / share);
    gl.uniform1f(uniforms.u_step, step / share);
    gl.uniform1f(uniforms.u_gain, handle.gains[Math.min(1, halvings)]);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.flush();
  }

  /** The sheet of a film that is not on the card. */
  #fillSheet({ film, unit, rect, sheet }, gaze, pane, step) {
    const gl = this.#gl;
    const { x, y } = origin(gaze, pane);
    const greys = resample(film, { x: x + rect.x * step, y: y + rect.y * step }, step, rect, unit);
    const gain = 256 / unit;
    gl.bindTexture(gl.TEXTURE_2D, sheet.name);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 4);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, rect.width, rect.height, gl.RED_INTEGER, gl.UNSIGNED_INT,
      Uint32Array.from(greys, (grey) => grey * gain));
  }

  #makePrint(handle, window, inverted) {
    const gl = this.#gl;
    handle.print = this.#sized(handle.print, gl.RGBA8, handle.rect);
    const { uniforms } = this.#into(handle.print, this.#window, handle.sheet.name);
    gl.uniform1i(uniforms.u_top, handle.rect.height - 1);
    gl.uniform1f(uniforms.u_low, window.low);
    gl.uniform1f(uniforms.u_high, window.high);
    gl.uniform1i(uniforms.u_inverted, inverted ? 1 : 0);
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
