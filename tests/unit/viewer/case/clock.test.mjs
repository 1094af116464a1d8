/** The clock charges every millisecond once, to the right account. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Clock } from "../../../../ui/viewer/js/case/clock.js";

const times = (response_ms, hidden_ms, paused_ms) =>
  ({ response_ms, elapsed_ms: response_ms + hidden_ms + paused_ms, hidden_ms, paused_ms });

test("nothing is charged before t0", () => {
  const clock = new Clock();
  clock.setHidden(100, true);
  clock.setHidden(200, false);
  assert.deepEqual(clock.read(1000), times(0, 0, 0));
});

test("idle looking is response time", () => {
  const clock = new Clock();
  clock.start(1000);
  assert.deepEqual(clock.read(61_000), times(60_000, 0, 0));
});

test("hidden and paused time are kept apart from response time", () => {
  const clock = new Clock();
  clock.start(0);
  clock.setHidden(100, true);
  clock.setHidden(300, false);
  clock.setPaused(400, true);
  clock.setPaused(450, false);
  assert.deepEqual(clock.read(1000), times(750, 200, 50));
});

test("a pause while hidden counts as paused, and as hidden again after it", () => {
  const clock = new Clock();
  clock.start(0);
  clock.setHidden(100, true);
  clock.setPaused(200, true);
  clock.setPaused(500, false);
  clock.setHidden(600, false);
  assert.deepEqual(clock.read(700), times(200, 200, 300));
});

test("a tab hidden within a pause does not count twice", () => {
  const clock = new Clock();
  clock.start(0);
  clock.setPaused(100, true);
  clock.setHidden(200, true);
  clock.setHidden(300, false);
  clock.setPaused(400, false);
  assert.deepEqual(clock.read(500), times(200, 0, 300));
});

test("a tab hidden since before t0 is charged from t0 on", () => {
  const clock = new Clock({ hidden: true });
  clock.start(1000);
  clock.setHidden(1500, false);
  assert.deepEqual(clock.read(1600), times(100, 500, 0));
});

test("the same news twice changes nothing", () => {
  const clock = new Clock();
  clock.start(0);
  clock.start(50);
  clock.setHidden(100, true);
  clock.setHidden(150, true);
  clock.setHidden(200, false);
  assert.deepEqual(clock.read(300), times(200, 100, 0));
});

test("reading the clock does not move it, and an event may be older than the last reading", () => {
  const clock = new Clock();
  clock.start(0);
  clock.read(500);
  assert.deepEqual(clock.read(400), times(400, 0, 0));
});

test("after a reload the gap is hidden time", () => {
  const before = new Clock();
  before.start(0);
  before.setHidden(100, true);
  before.setHidden(150, false);
  const after = new Clock({ kept: before.keep(1000) });
  after.start(20, 3000);
  assert.deepEqual(after.read(120), times(1050, 3050, 0));
});

test("after a reload within a pause it is still paused, and the gap belongs to the pause", () => {
  const before = new Clock();
  before.start(0);
  before.setPaused(100, true);
  const after = new Clock({ kept: before.keep(200) });
  after.start(0, 5000);
  assert.equal(after.paused, true);
  assert.deepEqual(after.read(10), times(100, 0, 5110));
});

test("a wall clock set back makes no negative gap", () => {
  const clock = new Clock();
  clock.start(0, -5000);
  assert.deepEqual(clock.read(10), times(10, 0, 0));
});

test("the parts add up to the whole for any course of events", () => {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let run = 0; run < 300; run += 1) {
    const clock = new Clock({ hidden: random() < 0.3 });
    let now = random() * 1000;
    const t0 = now;
    clock.start(t0);
    for (let i = 0; i < 20; i += 1) {
      now += random() * 100;
      if (random() < 0.5) clock.setHidden(now, random() < 0.5);
      else clock.setPaused(now, random() < 0.5);
    }
    const { response_ms, hidden_ms, paused_ms, elapsed_ms } = clock.read(now);
    assert.ok(Math.abs(elapsed_ms - (now - t0)) < 0.01);
    assert.ok(Math.abs(response_ms + hidden_ms + paused_ms - elapsed_ms) < 1e-6);
  }
});
