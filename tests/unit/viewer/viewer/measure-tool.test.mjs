/** Drawing by pointer and keys: lines need the pixel spacing, angles and regions do not. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { asItComes } from "../../../../ui/viewer/js/viewer/pane.js";
import { MeasureTool } from "../../../../ui/viewer/js/viewer/measure-tool.js";

const at = (x, y) => ({ x, y });
const settled = () => new Promise(setImmediate);

/** A tool over one film of 200 x 200 at 1:1. */
function bench({ spacing_mm = 0.5, grey = async () => null } = {}) {
  const view = { low: 0, high: 255, bits: 8, width: 200, height: 200, spacing_mm };
  const rect = { x: 0, y: 0, width: 200, height: 200 };
  const pane = { ...asItComes({ view, auto: { low: 0, high: 255 }, handle: 7 }, rect), index: 0 };
  const [used, hints] = [[], []];
  const tool = new MeasureTool({ visible: () => [pane], density: () => 1, changed: () => {}, grey }, {
    used: (name) => used.push(name), hint: (text) => hints.push(text),
  });
  const drag = (from, to) => {
    tool.down(from, pane);
    tool.drag(to);
    tool.up();
  };
  const words = () => tool.marks(pane).map((mark) => mark.words.join("; "));
  return { tool, pane, used, hints, drag, words };
}

test("two dragged lines make the angle between them", () => {
  const { tool, drag, words, used } = bench();
  tool.toggle("angle");
  drag(at(20, 50), at(120, 50));
  assert.deepEqual(words(), [""]);
  drag(at(20, 150), at(120, 190));
  assert.deepEqual(words(), ["21.8°"]);
  drag(at(120, 190), at(120, 150));
  assert.deepEqual([words(), used], [["0.0°"], ["measure"]]);
});

test("a second line from an end of the first line makes a three-point angle, and so does a click", () => {
  for (const second of [(drag) => drag(at(120, 50), at(120, 150)), (drag) => drag(at(120, 150), at(120, 150))]) {
    const { tool, pane, drag, words } = bench();
    tool.toggle("angle");
    drag(at(20, 50), at(120, 50));
    second(drag);
    assert.deepEqual(words(), ["90.0°"]);
    assert.equal(tool.marks(pane)[0].points.length, 3);
  }
});

test("an angle with a single line is removed when the tool changes", () => {
  const { tool, drag, words } = bench();
  tool.toggle("angle");
  drag(at(20, 50), at(120, 50));
  tool.toggle("line");
  assert.deepEqual([words(), tool.tool], [[], "line"]);
});

test("without pixel spacing there are angles and regions in pixels, and no lengths", async () => {
  const { tool, hints, drag, words } = bench({
    spacing_mm: null, grey: async () => ({ n: 1200, mean: 5101.26, sd: 4, min: 4090, max: 5110 }),
  });
  tool.toggle("line");
  assert.deepEqual([tool.tool, hints.length], ["", 1]);
  tool.toggle("angle");
  tool.another();
  assert.equal(words().length, 1);
  tool.toggle("region");
  drag(at(20, 20), at(60, 60));
  await settled();
  assert.equal(words()[1], "mean 5101.3, SD 4.0; min 4090, max 5110; 1,200 pixels");
});

test("a region's grey values are those of its last position, and only one request is pending", async () => {
  const boxes = [];
  const { tool, pane, words } = bench({
    grey: async (handle, box) => {
      boxes.push(box);
      return { n: box.width * box.height, mean: box.width, sd: 0, min: 0, max: 0 };
    },
  });
  tool.toggle("region");
  tool.down(at(10, 10), pane);
  for (const to of [20, 30, 40, 50]) tool.drag(at(to, to));
  tool.up();
  await settled();
  assert.deepEqual(boxes.map(({ width }) => width), [10, 40]);
  assert.equal(words()[0], "mean 40.0, SD 0.0; min 0, max 0; 400 mm² at the detector");
});

test("the grey value under the pointer is that of its pixel, and is unknown outside the films", async () => {
  const { tool, pane } = bench({ grey: async (handle, { x, y }) => ({ n: 1, mean: 1000 * x + y, sd: 0, min: 0, max: 0 }) });
  tool.hover(pane, at(12.7, 34.2));
  await settled();
  assert.equal(tool.greyOn(pane), null);
  tool.toggle("region");
  tool.hover(pane, at(12.7, 34.2));
  await settled();
  assert.equal(tool.greyOn(pane), 12_034);
  tool.hover(null, at(0, 0));
  assert.equal(tool.greyOn(pane), null);
});
