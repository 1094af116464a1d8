/** The display check finds the smallest step a reader sees, in few presses, and is not fooled by one lucky guess. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { adviceOn, DisplayCheck, factsOf, FIELDS } from "../../../../ui/viewer/js/steps/display-check.js";

/** Completes the check as a reader who sees steps of at least `limits[field]`. */
function read(limits, places = () => 0) {
  const check = new DisplayCheck(places);
  while (!check.done) check.answer(check.trial.step >= limits[check.trial.field] ? check.trial.place : null);
  return check;
}

test("a reader who sees every shape finishes after eleven presses", () => {
  const check = read({ middle: 1, dark: 1, bright: 1 });
  assert.deepEqual(check.seen, { middle: 2, dark: 1, bright: 1 });
  assert.equal(check.presses, 11);
});

test("each smallest step is found, on each ground, in at most twelve presses", () => {
  for (const dark of [8, 4, 3, 2, 1, 99]) {
    for (const bright of [8, 4, 3, 2, 1, 99]) {
      const check = read({ middle: 2, dark, bright });
      const found = [dark, bright].map((step) => (step === 99 ? null : step));
      assert.deepEqual([check.seen.dark, check.seen.bright], found);
      assert.ok(check.presses <= 12, `${check.presses} presses`);
    }
  }
});

test("a step seen only once does not count", () => {
  const check = new DisplayCheck(() => 2);
  const lucky = new Set();
  while (!check.done) {
    const { field, step, place } = check.trial;
    const first = !lucky.has(`${field} ${step}`);
    lucky.add(`${field} ${step}`);
    check.answer(step > 1 || first ? place : null);
  }
  assert.deepEqual([check.seen.dark, check.seen.bright], [2, 2]);
});

test("a wrong position counts as not seen, and separately as a guess", () => {
  const check = new DisplayCheck(() => 1);
  while (!check.done) check.answer(3);
  assert.deepEqual(check.seen, { middle: null, dark: null, bright: null });
  assert.equal(check.misplaced, check.presses);
});

test("shapes are lighter than dark ground, darker than bright ground, and placed at random", () => {
  const drawn = [];
  const check = new DisplayCheck((n) => { drawn.push(n); return drawn.length % n; });
  while (!check.done) {
    const { field, ground, shape, step, place } = check.trial;
    assert.equal(shape - ground, field === "bright" ? -step : step);
    assert.equal(place, drawn.length % 4);
    check.answer(place);
  }
  assert.deepEqual(FIELDS.map(({ name }) => name), ["middle", "dark", "bright"]);
  assert.ok(drawn.every((n) => n === 4));
});

const browser = (more = {}) => ({
  screen: { width: 1920, height: 1080, colorDepth: 24 }, innerWidth: 1920, innerHeight: 1080, outerWidth: 1920,
  devicePixelRatio: 1, visualViewport: { scale: 1 },
  matchMedia: (query) => ({ matches: query === "(color-gamut: srgb)" || query === "(dynamic-range: standard)" }),
  ...more,
});

test("facts are not nested, and null if the browser does not provide them", () => {
  assert.deepEqual(factsOf(browser()), {
    screen_width: 1920, screen_height: 1080, viewport_width: 1920, viewport_height: 1080, device_pixel_ratio: 1,
    page_zoom: 1, pinch_zoom: 1, colour_depth: 24, colour_gamut: "srgb", dynamic_range: "standard",
  });
  const tablet = factsOf(browser({ outerWidth: 0, visualViewport: undefined, matchMedia: () => ({ matches: false }) }));
  for (const name of ["page_zoom", "pinch_zoom", "colour_gamut", "dynamic_range"]) assert.equal(tablet[name], null);
});

test("advice is given for zoom, a small window and invisible greys only", () => {
  const fine = { dark: 4, bright: 1 };
  assert.deepEqual(adviceOn(factsOf(browser()), fine), []);
  assert.deepEqual(adviceOn(factsOf(browser({ outerWidth: 1936 })), fine), [], "a window's frame is no zoom");
  assert.deepEqual(adviceOn(factsOf(browser({ innerWidth: 1536 })), fine), ["zoom"]);
  assert.deepEqual(adviceOn(factsOf(browser({ outerWidth: 0, innerHeight: 700 })), fine), ["window"]);
  assert.deepEqual(adviceOn(factsOf(browser({ outerWidth: 0, innerWidth: 1080, innerHeight: 1920 })), fine), []);
  assert.deepEqual(adviceOn(factsOf(browser()), { dark: 8, bright: null }), ["dark", "bright"]);
  assert.deepEqual(adviceOn(factsOf(browser()), { dark: null, bright: null }), ["nothing"], "what to do, said once");
});
