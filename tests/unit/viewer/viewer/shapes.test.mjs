/** Lines, angles and regions on a film: their measurements, their active point, and the limit of four. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { angle_degrees, boxOf, length_mm, linesOf, MOST_SHAPES, Shapes } from "../../../../ui/viewer/js/viewer/shapes.js";

const at = (x, y) => ({ x, y });
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("a length is the number of film pixels times their spacing", () => {
  assert.equal(length_mm([at(10, 20), at(40, 60)], 0.2), 10);
});

test("the last end moves first, then on request the other end, then the next line", () => {
  const shapes = new Shapes();
  shapes.add(0, [at(0, 0), at(1, 0)]);
  shapes.move(at(5, 0));
  shapes.other();
  shapes.move(at(2, 0));
  assert.deepEqual(shapes.all[0].points, [at(2, 0), at(5, 0)]);
  shapes.add(1, [at(0, 0), at(0, 9)]);
  shapes.other();
  shapes.other();
  assert.deepEqual(shapes.active, { shape: shapes.all[0], point: 1 });
});

test("every point of an angle is reached", () => {
  const shapes = new Shapes();
  shapes.add(0, [at(0, 0), at(1, 0), at(1, 1)], "angle");
  const order = [];
  for (let i = 0; i < 4; i += 1, shapes.other()) order.push(shapes.active.point);
  assert.deepEqual(order, [2, 1, 0, 2]);
});

test("there are at most four shapes, and the active one can be removed", () => {
  const shapes = new Shapes();
  for (let i = 0; i < MOST_SHAPES; i += 1) assert.ok(shapes.add(0, [at(i, 0), at(i, 1)]));
  assert.equal(shapes.add(0, [at(9, 0), at(9, 1)]), null);
  shapes.remove();
  assert.deepEqual(shapes.all.map(({ points }) => points[0].x), [0, 1, 2]);
  assert.equal(shapes.active.shape, shapes.all[2]);
  shapes.clear();
  shapes.remove();
  shapes.other();
  shapes.move(at(1, 1));
  assert.deepEqual([shapes.all, shapes.active], [[], null]);
});

test("the cardiothoracic ratio uses two level spans, which are removed together", () => {
  const shapes = new Shapes();
  shapes.add(0, [at(0, 90), at(200, 90)], "chest");
  assert.equal(shapes.ratio, null);
  shapes.add(0, [at(60, 50), at(140, 50)], "heart");
  assert.equal(shapes.ratio, 0.4);
  shapes.move(at(160, 70));
  assert.deepEqual(shapes.all[1].points, [at(60, 70), at(160, 70)]);
  assert.equal(shapes.ratio, 0.5);
  shapes.add(0, [at(0, 0), at(9, 9)]);
  shapes.other();
  shapes.other();
  shapes.remove();
  assert.deepEqual([shapes.ratio, shapes.all.length], [null, 1]);
});

test("on a film that was turned before, spans follow the film's other axis", () => {
  const shapes = new Shapes();
  shapes.add(0, [at(90, 0), at(90, 200)], "chest", "y");
  shapes.add(0, [at(50, 60), at(50, 140)], "heart", "y");
  shapes.move(at(70, 160));
  assert.deepEqual(shapes.all[1].points, [at(70, 60), at(70, 160)]);
  assert.equal(shapes.ratio, 0.5);
});

test("a chest of width 0 has no ratio", () => {
  const shapes = new Shapes();
  shapes.add(0, [at(5, 9), at(5, 9)], "chest");
  shapes.add(0, [at(1, 5), at(9, 5)], "heart");
  assert.equal(shapes.ratio, null);
});

test("three points make an angle of 0 to 180 degrees at the middle point", () => {
  for (const degrees of [0, 30, 90, 135, 180]) {
    const turn = (degrees * Math.PI) / 180;
    const points = [at(110, 20), at(10, 20), at(10 + 50 * Math.cos(turn), 20 - 50 * Math.sin(turn))];
    near(angle_degrees(points), degrees);
    near(angle_degrees([...points].reverse()), degrees);
  }
});

test("two lines make an angle of 0 to 90 degrees, whichever way they were drawn", () => {
  for (const degrees of [0, 25, 90]) {
    const turn = (degrees * Math.PI) / 180;
    const [first, second] = [[at(0, 0), at(100, 0)], [at(0, 300), at(80 * Math.cos(turn), 300 + 80 * Math.sin(turn))]];
    near(angle_degrees([...first, ...second]), degrees);
    near(angle_degrees([...first.reverse(), ...second]), degrees);
  }
});

test("a line without a length has no angle", () => {
  assert.equal(angle_degrees([at(0, 0), at(9, 9), at(9, 9)]), null);
  assert.equal(angle_degrees([at(0, 0), at(9, 9), at(5, 5), at(5, 5)]), null);
});

test("an angle is incomplete until its second line is drawn", () => {
  const shapes = new Shapes();
  const angle = shapes.add(0, [at(0, 0), at(9, 0)], "angle");
  assert.equal(shapes.begun, angle);
  angle.points.push(at(0, 9), at(9, 9));
  assert.equal(shapes.begun, null);
  assert.deepEqual(linesOf(angle.points), [[at(0, 0), at(9, 0)], [at(0, 9), at(9, 9)]]);
});

test("a region is the box between any two opposite corners", () => {
  const box = { x: 2, y: 3, width: 10, height: 20 };
  assert.deepEqual(boxOf([at(2, 3), at(12, 23)]), box);
  assert.deepEqual(boxOf([at(12, 3), at(2, 23)]), box);
});
