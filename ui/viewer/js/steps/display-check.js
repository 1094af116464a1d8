/**
 * The display check: selects the next faint shape, finds the smallest visible grey step, and shows the sheet.
 *
 * The idea is that of the low-contrast letters of the TG18-QC pattern, which are on dark, middle and bright backgrounds
 * and are read down to the faintest visible letter (Samei et al., Assessment of display performance for medical imaging
 * systems, AAPM On-line Report 03, 2005, https://doi.org/10.37206/90, section 4.3). Here each shape is at one of four
 * positions and the reader selects the position, so that one guess in four is correct.
 */

import { element, pressButton } from "../page/elements.js";
import { digitOf } from "../page/keys.js";
import { texts } from "../page/texts.js";

/** @import { StepSheet } from "../page/overlays.js" */

/** Grey levels of 8 bits between shape and ground. */
export const STEPS = [8, 4, 3, 2, 1];
export const PLACES = 4;

/** The dark and the bright ground are the 5 and 95 % patches of the same pattern. The middle ground comes first, with
 * few steps, as an introduction. */
export const FIELDS = [
  { name: "middle", ground: 128, towards: 1, steps: [8, 2] },
  { name: "dark", ground: 13, towards: 1, steps: STEPS },
  { name: "bright", ground: 242, towards: -1, steps: STEPS },
];

const LARGEST_GOOD_STEP = 4;
const SMALLEST_WINDOW = [720, 1280]; // shorter and longer side, because upright screens suit films
const ZOOM_TOLERANCE = 0.05; // window frames make the ratio a little larger than the zoom

/** @typedef {{field: string, ground: number, shape: number, step: number, place: number}} Trial */
/** @typedef {{[name: string]: number|string|null}} Facts without nesting, recorded unchanged */
/** @typedef {{page_zoom: number|null, pinch_zoom: number|null, viewport_width: number, viewport_height: number}} Sizes
 *  values that may lead to advice */

export class DisplayCheck {
  #pick;
  #turn = 0;
  #search;
  /** @type {{[field: string]: number|null}} */
  #seen = {};
  #presses = 0;
  #misplaced = 0;
  /** @type {Trial} */
  trial;

  /** @param {(n: number) => number} pick a random integer below n */
  constructor(pick) {
    this.#pick = pick;
    this.#search = new Search(FIELDS[0].steps);
    this.#next();
  }

