/** The picture of a case: how each film is zoomed and windowed, and the commands that change it. */

import { Glass } from "./glass.js";
import { fitted, followed, panned, zoomed } from "./layout.js";
import { LightBox } from "./lightbox.js";
import { fullWindow, hanging, inUse, side } from "./pane.js";
import { Tape } from "./tape.js";
import { Wall } from "./wall.js";
import { dragged, preset, PRESETS } from "../film/window.js";

/** @typedef {import("../film/films.js").Hung} Hung */
/** @typedef {import("./pane.js").Pane} Pane */

const REST_MS = 300; // a window that is being dragged changes its size with every frame

export class Picture {
  /** Whether what a hand does to one film is done to all on view. @readonly */
  linked = false;
  /** Where the mouse is, in device pixels, while it is over the films. @type {{x: number, y: number}|null} */
  pointer = null;
  /** Measured lines. */
  tape;
  #place;
  #box;
  #wall;
  #told;
  #glass;
  #inverted = false;
  #uses = "";
  #frame = 0;
  #atRest = 0;

  /**
   * @param {HTMLElement} place @param {boolean} forceCanvas
   * @param {{used: (tool: string) => void, lost: () => void, fresh: () => void, resized: () => void,
   *   hint: (text: string) => void, looking: (uses: string[]) => void}} listener fresh: other films; resized: the light
   *   box has been of another size for a while; looking: see case/usage.js for the names
   */
  constructor(place, forceCanvas, listener) {
    this.#place = place;
    this.#told = listener;
    this.#box = new LightBox(place, forceCanvas, {
      resized: () => {
        this.#wall.arrange();
        this.#draw();
        clearTimeout(this.#atRest);
        this.#atRest = setTimeout(() => listener.resized(), REST_MS);
      },
      lost: () => {
        this.show([]);
        listener.lost();
      },
    });
    this.#wall = new Wall(place, this.#box);
    this.#glass = new Glass(place);
    this.tape = new Tape({
      visible: () => this.#wall.visible, density: () => this.#box.density, changed: () => this.#soon(),
    }, listener);
  }

  /** What draws it, and the promise that this is known. */
  get renderer() { return this.#box.darkroom.renderer; }
  get opened() { return this.#box.darkroom.opened; }

  upload(film) { return this.#box.darkroom.upload(film); }

  release(handle) { this.#box.darkroom.release(handle); }

  /** Make the picture of coming films in advance. @param {Hung[]} hung */
  prepare(hung) {
    if (this.#wall.holds(hung)) return;
    this.#box.darkroom.prepare(this.#box.size, this.#wall.asTheyCome(hung).map((pane) => hanging(pane, false)));
  }

  /** Hang these films, as they come: fitted, full window. @param {Hung[]} hung */
  show(hung) {
    this.#told.fresh();
    this.#box.look();
    this.#box.darkroom.blank();
    this.#hang(hung);
  }

  /** @returns {Promise<void>} when what was asked for is on the canvas */
  shown() { return this.#box.darkroom.shown(); }

  /** @param {number} x @param {number} y in CSS pixels of the page @returns {Pane|null} */
  paneAt(x, y) {
    return this.#wall.under(this.toDevice(x, y));
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
    const visible = this.#wall.visible;
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
    const visible = this.#wall.visible;
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
    const pane = this.pointer && this.#wall.under(this.pointer);
    const flipped = !(pane ?? this.#wall.visible[0])?.flipped;
    for (const each of this.#meant(pane)) each.flipped = flipped;
    this.#told.used("flip");
    this.#soon();
  }

  /** The films change places. */
  swap() {
    if (!this.#wall.swap()) return;
    this.#told.used("swap");
    this.#draw();
  }

  /** The magnifying glass comes under the pointer, or to the middle of the first film; or goes. */
  toggleGlass() {
    const pane = this.#wall.visible[0];
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
    if (!this.#wall.nextView()) return;
    this.#told.used("view");
    this.#draw();
  }

  /** @param {boolean} linked */
  link(linked) {
    this.linked = linked;
    this.#soon();
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#atRest);
    this.#box.stop();
  }

  #hang(hung) {
    this.#inverted = false;
    this.#uses = ""; // other films, or the same for another reading
    this.#glass.away();
    this.tape.clear();
    this.#wall.hang(hung);
    this.#draw();
  }

  /** The films that a hand on this one means; without one, a key. @param {Pane|null} pane */
  #meant(pane) {
    return pane && !this.linked ? [pane] : this.#wall.visible;
  }

  /** Another part of one film, the linked ones going along; or of every film, each by itself. */
  #move(pane, change) {
    for (const lead of pane ? [pane] : this.#wall.visible) {
      const before = lead.gaze;
      lead.gaze = change(lead);
      const others = pane ? this.#meant(pane).filter((each) => each !== pane) : [];
      for (const other of others) other.gaze = followed(other, lead, before);
    }
    this.#soon();
  }

  #soon() {
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const visible = this.#wall.visible;
    const hangings = visible.map((pane) => hanging(pane, this.#inverted));
    const glass = this.#glass.look(visible, this.#box.size, this.#box.density);
    if (glass) hangings.push({ ...hanging({ ...glass.pane, ...glass }, this.#inverted), slot: "glass" });
    const plates = this.#wall.panes.map((pane) => {
      if (!visible.includes(pane)) return () => pane.plate.hide();
      const { rect, gaze, flipped, hung } = pane;
      const [state, marks, density] = [this.#stateOf(pane), this.tape.marks(pane), this.#box.density];
      return () => pane.plate.write({ rect, gaze, flipped, hung }, density, state, marks, glass?.rect ?? null);
    });
    // The words stand on the picture they speak of, not on the one before.
    this.#box.darkroom.draw(this.#box.size, hangings, () => plates.forEach((write) => write()));
    this.#tellUses(visible);
  }

  #stateOf({ window, preset: chosen }) {
    return {
      window, preset: PRESETS[chosen] ?? "", inverted: this.#inverted, swapped: this.#wall.swapped,
      linked: this.linked && this.#wall.panes.length > 1, measuring: this.tape.on,
    };
  }

  /** What is in use now, whenever it changes. */
  #tellUses(visible) {
    const uses = inUse(visible, { alone: this.#wall.alone, inverted: this.#inverted, glass: this.#glass.on });
    const key = uses.join();
    if (key === this.#uses) return;
    this.#uses = key;
    this.#told.looking(uses);
  }
}
