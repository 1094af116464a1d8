/** Measuring: lines, angles and regions on films, whose points are set by pointer or arrow keys. */

import { onFilm, onPane } from "./pane.js";
import { angle_degrees, boxOf, isSpan, length_mm, MOST_SHAPES, Shapes } from "./shapes.js";
import { texts } from "../page/texts.js";

/** @import { GreyValues } from "../film/region.js" */
/** @import { Rect } from "../page/types.js" */
/** @import { Mark } from "./hanging.js" */
/** @import { Pane } from "./pane.js" */
/** @import { Shape, Tool } from "./shapes.js" */

/** @typedef {{x: number, y: number}} Point  in film pixels, or device pixels of the canvas */

const GRAB_PX = 14;
const SHORTEST_PX = 3; // a shorter line is a click
const APART_PX = 42; // space for the length of a line between two lines
const STEP_PX = 1;
const HELD_STEP_PX = 8;
/** A shape drawn by keyboard: its points in shares of the pane. @type {{[tool in Tool]: [number, number][]}} */
const PLACES = {
  line: [[3 / 8, 1 / 2], [5 / 8, 1 / 2]],
  angle: [[5 / 8, 3 / 8], [3 / 8, 1 / 2], [5 / 8, 1 / 2]],
  region: [[7 / 16, 7 / 16], [9 / 16, 9 / 16]],
};

export class MeasureTool {
  /** What pointer and arrow keys draw. @type {Tool|""} */
  tool = "";
  #shapes = new Shapes();
  #panes;
  #callbacks;
  /** The shape that is being drawn. @type {Shape|null} */
  #fresh = null;
  /** The pixel under the pointer, while regions are measured. @type {Shape|null} */
  #pixel = null;
  /** Regions whose grey values have been requested. @type {Set<Shape>} */
  #asked = new Set();

  /**
   * @param {{visible: () => Pane[], density: () => number, changed: () => void,
   *   grey: (handle: number, box: Rect) => Promise<GreyValues|null>}} panes
   * @param {{used: (tool: string) => void, hint: (text: string) => void}} callbacks
   */
  constructor(panes, callbacks) {
    this.#panes = panes;
    this.#callbacks = callbacks;
  }

  /** Whether pointer and arrow keys measure. */
  get on() { return this.tool !== ""; }

