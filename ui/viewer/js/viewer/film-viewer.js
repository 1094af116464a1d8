/** Shows the films of a case: canvas, zoom, windows and magnifying glass, and the functions that change them. */

import { dragged, held, PRESETS } from "../film/picture.js";
import { FilmRenderer } from "../film/film-renderer.js";
import { boxesOn, fitted, followed, fullWindow, heatOn, inUse, onTurnedFilm, panned, placedFilm, presetOf, rotated, side, sizeOf, zoomed } from "./pane.js";
import { Hanging } from "./hanging.js";
import { MeasureTool } from "./measure-tool.js";

/** @import { LoadedFilm } from "../film/film-cache.js" */
/** @import { AidMarks, Rect, Window, ZoomPan } from "../page/types.js" */
/** @import { Pane } from "./pane.js" */

const NEARLY_PX = 2;

/** The canvas for pictures of films, and its exact size in device pixels. */
export class FilmCanvas {
  /** @type {FilmRenderer} */
  renderer;
  #canvas;
  /** Fills its container and reports its size in device pixels, which only a canvas can do. */
  #measure;
  #observer;
  #resized;
  #size;

  /**
   * @param {HTMLElement} place
   * @param {{resized: () => void, lost: () => void}} listener lost: every uploaded film is gone
   */
  constructor(place, { resized, lost }) {
    this.#resized = resized;
    [this.#canvas, this.#measure] = ["rr-canvas", "rr-measure"].map((name) => {
      const canvas = document.createElement("canvas");
      canvas.className = name;
      return canvas;
    });
    place.prepend(this.#canvas, this.#measure);
    this.renderer = new FilmRenderer(this.#canvas, lost);
    this.renderer.density = window.devicePixelRatio || 1;
    this.#size = this.#sizeNow();
    this.#observer = new ResizeObserver((entries) => this.#take(entries.at(-1)));
    try {
      this.#observer.observe(this.#measure, { box: "device-pixel-content-box" });
    } catch {
      this.#observer.observe(this.#measure);
    }
  }

  /** Device pixels per CSS pixel, measured because the browser's ratio can differ from that of the canvas. */
  get density() { return this.renderer.density; }

  /** In device pixels. */
  get size() { return this.#size; }

  stop() {
    this.#observer.disconnect();
    this.renderer.close();
    this.#canvas.remove();
    this.#measure.remove();
  }

  /** The page's layout has just changed, which the observer reports only with the next frame. */
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
    const resized = width !== this.#size.width || height !== this.#size.height || density !== this.density;
    this.#size = { width, height };
    this.renderer.density = density;
    if (resized) this.#resized();
  }
}

/** The browser's count of device pixels, unless it ignores the pixel ratio, as emulated screens do.
 *  @param {number|undefined} counted @param {number} computed */
function exactly(counted, computed) {
  return counted !== undefined && Math.abs(counted - computed) < NEARLY_PX ? counted : Math.round(computed);
}

/** @typedef {{x: number, y: number}} Point  in device pixels of the canvas */

const SIDE_PX = 320;
const LARGEST_SHARE = 0.6; // of the canvas's shorter side
const NEARER = 2;

/** The magnifying glass: the part of the film under the pointer, drawn again at a larger scale. */
export class Magnifier {
  on = false;
  /** @type {Point} */
  #at = { x: 0, y: 0 };
  #frame = document.createElement("div");

