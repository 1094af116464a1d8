/** What stands over a film in its pane: its name, how it departs from what came, the scale bar, measured lines. */

import { element } from "../page/elements.js";
import { texts } from "../page/texts.js";

/** @import { Pane } from "./pane.js" */
/** @import { Rect, View } from "../page/types.js" */

/** @typedef {{x: number, y: number}} Point
 *  @typedef {{ends: [Point, Point], active: 0|1|null, words: string}} Mark  a measured line, in CSS pixels */

const SVG = "http://www.w3.org/2000/svg";
const LONGEST_BAR_PX = 130;
const ROUND = [1, 2, 5]; // and these times a power of ten
const END_PX = 4.5;
const ABOVE_PX = 12; // from a line to its length
const LABEL_HALF_PX = 92;

export class PaneLabels {
  #all = document.createElement("div");
  #state = span("rr-plate-state");
  #mirrored = span("rr-mirrored");
  #scale = span("rr-scale");
  #scaleWords = span("rr-scale-words");
  #scaleBar = document.createElement("i");
  #marks = document.createElementNS(SVG, "svg");

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
    head.append(name, time, this.#mirrored);
    const foot = span("rr-plate-line rr-plate-foot");
    foot.append(this.#state, this.#scale);
    this.#all.append(this.#marks, head, foot);
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
   * @param {Mark[]} marks @param {Rect|null} glass in device pixels: it covers the marks
   */
  write({ rect, zoomPan, flipped, film }, density, state, marks, glass) {
    this.#all.hidden = false;
    const px = (value) => `${value / density}px`;
    Object.assign(this.#all.style,
      { left: px(rect.x), top: px(rect.y), width: px(rect.width), height: px(rect.height) });
    this.#state.textContent = texts.paneState({ ...state, zoom: zoomPan.scale });
    this.#mirrored.hidden = !flipped;
    this.#writeScale(film.view.spacing_mm, zoomPan.scale / density, rect.width / density);
    this.#marks.replaceChildren(...marks.flatMap((mark) => drawn(mark, rect.width / density)));
    this.#marks.style.clipPath = glass && marks.length ? around(glass, rect, density) : "";
  }

  #writeScale(spacing_mm, zoom, width) {
    this.#scale.hidden = !spacing_mm;
    if (!spacing_mm) return;
    const { mm, px } = scaleBar(zoom / spacing_mm, Math.min(LONGEST_BAR_PX, width / 3));
    this.#scaleWords.textContent = texts.scale(mm);
    this.#scaleBar.style.width = `${px}px`;
  }
}

/** All of a pane but what lies under the glass. */
function around(glass, pane, density) {
  const [x, y, side, width, height] =
    [glass.x - pane.x, glass.y - pane.y, glass.width, pane.width, pane.height].map((value) => value / density);
  return `path(evenodd, "M0 0h${width}v${height}H0z M${x} ${y}h${side}v${side}h${-side}z")`;
}

/** A line twice, dark below and light above, so that it is seen on black and on white. @param {Mark} mark */
function drawn({ ends: [a, b], active, words: said }, width) {
  const along = { x1: a.x, y1: a.y, x2: b.x, y2: b.y };
  const rings = [a, b].map(({ x, y }, i) =>
    shape("circle", { cx: x, cy: y, r: END_PX, class: i === active ? "rr-active" : "" }));
  const words = shape("text", {
    x: Math.min(Math.max((a.x + b.x) / 2, LABEL_HALF_PX), Math.max(width - LABEL_HALF_PX, LABEL_HALF_PX)),
    y: Math.min(a.y, b.y) > 2 * ABOVE_PX ? Math.min(a.y, b.y) - ABOVE_PX : Math.max(a.y, b.y) + 2 * ABOVE_PX,
  });
  words.textContent = said;
  return [shape("line", { ...along, class: "rr-below" }), shape("line", along), ...rings, words];
}

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== "") made.setAttribute(key, String(value));
  return made;
}

const span = (className) => element("span", "", className);

/**
 * The scale bar: a round length, and how long it is on the screen.
 * @param {number} px_per_mm CSS pixels of the screen @param {number} longest_px
 * @returns {{mm: number, px: number}} the longest of 1, 2, 5, 10, 20, 50 ... mm, or a tenth of these, that fits
 */
export function scaleBar(px_per_mm, longest_px) {
  const most_mm = longest_px / px_per_mm;
  const power = Math.floor(Math.log10(most_mm));
  const step = ROUND.findLast((each) => each * 10 ** power <= most_mm * (1 + 1e-9)) ?? 1;
  // A negative power of ten is not exact, its inverse is.
  const mm = power < 0 ? step / 10 ** -power : step * 10 ** power;
  return { mm, px: mm * px_per_mm };
}
