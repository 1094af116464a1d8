/** The two renderers: the graphics card, and a fallback that draws the same picture on the processor. */

import { covered, mirrored, origin, resampleTurned, shadeTable, turnedBack, turnedSize } from "./picture.js";
import { samplesOf } from "./region.js";

/** @import { Pixels, Rect, Window, ZoomPan } from "../page/types.js" */

/** @typedef {{handle: any, rect: Rect, zoomPan: ZoomPan,
 *   window: Window, inverted: boolean, flipped: boolean, turns: number, slot?: "pane"|"glass"}} PlacedFilm
 *   turns: quarter turns to the right, before it is mirrored; a film in its pane, or a part of it in the glass, which lies on black over what hangs before it */

const STRIP_BYTES = 1 << 20; // short enough not to affect the frame rate
const SMALLEST_LEVEL = 64;
const CHANNELS = 4; // every card reads integers back as red, green, blue and alpha
const NO_SIZE = { width: 0, height: 0 };
/** The textures of a film for one slot. */
const UNMADE = { rect: null, sheet: null, sheetKey: "", print: null, printKey: "" };

/**
 * Films as exact integer textures, which are scaled to screen size and then windowed.
 *
 * The screen-sized part of a film (its sheet) is rendered again when the view changes, the windowed sheet (its print) when
 * the window does. Both are prepared in advance for the next cases, so that showing a case only copies pixels. A film
 * that is shown twice, as under the magnifying glass, has both for each slot. A film that exceeds the card's texture
 * size is scaled by the processor.
 */
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
    this.#resample = program(gl, RESAMPLE, ["u_film", "u_origin", "u_across", "u_down", "u_step", "u_gain"]);
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
      gl.flush(); // otherwise the card would begin only when the film is shown
    }
    await breathe();
    this.#addHalves(levels, eight ? 256 : 1);
    // The weight of a unit of the first level and of the halved levels, in 256ths.
    return { width, height, levels, gains: [256, eight ? 1 : 256], made: {} };
  }

  /** Create the sheet and the print unless they exist. @param {PlacedFilm} placed */
  prepare({ handle, rect, zoomPan, window, inverted, flipped, turns, slot = "pane" }) {
    const made = (handle.made[slot] ??= { ...UNMADE });
    const sheetKey = [zoomPan.scale, zoomPan.x, zoomPan.y, rect.width, rect.height, turns].join();
    const printKey = [sheetKey, window.low, window.high, inverted, flipped].join();
    if (made.sheetKey !== sheetKey) this.#makeSheet(handle, made, zoomPan, rect, turns);
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

  /** @returns {() => boolean} whether the card has finished all work so far */
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

  /** The film's own grey values in a part of it, row by row. @param {any} handle @param {Rect} part in film pixels */
  samples(handle, part) {
    if (!handle.levels.length) return samplesOf(handle.film, part);
    const gl = this.#gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.#buffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, handle.levels[0].name, 0);
    const { x, width, height } = part;
    const result = new Uint16Array(width * height);
    const rows = Math.max(1, Math.floor(STRIP_BYTES / (width * CHANNELS * 4)));
    for (let y = 0; y < height; y += rows) {
      const count = width * Math.min(rows, height - y);
      const strip = new Uint32Array(count * CHANNELS);
      gl.readPixels(x, part.y + y, width, count / width, gl.RGBA_INTEGER, gl.UNSIGNED_INT, strip);
      for (let i = 0; i < count; i += 1) result[y * width + i] = strip[i * CHANNELS];
    }
    return result;
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

  #makeSheet(handle, made, zoomPan, pane, turns) {
    const gl = this.#gl;
    const part = covered(zoomPan, pane, turnedSize(handle, turns));
    made.sheet = this.#sized(made.sheet, gl.R32UI, part);
    made.rect = part;
    const step = 1 / zoomPan.scale;
    if (!handle.levels.length) {
      this.#fillSheet(handle, made, corner(zoomPan, pane, part), step, turns);
      return;
    }
    const halvings = Math.min(handle.levels.length - 1, Math.max(0, Math.floor(Math.log2(step))));
    const share = 2 ** halvings;
    const { uniforms } = this.#into(made.sheet, this.#resample, handle.levels[halvings].name);
    const from = turnedBack(corner(zoomPan, pane, part), turns, handle);
    const [across, down] = [{ x: 1, y: 0 }, { x: 0, y: 1 }].map((way) => turnedBack(way, turns, NO_SIZE));
    gl.uniform2f(uniforms.u_origin, from.x / share, from.y / share);
    gl.uniform2f(uniforms.u_across, across.x, across.y);
    gl.uniform2f(uniforms.u_down, down.x, down.y);
    gl.uniform1f(uniforms.u_step, step / share);
    gl.uniform1f(uniforms.u_gain, handle.gains[Math.min(1, halvings)]);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.flush();
  }

  /** The sheet of a film that is too large for the card. */
  #fillSheet({ film, unit }, { rect, sheet }, from, step, turns) {
    const gl = this.#gl;
    const greys = resampleTurned(film, from, step, rect, unit, turns);
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

/** @returns {boolean|null} null if the browser does not reveal it */
function drawsInSoftware(gl) {
  const extension = gl.getExtension("WEBGL_debug_renderer_info");
  const card = gl.getParameter(extension ? extension.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  if (!card || card === "WebKit WebGL") return null;
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(card);
}

/** The card's shaders: halve a film, scale a part of it to screen size, and apply the window. */
const VERTEX = `#version 300 es
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0);
}`;

const HEADER = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
`;

/** Half size, as 16-bit numbers; u_gain scales 8-bit films up so that their averages keep a fraction. */
const HALVE = `${HEADER}
uniform usampler2D u_film;
uniform float u_gain;
out uint result;
void main() {
  ivec2 last = textureSize(u_film, 0) - 1;
  ivec2 at = ivec2(gl_FragCoord.xy) * 2;
  uint sum = 0u;
  for (int i = 0; i < 4; i++) sum += texelFetch(u_film, min(at + ivec2(i & 1, i >> 1), last), 0).r;
  result = uint(float(sum) * u_gain / 4.0 + 0.5);
}`;

/**
 * A part of the film at screen size, in 256ths of a grey value. When reduced, the average over the area of the screen
 * pixel, which at 1:1 is exactly the film's pixel. When enlarged, cubic interpolation, limited to the range of the
 * four nearest pixels to prevent ringing.
 */
const RESAMPLE = `${HEADER}
uniform usampler2D u_film;
uniform vec2 u_origin;
uniform vec2 u_across;
uniform vec2 u_down;
uniform float u_step;
uniform float u_gain;
out uint result;

float grey(ivec2 at) {
  return float(texelFetch(u_film, clamp(at, ivec2(0), textureSize(u_film, 0) - 1), 0).r);
}

float average(vec2 centre, vec2 size) {
  vec2 near = max(centre - u_step * 0.5, 0.0);
  vec2 far = min(centre + u_step * 0.5, size);
  ivec2 first = ivec2(floor(near));
  float sum = 0.0;
  for (int j = 0; j < 3; j++) {
    float down = min(far.y, float(first.y + j + 1)) - max(near.y, float(first.y + j));
    if (down <= 0.0) break;
    float line = 0.0;
    for (int i = 0; i < 3; i++) {
      float across = min(far.x, float(first.x + i + 1)) - max(near.x, float(first.x + i));
      if (across <= 0.0) break;
      line += across * grey(first + ivec2(i, j));
    }
    sum += down * line;
  }
  return sum / ((far.x - near.x) * (far.y - near.y));
}

vec4 cubic(float t) {
  return 0.5 * vec4(((2.0 - t) * t - 1.0) * t, (3.0 * t - 5.0) * t * t + 2.0,
                    ((4.0 - 3.0 * t) * t + 1.0) * t, (t - 1.0) * t * t);
}

float between(vec2 centre) {
  vec2 at = centre - 0.5;
  ivec2 first = ivec2(floor(at));
  vec4 across = cubic(at.x - floor(at.x));
  vec4 down = cubic(at.y - floor(at.y));
  float sum = 0.0;
  float least = 1e9;
  float most = 0.0;
  for (int j = 0; j < 4; j++) {
    vec4 line = vec4(grey(first + ivec2(-1, j - 1)), grey(first + ivec2(0, j - 1)),
                     grey(first + ivec2(1, j - 1)), grey(first + ivec2(2, j - 1)));
    sum += down[j] * dot(across, line);
    if (j == 1 || j == 2) {
      least = min(least, min(line.y, line.z));
      most = max(most, max(line.y, line.z));
    }
  }
  return clamp(sum, least, most);
}

void main() {
  vec2 size = vec2(textureSize(u_film, 0));
  vec2 centre = u_origin + (gl_FragCoord.x * u_across + gl_FragCoord.y * u_down) * u_step;
  float value = u_step >= 1.0 ? average(centre, size) : between(centre);
  result = uint(value * u_gain + 0.5);
}`;

/** Window, level and mirror image of the screen-sized part, bottom row first as the screen has it; the formula is
 *  window.js's. */
const WINDOW = `${HEADER}
uniform usampler2D u_sheet;
uniform ivec2 u_last;
uniform float u_low;
uniform float u_high;
uniform bool u_inverted;
uniform bool u_flipped;
out vec4 colour;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  float value = float(texelFetch(u_sheet, ivec2(u_flipped ? u_last.x - at.x : at.x, u_last.y - at.y), 0).r) / 256.0;
  float share = clamp((value - u_low) / (u_high - u_low), 0.0, 1.0);
  if (u_inverted) share = 1.0 - share;
  colour = vec4(vec3(floor(share * 255.0 + 0.5) / 255.0), 1.0);
}`;

const BLACK = 0xff000000;
const STEPS = 65536;

/** Draws on a 2D canvas, computed by the processor from the samples. */
export class CanvasRenderer {
  name = "canvas2d";
  software = null; // unknown: a 2D canvas does not reveal what draws it
  #context;

  /** @param {OffscreenCanvas} canvas */
  constructor(canvas) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("no canvas");
    this.#context = context;
  }

  /** @param {Pixels} film */
  async upload(film) {
    // 8-bit films get eight fractional bits; 16-bit films need none. Both have 65536 steps.
    const unit = film.samples instanceof Uint8Array ? 256 : 1;
    return { film, width: film.width, height: film.height, unit, made: {} };
  }

  /** The film's own grey values in a part of it, row by row. @param {any} handle @param {Rect} part in film pixels */
  samples(handle, part) {
    return samplesOf(handle.film, part);
  }

  /** Create the screen-sized part and its windowed image unless they exist. @param {PlacedFilm} placed */
  prepare({ handle, rect, zoomPan, window, inverted, flipped, turns, slot = "pane" }) {
    const made = (handle.made[slot] ??= { ...UNMADE });
    const sheetKey = [zoomPan.scale, zoomPan.x, zoomPan.y, rect.width, rect.height, turns].join();
    const printKey = [sheetKey, window.low, window.high, inverted, flipped].join();
    if (made.sheetKey !== sheetKey) {
      made.rect = covered(zoomPan, rect, turnedSize(handle.film, turns));
      const from = corner(zoomPan, rect, made.rect);
      made.sheet = resampleTurned(handle.film, from, 1 / zoomPan.scale, made.rect, handle.unit, turns);
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

/** The coordinates of the top left corner of the covered part, on the turned film. */
function corner(zoomPan, pane, part) {
  const { x, y } = origin(zoomPan, pane);
  return { x: x + part.x / zoomPan.scale, y: y + part.y / zoomPan.scale };
}
