/** Measuring: lines on films with known pixel spacing, whose ends are set by mouse or arrow keys. */

import { onFilm, onPane } from "./pane.js";
import { texts } from "../page/texts.js";

/** @import { Mark } from "./hanging.js" */
/** @import { Pane } from "./pane.js" */

/** @typedef {{x: number, y: number}} Point  in film pixels, or device pixels of the canvas
 *  @typedef {{view: number, ends: [Point, Point], span: ""|"heart"|"chest", along: "x"|"y"}} Line  view: the film's
 *   place in the item; a span stays level on the film as it hung when it was drawn, and two of them make the
 *   cardiothoracic ratio; along: the axis of the film that was level */

export const MOST_LINES = 4;

/** The lines, the moving end and the lengths, without any drawing. */
export class MeasuredLines {
  /** @type {Line[]} */
  lines = [];
  /** The moving end. @type {{line: Line, end: 0|1}|null} */
  active = null;

  /** @param {number} view @param {Point} from @param {Point} to @param {Line["span"]} [span]
   *  @param {Line["along"]} [along] @returns {boolean} false: the maximum is reached */
  add(view, from, to, span = "", along = "x") {
    if (this.lines.length >= MOST_LINES) return false;
    /** @type {Line} */
    const line = { view, ends: [from, to], span, along };
    this.lines.push(line);
    this.active = { line, end: 1 };
    return true;
  }

  /** @param {Point} point */
  move(point) {
    if (!this.active) return;
    const { line, end } = this.active;
    line.ends[end] = point;
    if (line.span) line.ends[1 - end] = { ...point, [line.along]: line.ends[1 - end][line.along] };
  }

  /** Move on to the other end, then to the next line. */
  other() {
    if (!this.lines.length) return;
    const at = this.active ? this.lines.indexOf(this.active.line) : -1;
    this.active = this.active?.end === 1 ? { line: this.active.line, end: 0 }
      : { line: this.lines[(at + 1) % this.lines.length], end: 1 };
  }

  /** The widest heart over the widest chest. @returns {number|null} null: not measured, or the chest is missing */
  get ratio() {
    const [heart, chest] = ["heart", "chest"].map((name) => this.lines.find(({ span }) => span === name));
    const wide = ({ ends: [a, b], along }) => Math.abs(a[along] - b[along]);
    return heart && chest && wide(chest) ? wide(heart) / wide(chest) : null;
  }

  /** Remove the line whose end is active; a span is removed with the other span. */
  remove() {
    const active = this.active?.line;
    this.lines = this.lines.filter((line) => line !== active && !(active?.span && line.span));
    const last = this.lines.at(-1);
    this.active = last ? { line: last, end: 1 } : null;
  }

  clear() {
    this.lines = [];
    this.active = null;
  }
}

/** @param {Line} line @param {number} spacing_mm of a film pixel @returns {number} at the detector, in mm */
export function length_mm({ ends: [a, b] }, spacing_mm) {
  return Math.hypot(a.x - b.x, a.y - b.y) * spacing_mm;
}

/** @type {(0|1)[]} */
const BOTH = [0, 1];
const GRAB_PX = 14;
const SHORTEST_PX = 3; // a shorter line is a click
const APART_PX = 42; // space for the length of a line between two lines
const STEP_PX = 1;
const HELD_STEP_PX = 8;

export class MeasureTool {
  /** Whether mouse and arrow keys measure. */
  on = false;
  #lines = new MeasuredLines();
  #panes;
  #callbacks;
  /** The line that is being drawn. @type {Line|null} */
  #fresh = null;

  /**
   * @param {{visible: () => Pane[], density: () => number, changed: () => void}} panes
   * @param {{used: (tool: string) => void, hint: (text: string) => void}} callbacks
   */
  constructor(panes, callbacks) {
    this.#panes = panes;
    this.#callbacks = callbacks;
  }