  get empty() { return !this.#shapes.all.length; }

  /** @param {Tool} [tool] */
  toggle(tool = "line") {
    this.#set(this.tool === tool ? "" : tool);
  }

  /** Remove all shapes and end measuring. */
  clear() {
    this.tool = "";
    this.#fresh = null;
    this.#pixel = null;
    this.#shapes.clear();
    this.#panes.changed();
  }

  /** Grab a point, draw the second line of an angle, or start a shape. @param {Point} at @param {Pane} pane the one
   * under it */
  down(at, pane) {
    const point = this.#filmPoint(at, pane);
    const held = this.#pointNear(at);
    const { begun } = this.#shapes;
    if (begun && begun.view !== pane.index) this.#leaveBegun();
    if (begun?.view === pane.index) this.#addPoint(begun, point, held);
    else if (held) this.#shapes.active = held;
    else if (this.#begin(pane, [point, point])) this.#fresh = this.#shapes.active?.shape ?? null;
    this.#panes.changed();
  }

  /** The second line of an angle: from an end of the first line, which is then the vertex, or from any other point.
   *  @param {Shape} angle @param {Point} at @param {{shape: Shape, point: number}|null} held */
  #addPoint(angle, at, held) {
    if (held?.shape === angle) angle.points = [angle.points[1 - held.point], angle.points[held.point], at];
    else angle.points.push(at, at);
    this.#shapes.active = { shape: angle, point: angle.points.length - 1 };
    this.#fresh = angle;
  }

  /** @param {Point} at */
  drag(at) {
    const pane = this.#activePane();
    if (!pane) return;
    this.#shapes.move(this.#filmPoint(at, pane));
    this.#changed();
  }

  up() {
    const pane = this.#activePane();
    const shape = this.#fresh;
    if (shape && pane) {
      const [a, b] = shape.points.slice(-2).map((point) => onPane(point, pane));
      const click = Math.hypot(a.x - b.x, a.y - b.y) < SHORTEST_PX * this.#panes.density();
      if (click && shape.points.length === 4) {
        shape.points.splice(2, 1); // a click sets the third point of an angle
        this.#shapes.active = { shape, point: 2 };
      } else if (click) this.#shapes.remove();
      else if (shape.points.length < 3) this.#callbacks.used("measure");
    }
    this.#fresh = null;
    this.#panes.changed();
  }

  /** Arrow keys move the active point; without a shape a new one is created. @param {boolean} held the key repeats */
  step(right, down, held) {
    const pane = this.#activePane();
    if (!pane || !this.#shapes.active) {
      this.another();
      return;
    }
    const { shape, point } = this.#shapes.active;
    const { x, y } = onPane(shape.points[point], pane);
    const by = (held ? HELD_STEP_PX : STEP_PX) * this.#panes.density();
    const within = (value, length) => Math.min(length, Math.max(0, value));
    this.#shapes.move(onItsFilm(onFilm({
      x: within(x + right * by, pane.rect.width), y: within(y + down * by, pane.rect.height),
    }, pane), pane));
    this.#changed();
  }

  /** Add a shape at the centre of the visible part. */
  another() {
    this.#set(this.tool || "line");
    const panes = this.#panes.visible();
    const pane = panes.find(({ film }) => film.view.spacing_mm) ?? panes[0];
    if (!pane) return;
    const shift = this.#shapes.all.length * APART_PX * this.#panes.density();
    const points = PLACES[this.tool || "line"].map(([x, y]) => onItsFilm(onFilm(
      { x: x * pane.rect.width, y: y * pane.rect.height + shift }, pane), pane));
    if (this.#begin(pane, points)) this.#callbacks.used("measure");
    this.#changed();
  }

  /** Two spans for the cardiothoracic ratio, on the first visible film; removed if they are already drawn. */
  heart() {
    const span = this.#shapes.all.find(({ kind }) => isSpan(kind));
    if (span) {
      this.#shapes.active = { shape: span, point: 1 };
      this.#shapes.remove();
      if (this.empty) this.tool = "";
      this.#panes.changed();
      return;
    }
    const pane = this.#panes.visible()[0];
    if (!pane) return;
    if (this.#shapes.all.length + 2 > MOST_SHAPES) {
      this.#callbacks.hint(texts.hints.shapesFull(MOST_SHAPES));
      return;
    }
    const { width, height } = pane.rect;
    const at = (x, y) => onItsFilm(onFilm({ x: x * width, y: y * height }, pane), pane);
    const along = pane.turns % 2 ? "y" : "x";
    this.#shapes.add(pane.index, [at(0.15, 0.7), at(0.85, 0.7)], "chest", along);
    this.#shapes.add(pane.index, [at(0.35, 0.6), at(0.65, 0.6)], "heart", along);
    for (const { points } of this.#shapes.all.slice(-2)) points[1] = { ...points[0], [along]: points[1][along] };
    this.tool ||= "line";
    this.#callbacks.used("measure");
    this.#panes.changed();
  }

  /** Let the arrow keys move the next visible point. */
  other() {
    if (!this.on) return;
    for (let left = 4 * MOST_SHAPES; left > 0; left -= 1) {
      this.#shapes.other();
      if (this.#activePane()) break;
    }
    this.#panes.changed();
  }

  /** Remove the shape whose point the arrow keys move. */
  remove() {
    if (!this.on) return;
    this.#shapes.remove();
    this.#panes.changed();
  }

  /** The pointer moved: request the grey value under it while regions are measured. @param {Pane|null} pane
   *  @param {Point} at */
  hover(pane, at) {
    if (this.tool !== "region") return;
    if (!pane) {
      this.#pixel = null;
      this.#panes.changed();
      return;
    }
    const { x, y } = onFilm({ x: at.x - pane.rect.x, y: at.y - pane.rect.y }, pane);
    const [left, top] = [Math.floor(x), Math.floor(y)];
    this.#pixel ??= { view: -1, kind: "region", points: [], along: "x", grey: null };
    Object.assign(this.#pixel, { view: pane.index, points: [{ x: left, y: top }, { x: left + 1, y: top + 1 }] });
    this.#ask(this.#pixel);
  }

  /** The grey value under the pointer, if it is on this pane. @param {Pane} pane @returns {number|null} */
  greyOn(pane) {
    return this.#pixel?.view === pane.index ? this.#pixel.grey?.mean ?? null : null;
  }

  /** The shapes of one pane, in CSS pixels from its corner. @param {Pane} pane @returns {Mark[]} */
  marks(pane) {
    const density = this.#panes.density();
    const css = ({ x, y }) => ({ x: x / density, y: y / density });
    return this.#shapes.all.filter(({ view }) => view === pane.index).map((shape) => ({
      round: shape.kind === "region",
      points: shape.points.map((point) => css(onPane(point, pane))),
      active: this.on && this.#shapes.active?.shape === shape ? this.#shapes.active.point : null,
      words: this.#words(shape, pane.film.view.spacing_mm),
    }));
  }

  /** @param {Tool|""} tool */
  #set(tool) {
    this.#leaveBegun();
    this.tool = tool;
    if (tool !== "region") this.#pixel = null;
    if (tool === "line" && this.empty && !this.#panes.visible().some(({ film }) => film.view.spacing_mm)) {
      this.tool = "";
      this.#callbacks.hint(texts.hints.noSpacing);
    }
    this.#panes.changed();
  }

  /** Remove an angle with only one line. */
  #leaveBegun() {
    const { begun } = this.#shapes;
    if (!begun) return;
    this.#shapes.active = { shape: begun, point: 0 };
    this.#shapes.remove();
  }

  /** @param {Shape} shape @param {number|null} spacing_mm @returns {string[]} */
  #words({ kind, points, grey }, spacing_mm) {
    if (kind === "chest") return [];
    if (kind === "heart") return this.#shapes.ratio === null ? [] : [texts.ratio(this.#shapes.ratio)];
    if (kind === "region") return grey ? texts.region(grey, spacing_mm && grey.n * spacing_mm ** 2) : [];
    if (kind === "line") return [texts.length(length_mm(points, spacing_mm ?? NaN))];
    const angle = points.length > 2 ? angle_degrees(points) : null;
    return angle === null ? [] : [texts.angle(angle)];
  }

  #begin(pane, points) {
    const kind = this.tool || "line";
    if (kind === "line" && !pane.film.view.spacing_mm) this.#callbacks.hint(texts.hints.noSpacing);
    else if (!this.#shapes.add(pane.index, points, kind)) this.#callbacks.hint(texts.hints.shapesFull(MOST_SHAPES));
    else return true;
    this.#shapes.active = null;
    return false;
  }

  /** The active shape was changed. */
  #changed() {
    const shape = this.#shapes.active?.shape;
    if (shape?.kind === "region") this.#ask(shape);
    this.#panes.changed();
  }

  /** Request the grey values of a region, and repeat the request if the region has changed. @param {Shape} shape */
  async #ask(shape) {
    const pane = this.#paneOf(shape);
    if (!pane || this.#asked.has(shape)) return;
    const { view, points } = shape;
    const asked = JSON.stringify([view, points]);
    this.#asked.add(shape);
    shape.grey = await this.#panes.grey(pane.film.handle, boxOf(points));
    this.#asked.delete(shape);
    if (JSON.stringify([shape.view, shape.points]) !== asked) this.#ask(shape);
    this.#panes.changed();
  }

  /** @param {Shape|undefined} shape */
  #paneOf(shape) {
    return this.#panes.visible().find(({ index }) => index === shape?.view);
  }

  #activePane() {
    return this.#paneOf(this.#shapes.active?.shape);
  }

  #filmPoint(at, pane) {
    return onItsFilm(onFilm({ x: at.x - pane.rect.x, y: at.y - pane.rect.y }, pane), pane);
  }

  #pointNear(at) {
    const reach = GRAB_PX * this.#panes.density();
    const near = this.#panes.visible().flatMap((pane) => this.#shapes.all.filter(({ view }) => view === pane.index)
      .flatMap((shape) => shape.points.map((each, point) => {
        const { x, y } = onPane(each, pane);
        return { shape, point, away: Math.hypot(x + pane.rect.x - at.x, y + pane.rect.y - at.y) };
      })));
    const nearest = near.sort((a, b) => a.away - b.away)[0];
    return nearest && nearest.away <= reach ? { shape: nearest.shape, point: nearest.point } : null;
  }
}

/** Limit a point to the film. */
function onItsFilm({ x, y }, { film: { view } }) {
  return { x: Math.min(view.width, Math.max(0, x)), y: Math.min(view.height, Math.max(0, y)) };
}
