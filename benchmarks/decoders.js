/** The worker of the encodings benchmark: fetches a film, decodes it, and says how long both took and what came out. */

import { unpackSamples } from "/js/film-samples.js";

self.addEventListener("message", async ({ data }) => {
  const { films, width, height, bits, repeats } = data;
  const told = films.map(() => ({ times_ms: [], sha256: "" }));
  // In turn, so that whatever else the machine does falls on all alike.
  for (let round = 0; round <= repeats; round += 1) {
    for (const [n, { url, decoder }] of films.entries()) {
      const start = performance.now();
      const response = await fetch(url, { cache: "no-store" });
      const body = decoder.startsWith("image") ? await response.blob() : new Uint8Array(await response.arrayBuffer());
      const samples = await DECODERS[decoder](body, width, height, bits);
      if (round) told[n].times_ms.push(performance.now() - start);
      else told[n].sha256 = await hash(samples); // the first round warms up
    }
  }
  self.postMessage(told);
});

async function hash(samples) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", samples));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const DECODERS = {
  chosen: (bytes) => unpackSamples(bytes).samples,
  left: (bytes, width, height, bits) => unfixed(residues(bytes, width * height, bits, false), width, bits, left),
  med: (bytes, width, height, bits) => unfixed(residues(bytes, width * height, bits, false), width, bits, med),
  paeth: (bytes, width, height, bits) => unfixed(residues(bytes, width * height, bits, false), width, bits, paeth),
  "med-folded": (bytes, width, height) => unfixed(residues(bytes, width * height, 16, true), width, 16, med),
  "paeth-folded": (bytes, width, height) => unfixed(residues(bytes, width * height, 16, true), width, 16, paeth),
  image: async (blob, width, height) => {
    const rgba = await pixels(blob, width, height);
    const samples = new Uint8Array(width * height);
    for (let i = 0, j = 0; i < samples.length; i += 1, j += 4) samples[i] = rgba[j];
    return samples;
  },
  "image-two": async (blob, width, height) => {
    const rgba = await pixels(blob, width, height);
    const samples = new Uint16Array(width * height);
    for (let i = 0, j = 0; i < samples.length; i += 1, j += 4) samples[i] = (rgba[j] << 8) | rgba[j + 1];
    return samples;
  },
  "image-med": async (blob, width, height) => {
    const rgba = await pixels(blob, width, height);
    const wrong = new Int32Array(width * height);
    for (let i = 0, j = 0; i < wrong.length; i += 1, j += 4) wrong[i] = unfolded((rgba[j] << 8) | rgba[j + 1]);
    return unfixed(wrong, width, 16, med);
  },
};

const unfolded = (z) => (z >>> 1) ^ -(z & 1);

function residues(bytes, count, bits, folded) {
  const wrong = new Int32Array(count);
  for (let i = 0; i < count; i += 1) {
    const value = bits === 8 ? bytes[i] : (bytes[i] << 8) | bytes[count + i];
    wrong[i] = folded ? unfolded(value) : value;
  }
  return wrong;
}

function unfixed(wrong, width, bits, guess) {
  const samples = bits === 8 ? new Uint8Array(wrong.length) : new Uint16Array(wrong.length);
  for (let start = 0; start < wrong.length; start += width) {
    for (let i = start; i < start + width; i += 1) {
      const inside = i > start;
      const west = inside ? samples[i - 1] : 0;
      const north = start ? samples[i - width] : 0;
      samples[i] = wrong[i] + guess(west, north, inside && start ? samples[i - width - 1] : 0, inside);
    }
  }
  return samples;
}

const left = (west, north, corner, inside) => (inside ? west : north);

function med(west, north, corner) {
  const low = Math.min(west, north);
  const high = Math.max(west, north);
  return Math.min(high, Math.max(low, west + north - corner));
}

function paeth(west, north, corner) {
  const plane = west + north - corner;
  const byWest = Math.abs(plane - west);
  const byNorth = Math.abs(plane - north);
  const byCorner = Math.abs(plane - corner);
  if (byWest <= byNorth && byWest <= byCorner) return west;
  return byNorth <= byCorner ? north : corner;
}

async function pixels(blob, width, height) {
  const bitmap = await createImageBitmap(blob, { colorSpaceConversion: "none", premultiplyAlpha: "none" });
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return context.getImageData(0, 0, width, height).data;
}