  get empty() { return !this.#lines.lines.length; }

  toggle() {
    this.#set(!this.on);
  }

  /** Remove all lines and end measuring. */
  clear() {
    this.on = false;
    this.#fresh = null;
    this.#lines.clear();
    this.#panes.changed();
  }

  /** Grab an end, or start a line. @param {Point} at @param {Pane} pane the one under it */
  down(at, pane) {
    const held = this.#endNear(at);
    if (held) this.#lines.active = held;
    else {
      const point = this.#filmPoint(at, pane);
      if (this.#begin(pane, point, point)) this.#fresh = this.#lines.active?.line ?? null;
    }
    this.#panes.changed();
  }

  /** @param {Point} at */
  drag(at) {
    const pane = this.#activePane();
    if (!pane) return;
    this.#lines.move(this.#filmPoint(at, pane));
    this.#panes.changed();
  }

  up() {
    const pane = this.#activePane();
    if (this.#fresh && pane) {
      const [a, b] = this.#fresh.ends.map((end) => onPane(end, pane));
      if (Math.hypot(a.x - b.x, a.y - b.y) < SHORTEST_PX * this.#panes.density()) this.#lines.remove();
      else this.#callbacks.used("measure");
    }
    this.#fresh = null;
    this.#panes.changed();
  }

  /** Arrow keys move the active end; without a line a new line is created. @param {boolean} held the key repeats */
  step(right, down, held) {
    const pane = this.#activePane();
    if (!pane || !this.#lines.active) {
      this.another();
      return;
    }
    const { line, end } = this.#lines.active;
    const { x, y } = onPane(line.ends[end], pane);
    const by = (held ? HELD_STEP_PX : STEP_PX) * this.#panes.density();
    const within = (value, length) => Math.min(length, Math.max(0, value));
    this.#lines.move(onItsFilm(onFilm({
      x: within(x + right * by, pane.rect.width), y: within(y + down * by, pane.rect.height),
    }, pane), pane));
    this.#panes.changed();
  }

  /** Add a line at the centre of the visible part. */
  another() {
    this.#set(true);
    const panes = this.#panes.visible();
    const pane = panes.find(({ film }) => film.view.spacing_mm) ?? panes[0];
    if (!pane) return;
    const { width, height } = pane.rect;
    const shift = this.#lines.lines.length * APART_PX * this.#panes.density();
    const [from, to] = [3 / 8, 5 / 8].map((share) =>
      onItsFilm(onFilm({ x: share * width, y: height / 2 + shift }, pane), pane));
    if (this.#begin(pane, from, to)) this.#callbacks.used("measure");
    this.#panes.changed();
  }

  /** Two spans for the cardiothoracic ratio, on the first visible film; removed if they are already drawn. */
  heart() {
    const spans = this.#lines.lines.filter(({ span }) => span);
    if (spans.length) {
      this.#lines.active = { line: spans[0], end: 1 };
      this.#lines.remove();
      this.on &&= !this.empty;
      this.#panes.changed();
      return;
    }
    const pane = this.#panes.visible()[0];
    if (!pane) return;
    if (this.#lines.lines.length + 2 > MOST_LINES) {
      this.#callbacks.hint(texts.hints.linesFull(MOST_LINES));
      return;
    }
    const { width, height } = pane.rect;
    const at = (x, y) => onItsFilm(onFilm({ x: x * width, y: y * height }, pane), pane);
    const along = pane.turns % 2 ? "y" : "x";
    this.#lines.add(pane.index, at(0.15, 0.7), at(0.85, 0.7), "chest", along);
    this.#lines.add(pane.index, at(0.35, 0.6), at(0.65, 0.6), "heart", along);
    for (const { ends } of this.#lines.lines.slice(-2)) ends[1] = { ...ends[0], [along]: ends[1][along] };
    this.on = true;
    this.#callbacks.used("measure");
    this.#panes.changed();
  }

  /** Let the arrow keys move the next visible end. */
  other() {
    if (!this.on) return;
    for (let left = 2 * MOST_LINES; left > 0; left -= 1) {
      this.#lines.other();
      if (this.#activePane()) break;
    }
    this.#panes.changed();
  }

  /** Remove the line whose end the arrow keys move. */
  remove() {
    if (!this.on) return;
    this.#lines.remove();
    this.#panes.changed();
  }

  /** The lines of one pane, in CSS pixels from its corner. @param {Pane} pane @returns {Mark[]} */
  marks(pane) {
    const density = this.#panes.density();
    const css = ({ x, y }) => ({ x: x / density, y: y / density });
    return this.#lines.lines.filter(({ view }) => view === pane.index).map((line) => ({
      ends: [css(onPane(line.ends[0], pane)), css(onPane(line.ends[1], pane))],
      active: this.on && this.#lines.active?.line === line ? this.#lines.active.end : null,
      words: this.#words(line, pane.film.view.spacing_mm),
    }));
  }

  #set(on) {
    this.on = on;
    if (on && this.empty && !this.#panes.visible().some(({ film }) => film.view.spacing_mm)) {
      this.on = false;
      this.#callbacks.hint(texts.hints.noSpacing);
    }
    this.#panes.changed();
  }

  #words(line, spacing_mm) {
    if (line.span === "heart") return this.#lines.ratio === null ? "" : texts.ratio(this.#lines.ratio);
    return line.span ? "" : texts.length(length_mm(line, spacing_mm ?? NaN));
  }

  #begin(pane, from, to) {
    if (!pane.film.view.spacing_mm) this.#callbacks.hint(texts.hints.noSpacing);
    else if (!this.#lines.add(pane.index, from, to)) this.#callbacks.hint(texts.hints.linesFull(MOST_LINES));
    else return true;
    this.#lines.active = null;
    return false;
  }

  #activePane() {
    return this.#panes.visible().find(({ index }) => index === this.#lines.active?.line.view);
  }

  #filmPoint(at, pane) {
    return onItsFilm(onFilm({ x: at.x - pane.rect.x, y: at.y - pane.rect.y }, pane), pane);
  }

  #endNear(at) {
    const reach = GRAB_PX * this.#panes.density();
    const ends = this.#panes.visible().flatMap((pane) => this.#lines.lines.filter(({ view }) => view === pane.index)
      .flatMap((line) => BOTH.map((end) => {
        const { x, y } = onPane(line.ends[end], pane);
        return { line, end, away: Math.hypot(x + pane.rect.x - at.x, y + pane.rect.y - at.y) };
      })));
    const nearest = ends.sort((a, b) => a.away - b.away)[0];
    return nearest && nearest.away <= reach ? { line: nearest.line, end: nearest.end } : null;
  }
}

/** Limit a point to the film. */
function onItsFilm({ x, y }, { film: { view } }) {
  return { x: Math.min(view.width, Math.max(0, x)), y: Math.min(view.height, Math.max(0, y)) };
}
