/** The hanging of films on the canvas: order, visibility, position and labels. */

import { arrange, arrangeBeside, asItComes, fitted, heatOn, panned, side, sizeOf, windowAgain, windowSet } from "./pane.js";
import { turnedSize } from "../film/picture.js";
import { boxOf, linesOf } from "./shapes.js";
import { element } from "../page/elements.js";
import { texts } from "../page/texts.js";

/** @import { LoadedFilm } from "../film/film-cache.js" */
/** @import { Rect, View } from "../page/types.js" */
/** @import { FilmCanvas } from "./film-viewer.js" */
/** @import { Pane, SetWindow, Size } from "./pane.js" */

/** @typedef {{x: number, y: number}} Point
 *  @typedef {{round: boolean, points: Point[], active: number|null, words: string[]}} Mark  lines, or an ellipse in the
 *   box between two points, in CSS pixels; words: a line of text each */

const SVG = "http://www.w3.org/2000/svg";
const LONGEST_BAR_PX = 130;
const ROUND = [1, 2, 5]; // and these times powers of ten
const END_PX = 4.5;
const ABOVE_PX = 12; // from a line to its length
const LINE_PX = 17;
const FOOT_PX = 40; // the line with the window and the scale bar
const LABEL_HALF_PX = 92;

/** Labels over a film in its pane: its name, changes from the initial state, scale bar, measured lines. */
export class PaneLabels {
  #all = document.createElement("div");
  #state = span("rr-plate-state");
  #mirrored = span("rr-mirrored");
  #rotated = span("rr-rotated");
  #scale = span("rr-scale");
  #scaleWords = span("rr-scale-words");
  #scaleBar = document.createElement("i");
  #marks = document.createElementNS(SVG, "svg");
  #heat = document.createElement("canvas");
  /** The rows shown on the canvas of the heat map. @type {number[][]|null} */
  #rows = null;

  /** @param {HTMLElement} place @param {View} view @param {boolean} compares  current and prior films hang together */
  constructor(place, view, compares) {
    this.#all.className = "rr-plate";
    this.#mirrored.textContent = texts.mirrored;
    this.#scale.append(this.#scaleWords, this.#scaleBar);
    this.#marks.setAttribute("class", "rr-marks");
    this.#marks.setAttribute("aria-hidden", "true");
    const head = span("rr-plate-line");
    const name = span("rr-plate-name");
    name.textContent = view.label;
    const time = span(view.prior ? "rr-prior" : "rr-current");
    time.textContent = view.prior || texts.current;
    time.hidden = !view.prior && !compares;
    name.hidden = !view.label;
    if (view.prior) this.#all.dataset.prior = "true";
    head.append(name, time, this.#mirrored, this.#rotated);
    const foot = span("rr-plate-line rr-plate-foot");
    foot.append(this.#state, this.#scale);
    this.#heat.className = "rr-heat";
    this.#all.append(this.#heat, this.#marks, head, foot);
    place.append(this.#all);
  }

  remove() {
    this.#all.remove();
  }

  hide() {
    this.#all.hidden = true;
  }

  /**
   * @param {Omit<Pane, "index"|"window"|"preset"|"labels">} pane @param {number} density device pixels per CSS pixel
   * @param {Omit<Parameters<typeof texts.paneState>[0], "zoom">} state
   * @param {{lines: Mark[], boxes: (Rect & {label: string})[],
   *   heat: ReturnType<typeof heatOn>}} marks @param {Rect|null} glass in device pixels; it covers the marks
   */
  write({ rect, zoomPan, flipped, turns, film }, density, state, marks, glass) {
    this.#all.hidden = false;
    const px = (value) => `${value / density}px`;
    Object.assign(this.#all.style,
      { left: px(rect.x), top: px(rect.y), width: px(rect.width), height: px(rect.height) });
    const parts = texts.paneState({ ...state, zoom: zoomPan.scale });
    this.#state.replaceChildren(...parts.flatMap((part, i) => {
      const text = span("rr-plate-part"); // a line breaks between parts only
      text.textContent = part;
      return i ? ["   ", text] : [text];
    }));
    this.#mirrored.hidden = !flipped;
    this.#rotated.hidden = !turns;
    this.#rotated.textContent = texts.rotated(90 * ((4 + side({ flipped }) * turns) % 4));
    this.#writeScale(film.view.spacing_mm, zoomPan.scale / density, rect.width / density);
    const { lines, boxes, heat } = marks;
    this.#writeHeat(heat, glass ? around(glass, rect, density) : "");
    this.#marks.replaceChildren(...boxes.flatMap(drawnBox), ...lines.flatMap((mark) => drawn(mark, { width: rect.width / density, height: rect.height / density })));
    this.#marks.style.clipPath = glass && (lines.length || boxes.length) ? around(glass, rect, density) : "";
  }

