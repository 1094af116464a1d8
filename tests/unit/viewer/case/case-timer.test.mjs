/** Each flag reports one circumstance of a reading. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Attempt } from "../../../../ui/viewer/js/case/attempt.js";
import { doubts, ViewingConditions } from "../../../../ui/viewer/js/case/case-timer.js";

const ANSWER = { option: "A", confidence: null, comment: "" };
const good = {
  inner: [1440, 900], outer_width: 1440, zoom: 1, ratio: 1, film: [1000, 900], whole: true, covered: false,
  translated: false, software: false,
};
const told = (changed, began = {}) => doubts({ ...good, ...changed }, { films: true, ratio: 1, ...began });

test("a good workstation, a portrait screen and a window's border give no flag", () => {
  assert.deepEqual(told({}), []);
  assert.deepEqual(told({ inner: [1080, 1920], outer_width: 1080, film: [1080, 1300] }), []);
  assert.deepEqual(told({ outer_width: 1456 }), []);
  assert.deepEqual(told({ ratio: 2 }, { ratio: 2 }), []);
  assert.deepEqual(told({ software: null }), []);
});

test("each reason for doubt has its own flag", () => {
  assert.deepEqual(told({ outer_width: 1584 }), ["page_zoom"]);
  assert.deepEqual(told({ outer_width: 1296 }), ["page_zoom"]);
  assert.deepEqual(told({ zoom: 1.5 }), ["page_zoom"]);
  assert.deepEqual(told({ ratio: 1.5 }), ["pixel_ratio_changed"]);
  assert.deepEqual(told({ ratio: 0.9 }, { ratio: 0.9 }), ["low_pixel_ratio"]);
  assert.deepEqual(told({ inner: [1000, 800], outer_width: 1000 }), ["window_too_small"]);
  assert.deepEqual(told({ inner: [1440, 650] }), ["window_too_small"]);
  assert.deepEqual(told({ film: [1000, 400] }), ["window_too_small"]);
  assert.deepEqual(told({ covered: true }), ["page_covered"]);
  assert.deepEqual(told({ software: true }), ["software_rendering"]);
  assert.deepEqual(told({ translated: true }), ["page_translated"]);
});

test("a window smaller than the study's minimum is flagged", () => {
  assert.deepEqual(told({}, { smallest: [1600, 900] }), ["window_too_small"]);
  assert.deepEqual(told({ inner: [900, 1440], outer_width: 900, film: [900, 900] }, { smallest: [1440, 900] }), []);
  assert.deepEqual(told({ inner: [800, 650], outer_width: 800 }, { smallest: [800, 600] }), []);
  assert.deepEqual(told({ inner: [1000, 800], outer_width: 1000 }, { smallest: [] }), ["window_too_small"]);
});

test("without a film, its position and its drawing give no flag", () => {
  assert.deepEqual(told({ film: [0, 0], software: true }, { films: false }), []);
});

/** A case whose timer is called every 100 ms, as by the page. */
function watched({ views = 1, seen = good } = {}) {
  const item = { case: "c", position: 1, options: [], presented: false, reading: null, views: Array(views).fill({}) };
  const attempt = new Attempt(item, { readingId: "r" });
  const state = { seen: { ...seen }, ahead: 1_000_000, now: 0 };
  const surroundings = new ViewingConditions(() => state.seen);
  attempt.begin(0, state.ahead);
  const pass = (clear = true) => surroundings.pass(attempt, state.now, state.now + state.ahead, clear);
  pass();
  const run = (ms) => {
    for (const end = state.now + ms; state.now < end;) {
      state.now += 100;
      pass();
    }
  };
  const end = () => {
    surroundings.close(attempt, state.now);
    return attempt.reading(state.now, 0, "answered", ANSWER);
  };
  return { attempt, surroundings, state, pass, run, end };
}

test("an undisturbed case has no flag", () => {
  const { run, end } = watched();
  run(3000);
  assert.deepEqual(end().flags, []);
});

test("a film is flagged if it was never completely visible", () => {
  const never = watched({ seen: { ...good, whole: false } });
  never.run(3000);
  assert.deepEqual(never.end().flags, ["film_not_whole"]);
  const once = watched({ seen: { ...good, whole: false } });
  once.state.seen.whole = true;
  once.run(500);
  once.state.seen.whole = false;
  once.run(3000);
  assert.deepEqual(once.end().flags, []);
});

test("measurements start at once, run twice a second, and stop behind the page's own sheets", () => {
  const { state, run, pass, end } = watched();
  state.seen.covered = true;
  state.now += 100;
  pass();
  state.now += 500;
  pass(false);
  assert.deepEqual(end().flags, []);
  run(600);
  assert.deepEqual(end().flags, ["page_covered"]);
});

test("a view that was never on the screen is flagged if viewing times are known", () => {
  const flags = (...looks) => {
    const { attempt, state, run, end } = watched({ views: 2 });
    for (const uses of looks) {
      attempt.recordUse(uses, state.now);
      run(300);
    }
    return end().flags;
  };
  assert.deepEqual(flags(["view_1"]), ["view_not_shown"]);
  assert.deepEqual(flags(["view_1"], ["view_2"]), []);
  assert.deepEqual(flags(["view_1", "view_2"]), []);
  assert.deepEqual(flags([]), []);
});

test("a stall is flagged and stays response time; a sleep is flagged and becomes hidden time", () => {
  const { state, run, pass, end } = watched();
  run(1000);
  state.now += 1500;
  pass();
  assert.deepEqual(end().times.response_ms, 2500);
  run(1000);
  state.now += 60_000;
  pass();
  run(500);
  const { flags, times } = end();
  assert.deepEqual(flags, ["page_stalled", "asleep"]);
  assert.deepEqual([times.response_ms, times.hidden_ms, times.elapsed_ms], [4000, 60_000, 64_000]);
});

test("hidden time does not count as a stall", () => {
  const { state, surroundings, pass, end } = watched();
  state.now += 100;
  surroundings.interrupt();
  state.now += 60_000;
  pass();
  assert.deepEqual(end().flags, []);
});

test("a wall clock set during a case is flagged, a wrong one is not", () => {
  const { state, run, end } = watched();
  state.ahead += 200;
  run(1000);
  assert.deepEqual(end().flags, []);
  state.ahead -= 600;
  run(200);
  assert.deepEqual(end().flags, ["clock_set"]);
});

test("the number of flags is limited", () => {
  const { state, run, pass, end } = watched({ views: 2, seen: {
    inner: [500, 300], outer_width: 900, zoom: 2, ratio: 0.5, film: [100, 100], whole: false, covered: true, software: true,
  } });
  for (let i = 0; i < 50; i += 1) {
    state.seen.ratio = 0.5 + (i % 2) / 10;
    state.ahead += 1000;
    state.now += i % 2 ? 2000 : 20_000;
    pass();
    run(500);
  }
  assert.equal(end().flags.length, 10);
});

test("a page translated just before the answer is flagged as well", () => {
  const case_ = watched();
  case_.run(600);
  case_.state.seen.translated = true;
  assert.deepEqual(case_.end().flags, ["page_translated"]);
});