  /** @param {HTMLElement} place */
  constructor(place) {
    this.#frame.className = "rr-glass";
    this.#frame.hidden = true;
    place.append(this.#frame);
  }

  /** @param {Point} at */
  lay(at) {
    this.on = true;
    this.#at = at;
  }

  away() {
    this.on = false;
  }

  /** @param {number} right @param {number} down in device pixels @param {{width: number, height: number}} within */
  move(right, down, within) {
    this.#at = {
      x: Math.min(within.width, Math.max(0, this.#at.x + right)),
      y: Math.min(within.height, Math.max(0, this.#at.y + down)),
    };
  }

  /**
   * Return the pane under the glass, and the frame of the glass.
   * @param {Pane[]} panes @param {{width: number, height: number}} canvas @param {number} density
   * @returns {{pane: Pane, rect: Rect, zoomPan: ZoomPan}|null}
   */
  look(panes, canvas, density) {
    this.#frame.hidden = !this.on || !panes.length;
    if (this.#frame.hidden) return null;
    const pane = nearest(panes, this.#at);
    const side = Math.round(Math.min(SIDE_PX * density, LARGEST_SHARE * Math.min(canvas.width, canvas.height)));
    const rect = {
      x: Math.round(this.#at.x - side / 2), y: Math.round(this.#at.y - side / 2), width: side, height: side,
    };
    this.#place(rect, density);
    return { pane, rect, zoomPan: this.#zoomPan(pane, side) };
  }

  /** At least 1:1, and never so far outside the film that nothing of it is visible. */
  #zoomPan(pane, side) {
    const scale = Math.max(1, NEARER * pane.zoomPan.scale);
    const point = onTurnedFilm({ x: this.#at.x - pane.rect.x, y: this.#at.y - pane.rect.y }, pane);
    const beyond = side / 2 / scale - 1;
    const { width, height } = sizeOf(pane);
    const held = (value, length) => Math.min(length + beyond, Math.max(-beyond, value));
    return { scale, x: held(point.x, width), y: held(point.y, height), fit: false };
  }

  #place({ x, y, width, height }, density) {
    Object.assign(this.#frame.style, {
      left: `${x / density}px`, top: `${y / density}px`, width: `${width / density}px`, height: `${height / density}px`,
    });
  }
}

/** The pane at a point, or the nearest pane if the point is in a gap. */
function nearest(panes, at) {
  const beside = (value, from, length) => Math.max(0, from - value, value - from - length);
  const far = ({ rect }) => Math.hypot(beside(at.x, rect.x, rect.width), beside(at.y, rect.y, rect.height));
  return panes.reduce((best, pane) => (far(pane) < far(best) ? pane : best));
}

/** @type {AidMarks} */
const NO_MARKS = { boxes: [], map: [] };
const REST_MS = 300; // a window being resized changes its size with every frame

export class FilmViewer {
  /** Whether changes to one film apply to all visible films. */
  linked = false;
  /** The position of the mouse over the films, in device pixels. @type {{x: number, y: number}|null} */
  pointer = null;
  /** Measured lines. */
  measure;
  #place;
  #canvas;
  #hanging;
  #listener;
  #magnifier;
  #inverted = false;
  /** @type {AidMarks} */
  #marks = NO_MARKS;
  /** Whether the reader hides the marks. */
  #unmarked = false;
  #uses = "";
  #frame = 0;
  #atRest = 0;

  /**
   * @param {HTMLElement} place
   * @param {{used: (tool: string) => void, lost: () => void, fresh: () => void, resized: () => void,
   *   toggled: (tools: {[command: string]: boolean}) => void, hint: (text: string) => void, folded: () => boolean,
   *   recordUse: (uses: string[]) => void}} listener fresh: other films; resized: the canvas has been of another size for
   *   a while; toggled: which tools are on; folded: the question is hidden; recordUse: see case/attempt.js for the names
   */
  constructor(place, listener) {
    this.#place = place;
    this.#listener = listener;
    this.#canvas = new FilmCanvas(place, {
      resized: () => {
        this.#hanging.arrange();
        this.#draw();
        clearTimeout(this.#atRest);
        this.#atRest = setTimeout(() => listener.resized(), REST_MS);
      },
      lost: () => {
        this.show([]);
        listener.lost();
      },
    });
    this.#hanging = new Hanging(place, this.#canvas, listener.folded);
    this.#magnifier = new Magnifier(place);
    this.measure = new MeasureTool({
      visible: () => this.#hanging.visible, density: () => this.#canvas.density, changed: () => this.#soon(),
      grey: (handle, box) => this.renderer.grey(handle, box),
    }, listener);
  }

  /** The renderer. */
  get renderer() { return this.#canvas.renderer; }

  /** Prepare the picture of the next films. @param {LoadedFilm[]} films */
  prepare(films) {
    if (this.#hanging.holds(films)) return;
    this.renderer.prepare(this.#canvas.size, this.#hanging.asTheyCome(films).map((pane) => placedFilm(pane, false)));
  }

  /**
   * Hang these films in their initial state: fitted, with their initial windows.
   * @param {LoadedFilm[]} films
   * @param {{same?: boolean, marks?: AidMarks}} [how] same: the films of the previous case, in the state left by the
   * reader
   */
  show(films, { same = false, marks = NO_MARKS } = {}) {
    const left = same ? this.#hanging.panes.map(({ zoomPan, window, preset, flipped, turns }) => ({ zoomPan, window, preset, flipped, turns })) : [];
    const inverted = same && this.#inverted;
    this.#listener.fresh();
    this.#canvas.look();
    this.renderer.blank();
    this.#marks = marks;
    this.#unmarked = false;
    this.#hang(films, left, inverted);
  }

  /** Show a model's marks on the films. @param {AidMarks} marks */
  showMarks(marks) {
    this.#marks = marks;
    this.#draw();
  }

  /** Hide the model's marks, or show them again. */
  toggleMarks() {
    this.#unmarked = !this.#unmarked;
    this.#draw();
  }

  /** @param {number} x @param {number} y in CSS pixels of the page @returns {Pane|null} */
  paneAt(x, y) {
    return this.#hanging.under(this.toDevice(x, y));
  }

  /** @param {number} x @param {number} y in CSS pixels of the page @returns in device pixels of the canvas */
  toDevice(x, y) {
    const { left, top } = this.#place.getBoundingClientRect();
    return { x: (x - left) * this.#canvas.density, y: (y - top) * this.#canvas.density };
  }

  /** Zoom around a point of the page, or around the centre of every visible film.
   *  @param {number} factor @param {Pane|null} [pane] */
  zoom(factor, pane = null, x = 0, y = 0) {
    this.#move(pane, (each) => {
      const { rect } = each;
      const middle = { x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 };
      const point = pane ? this.toDevice(x, y) : middle;
      const from = { x: side(each) * (point.x - middle.x), y: point.y - middle.y };
      return zoomed(each.zoomPan, factor, from, rect, sizeOf(each));
    });
  }

  /** @param {number} right @param {number} down in CSS pixels @param {Pane|null} [pane] */
  pan(right, down, pane = null) {
    const { density } = this.#canvas;
    this.#move(pane, (each) =>
      panned(each.zoomPan, side(each) * right * density, down * density, each.rect, sizeOf(each)));
  }

  /** @param {number} right @param {number} down in CSS pixels @param {Pane|null} [pane] */
  level(right, down, pane = null) {
    for (const each of this.#meant(pane)) {
      each.window = dragged(each.window, right, down, fullWindow(each.film.view));
      each.preset = -1;
    }
    this.#soon();
  }

  nextPreset() {
    this.preset(((this.#hanging.visible[0]?.preset ?? -1) + 1) % PRESETS.length);
  }

  /** @param {number} place in PRESETS */
  preset(place) {
    for (const pane of this.#hanging.visible) Object.assign(pane, presetOf(pane.film, place));
    this.#listener.used("window");
    this.#soon();
  }

  /** The window of the film under the pointer, to be typed as numbers; without a film, or if linked, of every visible film.
   *  @returns {{window: Window, of: "only"|"one"|"every", set: (width: number, level: number) => void}|null} of: which of
   *  the visible films; null: no film */
  get typedWindow() {
    const pane = this.pointer && this.#hanging.under(this.pointer);
    const [meant, several] = [this.#meant(pane), this.#hanging.visible.length > 1];
    if (!meant.length) return null;
    return {
      window: (pane ?? meant[0]).window, of: meant.length > 1 ? "every" : several ? "one" : "only",
      set: (width, level) => {
        for (const each of meant) Object.assign(each, { window: held(level, width, fullWindow(each.film.view)), preset: -1 });
        this.#listener.used("window");
        this.#soon();
      },
    };
  }

  /** @param {Pane|null} [pane] */
  fit(pane = null) {
    for (const each of this.#meant(pane)) each.zoomPan = fitted(each.rect, sizeOf(each));
    this.#listener.used("fit");
    this.#soon();
  }

  /** Show the film at 1:1, or fit it if it is at 1:1. */
  actualSize() {
    const visible = this.#hanging.visible;
    if (visible.every(({ zoomPan }) => zoomPan.scale === 1)) {
      this.fit();
      return;
    }
    for (const pane of visible) {
      const middle = { x: 0, y: 0 };
      pane.zoomPan = { ...zoomed(pane.zoomPan, 1 / pane.zoomPan.scale, middle, pane.rect, sizeOf(pane)), scale: 1 };
    }
    this.#listener.used("actual_size");
    this.#soon();
  }

  invert() {
    this.#inverted = !this.#inverted;
    this.#listener.used("invert");
    this.#soon();
  }

  /** Mirror the film under the pointer; without a film, or if linked, every visible film. */
  flip() {
    const pane = this.pointer && this.#hanging.under(this.pointer);
    const flipped = !(pane ?? this.#hanging.visible[0])?.flipped;
    for (const each of this.#meant(pane)) each.flipped = flipped;
    this.#listener.used("flip");
    this.#soon();
  }

  /** Turn the film under the pointer by a quarter to the right; without a film, or if linked, every visible film. */
  rotate() {
    const pane = this.pointer && this.#hanging.under(this.pointer);
    for (const each of this.#meant(pane)) Object.assign(each, rotated(each));
    this.#listener.used("rotate");
    this.#soon();
  }

  /** Swap the films. */
  swap() {
    if (!this.#hanging.swap()) return;
    this.#listener.used("swap");
    this.#draw();
  }

  /** Show or hide the prior films. */
  compare() {
    if (!this.#hanging.compare()) return;
    this.#listener.used("view");
    this.#draw();
  }

  /** Toggle the magnifying glass, at the pointer or at the centre of the first film. */
  toggleMagnifier() {
    const pane = this.#hanging.visible[0];
    if (this.#magnifier.on) this.#magnifier.away();
    else if (pane) {
      const { x, y, width, height } = pane.rect;
      this.#magnifier.lay(this.pointer ?? { x: x + width / 2, y: y + height / 2 });
      this.#listener.used("glass");
    }
    this.#soon();
  }

  get magnifying() { return this.#magnifier.on; }

  /** @param {number} right @param {number} down in CSS pixels */
  moveMagnifier(right, down) {
    const { density, size } = this.#canvas;
    this.#magnifier.move(right * density, down * density, size);
    this.#soon();
  }

  /** The pointer moved, and the glass moves with it. @param {{x: number, y: number}|null} at in device pixels */
  point(at) {
    this.pointer = at;
    this.measure.hover(at && this.#hanging.under(at), at ?? { x: 0, y: 0 });
    if (!at || !this.#magnifier.on) return;
    this.#magnifier.lay(at);
    this.#soon();
  }

  /** Reset everything: all films visible, in their initial state, for the current window size. */
  reset() {
    this.#listener.used("reset");
    this.#canvas.look();
    this.#hang();
  }

  /** Show each film alone in turn, then all together; or this film alone, and then all. @param {Pane|null} [pane] */
  nextView(pane = null) {
    if (!this.#hanging.nextView(pane)) return;
    this.#listener.used("view");
    this.#draw();
  }

  /** Apply the reader's preferences. @param {{linked: boolean, equal: boolean, keeping: boolean}} likes */
  liked({ linked, equal, keeping }) {
    this.linked = linked;
    this.#hanging.keeping = keeping;
    if (equal !== this.#hanging.equal) {
      this.#hanging.equal = equal;
      this.#hanging.arrange();
      this.#listener.resized();
    }
    this.#soon();
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#atRest);
    this.#canvas.stop();
  }

  /** @param {LoadedFilm[]} [films] @param {Partial<Pane>[]} [left] the earlier state of the panes @param {boolean}
   * [inverted] */
  #hang(films, left = [], inverted = false) {
    this.#inverted = inverted;
    this.#uses = ""; // other films, or the same films for another reading
    this.#magnifier.away();
    this.measure.clear();
    this.#hanging.hang(films);
    if (left.length === this.#hanging.panes.length) this.#hanging.panes.forEach((pane, i) => Object.assign(pane, left[i]));
    this.#draw();
  }

  /** The films affected by an action on this film; without a film, by a key. @param {Pane|null} pane */
  #meant(pane) {
    return pane && !this.linked ? [pane] : this.#hanging.visible;
  }

  /** Change the visible part of a film and its linked films, or of every film separately. */
  #move(pane, change) {
    for (const lead of pane ? [pane] : this.#hanging.visible) {
      const before = lead.zoomPan;
      lead.zoomPan = change(lead);
      const others = pane ? this.#meant(pane).filter((each) => each !== pane) : [];
      for (const other of others) other.zoomPan = followed(other, lead, before);
    }
    this.#soon();
  }

  #soon() {
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const visible = this.#hanging.visible;
    const placedFilms = visible.map((pane) => placedFilm(pane, this.#inverted));
    const magnified = this.#magnifier.look(visible, this.#canvas.size, this.#canvas.density);
    if (magnified) placedFilms.push({ ...placedFilm({ ...magnified.pane, ...magnified }, this.#inverted), slot: "glass" });
    const labels = this.#hanging.panes.map((pane) => {
      if (!visible.includes(pane)) return () => pane.labels.hide();
      const { rect, zoomPan, flipped, turns, film } = pane;
      const [state, density] = [this.#stateOf(pane), this.#canvas.density];
      const { boxes, map } = this.#unmarked ? NO_MARKS : this.#marks;
      const marks = { lines: this.measure.marks(pane), boxes: boxesOn(pane, boxes, density), heat: heatOn(pane, map, density) };
      return () => pane.labels.write({ rect, zoomPan, flipped, turns, film }, density, state, marks, magnified?.rect ?? null);
    });
    // Labels appear together with their picture, not on the previous one.
    this.renderer.draw(this.#canvas.size, placedFilms, () => labels.forEach((write) => write()));
    this.#tellUses(visible);
    this.#listener.toggled({
      invert: this.#inverted, glass: this.#magnifier.on, link: this.linked, measure: this.measure.tool === "line",
      angle: this.measure.tool === "angle", region: this.measure.tool === "region",
      flip: visible.some(({ flipped }) => flipped), rotate: visible.some(({ turns }) => turns),
    });
  }

  #stateOf(pane) {
    const { window, preset: chosen, film } = pane;
    const name = PRESETS[chosen] ?? "";
    return {
      window, preset: film.own && name === "auto" ? "" : name, inverted: this.#inverted, swapped: this.#hanging.swapped,
      linked: this.linked && this.#hanging.panes.length > 1, measuring: this.measure.tool, grey: this.measure.greyOn(pane),
    };
  }

  /** Report the views and tools in use whenever they change. */
  #tellUses(visible) {
    const uses = inUse(visible, { alone: this.#hanging.alone, inverted: this.#inverted, glass: this.#magnifier.on });
    const key = uses.join();
    if (key === this.#uses) return;
    this.#uses = key;
    this.#listener.recordUse(uses);
  }
}
