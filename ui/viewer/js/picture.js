/** The picture: which films hang side by side, how each is zoomed and windowed, and the commands that change it. */

import { Glass } from "./glass.js";
import { hangingOrder } from "./hanging.js";
import { arrange, fitted, followed, panned, zoomed } from "./layout.js";
import { LightBox } from "./lightbox.js";
import { asItComes, fullWindow, hanging, inUse, side } from "./pane.js";
import { Plate } from "./plate.js";
import { Tape } from "./tape.js";
import { dragged, preset, PRESETS } from "./window.js";

/** @typedef {import("./films.js").Hung} Hung */
/** @typedef {import("./pane.js").Pane} Pane */

const GAP_PX = 6;

export class Picture {
  /** Whether what a hand does to one film is done to all on view. @readonly */
  linked = false;
  /** Where the mouse is, in device pixels, while it is over the films. @type {{x: number, y: number}|null} */
  pointer = null;
  /** Measured lines. */
  tape;
  #place;
  #box;
  #told;
  #glass;
  /** The films as the item has them. @type {Hung[]} */
  #hung = [];
  /** @type {Pane[]} */
  #panes = [];
  #alone = -1;
  #inverted = false;
  #swapped = false;
  #uses = "";
  #frame = 0;

  /**
   * @param {HTMLElement} place @param {boolean} forceCanvas
   * @param {{used: (tool: string) => void, lost: () => void, fresh: () => void, hint: (text: string) => void,
   *   looking: (uses: string[]) => void}} listener fresh: other films; looking: see usage.js for the names
   */
  constructor(place, forceCanvas, listener) {
    this.#place = place;
    this.#told = listener;
    this.#box = new LightBox(place, forceCanvas, {
      resized: () => this.#arrange(),
      lost: () => {
        this.show([]);
        listener.lost();
      },
    });
    this.#glass = new Glass(place);
    this.tape = new Tape({
      visible: () => this.#visible(), density: () => this.#box.density, changed: () => this.#soon(),
    }, listener);
  }

  /** What draws it, and the promise that this is known. */
  get renderer() { return this.#box.darkroom.renderer; }
  get opened() { return this.#box.darkroom.opened; }

  upload(film) { return this.#box.darkroom.upload(film); }

  release(handle) { this.#box.darkroom.release(handle); }

  /** Make the picture of coming films in advance. @param {Hung[]} hung */
  prepare(hung) {
    const inOrder = hangingOrder(hung);
    const rects = this.#rects(inOrder);
    this.#box.darkroom.prepare(this.#box.size, inOrder.map((one, i) => hanging(asItComes(one, rects[i]), false)));
  }

  /** Hang these films, as they come: fitted, full window. @param {Hung[]} hung */
  show(hung) {
    this.#hung = hung;
    this.#told.fresh();
    this.#hang();
  }

  /** @returns {Promise<void>} when what was asked for is on the canvas */
  shown() { return this.#box.darkroom.shown(); }

  /** @param {number} x @param {number} y in CSS pixels of the page @returns {Pane|null} */
  paneAt(x, y) {
    return this.#paneUnder(this.toDevice(x, y));
  }

  /** @param {number} x @param {number} y in CSS pixels of the page @returns in device pixels of the light box */
  toDevice(x, y) {
    const { left, top } = this.#place.getBoundingClientRect();
    return { x: (x - left) * this.#box.density, y: (y - top) * this.#box.density };
  }

  /** Zoom about a point of the page, or about the middle of every film on view. */
  zoom(factor, pane = null, x = 0, y = 0) {
    this.#move(pane, (each) => {
      const { rect } = each;
      const middle = { x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 };
      const point = pane ? this.toDevice(x, y) : middle;
      const from = { x: side(each) * (point.x - middle.x), y: point.y - middle.y };
      return zoomed(each.gaze, factor, from, rect, each.hung.view);
    });
  }

  /** @param {number} right @param {number} down in CSS pixels @param {Pane|null} [pane] */
  pan(right, down, pane = null) {
    const { density } = this.#box;
    this.#move(pane, (each) =>
      panned(each.gaze, side(each) * right * density, down * density, each.rect, each.hung.view));
  }

  /** @param {number} right @param {number} down in CSS pixels @param {Pane|null} [pane] */
  level(right, down, pane = null) {
    for (const each of this.#meant(pane)) {
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
    this.#told.used("window");
    this.#soon();
  }

  fit(pane = null) {
    for (const each of this.#meant(pane)) each.gaze = fitted(each.rect, each.hung.view);
    this.#told.used("fit");
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
    this.#told.used("actual_size");
    this.#soon();
  }

  invert() {
    this.#inverted = !this.#inverted;
    this.#told.used("invert");
    this.#soon();
  }

  /** Left for right: the film under the pointer; without one, or linked, every film on view. */
  flip() {
    const pane = this.pointer && this.#paneUnder(this.pointer);
    const flipped = !(pane ?? this.#visible()[0])?.flipped;
    for (const each of this.#meant(pane)) each.flipped = flipped;
    this.#told.used("flip");
    this.#soon();
  }

  /** The films change places: two exchange, of more the first goes to the end. */
  swap() {
    if (this.#panes.length < 2 || this.#alone >= 0) return;
    this.#panes.push(this.#panes.shift());
    const inOrder = hangingOrder(this.#hung);
    this.#swapped = this.#panes.some(({ hung }, i) => hung !== inOrder[i]);
    this.#told.used("swap");
    this.#arrange();
  }

  /** The magnifying glass comes under the pointer, or to the middle of the first film; or goes. */
  toggleGlass() {
    const pane = this.#visible()[0];
    if (this.#glass.on) this.#glass.away();
    else if (pane) {
      const { x, y, width, height } = pane.rect;
      this.#glass.lay(this.pointer ?? { x: x + width / 2, y: y + height / 2 });
      this.#told.used("glass");
    }
    this.#soon();
  }

  get magnifying() { return this.#glass.on; }

  /** @param {number} right @param {number} down in CSS pixels */
  moveGlass(right, down) {
    const { density, size } = this.#box;
    this.#glass.move(right * density, down * density, size);
    this.#soon();
  }

  /** The pointer is here now, and so is the glass. @param {{x: number, y: number}|null} at in device pixels */
  point(at) {
    this.pointer = at;
    if (!at || !this.#glass.on) return;
    this.#glass.lay(at);
    this.#soon();
  }

  /** Everything as it came, every film on view. */
  reset() {
    this.#told.used("reset");
    this.#hang();
  }

  /** Each film alone in turn, then all together. */
  nextView() {
    if (this.#panes.length < 2) return;
    this.#alone = this.#alone + 1 === this.#panes.length ? -1 : this.#alone + 1;
    this.#told.used("view");
    this.#arrange();
  }

  /** @param {boolean} linked */
  link(linked) {
    this.linked = linked;
    this.#soon();
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    this.#box.stop();
  }

  #hang() {
    this.#alone = -1;
    this.#inverted = false;
    this.#swapped = false;
    this.#uses = ""; // other films, or the same for another reading
    this.#glass.away();
    this.tape.clear();
    for (const pane of this.#panes) pane.plate.remove();
    const inOrder = hangingOrder(this.#hung);
    const rects = this.#rects(inOrder);
    this.#panes = inOrder.map((one, i) => ({
      ...asItComes(one, rects[i]),
      index: this.#hung.indexOf(one),
      plate: new Plate(this.#place, one.view.label),
    }));
    this.#draw();
  }

  #visible() {
    return this.#alone < 0 ? this.#panes : [this.#panes[this.#alone]];
  }

  /** The films that a hand on this one means; without one, a key. @param {Pane|null} pane */
  #meant(pane) {
    return pane && !this.linked ? [pane] : this.#visible();
  }

  #paneUnder(point) {
    return this.#visible().find(({ rect }) => point.x >= rect.x && point.x < rect.x + rect.width
      && point.y >= rect.y && point.y < rect.y + rect.height) ?? null;
  }

  /** Another part of one film, the linked ones going along; or of every film, each by itself. */
  #move(pane, change) {
    for (const lead of pane ? [pane] : this.#visible()) {
      const before = lead.gaze;
      lead.gaze = change(lead);
      const others = pane ? this.#meant(pane).filter((each) => each !== pane) : [];
      for (const other of others) other.gaze = followed(other, lead, before);
    }
    this.#soon();
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
    const hangings = visible.map((pane) => hanging(pane, this.#inverted));
    const glass = this.#glass.look(visible, this.#box.size, this.#box.density);
    if (glass) hangings.push({ ...hanging({ ...glass.pane, ...glass }, this.#inverted), slot: "glass" });
    this.#box.darkroom.draw(this.#box.size, hangings);
    for (const pane of this.#panes) {
      if (!visible.includes(pane)) pane.plate.hide();
      else pane.plate.write(pane, this.#box.density, this.#stateOf(pane), this.tape.marks(pane), glass?.rect ?? null);
    }
    this.#tellUses(visible);
  }

  #stateOf({ window, preset: chosen }) {
    return {
      window, preset: PRESETS[chosen] ?? "", inverted: this.#inverted, swapped: this.#swapped,
      linked: this.linked && this.#panes.length > 1, measuring: this.tape.on,
    };
  }

  /** What is in use now, whenever it changes. */
  #tellUses(visible) {
    const uses = inUse(visible, { alone: this.#alone >= 0, inverted: this.#inverted, glass: this.#glass.on });
    const key = uses.join();
    if (key === this.#uses) return;
    this.#uses = key;
    this.#told.looking(uses);
  }
}
