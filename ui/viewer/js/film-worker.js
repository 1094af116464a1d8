/** The worker that fetches and decodes films, away from the thread that answers the reader's hands. */

import { greyOf, quantileWindow, unpackSamples } from "./film-samples.js";

const LONGEST_WORDS = 300;

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
    const { message = String(error), kind = "line", status = 0, words = "" } = error ?? {};
    self.postMessage({ id: data.id, error: message, why: { kind, status, words } });
  } finally {
    underWay.delete(data.id);
  }
});

/** @param {import("./types.js").View} view @param {AbortSignal} signal */
async function load(view, signal) {
  const response = await fetch(view.url, { credentials: "same-origin", signal });
  if (!response.ok) {
    const { status } = response;
    throw Object.assign(new Error("film refused"), { kind: "refused", status, words: await wordsOf(response) });
  }
  const body = view.encoding === "samples" ? await response.arrayBuffer() : await response.blob();
  try {
    return await decode(body, view);
  } catch (error) {
    throw Object.assign(new Error(String(error.message ?? error)), { kind: "unreadable" });
  }
}

/** What the server says about it: only 503 carries words meant for the reader. @param {Response} response */
async function wordsOf(response) {
  const plain = response.headers.get("Content-Type")?.startsWith("text/plain");
  if (response.status !== 503 || !plain) return "";
  return (await response.text()).slice(0, LONGEST_WORDS);
}

/** @param {ArrayBuffer|Blob} body @param {import("./types.js").View} view */
async function decode(body, { width, height }) {
  const samples = body instanceof Blob
    ? await decodePng(body, width, height)
    : unpackSamples(new Uint8Array(body), width, height);
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
