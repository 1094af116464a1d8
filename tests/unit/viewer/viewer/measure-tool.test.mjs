/** Lines on a film: their length is the film's, their ends are taken in turn, and four are enough. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { length_mm, MeasuredLines, MOST_LINES } from "../../../../ui/viewer/js/viewer/measure-tool.js";

const at = (x, y) => ({ x, y });

test("a length is the number of film pixels times their spacing", () => {
  assert.equal(length_mm({ view: 0, ends: [at(10, 20), at(40, 60)], span: "" }, 0.2), 10);
});

test("the last end moves first, then on request the other end, then the next line", () => {
  const ruler = new MeasuredLines();
  ruler.add(0, at(0, 0), at(1, 0));
  ruler.move(at(5, 0));
  ruler.other();
  ruler.move(at(2, 0));
  assert.deepEqual(ruler.lines[0].ends, [at(2, 0), at(5, 0)]);
  ruler.add(1, at(0, 0), at(0, 9));
  ruler.other();
  ruler.other();
  assert.deepEqual(ruler.active, { line: ruler.lines[0], end: 1 });
});

test("there are at most four lines, and the active line can be removed", () => {
  const ruler = new MeasuredLines();
  for (let i = 0; i < MOST_LINES; i += 1) assert.ok(ruler.add(0, at(i, 0), at(i, 1)));
  assert.equal(ruler.add(0, at(9, 0), at(9, 1)), false);
  ruler.remove();
  assert.deepEqual(ruler.lines.map(({ ends }) => ends[0].x), [0, 1, 2]);
  assert.equal(ruler.active.line, ruler.lines[2]);
  ruler.clear();
  ruler.remove();
  ruler.other();
  ruler.move(at(1, 1));
  assert.deepEqual([ruler.lines, ruler.active], [[], null]);
});

test("the cardiothoracic ratio uses two horizontal spans, which are removed together", () => {
  const ruler = new MeasuredLines();
  ruler.add(0, at(0, 90), at(200, 90), "chest");
  assert.equal(ruler.ratio, null);
  ruler.add(0, at(60, 50), at(140, 50), "heart");
  assert.equal(ruler.ratio, 0.4);
  ruler.move(at(160, 70));
  assert.deepEqual(ruler.lines[1].ends, [at(60, 70), at(160, 70)]);
  assert.equal(ruler.ratio, 0.5);
  ruler.add(0, at(0, 0), at(9, 9));
  ruler.other();
  ruler.other();
  ruler.remove();
  assert.deepEqual([ruler.ratio, ruler.lines.length], [null, 1]);
});

test("on a film that was turned before, spans follow the film's other axis", () => {
  const ruler = new MeasuredLines();
  ruler.add(0, at(90, 0), at(90, 200), "chest", "y");
  ruler.add(0, at(50, 60), at(50, 140), "heart", "y");
  ruler.move(at(70, 160));
  assert.deepEqual(ruler.lines[1].ends, [at(70, 60), at(70, 160)]);
  assert.equal(ruler.ratio, 0.5);
});

test("a chest of width 0 has no ratio", () => {
  const ruler = new MeasuredLines();
  ruler.add(0, at(5, 9), at(5, 9), "chest");
  ruler.add(0, at(1, 5), at(9, 5), "heart");
  assert.equal(ruler.ratio, null);
});
