/** The page's interface for drawing films, with a simulated worker. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { FilmRenderer } from "../../../../ui/viewer/js/film/film-renderer.js";

const SIZE = { width: 40, height: 30 };
const placed = (handle, low = 0) => ({
  handle, rect: { x: 0, y: 0, ...SIZE }, zoomPan: { scale: 1, x: 0, y: 0, fit: false }, window: { low, high: 9 },
});

class FakeWorker {
  told = [];
  #heard = {};
  addEventListener(type, run) { this.#heard[type] = run; }
  postMessage(message) { this.told.push(message); }
  terminate() { this.ended = true; }
  say(data) { this.#heard.message({ data }); }
  get pictures() { return this.told.filter((message) => message.do === "picture"); }
}

function room(now = () => 0) {
  const worker = new FakeWorker();
  const shown = [];
  const canvas = { width: 1, height: 1, dataset: {}, style: {} };
  const context = { canvas, transferFromImageBitmap: (bitmap) => shown.push(bitmap.name) };
  canvas.getContext = () => context;
  const lost = [];
  const renderer = new FilmRenderer(canvas, () => lost.push(true), () => worker, now);
  worker.say({ reply: "opened", graphics: { name: "webgl2", software: false } });
  const closed = [];
  const bitmap = (name) => ({ ...SIZE, name, close: () => closed.push(name) });
  const answer = (name, request) => worker.say({ reply: "picture", ...request, bitmap: bitmap(name) });
  return { renderer, worker, shown, canvas, lost, closed, answer };
}

test("a prepared picture is shown at once, without the worker", async () => {
  const { renderer, worker, shown, canvas, answer } = room();
  renderer.prepare(SIZE, [placed(1)]);
  answer("next case", worker.pictures[0]);
  const asked = worker.pictures.length;
  renderer.draw(SIZE, [placed(1)]);
  assert.deepEqual(shown, ["next case"]);
  assert.equal(worker.pictures.length, asked);
  assert.deepEqual([canvas.width, canvas.height], [40, 30]);
  await renderer.shown();
});

test("only the first and the last of many simultaneous requests are drawn", () => {
  const { renderer, worker, shown, answer } = room();
  for (const low of [1, 2, 3, 4]) renderer.draw(SIZE, [placed(1, low)]);
  answer("first", worker.pictures[0]);
  answer("last", worker.pictures[1]);
  assert.deepEqual(worker.pictures.map(({ placedFilms }) => placedFilms[0].window.low), [1, 4]);
  assert.deepEqual(shown, ["first", "last"]);
});

test("a late picture of the previous case is not shown over the next case", () => {
  const { renderer, worker, shown, closed, answer } = room();
  renderer.prepare(SIZE, [placed(2)]);
  answer("next case", worker.pictures[0]);
  renderer.draw(SIZE, [placed(1)]);
  renderer.draw(SIZE, [placed(2)]);
  answer("last case", worker.pictures[1]);
  assert.deepEqual(shown, ["next case"]);
  assert.deepEqual(closed, ["last case"]);
});

test("shown waits for the current picture and for the latest request", async () => {
  const { renderer, worker, answer } = room();
  let done = false;
  renderer.draw(SIZE, [placed(1)]);
  renderer.draw(SIZE, [placed(1, 5)]);
  const settled = renderer.shown().then(() => { done = true; });
  answer("first", worker.pictures[0]);
  await Promise.resolve();
  assert.equal(done, false);
  answer("second", worker.pictures[1]);
  await settled;
});

test("releasing a film removes its prepared pictures", () => {
  const { renderer, worker, shown, closed, answer } = room();
  renderer.prepare(SIZE, [placed(1), placed(2)]);
  answer("both", worker.pictures[0]);
  renderer.release(2);
  renderer.draw(SIZE, [placed(1), placed(2)]);
  assert.deepEqual(closed, ["both"]);
  assert.deepEqual(shown, []);
});

test("an upload fails with the worker's reason", async () => {
  const { renderer, worker } = room();
  const film = { samples: new Uint8Array(4), width: 2, height: 2 };
  const upload = renderer.upload(film);
  const { film: number } = worker.told.at(-1);
  worker.say({ reply: "uploaded", film: number, error: "too large" });
  await assert.rejects(upload, /too large/);
});

test("without a graphics card a drag shows drafts, and its end the full picture", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let clock = 0;
  const { renderer, worker, shown, canvas, answer } = room(() => clock);
  worker.say({ reply: "opened", graphics: { name: "webgl2", software: true } });
  renderer.draw(SIZE, [placed(1, 1)]);
  answer("first", worker.pictures[0]);
  clock = 16;
  renderer.draw(SIZE, [placed(1, 2)]);
  const draft = worker.pictures[1];
  assert.deepEqual([draft.width, draft.height, draft.placedFilms[0].rect.width, draft.placedFilms[0].zoomPan.scale], [20, 15, 20, 0.5]);
  let done = false;
  const settled = renderer.shown().then(() => { done = true; });
  answer("draft", draft);
  await Promise.resolve();
  assert.equal(done, false);
  assert.equal(canvas.dataset.picture, "coming");
  t.mock.timers.tick(80);
  const final = worker.pictures[2];
  assert.equal(final.width, 40);
  answer("true", final);
  await settled;
  assert.deepEqual(shown, ["first", "draft", "true"]);
  assert.equal(canvas.dataset.picture, "whole");
});

test("with a graphics card every picture is a full picture", () => {
  const { renderer, worker, answer } = room();
  renderer.draw(SIZE, [placed(1, 1)]);
  answer("first", worker.pictures[0]);
  renderer.draw(SIZE, [placed(1, 2)]);
  assert.deepEqual(worker.pictures.map(({ width }) => width), [40, 40]);
});

test("a lost graphics card fails current requests, discards pictures and reports the loss", async () => {
  const { renderer, worker, lost, closed, answer } = room();
  const upload = renderer.upload({ samples: new Uint8Array(4), width: 2, height: 2 });
  renderer.prepare(SIZE, [placed(1)]);
  answer("next case", worker.pictures[0]);
  worker.say({ reply: "lost", graphics: { name: "canvas2d", software: null } });
  await assert.rejects(upload, /lost/);
  assert.deepEqual(closed, ["next case"]);
  assert.equal(lost.length, 1);
  assert.equal(renderer.graphics.name, "canvas2d");
});

test("the renderer in use is known after opening", async () => {
  const { renderer, worker } = room();
  worker.say({ reply: "opened", graphics: { name: "webgl2", software: true } });
  await renderer.opened;
  assert.deepEqual(renderer.graphics, { name: "webgl2", software: true });
});

test("a prepared picture of another canvas size is replaced", () => {
  const { renderer, worker, shown, closed, answer } = room();
  const larger = { width: SIZE.width * 2, height: SIZE.height * 2 };
  renderer.prepare(SIZE, [placed(1)]);
  answer("small", worker.pictures[0]);
  renderer.prepare(SIZE, [placed(2)]);
  answer("other film", worker.pictures[1]);
  renderer.prepare(larger, [placed(1)]);
  answer("large", worker.pictures[2]);
  assert.deepEqual(closed, ["small"]);
  renderer.draw(larger, [placed(1)]);
  assert.deepEqual(shown, ["large"]);
});

test("a picture that is being prepared is awaited, not drawn twice", async () => {
  const { renderer, worker, shown, closed, answer } = room();
  renderer.prepare(SIZE, [placed(1)]);
  renderer.draw(SIZE, [placed(1)]);
  const settled = renderer.shown();
  assert.equal(worker.pictures.length, 1);
  answer("first case", worker.pictures[0]);
  await settled;
  assert.deepEqual([shown, closed], [["first case"], []]);
});

test("another request is drawn after the picture that is being prepared", () => {
  const { renderer, worker, shown, answer } = room();
  renderer.prepare(SIZE, [placed(1)]);
  renderer.draw(SIZE, [placed(1)]);
  renderer.draw(SIZE, [placed(2)]);
  answer("first", worker.pictures[0]);
  answer("second", worker.pictures[1]);
  assert.deepEqual(shown, ["first", "second"]);
});

test("grey values come from the worker, and are unknown once the films are lost", async () => {
  const { renderer, worker } = room();
  const box = { x: 1, y: 2, width: 3, height: 4 };
  const [first, second] = [renderer.grey(7, box), renderer.grey(8, box)];
  const [order] = worker.told.filter((message) => message.do === "region");
  assert.deepEqual([order.film, order.box], [7, box]);
  const values = { n: 9, mean: 5, sd: 1, min: 3, max: 7 };
  worker.say({ reply: "region", id: order.id, values });
  assert.deepEqual(await first, values);
  worker.say({ reply: "lost", graphics: { name: "webgl2", software: false } });
  assert.equal(await second, null);
});
