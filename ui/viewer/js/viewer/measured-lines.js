/** Lines measured on a film: where their ends are, which end moves, and how long they are. No screen, no drawing. */

/** @typedef {{x: number, y: number}} Point  in film pixels
 *  @typedef {{view: number, ends: [Point, Point], span: ""|"heart"|"chest"}} Line  view: the film's place in the
 *   item; a span is level, and two of them make the cardiothoracic ratio */

export const MOST_LINES = 4;

export class MeasuredLines {
  /** @type {Line[]} */
  lines = [];
  /** The end that moves. @type {{line: Line, end: 0|1}|null} */
  active = null;

  /** @param {number} view @param {Point} from @param {Point} to @param {Line["span"]} [span]
   *  @returns {boolean} false: there are enough */
  add(view, from, to, span = "") {
    if (this.lines.length >= MOST_LINES) return false;
    /** @type {Line} */
    const line = { view, ends: [from, to], span };
    this.lines.push(line);
    this.active = { line, end: 1 };
    return true;
  }

  /** @param {Point} point */
  move(point) {
    if (!this.active) return;
    const { line, end } = this.active;
    line.ends[end] = point;
    if (line.span) line.ends[1 - end] = { x: line.ends[1 - end].x, y: point.y };
  }

  /** On to the other end, then to the next line. */
  other() {
    if (!this.lines.length) return;
    const at = this.active ? this.lines.indexOf(this.active.line) : -1;
    this.active = this.active?.end === 1 ? { line: this.active.line, end: 0 }
      : { line: this.lines[(at + 1) % this.lines.length], end: 1 };
  }

  /** The widest heart over the widest chest. @returns {number|null} null: not measured, or no chest to divide by */
  get ratio() {
    const [heart, chest] = ["heart", "chest"].map((name) => this.lines.find(({ span }) => span === name));
    const wide = ({ ends: [a, b] }) => Math.abs(a.x - b.x);
    return heart && chest && wide(chest) ? wide(heart) / wide(chest) : null;
  }

  /** Away with the line whose end is active; one span goes with the other. */
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
