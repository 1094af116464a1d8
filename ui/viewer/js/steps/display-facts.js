/** What the browser tells about the screen, and what to advise where it does not do for reading films. */

/** @typedef {{[name: string]: number|string|null}} Facts  flat: it is recorded as it is */
/** @typedef {{page_zoom: number|null, pinch_zoom: number|null, viewport_width: number, viewport_height: number}} Sizes
 *  what there may be advice on */

const LARGEST_GOOD_STEP = 4;
const SMALLEST_WINDOW = [720, 1280]; // its shorter and its longer side: upright screens are good for films
const ZOOM_TOLERANCE = 0.05; // window frames make the ratio a little larger than the zoom

/** @param {Window} browser @returns {Facts & Sizes} null for what it does not tell */
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
