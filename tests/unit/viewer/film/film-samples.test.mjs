/** Packing and decoding a film does not change it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { quantileWindow, unpackSamples } from "../../../../ui/viewer/js/film/film-samples.js";

const COPY = [4096, 0, 0, 0, 0, 0];

/** A packed film, written according to the format's description. */
function film(header, ...planes) {
  const whole = { split: 0, escapes: 0, fraction_bits: 12, steps: [], weights: [COPY], levels: [], ...header };
  const text = new TextEncoder().encode(JSON.stringify(whole));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, text.length, true);
  return Uint8Array.from([...length, ...text, ...planes.flat()]);
}

test("a film computed by hand is decoded", () => {
  // rows 5 3 / 4 0, each guessed as the sample to the left or, in the first column, the one above
  const bytes = film({ width: 2, height: 2, bits: 8, top: 5 }, [10, 3, 1, 7]);
  const samples = Uint8Array.from([5, 3, 4, 0]);
  assert.deepEqual(unpackSamples(bytes), { samples, width: 2, height: 2, window: null });
});

test("a film with a window keeps it", () => {
  const bytes = film({ width: 1, height: 1, bits: 8, top: 5, window: [-3.5, 7] }, [0]);
  assert.deepEqual(unpackSamples(bytes).window, { low: -3.5, high: 7 });
});

test("low bits, escapes and levels computed by hand are decoded", () => {
  // positions 0 600 1 1: differences 0 600 1 0 fold to 0 1200 2 0; 1200 >> 2 is 300 and escapes
  const levels = Array.from({ length: 601 }, (_, i) => (i ? 16 : 100));
  const header = { width: 2, height: 2, bits: 16, top: 600, split: 2, escapes: 1, levels };
  const bytes = film(header, [0, 255, 0, 0], [0b00001000], [1200 & 255, 1200 >> 8]);
  assert.deepEqual([...unpackSamples(bytes).samples], [100, 9700, 116, 116]);
});

test("each of the six neighbours has its own weight", () => {
  const samples = [[7, 1, 9, 4], [2, 8, 3, 6], [5, 0, 7, 1]];
  const at = (y, x) => {
    if (y < 0) return 0;
    if (x < 0) return y ? samples[y - 1][0] : 0;
    return samples[y][Math.min(x, 3)];
  };
  const places = [[0, -1], [-1, 0], [-1, -1], [-1, 1], [0, -2], [-2, 0]];
  places.forEach(([dy, dx], which) => {
    const weights = [Array.from({ length: 6 }, (_, i) => (i === which ? 4096 : 0))];
    const wrong = samples.flatMap((row, y) => row.map((value, x) => {
      // The neighbour beyond the left edge is the sample above the row's first sample, or the sample above that.
      const beyond = x + dx < 0 ? at(y + dy - 1, 0) : at(y + dy, x + dx);
      const difference = value - (y + dy < 0 ? 0 : beyond);
      return difference < 0 ? -2 * difference - 1 : 2 * difference;
    }));
    const bytes = film({ width: 4, height: 3, bits: 8, top: 9, weights }, wrong);
    assert.deepEqual([...unpackSamples(bytes).samples], samples.flat(), `neighbour ${which}`);
  });
});

test("films packed by the server are decoded exactly", { skip: process.env.RR_PYTHON ? false : "run by pytest" }, () => {
  const made = execFileSync(process.env.RR_PYTHON, ["-m", "tests.unit.viewer.packed_films"], { maxBuffer: 1 << 26 });
  const films = JSON.parse(made.toString());
  assert.ok(films.length > 9);
  for (const { name, width, height, packed, samples } of films) {
    const found = unpackSamples(new Uint8Array(Buffer.from(packed, "base64")));
    assert.deepEqual([found.width, found.height], [width, height], name);
    assert.ok(Buffer.from(found.samples.buffer).equals(Buffer.from(samples, "base64")), name);
  }
});

test("a truncated body is refused", () => {
  const bytes = film({ width: 2, height: 2, bits: 8, top: 5 }, [10, 3, 1]);
  assert.throws(() => unpackSamples(bytes), /2 x 2 needs \d+ bytes/);
  assert.throws(() => unpackSamples(new Uint8Array(3)), /cut short/);
});

test("quantiles ignore single bright and dark samples", () => {
  const samples = Uint16Array.from({ length: 1000 }, (_, i) => 1000 + i);
  samples[0] = 0;
  samples[999] = 65535;
  assert.deepEqual(quantileWindow(samples, 0.01, 0.99), { low: 1009, high: 1989 });
});

test("a uniform film has a window", () => {
  assert.deepEqual(quantileWindow(new Uint8Array(100).fill(7), 0.01, 0.99), { low: 7, high: 8 });
});