  /** @param {ReturnType<typeof heatOn>} heat @param {string} clip the area outside the glass */
  #writeHeat(heat, clip) {
    this.#heat.hidden = !heat;
    if (!heat) return;
    if (heat.rows !== this.#rows) paintHeat(this.#heat, heat.rows);
    this.#rows = heat.rows;
    const { style } = this.#heat;
    const px = (/** @type {number} */ value) => `${value}px`;
    const { width, height } = turnedSize(heat, heat.turns); // before it is turned about its centre
    const [left, top] = [heat.x + (heat.width - width) / 2, heat.y + (heat.height - height) / 2];
    Object.assign(style, { left: px(left), top: px(top), width: px(width), height: px(height) });
    style.transform = `scaleX(${side(heat)}) rotate(${90 * heat.turns}deg)`;
    style.visibility = clip ? "hidden" : ""; // the magnifying glass shows the image itself
  }

  #writeScale(spacing_mm, zoom, width) {
    this.#scale.hidden = !spacing_mm;
    if (!spacing_mm) return;
    const { mm, px } = scaleBar(zoom / spacing_mm, Math.min(LONGEST_BAR_PX, width / 3));
    this.#scaleWords.textContent = texts.scale(mm);
    this.#scaleBar.style.width = `${px}px`;
  }
}

/** The area of a pane outside the glass. */
function around(glass, pane, density) {
  const [x, y, side, width, height] =
    [glass.x - pane.x, glass.y - pane.y, glass.width, pane.width, pane.height].map((value) => value / density);
  return `path(evenodd, "M0 0h${width}v${height}H0z M${x} ${y}h${side}v${side}h${-side}z")`;
}

/** Draw a shape twice, dark below and light above, so that it is visible on black and on white.
 *  @param {Mark} mark @param {{width: number, height: number}} pane */
function drawn({ round, points, active, words }, pane) {
  const outline = round ? "ellipse" : "line";
  const places = round ? [ellipseIn(boxOf(points))]
    : linesOf(points).map(([a, b]) => ({ x1: a.x, y1: a.y, x2: b.x, y2: b.y }));
  const rings = points.map(({ x, y }, i) =>
    shape("circle", { cx: x, cy: y, r: END_PX, class: i === active ? "rr-active" : "" }));
  return [
    ...["rr-below", ""].flatMap((name) => places.map((at) => shape(outline, { ...at, class: name }))),
    ...rings, ...caption(points, words, pane),
  ];
}

/** @param {Rect} box */
const ellipseIn = ({ x, y, width, height }) => ({ cx: x + width / 2, cy: y + height / 2, rx: width / 2, ry: height / 2 });

/** Lines of text above a shape, or below it if there is no space above; within the pane. */
function caption(points, words, pane) {
  const [xs, ys] = ["x", "y"].map((axis) => points.map((point) => point[axis]));
  const middle = (Math.min(...xs) + Math.max(...xs)) / 2;
  const tall = LINE_PX * (words.length - 1);
  const above = Math.min(...ys) - ABOVE_PX - tall;
  const first = above > ABOVE_PX ? above : Math.min(Math.max(...ys) + 2 * ABOVE_PX, pane.height - FOOT_PX - tall);
  return words.map((line, i) => {
    const text = shape("text", {
      x: Math.min(Math.max(middle, LABEL_HALF_PX), Math.max(pane.width - LABEL_HALF_PX, LABEL_HALF_PX)), y: first + i * LINE_PX,
    });
    text.textContent = line;
    return text;
  });
}

/** One pixel for each number: transparent at 0, opaque towards 1.
 *  @param {HTMLCanvasElement} canvas @param {number[][]} rows */