  get done() { return this.#turn === FIELDS.length; }

  /** @returns {number} shapes answered */
  get presses() { return this.#presses; }

  /** @returns {number} presses with a wrong position, which are guesses */
  get misplaced() { return this.#misplaced; }

  /** The smallest step seen on each ground; null: not even the largest. */
  get seen() { return this.#seen; }

  /** @param {number|null} place where the reader saw the shape; null: not visible */
  answer(place) {
    if (this.done) return;
    this.#presses += 1;
    if (place !== null && place !== this.trial.place) this.#misplaced += 1;
    this.#search.tell(place === this.trial.place);
    if (this.#search.step === null) {
      this.#seen[FIELDS[this.#turn].name] = this.#search.smallest;
      this.#turn += 1;
      if (this.done) return;
      this.#search = new Search(FIELDS[this.#turn].steps);
    }
    this.#next();
  }

  #next() {
    const { name, ground, towards } = FIELDS[this.#turn];
    const step = this.#search.step ?? 0;
    this.trial = { field: name, ground, step, shape: ground + towards * step, place: this.#pick(PLACES) };
  }
}

/** A binary search over the steps, which repeats the smallest step because it may have been a guess. */
class Search {
  #steps;
  /** Number of steps, from the largest, that are known to be visible. */
  #seen = 0;
  /** The first step known to be invisible. */
  #unseen;
  #confirming = false;

  /** @param {number[]} steps largest first */
  constructor(steps) {
    this.#steps = steps;
    this.#unseen = steps.length;
  }

  get #place() {
    return this.#confirming ? this.#seen - 1 : Math.ceil((this.#seen + this.#unseen) / 2) - 1;
  }

  /** @returns {number|null} the step to show; null: the search is over */
  get step() { return !this.#confirming && this.#seen === this.#unseen ? null : this.#steps[this.#place]; }

  get smallest() { return this.#seen ? this.#steps[this.#seen - 1] : null; }

  /** @param {boolean} right */
  tell(right) {
    if (this.#confirming) {
      this.#confirming = false;
      if (!right) this.#seen -= 1;
      this.#unseen = this.#seen;
      return;
    }
    if (right) this.#seen = this.#place + 1;
    else this.#unseen = this.#place;
    this.#confirming = this.#seen === this.#unseen && this.#seen > 0;
  }
}

/** Facts about the screen that the browser provides. @param {Window} browser @returns {Facts & Sizes} null for unknown
 * values */
export function factsOf(browser) {
  const { screen, visualViewport } = browser;
  const matching = (feature, values) => values.find((value) => browser.matchMedia(`(${feature}: ${value})`).matches);
  return {
    screen_width: screen.width, screen_height: screen.height,
    viewport_width: browser.innerWidth, viewport_height: browser.innerHeight,
    device_pixel_ratio: browser.devicePixelRatio ?? null,
    page_zoom: zoomOf(browser),
    pinch_zoom: visualViewport ? round(visualViewport.scale) : null,
    colour_depth: screen.colorDepth ?? null,
    colour_gamut: matching("color-gamut", ["rec2020", "p3", "srgb"]) ?? null,
    dynamic_range: matching("dynamic-range", ["high", "standard"]) ?? null,
  };
}

/**
 * Advice if the screen is not suitable for reading films.
 * @param {Sizes} facts @param {{[field: string]: number|null}} seen
 * @returns {("zoom"|"window"|"nothing"|"dark"|"bright")[]} topics in this order
 */
export function adviceOn({ page_zoom, pinch_zoom, viewport_width, viewport_height }, seen) {
  const off = (/** @type {number|null} */ zoom) => zoom !== null && Math.abs(zoom - 1) > ZOOM_TOLERANCE;
  const faint = (step) => step === null || step > LARGEST_GOOD_STEP;
  const nothing = seen.dark === null && seen.bright === null;
  const sides = [viewport_width, viewport_height].sort((a, b) => a - b);
  const small = sides.some((side, i) => side < SMALLEST_WINDOW[i]);
  return /** @type {const} */ ([
    ["zoom", off(page_zoom) || off(pinch_zoom)], ["window", small], ["nothing", nothing],
    ["dark", !nothing && faint(seen.dark)], ["bright", !nothing && faint(seen.bright)],
  ]).filter(([, speaks]) => speaks).map(([name]) => name);
}

/** The page's zoom, estimated from the window: its outer size is in unzoomed pixels, its inner size in zoomed pixels.
 * Touch devices have no outer size. */
function zoomOf({ outerWidth, innerWidth }) {
  return outerWidth > 0 && innerWidth > 0 ? round(outerWidth / innerWidth) : null;
}

const round = (value) => Math.round(value * 1000) / 1000;

const BY_ARROW = { ArrowUp: 0, ArrowRight: 1, ArrowDown: 2, ArrowLeft: 3 };
const ARROWS = ["↑", "→", "↓", "←"];
const SIDE_PX = 360;
const SMALLEST_PX = 160;
const ROUND_IT_PX = 460; // of the window's height, for text and buttons
const DISC = 0.12; // of the side: large enough that visual acuity does not matter
const FROM_MIDDLE = 0.3; // of the side
const BLANK_MS = 250; // black in between, because a moving disc would be noticed

/** Positions go clockwise from the top. */
const DIRECTIONS = [[0, -1], [1, 0], [0, 1], [-1, 0]];

/** Shows shapes to be located by key or touch, then the result with advice. */
export class DisplayStep {
  #sheet;
  #callbacks;
  /** Number of attempts; the last one counts. */
  #times = 0;

  /**
   * @param {StepSheet} sheet
   * @param {{count: string, onward: string, finish: (detail: object, now: number) => void}} callbacks
   */
  constructor(sheet, callbacks) {
    this.#sheet = sheet;
    this.#callbacks = callbacks;
  }

  begin() {
    this.#times += 1;
    const check = new DisplayCheck(byChance);
    const { title, text, choose, unseen, field: label } = texts.preparation.display;
    let ready = false;
    const answer = (place) => {
      if (!ready) return;
      check.answer(place);
      if (check.done) {
        this.#result(check);
        return;
      }
      this.#sheet.hint("");
      draw();
    };
    const field = new DisplayField(window, answer);
    field.canvas.setAttribute("role", "img");
    const draw = () => {
      ready = false;
      field.canvas.setAttribute("aria-label", label(check.trial.field));
      field.draw(check.trial, () => { ready = true; });
    };
    const frame = this.#frame(field.canvas, answer);
    this.#sheet.show({
      name: "display", title, count: this.#callbacks.count, focus: frame,
      body: [element("p", text, "rr-prelude-text"), frame],
      primary: null, secondary: { label: unseen, key: texts.keys.space, run: () => answer(null) },
      keys: (event) => {
        const place = placeOf(event);
        if (place !== undefined) answer(place);
        else if (event.key === "Enter" && event.target === frame) this.#sheet.hint(choose, { insists: true });
        else return false;
        return true;
      },
    });
    draw();
  }

  #frame(canvas, answer) {
    const frame = element("div", "", "rr-field-frame");
    frame.tabIndex = -1;
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", texts.preparation.display.places);
    frame.append(canvas, ...Array.from({ length: PLACES }, (_, place) => {
      const button = pressButton(String(place + 1), () => answer(place), ARROWS[place]);
      button.dataset.place = String(place + 1);
      button.setAttribute("aria-label", texts.preparation.display.place[place]);
      return button;
    }));
    return frame;
  }

  #result(check) {
    const { title, result, good, advice, again } = texts.preparation.display;
    const facts = factsOf(window);
    const sentences = adviceOn(facts, check.seen);
    const detail = {
      ...stepsOf(check.seen), presses: check.presses, misplaced: check.misplaced, times: this.#times,
      advice: sentences.join(" "), ...facts,
    };
    const lines = sentences.length ? sentences.map((name) => element("li", advice[name](facts))) : [element("li", good)];
    const list = element("ul", "", "rr-advice");
    list.append(...lines);
    list.toggleAttribute("data-good", !sentences.length);
    this.#sheet.show({
      name: "display", title, count: this.#callbacks.count, body: [table(result(check.seen)), list],
      primary: { label: this.#callbacks.onward, run: (now) => this.#callbacks.finish(detail, now) },
      secondary: { label: again, run: () => this.begin() },
    });
  }
}

/** @param {KeyboardEvent} event @returns {number|null|undefined} null: not visible; undefined: not a key of this
 * check */
function placeOf(event) {
  if (event.key in BY_ARROW) return BY_ARROW[event.key];
  const digit = event.key === " " ? 0 : digitOf(event);
  if (digit === 0) return null;
  return digit !== null && digit <= PLACES ? digit - 1 : undefined;
}

/** An invisible step is a measurement too; null would mean that it was not measured. */
function stepsOf(seen) {
  return Object.fromEntries(Object.entries(seen).map(([field, step]) => [`${field}_step`, step ?? "none"]));
}

function table(rows) {
  const list = element("dl", "", "rr-result");
  for (const [name, value] of rows) {
    const line = element("div");
    line.append(element("dt", name), element("dd", value));
    list.append(line);
  }
  return list;
}

/** Four divides the range of the random numbers, so that all positions are equally likely. */
function byChance(n) {
  return crypto.getRandomValues(new Uint32Array(1))[0] % n;
}

/** The field: a uniform grey ground with a faint disc at one of four positions. */
class DisplayField {
  canvas = document.createElement("canvas");
  #pen;
  #side;
  #timer = 0;

