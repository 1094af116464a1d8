/** The picture: which films hang side by side, how each is zoomed and windowed, and the commands that change it. */

import { arrange, fitted, panned, zoomed } from "./layout.js";
import { LightBox } from "./lightbox.js";
import { texts } from "./texts.js";
import { dragged, preset, PRESETS } from "./window.js";

/** @typedef {import("./films.js").Hung} Hung */
/** @typedef {{hung: Hung, rect: import("./types.js").Rect, gaze: import("./types.js").Gaze,
 *   window: import("./types.js").Window, preset: number, plate: HTMLElement}} Pane */

const GAP_PX = 6;

export class Picture {
  #place;
  #box;
  #used;
  /** @type {Pane[]} */
  #panes = [];
  #alone = -1;
  #inverted = false;
  #frame = 0;

  /**
   * @param {HTMLElement} place @param {boolean} forceCanvas
   * @param {{used: (tool: string) => void, lost: () => void}} listener
   */
  constructor(place, forceCanvas, listener) {
    this.#place = place;
    this.#used = listener.used;
    this.#box = new LightBox(place, forceCanvas, {
      resized: () => this.#arrange(),
      lost: () => {
        this.#panes = [];
        listener.lost();
      },
    });
  }

  /** What draws it, and the promise that this is known. */
  get renderer() { return this.#box.darkroom.renderer; }
  get opened() { return this.#box.darkroom.opened; }

  upload(film) { return this.#box.darkroom.upload(film); }

  release(handle) { this.#box.darkroom.release(handle); }

  /** Make the picture of coming films in advance. @param {Hung[]} hung */
  prepare(hung) {
    const rects = this.#rects(hung);
    this.#box.darkroom.prepare(this.#box.size, hung.map((one, i) => hanging(asItComes(one, rects[i]), false)));
  }

  /** Hang these films, as they come: fitted, full window. @param {Hung[]} hung */
  show(hung) {
    this.#alone = -1;
    this.#inverted = false;
    for (const pane of this.#panes) pane.plate.remove();
    const rects = this.#rects(hung);
    this.#panes = hung.map((one, i) => ({
      ...asItComes(one, rects[i]),
      plate: this.#newPlate(one.view.label),
    }));
    this.#draw();
  }

  /** @returns {Promise<void>} when what was asked for is on the canvas */
  shown() { return this.#box.darkroom.shown(); }

  /** @param {number} x @param {number} y in CSS pixels of the page @returns {Pane|null} */
  paneAt(x, y) {
    const point = this.#toDevice(x, y);
    return this.#visible().find(({ rect }) => point.x >= rect.x && point.x < rect.x + rect.width
      && point.y >= rect.y && point.y < rect.y + rect.height) ?? null;
  }

  /** Zoom about a point of the page, or about the middle of every film on view. */
  zoom(factor, pane = null, x = 0, y = 0) {
    for (const each of pane ? [pane] : this.#visible()) {
      const { rect } = each;
      const point = pane ? this.#toDevice(x, y) : { x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 };
      const from = { x: point.x - rect.x - rect.width / 2, y: point.y - rect.y - rect.height / 2 };
      each.gaze = zoomed(each.gaze, factor, from, rect, each.hung.view);
    }
    this.#soon();
  }

  /** @param {number} right @param {number} down in CSS pixels @param {Pane|null} [pane] */
  pan(right, down, pane = null) {
    const { density } = this.#box;
    for (const each of pane ? [pane] : this.#visible()) {
      each.gaze = panned(each.gaze, right * density, down * density, each.rect, each.hung.view);
    }
    this.#soon();
  }

  /** @param {number} right @param {number} down in CSS pixels @param {Pane|null} [pane] */
  level(right, down, pane = null) {
    for (const each of pane ? [pane] : this.#visible()) {
      each.window = dragged(each.window, right, down, fullWindow(each.hung.view));
      each.preset = -1;
    }
    this.#soon();
  }

  nextPreset() {
    const visible = this.#visible();
    const next = ((visible[0]?.preset ?? -1) + 1) % PRESETS.length;
    for (const pane of visible) {
      pane.preset = next;
      pane.window = preset(PRESETS[next], fullWindow(pane.hung.view), pane.hung.auto);
    }
    this.#used("window");
    this.#soon();
  }

  fit(pane = null) {
    for (const each of pane ? [pane] : this.#visible()) each.gaze = fitted(each.rect, each.hung.view);
    this.#used("fit");
    this.#soon();
  }

  /** One film pixel on one screen pixel; once more: the whole film. */
  actualSize() {
    const visible = this.#visible();
    if (visible.every(({ gaze }) => gaze.scale === 1)) {
      this.fit();
      return;
    }
    for (const pane of visible) {
      const middle = { x: 0, y: 0 };
      pane.gaze = { ...zoomed(pane.gaze, 1 / pane.gaze.scale, middle, pane.rect, pane.hung.view), scale: 1 };
    }
    this.#used("actual_size");
    this.#soon();
  }

  invert() {
    this.#inverted = !this.#inverted;
    this.#used("invert");
    this.#soon();
  }

  /** Everything as it came, every film on view. */
  reset() {
    this.#used("reset");
    this.show(this.#panes.map(({ hung }) => hung));
  }

  /** Each film alone in turn, then all together. */
  nextView() {
    if (this.#panes.length < 2) return;
    this.#alone = this.#alone + 1 === this.#panes.length ? -1 : this.#alone + 1;
    this.#used("view");
    this.#arrange();
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    this.#box.stop();
  }

  #visible() {
    return this.#alone < 0 ? this.#panes : [this.#panes[this.#alone]];
  }

  #rects(hung) {
    return arrange(this.#box.size, hung.map(({ view }) => view), Math.round(GAP_PX * this.#box.density));
  }

  #arrange() {
    const visible = this.#visible();
    this.#rects(visible.map(({ hung }) => hung)).forEach((rect, i) => {
      const pane = visible[i];
      pane.rect = rect;
      pane.gaze = pane.gaze.fit ? fitted(rect, pane.hung.view) : panned(pane.gaze, 0, 0, rect, pane.hung.view);
    });
    this.#draw();
  }

  #soon() {
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const visible = this.#visible();
    this.#box.darkroom.draw(this.#box.size, visible.map((pane) => hanging(pane, this.#inverted)));
    for (const pane of this.#panes) this.#writePlate(pane, visible.includes(pane));
  }

  #newPlate(label) {
    const plate = document.createElement("div");
    plate.className = "rr-plate";
    const name = document.createElement("span");
    name.className = "rr-plate-name";
    name.textContent = label;
    const state = document.createElement("span");
    state.className = "rr-plate-state";
    plate.append(name, state);
    this.#place.append(plate);
    return plate;
  }

  #writePlate({ plate, rect, gaze, window, preset: chosen }, visible) {
    plate.hidden = !visible;
    const { density } = this.#box;
    plate.style.left = `${rect.x / density}px`;
    plate.style.top = `${rect.y / density}px`;
    plate.style.width = `${rect.width / density}px`;
    plate.style.height = `${rect.height / density}px`;
    plate.lastChild.textContent = texts.plate({
      window, zoom: gaze.scale, preset: PRESETS[chosen] ?? "", inverted: this.#inverted,
    });
  }

  #toDevice(x, y) {
    const { left, top } = this.#place.getBoundingClientRect();
    return { x: (x - left) * this.#box.density, y: (y - top) * this.#box.density };
  }
}

/** Fitted, with the full window. @param {Hung} hung @param {import("./types.js").Rect} rect */
function asItComes(hung, rect) {
  return { hung, rect, gaze: fitted(rect, hung.view), window: fullWindow(hung.view), preset: 0 };
}

/** What the renderer needs to know of a pane. @returns {import("./renderer-webgl.js").Hanging} */
function hanging({ hung, rect, gaze, window }, inverted) {
  return { handle: hung.handle, rect, gaze, window, inverted };
}

const fullWindow = ({ low, high }) => ({ low, high: Math.max(high, low + 1) });