function paintHeat(canvas, rows) {
  canvas.height = rows.length;
  canvas.width = rows[0].length;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(canvas.width, canvas.height);
  rows.flat().forEach((value, i) => image.data.set([255, Math.round(190 * (1 - value)), 60, Math.round(150 * value)], 4 * i));
  context.putImageData(image, 0, 0);
}

/** A model's box with its label. @param {Rect & {label: string}} box */
function drawnBox({ x, y, width, height, label }) {
  const outline = { x, y, width, height };
  const words = shape("text", { x: x + width / 2, y: Math.max(y - 5, ABOVE_PX), class: "rr-box-label" });
  words.textContent = label;
  return [shape("rect", { ...outline, class: "rr-box rr-below" }), shape("rect", { ...outline, class: "rr-box" }), words];
}

function shape(name, attributes) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== "") node.setAttribute(key, String(value));
  return node;
}

const span = (className) => element("span", "", className);

/**
 * The scale bar: a round length, and its length on the screen.
 * @param {number} px_per_mm CSS pixels of the screen @param {number} longest_px
 * @returns {{mm: number, px: number}} the longest of 1, 2, 5, 10, 20, 50 ... mm, or a tenth of these, that fits
 */
export function scaleBar(px_per_mm, longest_px) {
  const most_mm = longest_px / px_per_mm;
  const power = Math.floor(Math.log10(most_mm));
  const step = ROUND.findLast((each) => each * 10 ** power <= most_mm * (1 + 1e-9)) ?? 1;
  // A negative power of ten is not exact, but its inverse is.
  const mm = power < 0 ? step / 10 ** -power : step * 10 ** power;
  return { mm, px: mm * px_per_mm };
}

const GAP_PX = 6;
// Labels must match completely, because a lateral decubitus film is frontal.
const FRONTAL = /^(PA|AP|FRONTAL)$/i;
const LATERAL = /^((LEFT|RIGHT) )?LATERAL$/i;

export class Hanging {
  /** Whether the films are swapped. */
  swapped = false;
  /** Whether all films have the same size, including lateral and prior films. */
  equal = false;
  /** Whether the next case starts with the windows set on this case. */
  keeping = false;
  /** @type {Pane[]} */
  panes = [];
  /** Windows set by the reader, by label of the film. @type {Map<string, SetWindow|null>} */
  #kept = new Map();
  #place;
  #canvas;
  /** The films in the item's order. @type {LoadedFilm[]} */
  #films = [];
  /** The index of the film shown alone; -1: none. */
  #alone = -1;
  /** Whether the prior films are hidden. */
  #currentOnly = false;
  /** The canvas sizes for which the layout of this case's films was chosen, with and without the question. @type
   * {Map<boolean, Size>} */
  #settled = new Map();
  #folded;

  /** @param {HTMLElement} place @param {FilmCanvas} canvas @param {() => boolean} folded the question is folded */
  constructor(place, canvas, folded) {
    this.#place = place;
    this.#canvas = canvas;
    this.#folded = folded;
  }

