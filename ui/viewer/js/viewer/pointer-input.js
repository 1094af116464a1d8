/** Translates mouse, wheel and touch to zoom, pan, window and measured lines. */

/** @import { FilmViewer } from "./film-viewer.js" */
/** @import { Pane } from "./pane.js" */
/** @import { Settings } from "../page/storage.js" */

const CLICK_PX = 3; // a shorter movement is a click
const BURST_MS = 400; // wheel steps in close succession are one zoom

export class PointerInput {
  #place;
  #viewer;
  #used;
  #settings;
  #stop = new AbortController();
  /** @type {Map<number, {x: number, y: number}>} */
  #pointers = new Map();
  /** @type {{pane: Pane, tool: string, x: number, y: number, moved: number, counted: boolean}|null} */
  #drag = null;
  #space = false;
  #lastWheel = { tool: "", at: -Infinity };

  /** @param {HTMLElement} place @param {FilmViewer} viewer @param {(tool: string) => void} used
   *  @param {Settings} settings */
  constructor(place, viewer, used, settings) {
    this.#settings = settings;
    this.#place = place;
    this.#viewer = viewer;
    this.#used = used;
    const on = (target, type, run, options = {}) =>
      target.addEventListener(type, run, { signal: this.#stop.signal, ...options });
    // The curtain is in the same place, and its button needs the pointer.
    const onFilm = (run) => (event) => { if (!event.target.closest(".rr-curtain")) run(event); };
    on(place, "wheel", onFilm((event) => this.#wheel(event)), { passive: false });
    on(place, "pointerdown", onFilm((event) => this.#down(event)));
    on(place, "pointermove", (event) => this.#move(event));
    on(place, "pointerleave", () => viewer.point(null));
    for (const type of ["pointerup", "pointercancel"]) on(place, type, (event) => this.#up(event));
    on(place, "dblclick", onFilm((event) => this.#alone(event)));
    on(place, "contextmenu", (event) => event.preventDefault());
    on(place, "mousedown", (event) => event.preventDefault()); // no autoscroll, no lost focus
    on(window, "keydown", (event) => this.#holdSpace(event));
    on(window, "keyup", (event) => { if (event.key === " ") this.#space = false; });
    on(window, "blur", () => { this.#space = false; });
  }

  /** A new case is on the screen: end the drag, which belongs to the old case. */
  letGo() {
    this.#drag = null;
    this.#pointers.clear();
    this.#lastWheel = { tool: "", at: -Infinity };
  }

  stop() {
    this.#stop.abort();
  }

  #wheel(event) {
    event.preventDefault();
    const pane = this.#viewer.paneAt(event.clientX, event.clientY);
    if (!pane) return;
    const unit = [1, 33, 400][event.deltaMode];
    // Shift switches the wheel's function; a trackpad pinch, reported as a wheel with ctrl, always zooms.
    const zooms = event.ctrlKey || (this.#settings.values.wheel === "zoom") !== event.shiftKey;
    if (zooms) {
      // Some browsers report a wheel with shift as horizontal. A pinch comes in much smaller steps.
      const factor = Math.exp(-(event.deltaY || event.deltaX) * unit * (event.ctrlKey ? 0.01 : 0.0015));
      this.#viewer.zoom(factor, pane, event.clientX, event.clientY);
    } else {
      const sideways = event.shiftKey && !event.deltaX;
      this.#viewer.pan(sideways ? 0 : -event.deltaX * unit, -event.deltaY * unit, pane);
    }
    const tool = zooms ? "zoom" : "pan";
    if (tool !== this.#lastWheel.tool || event.timeStamp - this.#lastWheel.at > BURST_MS) this.#used(tool);
    this.#lastWheel = { tool, at: event.timeStamp };
  }

  #down(event) {
    const pane = this.#viewer.paneAt(event.clientX, event.clientY);
    if (!pane) return;
    try {
      this.#place.setPointerCapture(event.pointerId);
    } catch {
      // the pointer no longer exists
    }
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const tool = this.#pointers.size > 1 ? "pinch" : this.#toolOf(event);
    if (this.#drag?.tool === "measure") this.#viewer.measure.up();
    if (tool === "measure") this.#viewer.measure.down(this.#viewer.toDevice(event.clientX, event.clientY), pane);
    this.#drag = { pane, tool, x: event.clientX, y: event.clientY, moved: 0, counted: false };
  }

  #toolOf(event) {
    const other = event.button === 1 || event.shiftKey || this.#space;
    if (event.button === 2) return "zoom";
    if (this.#viewer.measure.on && !other) return "measure";
    if (event.pointerType === "touch") return this.#viewer.magnifying ? "glass" : "pan";
    return (this.#settings.values.left === "pan") !== other ? "pan" : "window";
  }

  #move(event) {
    const at = this.#viewer.toDevice(event.clientX, event.clientY);
    if (event.pointerType !== "touch") this.#viewer.point(at);
    const before = this.#pointers.get(event.pointerId);
    const drag = this.#drag;
    if (!before || !drag) return;
    const right = event.clientX - before.x;
    const down = event.clientY - before.y;
    const apart = this.#apart();
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (drag.tool === "measure") this.#viewer.measure.drag(at);
    drag.moved += Math.hypot(right, down);
    if (drag.moved < CLICK_PX || drag.tool === "measure") return;
    if (drag.tool === "pinch") this.#pinch(drag, apart, right, down);
    else if (drag.tool === "pan") this.#viewer.pan(right, down, drag.pane);
    else if (drag.tool === "glass") this.#viewer.moveMagnifier(right, down); // a finger covers its target
    else if (drag.tool === "zoom") this.#viewer.zoom(Math.exp(-down * 0.008), drag.pane, drag.x, drag.y);
    else this.#viewer.level(right, down, drag.pane);
    if (!drag.counted && drag.tool !== "glass") this.#used(drag.tool === "pinch" ? "zoom" : drag.tool);
    drag.counted = true;
  }

  #pinch(drag, before, right, down) {
    const [a, b] = [...this.#pointers.values()];
    if (!b || !before) return;
    this.#viewer.pan(right / 2, down / 2, drag.pane);
    this.#viewer.zoom(this.#apart() / before, drag.pane, (a.x + b.x) / 2, (a.y + b.y) / 2);
  }

  #apart() {
    const [a, b] = [...this.#pointers.values()];
    return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
  }

  #up(event) {
    this.#pointers.delete(event.pointerId);
    if (this.#drag?.tool === "measure") this.#viewer.measure.up();
    // The finger that remains after a pinch does not start a new gesture.
    if (this.#pointers.size < 2) this.#drag = null;
  }

  #alone(event) {
    const pane = this.#viewer.paneAt(event.clientX, event.clientY);
    if (pane && !this.#viewer.measure.on) this.#viewer.nextView(pane);
  }

  #holdSpace(event) {
    if (event.key !== " " || event.target?.closest?.("button, textarea, input, summary, a")) return;
    this.#space = true;
    event.preventDefault();
  }
}
