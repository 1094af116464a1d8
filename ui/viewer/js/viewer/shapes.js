/** Lines, angles and regions on films as plain data: their points, the point that moves, and what they measure. */

/** @import { Rect } from "../page/types.js" */
/** @import { GreyValues } from "../film/region.js" */

/** @typedef {{x: number, y: number}} Point  in film pixels
 *  @typedef {"line"|"angle"|"region"} Tool
 *  @typedef {{view: number, kind: Tool|"heart"|"chest", points: Point[], along: "x"|"y", grey: GreyValues|null}} Shape
 *   view: the film's place in the item. A line has two ends; an angle three points with the vertex in the middle, or the
 *   ends of two lines, or during drawing those of the first; a region two opposite corners of the box round its ellipse.
 *   The spans of heart and chest stay parallel to the axis of the film that was horizontal when they were drawn, and
 * give the cardiothoracic ratio; along: that axis. grey: of a region, once they are known */

export const MOST_SHAPES = 4;

export class Shapes {
  /** @type {Shape[]} */
  all = [];
  /** The moving point. @type {{shape: Shape, point: number}|null} */
  active = null;

  /** @param {number} view @param {Point[]} points @param {Shape["kind"]} [kind] @param {Shape["along"]} [along]
   *  @returns {Shape|null} null: the maximum is reached */
  add(view, points, kind = "line", along = "x") {
    if (this.all.length >= MOST_SHAPES) return null;
    /** @type {Shape} */
    const shape = { view, kind, points, along, grey: null };
    this.all.push(shape);
    this.active = { shape, point: points.length - 1 };
    return shape;
  }

  /** @param {Point} to */
  move(to) {
    if (!this.active) return;
    const { shape: { kind, points, along }, point } = this.active;
    points[point] = to;
    if (isSpan(kind)) points[1 - point] = { ...to, [along]: points[1 - point][along] };
  }

  /** Move to the previous point, then to the next shape. */
  other() {
    if (!this.all.length) return;
    const { shape, point } = this.active ?? { shape: this.all[this.all.length - 1], point: 0 };
    if (point > 0) this.active = { shape, point: point - 1 };
    else this.#choose(this.all[(this.all.indexOf(shape) + 1) % this.all.length]);
  }

  /** The angle with only one line. @returns {Shape|null} */
  get begun() {
    return this.all.find(({ kind, points }) => kind === "angle" && points.length === 2) ?? null;
  }

  /** The maximum width of the heart divided by that of the chest. @returns {number|null} null if not
   *  measured, or without the chest */
  get ratio() {
    const [heart, chest] = ["heart", "chest"].map((name) => this.all.find(({ kind }) => kind === name));
    const wide = (/** @type {Shape} */ { points: [a, b], along }) => Math.abs(a[along] - b[along]);
    return heart && chest && wide(chest) ? wide(heart) / wide(chest) : null;
  }

  /** Remove the shape whose point is active; a span is removed with the other span. */
  remove() {
    const active = this.active?.shape;
    this.all = this.all.filter((shape) => shape !== active && !(active && isSpan(active.kind) && isSpan(shape.kind)));
    this.#choose(this.all.at(-1));
  }

  clear() {
    this.all = [];
    this.active = null;
  }

  /** @param {Shape|undefined} shape */
  #choose(shape) {
    this.active = shape ? { shape, point: shape.points.length - 1 } : null;
  }
}

/** @param {Shape["kind"]} kind */
export const isSpan = (kind) => kind === "heart" || kind === "chest";

/** The lines of a shape that is not a region. @param {Point[]} points @returns {[Point, Point][]} */
export function linesOf(points) {
  if (points.length === 4) return [[points[0], points[1]], [points[2], points[3]]];
  return points.slice(1).map((point, i) => [points[i], point]);
}

/** @param {Point[]} points @param {number} spacing_mm of a film pixel @returns {number} at the detector, in mm */
export function length_mm([a, b], spacing_mm) {
  return Math.hypot(a.x - b.x, a.y - b.y) * spacing_mm;
}

/** @param {Point[]} points three: from 0 to 180 at the middle one; four: from 0 to 90 between two lines
 *  @returns {number|null} null: a line without a length */
export function angle_degrees(points) {
  const three = points.length === 3;
  const [from, to] = three ? [[points[1], points[0]], [points[1], points[2]]] : linesOf(points);
  const [a, b] = [from, to].map(([start, end]) => ({ x: end.x - start.x, y: end.y - start.y }));
  const [across, along] = [Math.abs(a.x * b.y - a.y * b.x), a.x * b.x + a.y * b.y];
  if (!across && !along) return null;
  return (Math.atan2(across, three ? along : Math.abs(along)) * 180) / Math.PI;
}

/** @param {Point[]} corners two opposite ones @returns {Rect} in film pixels */
export function boxOf([a, b]) {
  return { x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y) };
}