  /** Whether one of several films is shown alone. */
  get alone() { return this.#alone >= 0; }

  /** @returns {Pane[]} the visible panes */
  get visible() {
    if (this.alone) return [this.panes[this.#alone]];
    return this.#currentOnly ? this.panes.filter(({ film }) => !film.view.prior) : this.panes;
  }

  /** Whether prior films are shown next to the current films. */
  get compares() { return compares(this.#films); }

  /** @param {LoadedFilm[]} films @returns {boolean} whether these films are shown */
  holds(films) {
    return films === this.#films;
  }

  /** Hang these films, or the same films again: all visible, fitted, with their initial windows. @param
   * {LoadedFilm[]} [films] */
  hang(films = this.#films) {
    if (!this.keeping || films === this.#films) this.#kept.clear();
    else for (const pane of this.panes) this.#kept.set(nameOf(pane.film), windowSet(pane));
    this.#films = films;
    this.#settled = new Map([[this.#folded(), this.#canvas.size]]);
    this.#alone = -1;
    this.#currentOnly = false;
    this.swapped = false;
    for (const { labels } of this.panes) labels.remove();
    this.panes = this.asTheyCome(films).map((pane) => ({
      ...pane, index: films.indexOf(pane.film), labels: new PaneLabels(this.#place, pane.film.view, this.compares),
    }));
  }

  /** Return the panes for some films without showing them. @param {LoadedFilm[]} films @returns {ReturnType<typeof
   * asItComes>[]} */
  asTheyCome(films) {
    const inOrder = hangingOrder(films);
    const rects = this.#rects(inOrder, this.#canvas.size);
    return inOrder.map((one, i) => {
      const again = windowAgain(one, this.#kept.get(nameOf(one)));
      return { ...asItComes(one, rects[i]), ...again };
    });
  }

  /** Divide the canvas between the visible films again, with the layout chosen when the case was opened. */
  arrange() {
    const visible = this.visible;
    const folded = this.#folded();
    const settled = this.#settled.get(folded) ?? this.#canvas.size;
    this.#settled.set(folded, settled);
    this.#rects(visible.map(({ film }) => film), settled, this.swapped).forEach((rect, i) => {
      const pane = visible[i];
      pane.rect = rect;
      pane.zoomPan = pane.zoomPan.fit ? fitted(rect, sizeOf(pane)) : panned(pane.zoomPan, 0, 0, rect, sizeOf(pane));
    });
  }

  /** Swap two films, or move the first of more to the end; with prior films, swap current and prior films.
   *  @returns {boolean} false: nothing to swap */
  swap() {
    if (this.visible.length < 2) return false;
    if (this.compares) {
      this.swapped = !this.swapped;
      this.arrange();
      return true;
    }
    this.panes.push(...this.panes.splice(0, 1));
    const inOrder = hangingOrder(this.#films);
    this.swapped = this.panes.some(({ film }, i) => film !== inOrder[i]);
    this.arrange();
    return true;
  }

  /** Show each film alone in turn, then all together; or one alone, and then all. @param {Pane|null} [pane]
   *  @returns {boolean} false: there is only one */
  nextView(pane = null) {
    if (this.panes.length < 2) return false;
    if (pane) this.#alone = this.alone ? -1 : this.panes.indexOf(pane);
    else this.#alone = this.#alone + 1 === this.panes.length ? -1 : this.#alone + 1;
    this.arrange();
    return true;
  }

  /** Hide or show the prior films. @returns {boolean} false: there are none */
  compare() {
    if (!this.compares) return false;
    this.#currentOnly = !this.#currentOnly && !this.alone;
    this.#alone = -1;
    this.arrange();
    return true;
  }

  /** @param {{x: number, y: number}} point in device pixels of the canvas @returns {Pane|null} */
  under(point) {
    return this.visible.find(({ rect }) => point.x >= rect.x && point.x < rect.x + rect.width
      && point.y >= rect.y && point.y < rect.y + rect.height) ?? null;
  }

  #rects(films, settled, swapped = false) {
    const gap = Math.round(GAP_PX * this.#canvas.density);
    const current = films.filter(({ view }) => !view.prior);
    const prior = films.filter(({ view }) => view.prior);
    const leads = this.#leads(current);
    const sizes = (some) => some.map(({ view }) => view);
    if (!current.length || !prior.length) return arrange(this.#canvas.size, sizes(films), gap, { leads, settled });
    const how = { leads, equal: this.equal, exchanged: swapped, settled };
    const rects = arrangeBeside(this.#canvas.size, sizes(current), sizes(prior), gap, how);
    return films.map((film) => (film.view.prior ? rects.prior[prior.indexOf(film)] : rects.current[current.indexOf(film)]));
  }

  #leads(films) {
    const ranks = films.map(({ view }) => rank(view.label));
    return !this.equal && ranks.includes(0) && ranks.includes(2);
  }
}

/** @param {LoadedFilm} film @returns {string} the key of its window */
const nameOf = ({ view }) => `${view.prior ? "prior " : ""}${view.label}`;

/** @param {LoadedFilm[]} films */
const compares = (films) => films.some(({ view }) => view.prior) && films.some(({ view }) => !view.prior);

/** @param {string} label @returns {number} */
function rank(label) {
  if (FRONTAL.test(label)) return 0;
  return LATERAL.test(label) ? 2 : 1;
}

/**
 * The hanging order, independent of the item's order.
 * @template {{view: {label: string, prior?: string}}} T
 * @param {T[]} films as the item has them
 * @returns {T[]} current before prior films, in each frontal first and lateral last, otherwise in their order
 */
export function hangingOrder(films) {
  const order = ({ view }) => rank(view.label) + (view.prior ? 3 : 0);
  return [...films].sort((a, b) => order(a) - order(b));
}
