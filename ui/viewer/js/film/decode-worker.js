/** The worker that fetches and decodes films, outside of the page's main thread. */

import { quantileWindow, unpackSamples } from "./film-samples.js";

/** @import { FilmError } from "./film-cache.js" */
/** @import { View } from "../page/types.js" */

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
    const { message = String(error), kind = "line", status = 0, words = "" } = /** @type {Partial<FilmError>} */ (error);
    self.postMessage({ id: data.id, error: message, why: { kind, status, words } });
  } finally {
    underWay.delete(data.id);
  }
});

/** @param {View} view @param {AbortSignal} signal */
async function load(view, signal) {
  const response = await fetch(view.url, { credentials: "same-origin", signal });
  if (!response.ok) {
    const { status } = response;
    throw Object.assign(new Error("film refused"), { kind: "refused", status, words: await wordsOf(response) });
  }
  const body = await response.arrayBuffer();
  try {
    return decode(body, view);
  } catch (error) {
    throw Object.assign(new Error(error instanceof Error ? error.message : String(error)), { kind: "unreadable" });
  }
}

/** The server's message for the reader, which only a 503 response contains. @param {Response} response */
async function wordsOf(response) {
  const plain = response.headers.get("Content-Type")?.startsWith("text/plain");
  if (response.status !== 503 || !plain) return "";
  return (await response.text()).slice(0, LONGEST_WORDS);
}

/** @param {ArrayBuffer} body @param {View} view */
function decode(body, view) {
  const { samples, width, height, window } = unpackSamples(new Uint8Array(body));
  if (width !== view.width || height !== view.height) {
    throw new Error(`the film is ${width} x ${height}, not ${view.width} x ${view.height}`);
  }
  return { samples, width, height, auto: window ?? quantileWindow(samples, 0.01, 0.99), own: window !== null };
}
