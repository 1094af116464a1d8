/**
 * Frontal left, lateral right, for any order in the item.
 * The scale bar has a round length that fits, at any zoom.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { hangingOrder, scaleBar } from "../../../../ui/viewer/js/viewer/hanging.js";

const hung = (...labels) => hangingOrder(labels.map((label) => ({ view: { label } }))).map(({ view }) => view.label);

test("a lateral film hangs to the right of a frontal film", () => {
  for (const lateral of ["LATERAL", "LEFT LATERAL", "RIGHT LATERAL", "Lateral"]) {
    for (const frontal of ["PA", "AP", "FRONTAL"]) {
      assert.deepEqual(hung(lateral, frontal), [frontal, lateral]);
      assert.deepEqual(hung(frontal, lateral), [frontal, lateral]);
    }
  }
});

test("films of the same or an unknown kind keep their order", () => {
  assert.deepEqual(hung("LATERAL", "Lordotic", "AP", "Oblique", "PA"), ["AP", "PA", "Lordotic", "Oblique", "LATERAL"]);
});

test("a lateral decubitus film counts as frontal", () => {
  assert.deepEqual(hung("Lateral decubitus", "LATERAL"), ["Lateral decubitus", "LATERAL"]);
});

test("prior films hang after the current films, in the same order of kinds", () => {
  const films = [["LATERAL", "x"], ["LATERAL", ""], ["AP", "x"], ["PA", ""]].map(([label, prior]) => ({ view: { label, prior } }));
  const names = hangingOrder(films).map(({ view }) => `${view.label}${view.prior && " before"}`);
  assert.deepEqual(names, ["PA", "LATERAL", "AP before", "LATERAL before"]);
});

test("the scale bar has the longest round length that fits", () => {
  assert.deepEqual(scaleBar(1, 130), { mm: 100, px: 100 });
  assert.deepEqual(scaleBar(2, 130), { mm: 50, px: 100 });
  assert.deepEqual(scaleBar(1.3, 130), { mm: 100, px: 130 });
  assert.deepEqual(scaleBar(200, 130), { mm: 0.5, px: 100 });
});

test("at every zoom the scale bar has a round length between a third and all of the available length", () => {
  for (let zoom = 0.01; zoom < 500; zoom *= 1.07) {
    const { mm, px } = scaleBar(zoom, 130);
    assert.match(String(mm), /^(0\.0*)?[125]0*$/);
    assert.ok(px <= 130.001 && px > 130 / 2.6, `${px} at ${zoom}`);
    assert.ok(Math.abs(mm * zoom - px) < 1e-6);
  }
});
