/** When a page reports activity to the server and when it warns, and which events do not count as activity. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Idle, WARN_MS } from "../../../../ui/viewer/js/page/idle.js";

const MINUTE = 60_000;

/** A server that ends a sign-in after two hours without activity, and a page that records the messages. */
function scene() {
  const found = { now: 0, activeAt: 0, asked: [], told: [], ends: 0, line: true };
  const fetcher = async (_, { method }) => {
    if (!found.line) throw new TypeError("no line");
    found.asked.push(method);
    const left = 120 * MINUTE - (found.now - found.activeAt);
    if (left <= 0) return new Response("{}", { status: 401 });
    if (method === "POST") found.activeAt = found.now;
    return Response.json({ left_s: (method === "POST" ? 120 * MINUTE : left) / 1000 });
  };
  const note = (what) => () => { if (found.told.at(-1) !== what) found.told.push(what); };
  const ended = () => { found.ends += 1; note("ended")(); };
  const page = { warn: note("warn"), calm: note("calm"), ended };
  found.idle = new Idle("here", page, fetcher, () => found.now);
  found.pass = async (minutes) => {
    for (let passed = 0; passed < minutes * 4; passed += 1) {
      found.now += MINUTE / 4;
      await found.idle.look();
    }
  };
  return found;
}

test("an idle page asks once, warns five minutes before the end, and ends", async () => {
  const page = scene();
  await page.idle.look();
  await page.pass(114);
  assert.deepEqual([page.asked, page.told], [["GET"], []]);
  await page.pass(1.25);
  assert.deepEqual(page.told, ["warn"]);
  await page.pass(5);
  assert.deepEqual(page.told, ["warn", "ended"]);
  assert.ok(!page.asked.includes("POST"));
  const asked = page.asked.length;
  await page.pass(60);
  assert.equal(page.asked.length, asked);
});

test("activity keeps the sign-in, and is reported at most once a minute", async () => {
  const page = scene();
  for (let minute = 0; minute < 300; minute += 1) {
    for (let key = 0; key < 20; key += 1) await page.idle.used();
    await page.pass(1);
  }
  assert.deepEqual(page.told, []);
  const posts = page.asked.filter((method) => method === "POST").length;
  assert.ok(posts > 200 && posts <= 301, posts);
});

test("a key after the warning is reported at once and removes the warning", async () => {
  const page = scene();
  await page.idle.look();
  await page.pass(116);
  assert.deepEqual(page.told, ["warn"]);
  await page.idle.used();
  assert.deepEqual([page.told, page.asked.at(-1)], [["warn", "calm"], "POST"]);
  await page.pass(114);
  assert.deepEqual(page.told, ["warn", "calm"]);
});

test("a key within a minute of another is reported at the end of the minute", async () => {
  const page = scene();
  await page.idle.used();
  await page.idle.look();
  await page.idle.used();
  await page.pass(200);
  assert.equal(page.activeAt, MINUTE);
  assert.equal(page.told[0], "warn");
});

test("an idle window does not warn while another window is in use", async () => {
  const page = scene();
  await page.idle.look();
  for (let hour = 0; hour < 5; hour += 1) {
    page.activeAt = page.now;
    await page.pass(60);
  }
  assert.deepEqual(page.told, []);
});

test("without a connection activity is kept and nobody is signed out", async () => {
  const page = scene();
  await page.idle.look();
  page.line = false;
  await page.idle.used();
  await page.pass(60);
  assert.deepEqual(page.told, []);
  page.line = true;
  await page.pass(0.25);
  assert.equal(page.activeAt, page.now);
  assert.ok(WARN_MS === 5 * MINUTE);
});

test("a new sign-in in another window keeps this window signed in", async () => {
  const page = scene();
  await page.idle.look();
  await page.pass(121);
  assert.deepEqual(page.told, ["warn", "ended"]);
  await page.idle.used();
  await page.pass(1);
  assert.equal(page.ends, 1);
  page.activeAt = page.now;
  for (let minute = 0; minute < 180; minute += 1) {
    await page.idle.used();
    await page.pass(1);
  }
  assert.deepEqual(page.told, ["warn", "ended"]);
  assert.ok(page.now - page.activeAt <= 2 * MINUTE);
});
