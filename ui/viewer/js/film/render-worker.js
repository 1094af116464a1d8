/** The worker that draws: holds the films on the graphics card and draws pictures of them. */

import { greyValues } from "./region.js";
import { CanvasRenderer, WebglRenderer } from "./renderers.js";

/** @import { PlacedFilm } from "./renderers.js" */
/** @import { Rect } from "../page/types.js" */

const ASK_CARD_MS = 1;
const WARM_UP_SIDE = 128;

/** @type {OffscreenCanvas} */
let canvas;
/** @type {WebglRenderer|CanvasRenderer} */
let renderer;
/** Uploaded films by number; null during the upload. @type {Map<number, any>} */
const films = new Map();

const rest = new MessageChannel();
/** @type {(() => void)[]} */
const resting = [];
rest.port1.onmessage = () => resting.shift()?.();

const tasks = { open, upload, release, picture, region };
self.addEventListener("message", ({ data }) => tasks[data.do](data));

function open() {
  canvas = new OffscreenCanvas(1, 1);
  renderer = rendererOn(canvas);
  canvas.addEventListener("webglcontextlost", () => {
    films.clear();
    open();
    tell({ reply: "lost", graphics: graphics() });
  }, { once: true });
  tell({ reply: "opened", graphics: graphics() });
  if (renderer instanceof WebglRenderer) warmUp(renderer).catch(() => {}); // a film's own upload reports the error
}

/**
 * Draw a small film of each depth: the card compiles its programs now and not when the first case is drawn.
 * @param {WebglRenderer} by
 */
async function warmUp(by) {
  const side = WARM_UP_SIDE;
  for (const Samples of [Uint8Array, Uint16Array]) {
    const film = { samples: new Samples(side * side), width: side, height: side };
    const handle = await by.upload(film, breathe);
    const rect = { x: 0, y: 0, width: side, height: side };
    const zoomPan = { fit: false, scale: 0.5, x: side / 2, y: side / 2 };
    by.draw([{ handle, rect, zoomPan, window: { low: 0, high: 1 }, inverted: false, flipped: false, turns: 0 }]);
    by.release(handle);
  }
}

/** @param {OffscreenCanvas} first */
function rendererOn(first) {
  try {
    return new WebglRenderer(first);
  } catch {
    // A canvas keeps its first kind of context.
    canvas = new OffscreenCanvas(1, 1);
    return new CanvasRenderer(canvas);
  }
}

async function upload({ film, samples, width, height }) {
  films.set(film, null);
  const by = renderer;
  try {
    const handle = await by.upload({ samples, width, height }, breathe);
    if (by !== renderer) throw new Error("the graphics card was lost");
    if (films.has(film)) films.set(film, handle);
    else by.release(handle);
    tell({ reply: "uploaded", film, error: "" });
  } catch (error) {
    films.delete(film);
    tell({ reply: "uploaded", film, error: error instanceof Error ? error.message : String(error) });
  }
}

function release({ film }) {
  const handle = films.get(film);
  films.delete(film);
  if (handle) renderer.release(handle);
}

/** @param {{id: number, key: string, width: number, height: number, settled: boolean, placedFilms: PlacedFilm[]}}
 *   order  settled: wait until the card has finished */
async function picture({ id, key, width, height, placedFilms, settled }) {
  const drawn = placedFilms.map((placed) => ({ ...placed, handle: films.get(placed.handle) }));
  if (width < 1 || height < 1 || drawn.some(({ handle }) => !handle)) {
    tell({ reply: "picture", id, key, bitmap: null }); // released in the meantime
    return;
  }
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  renderer.draw(drawn);
  const bitmap = canvas.transferToImageBitmap();
  if (settled) await cardIsDone();
  tell({ reply: "picture", id, key, bitmap }, [bitmap]);
}

/** Measure the grey values in a region of a film. @param {{id: number, film: number, box: Rect}} order */
function region({ id, film, box }) {
  const handle = films.get(film);
  tell({ reply: "region", id, values: handle ? greyValues(box, handle, (part) => renderer.samples(handle, part)) : null });
}

async function cardIsDone() {
  const done = renderer.fence();
  while (!done()) await new Promise((resolve) => { setTimeout(resolve, ASK_CARD_MS); });
}

/**
 * Between two strips of an upload, requested pictures are drawn first. A message comes at once; a timer that follows
 * other timers waits at least 4 ms.
 * @returns {Promise<void>}
 */
function breathe() {
  return new Promise((resolve) => {
    resting.push(resolve);
    rest.port2.postMessage(null);
  });
}

const graphics = () => ({ name: renderer.name, software: renderer.software });

function tell(message, transfer = []) {
  self.postMessage(message, { transfer });
}