  /** @param {{devicePixelRatio: number, innerHeight: number}} browser @param {(place: number) => void} pointed */
  constructor({ devicePixelRatio: density, innerHeight }, pointed) {
    const side_px = Math.max(SMALLEST_PX, Math.min(SIDE_PX, innerHeight - ROUND_IT_PX));
    this.#side = Math.round(side_px * (density || 1));
    this.canvas.style.width = `${side_px}px`;
    this.canvas.style.height = `${side_px}px`;
    this.canvas.width = this.#side;
    this.canvas.height = this.#side;
    this.canvas.className = "rr-field";
    this.#pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.canvas.addEventListener("click", ({ offsetX, offsetY }) => {
      pointed(placeAt(offsetX - this.canvas.clientWidth / 2, offsetY - this.canvas.clientHeight / 2));
    });
  }

  /** @param {Trial} trial @param {() => void} shown */
  draw(trial, shown) {
    this.#fill(0);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#fill(trial.ground);
      this.#disc(trial.shape, trial.place);
      shown();
    }, BLANK_MS);
  }

  #fill(grey) {
    this.#pen.fillStyle = `rgb(${grey} ${grey} ${grey})`;
    this.#pen.fillRect(0, 0, this.#side, this.#side);
  }

  #disc(grey, place) {
    const pen = this.#pen;
    const [right, down] = DIRECTIONS[place];
    pen.fillStyle = `rgb(${grey} ${grey} ${grey})`;
    pen.beginPath();
    pen.arc(this.#side * (0.5 + right * FROM_MIDDLE), this.#side * (0.5 + down * FROM_MIDDLE),
      (this.#side * DISC) / 2, 0, 2 * Math.PI);
    pen.fill();
  }
}

/** @param {number} right @param {number} down from the middle */
function placeAt(right, down) {
  if (Math.abs(down) > Math.abs(right)) return down < 0 ? 0 : 2;
  return right > 0 ? 1 : 3;
}
