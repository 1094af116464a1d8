/**
 * The display check without its drawing: which faint shape comes next, and the smallest step of grey that was seen.
 *
 * The idea is that of the low-contrast letters of the TG18-QC pattern, which stand on dark, middle and bright ground
 * and are read as far down as one can (Samei et al., Assessment of display performance for medical imaging systems,
 * AAPM On-line Report 03, 2005, https://doi.org/10.37206/90, section 4.3). Here each shape stands at one of four
 * places and the reader says which, so that a guess is right one time in four.
 */

/** Grey levels of 8 bits between shape and ground. */
export const STEPS = [8, 4, 3, 2, 1];
export const PLACES = 4;

/** The dark and the bright ground are the 5 and 95 % patches of the same pattern. The middle one comes first, with
 *  few steps: it shows how the check goes. */
export const FIELDS = [
  { name: "middle", ground: 128, towards: 1, steps: [8, 2] },
  { name: "dark", ground: 13, towards: 1, steps: STEPS },
  { name: "bright", ground: 242, towards: -1, steps: STEPS },
];

const LARGEST_GOOD_STEP = 4;
const SMALLEST_WINDOW = [720, 1280]; // its shorter and its longer side: upright screens are good for films
const ZOOM_TOLERANCE = 0.05; // window frames make the ratio a little larger than the zoom

/** @typedef {{field: string, ground: number, shape: number, step: number, place: number}} Trial */
/** @typedef {{[name: string]: number|string|null}} Facts  flat: it is recorded as it is */
/** @typedef {{page_zoom: number|null, pinch_zoom: number|null, viewport_width: number, viewport_height: number}} Sizes
 *  what there may be advice on */

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

  /** @param {(n: number) => number} pick a whole number below n by chance */
  constructor(pick) {
    this.#pick = pick;
    this.#search = new Search(FIELDS[0].steps);
    this.#next();
  }

  get done() { return this.#turn === FIELDS.length; }

  /** @returns {number} shapes answered */
  get presses() { return this.#presses; }

  /** @returns {number} presses that named a wrong place: guesses, rather than a faint shape not seen */
  get misplaced() { return this.#misplaced; }

  /** The smallest step seen on each ground; null: not even the largest. */
  get seen() { return this.#seen; }

  /** @param {number|null} place where the shape was said to be; null: it cannot be seen */
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

/** Halves what is left of the steps each time, then asks once more about the smallest: it may have been a guess. */
class Search {
  #steps;
  /** So many steps, from the largest on, are known to be seen. */
  #seen = 0;
  /** The first one known not to be. */
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

/** What the browser tells about the screen. @param {Window} browser @returns {Facts & Sizes} null for what it does not tell */
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
 * What to advise where the screen does not do for reading films.
 * @param {Sizes} facts @param {{[field: string]: number|null}} seen
 * @returns {("zoom"|"window"|"nothing"|"dark"|"bright")[]} what to speak of, in this order
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

/** The page's zoom, as far as windows betray it: their outside is measured in unzoomed pixels, their inside in zoomed
 *  ones. Touch devices have no outside. */
function zoomOf({ outerWidth, innerWidth }) {
  return outerWidth > 0 && innerWidth > 0 ? round(outerWidth / innerWidth) : null;
}

const round = (value) => Math.round(value * 1000) / 1000;
