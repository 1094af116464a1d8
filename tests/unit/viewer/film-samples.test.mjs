/** Packed films come out as they went in. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { greyOf, quantileWindow, unpackSamples } from "../../../ui/viewer/js/film-samples.js";

/** The sender's side, written from the format's description. */
function pack(values, width) {
  const count = values.length;
  const bytes = new Uint8Array(2 * count);
  for (let i = 0; i < count; i += 1) {
    const left = i % width ? values[i - 1] : i ? values[i - width] : 0;
    const difference = (values[i] - left + 65536) % 65536;
    bytes[i] = difference >> 8;
    bytes[count + i] = difference & 255;
  }
  return bytes;
}

test("a film worked out by hand", () => {
  // rows 5 3 / 260 0 -> differences 5 -2 / 255 -260
  const bytes = Uint8Array.from([0, 255, 0, 254, 5, 254, 255, 252]);
  assert.deepEqual([...unpackSamples(bytes, 2, 2)], [5, 3, 260, 0]);
});

test("random films over the full depth come back exactly", () => {
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (const [width, height] of [[1, 1], [1, 9], [9, 1], [17, 23]]) {
    const values = Uint16Array.from({ length: width * height }, () => random() * 65536);
    assert.deepEqual(unpackSamples(pack(values, width), width, height), values);
  }
});

test("a body cut short is refused", () => {
  assert.throws(() => unpackSamples(new Uint8Array(7), 2, 2), /needs 8 bytes/);
});

test("grey is the first of four channels", () => {
  assert.deepEqual(greyOf(Uint8ClampedArray.from([9, 9, 9, 255, 200, 200, 200, 255])), Uint8Array.from([9, 200]));
});

test("quantiles leave single bright and dark samples out", () => {
  const samples = Uint16Array.from({ length: 1000 }, (_, i) => 1000 + i);
  samples[0] = 0;
  samples[999] = 65535;
  assert.deepEqual(quantileWindow(samples, 0.01, 0.99), { low: 1009, high: 1989 });
});

test("a film of one grey still has a window", () => {
  assert.deepEqual(quantileWindow(new Uint8Array(100).fill(7), 0.01, 0.99), { low: 7, high: 8 });
});
