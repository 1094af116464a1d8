/** Frontal left, lateral right, whatever the order in the item. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { hangingOrder } from "../../../../ui/viewer/js/viewer/hanging.js";

const hung = (...labels) => hangingOrder(labels.map((label) => ({ view: { label } }))).map(({ view }) => view.label);

test("a lateral film hangs right of a frontal one", () => {
  for (const lateral of ["LATERAL", "LEFT LATERAL", "RIGHT LATERAL", "Lateral"]) {
    for (const frontal of ["PA", "AP", "FRONTAL"]) {
      assert.deepEqual(hung(lateral, frontal), [frontal, lateral]);
      assert.deepEqual(hung(frontal, lateral), [frontal, lateral]);
    }
  }
});

test("films of one kind, and unknown ones between, keep their order", () => {
  assert.deepEqual(hung("LATERAL", "Lordotic", "AP", "Oblique", "PA"), ["AP", "PA", "Lordotic", "Oblique", "LATERAL"]);
});

test("a lateral decubitus is no lateral film", () => {
  assert.deepEqual(hung("Lateral decubitus", "LATERAL"), ["Lateral decubitus", "LATERAL"]);
});

test("prior films hang behind the current ones, each kind in its own order", () => {
  const films = [["LATERAL", "x"], ["LATERAL", ""], ["AP", "x"], ["PA", ""]].map(([label, prior]) => ({ view: { label, prior } }));
  const names = hangingOrder(films).map(({ view }) => `${view.label}${view.prior && " before"}`);
  assert.deepEqual(names, ["PA", "LATERAL", "AP before", "LATERAL before"]);
});
