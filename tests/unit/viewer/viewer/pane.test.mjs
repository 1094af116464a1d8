/**
 * The position of films: arranged, fitted, zoomed about the pointer, exact at 1:1.
 * A window transferred to the next film keeps its position in the film's range.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { covered } from "../../../../ui/viewer/js/film/picture.js";
import {
  arrange, arrangeBeside, asItComes, boxesOn, fitted, followed, heatOn, inUse, onFilm, onPane, panned, rotated, sizeOf, windowAgain,
  windowSet, zoomed,
} from "../../../../ui/viewer/js/viewer/pane.js";

const upright = { width: 2048, height: 2500 };
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("two upright films hang side by side on a wide screen, one above the other on a tall one", () => {
  const wide = arrange({ width: 1040, height: 900 }, [upright, upright], 6);
  assert.deepEqual(wide, [{ x: 0, y: 0, width: 517, height: 900 }, { x: 523, y: 0, width: 517, height: 900 }]);
  const tall = arrange({ width: 700, height: 1500 }, [upright, upright], 6);
  assert.deepEqual(tall.map(({ x, y }) => [x, y]), [[0, 0], [0, 753]]);
});

test("films of different shape get the same height in a row", () => {
  const films = [{ width: 3000, height: 2500 }, { width: 2000, height: 2500 }];
  const rects = arrange({ width: 1000, height: 600 }, films, 0);
  near(fitted(rects[0], films[0]).scale, fitted(rects[1], films[1]).scale);
});

test("three upright films get the layout with the largest equal size", () => {
  const films = [upright, upright, upright];
  const area = { width: 644, height: 768 };
  const rects = arrange(area, films, 6);
  const [first, ...others] = rects.map((rect, i) => fitted(rect, films[i]).scale);
  for (const scale of others) assert.ok(Math.abs(scale / first - 1) < 0.03);
  const inOneRow = fitted({ width: (644 - 12) / 3, height: 768 }, upright).scale;
  assert.ok(first > 1.4 * inOneRow);
});

test("films always lie within the area and do not overlap", () => {
  for (const n of [1, 2, 3, 4, 5]) {
    for (const [width, height] of [[644, 768], [1060, 900], [1500, 500], [400, 1400], [900, 900]]) {
      const rects = arrange({ width, height }, Array(n).fill(upright), 6);
      assert.equal(rects.length, n);
      rects.forEach((a, i) => {
        assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height);
        for (const b of rects.slice(0, i)) {
          assert.ok(b.x + b.width <= a.x || a.x + a.width <= b.x || b.y + b.height <= a.y || a.y + a.height <= b.y);
        }
      });
    }
  }
});

test("without films there are no panes", () => {
  assert.deepEqual(arrange({ width: 100, height: 100 }, [], 6), []);
});

test("a fitted film is complete, centred and undistorted", () => {
  const pane = { width: 520, height: 900 };
  const part = covered(fitted(pane, upright), pane, upright);
  assert.equal(part.width, 520);
  near(Math.round(part.width / part.height * 100) / 100, 0.82);
  assert.equal(part.y, Math.round((900 - part.height) / 2));
});

test("the film point under the pointer stays there while zooming", () => {
  const pane = { width: 520, height: 900 };
  const from = { x: 100, y: -150 };
  const before = { scale: 1, x: 1000, y: 1200, fit: false };
  const after = zoomed(before, 1.7, from, pane, upright);
  near(before.x + from.x / before.scale, after.x + from.x / after.scale);
  near(before.y + from.y / before.scale, after.y + from.y / after.scale);
});

test("zoom is limited to the fitted film and sixteen-fold", () => {
  const pane = { width: 520, height: 900 };
  const middle = { x: 0, y: 0 };
  const zoomPan = fitted(pane, upright);
  near(zoomed(zoomPan, 0.01, middle, pane, upright).scale, zoomPan.scale);
  near(zoomed(zoomPan, 1e6, middle, pane, upright).scale, 16);
});

test("a film cannot be moved out of its pane", () => {
  const pane = { width: 500, height: 500 };
  const far = panned({ scale: 1, x: 1000, y: 1000, fit: false }, 1e6, -1e6, pane, upright);
  assert.deepEqual([far.x, far.y], [250, 2250]);
});

const pane = (zoomPan, more = {}) => ({
  film: { view: upright }, rect: { x: 0, y: 0, width: 520, height: 900 }, zoomPan, flipped: false, turns: 0, ...more,
});

const TURNS = [0, 1, 2, 3];
const HANGINGS = TURNS.flatMap((turns) => [false, true].map((flipped) => ({ turns, flipped })));

test("pane and film coordinates convert both ways, also flipped and turned, and to integers at 1:1", () => {
  for (const scale of [0.36, 1, 3.7]) {
    for (const hanging of HANGINGS) {
      const one = pane({ scale, x: 1000.3, y: 900.6, fit: false }, hanging);
      const back = onPane(onFilm({ x: 17, y: 803 }, one), one);
      near(back.x, 17);
      near(back.y, 803);
      assert.ok(scale !== 1 || Number.isInteger(onFilm({ x: 17, y: 803 }, one).x));
    }
  }
});

test("flipping mirrors the film at the centre of the pane", () => {
  const zoomPan = { scale: 0.5, x: 1000, y: 900, fit: false };
  const [plain, flipped] = [pane(zoomPan), pane(zoomPan, { flipped: true })];
  near(onFilm({ x: 100, y: 50 }, plain).x, onFilm({ x: 420, y: 50 }, flipped).x);
});

test("rotating turns the visible part to the right about the middle of the pane, even if flipped", () => {
  for (const hanging of HANGINGS) {
    const before = pane({ scale: 0.5, x: 1000.5, y: 1100, fit: false }, hanging);
    const after = { ...before, ...rotated(before) };
    assert.equal(after.zoomPan.scale, 0.5);
    for (const [right, down] of [[0, 0], [100, 0], [0, 100], [-30, 70]]) {
      const middle = { x: 260, y: 450 };
      const point = onFilm({ x: middle.x + right, y: middle.y + down }, before);
      const seen = onPane(point, after);
      near(seen.x, middle.x - down);
      near(seen.y, middle.y + right);
    }
  }
});

test("a fitted film is fitted again after a turn, and four turns restore every film", () => {
  const rect = { x: 0, y: 0, width: 520, height: 900 };
  const wholly = pane(fitted(rect, upright));
  const turned = { ...wholly, ...rotated(wholly) };
  assert.deepEqual(sizeOf(turned), { width: 2500, height: 2048 });
  assert.deepEqual(turned.zoomPan, fitted(rect, { width: 2500, height: 2048 }));
  for (const zoomPan of [wholly.zoomPan, { scale: 2, x: 700, y: 800, fit: false }]) {
    for (const flipped of [false, true]) {
      const first = pane(zoomPan, { flipped });
      const last = TURNS.reduce((each) => ({ ...each, ...rotated(each) }), first);
      assert.deepEqual([last.turns, last.zoomPan], [0, zoomPan]);
    }
  }
});

test("an enlarged film is never smaller than the fitted film after a turn", () => {
  const wide = pane({ scale: 0.22, x: 1250, y: 1024, fit: false }, { turns: 1 });
  near(rotated(wide).zoomPan.scale, fitted(wide.rect, upright).scale);
});

test("a linked film moves in proportion and has the same zoom", () => {
  const small = { width: 1024, height: 1250 };
  const before = { scale: 1, x: 1000, y: 1200, fit: false };
  const follower = pane({ scale: 2, x: 500, y: 600, fit: false }, { film: { view: small } });
  const lead = pane(panned(before, -100, 50, follower.rect, upright));
  const moved = followed(follower, lead, before);
  assert.deepEqual(moved, { scale: 2, x: 550, y: 575, fit: false });
  const nearer = followed(follower, pane({ ...before, scale: 1.5 }), before);
  assert.deepEqual(nearer, { scale: 3, x: 500, y: 600, fit: false });
});

test("a flipped linked film moves in the same direction on the screen", () => {
  const before = { scale: 1, x: 1000, y: 1200, fit: false };
  const lead = pane({ ...before, x: 1100 });
  assert.equal(followed(pane(before, { flipped: true }), lead, before).x, 900);
});

test("the frontal film is larger than the lateral film only if both are shown larger", () => {
  const square = { width: 500, height: 500 };
  const [large, small] = arrange({ width: 1086, height: 868 }, [square, square], 6, { leads: true });
  assert.deepEqual([large.width, small.width, small.x], [720, 360, 726]);
  const equal = arrange({ width: 1086, height: 868 }, [square, square], 6);
  assert.deepEqual(equal.map(({ width }) => width), [540, 540]);
  assert.deepEqual(arrange({ width: 1506, height: 750 }, [square, square], 6, { leads: true }).map(({ width }) => width), [750, 750]);
});

const apart = (rect, other) => rect.x + rect.width <= other.x || other.x + other.width <= rect.x
  || rect.y + rect.height <= other.y || other.y + other.height <= rect.y;

test("prior films have a smaller area on the right", () => {
  const area = { width: 1060, height: 900 };
  for (const [n, m] of [[1, 1], [2, 1], [2, 2], [1, 3]]) {
    const { current, prior } = arrangeBeside(area, Array(n).fill(upright), Array(m).fill(upright), 6);
    assert.deepEqual([current.length, prior.length], [n, m]);
    const right = Math.max(...current.map(({ x, width }) => x + width));
    assert.ok(prior.every(({ x }) => x >= right));
    const all = [...current, ...prior];
    for (const [i, one] of all.entries()) for (const other of all.slice(i + 1)) assert.ok(apart(one, other));
    assert.ok(all.every(({ x, y, width, height }) => x >= 0 && y >= 0 && x + width <= 1060 && y + height <= 900));
  }
  const { current: [now], prior: [before] } = arrangeBeside(area, [upright], [upright], 6);
  assert.ok(now.width > 1.4 * before.width);
});

test("prior films can be swapped, of equal size, or below in a tall area", () => {
  const area = { width: 1060, height: 900 };
  const turnedRound = arrangeBeside(area, [upright], [upright], 6, { exchanged: true });
  assert.equal(turnedRound.prior[0].x, 0);
  assert.ok(turnedRound.current[0].width > turnedRound.prior[0].width);
  const alike = arrangeBeside(area, [upright], [upright], 6, { equal: true });
  assert.equal(alike.current[0].width, alike.prior[0].width);
  const tall = arrangeBeside({ width: 400, height: 1500 }, [upright], [upright], 6);
  assert.equal(tall.prior[0].x, 0);
  assert.ok(tall.prior[0].y > tall.current[0].y);
});

const film = (low, high) => ({
  view: { low: 0, high: 65535, bits: 16, width: 10, height: 10 }, auto: { low, high }, handle: 1,
});
const fresh = (one) => asItComes(one, { x: 0, y: 0, width: 10, height: 10 });

test("a window set by hand is transferred relative to the next film's grey levels", () => {
  const set = windowSet({ ...fresh(film(1000, 2000)), window: { low: 1250, high: 1750 }, preset: -1 });
  assert.deepEqual(windowAgain(film(0, 400), set), { window: { low: 100, high: 300 }, preset: -1 });
});

test("a preset is transferred as a preset, and the initial window is not transferred", () => {
  const full = windowSet({ ...fresh(film(1000, 2000)), window: { low: 0, high: 65535 }, preset: 0 });
  assert.deepEqual(windowAgain(film(5, 9), full), { window: { low: 0, high: 65535 }, preset: 0 });
  assert.equal(windowSet(fresh(film(1000, 2000))), null);
  assert.deepEqual(windowAgain(film(5, 9), null), {});
});

test("the initial window of 16 bits is the 1st to the 99th percentile and does not count as used", () => {
  const open = { ...fresh(film(1000, 2000)), index: 0 };
  assert.deepEqual(open.window, { low: 1000, high: 2000 });
  const box = { alone: false, inverted: false, glass: false };
  assert.deepEqual(inUse([open], box), ["view_1"]);
  assert.deepEqual(inUse([{ ...open, window: { low: 0, high: 65535 } }], box), ["view_1", "windowed"]);
});

test("resizing the window keeps the layout chosen when the case was opened", () => {
  const [wide, tall] = [{ width: 1040, height: 900 }, { width: 700, height: 1500 }];
  const rows = (rects) => new Set(rects.map(({ y }) => y)).size;
  for (const n of [2, 3, 4]) {
    const films = Array(n).fill(upright);
    for (const [opened, now] of [[wide, tall], [tall, wide]]) {
      const kept = arrange(now, films, 6, { settled: opened });
      assert.equal(rows(kept), rows(arrange(opened, films, 6)));
      for (const { x, y, width, height } of kept) {
        assert.ok(x >= 0 && y >= 0 && x + width <= now.width && y + height <= now.height);
      }
    }
  }
  assert.notEqual(rows(arrange(wide, [upright, upright], 6)), rows(arrange(tall, [upright, upright], 6)));
});

test("resizing keeps prior films next to or below the current films", () => {
  const [wide, tall] = [{ width: 1040, height: 900 }, { width: 500, height: 1600 }];
  const beside = ({ current, prior }) => current[0].y === prior[0].y;
  for (const [opened, now] of [[wide, tall], [tall, wide]]) {
    const kept = arrangeBeside(now, [upright], [upright], 6, { settled: opened });
    assert.equal(beside(kept), opened === wide);
    assert.equal(beside(arrangeBeside(now, [upright], [upright], 6)), now === wide);
  }
});

test("a model's box follows its view's zoom and mirroring", () => {
  const film = { view: { width: 200, height: 100 } };
  const rect = { x: 500, y: 0, width: 400, height: 200 };
  const pane = { film, index: 1, rect, zoomPan: fitted(rect, film.view), flipped: false, turns: 0 };
  const box = { view: 1, x: 0.1, y: 0.2, width: 0.3, height: 0.5, label: "opacity" };
  const [lying] = boxesOn(pane, [box, { ...box, view: 0 }], 2);
  for (const [name, value] of Object.entries({ x: 20, y: 20, width: 60, height: 50 })) near(lying[name], value);
  const [mirrored] = boxesOn({ ...pane, flipped: true }, [box], 2);
  near(mirrored.x, 200 - 20 - 60);
  const [turned] = boxesOn({ ...pane, turns: 1, zoomPan: fitted(rect, { width: 100, height: 200 }) }, [box], 2);
  for (const [name, value] of Object.entries({ x: 75 + 15, y: 10, width: 25, height: 30 })) near(turned[name], value);
  assert.equal(boxesOn(pane, [box], 2).length, 1);
});

test("a model's heat map covers only its own view", () => {
  const film = { view: { width: 200, height: 100 } };
  const pane = { film, index: 0, rect: { x: 0, y: 0, width: 400, height: 200 }, zoomPan: fitted({ width: 400, height: 200 }, film.view), flipped: true, turns: 0 };
  const rows = [[0, 1]];
  const { x, y, width, height, flipped, turns } = heatOn(pane, [{ view: 0, rows }], 2);
  assert.deepEqual([x, y, width, height, flipped, turns], [0, 0, 200, 100, true, 0]);
  assert.equal(heatOn({ ...pane, index: 1 }, [{ view: 0, rows }], 2), null);
});
