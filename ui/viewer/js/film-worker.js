/** The worker that fetches and decodes films, away from the thread that answers the reader's hands. */

import { greyOf, quantileWindow, unpackSamples } from "./film-samples.js";

const underWay = new Map();

self.addEventListener("message", async ({ data }) => {
  if (data.abandon) {
    underWay.get(data.id)?.abort();
    return;
  }
  const stop = new AbortController();
  underWay.set(data.id, stop);
  try {
    const film = await load(data.view, stop.signal);
    self.postMessage({ id: data.id, film }, { transfer: [film.samples.buffer] });
  } catch (error) {
    self.postMessage({ id: data.id, error: String(error.message ?? error), status: error.status ?? 0 });
  } finally {
    underWay.delete(data.id);
  }
});

/** @param {import("./types.js").View} view @param {AbortSignal} signal */
async function load(view, signal) {
  const response = await fetch(view.url, { credentials: "same-origin", signal });
  if (!response.ok) throw Object.assign(new Error("film refused"), { status: response.status });
  const { width, height } = view;
  const samples = view.encoding === "samples"
    ? unpackSamples(new Uint8Array(await response.arrayBuffer()), width, height)
    : await decodePng(await response.blob(), width, height);
  return { samples, width, height, auto: quantileWindow(samples, 0.01, 0.99) };
}

/** @param {Blob} blob @param {number} width @param {number} height */
async function decodePng(blob, width, height) {
  // Without both options the browser would bend the grey values to the screen's colour profile.
  const bitmap = await createImageBitmap(blob, { colorSpaceConversion: "none", premultiplyAlpha: "none" });
  if (bitmap.width !== width || bitmap.height !== height) {
    throw new Error(`the film is ${bitmap.width} x ${bitmap.height}, not ${width} x ${height}`);
  }
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return greyOf(context.getImageData(0, 0, width, height).data);
}
