/** The effect of the server's responses on the outbox. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { DeskRoutes } from "../../../../ui/viewer/js/delivery/connection.js";

const routes = (answer, clock) => new DeskRoutes("http://x/desk", answer, clock);
const whyOf = async (answer) => routes(answer).desk().then(() => "none", (error) => error.why);

test("each status has one meaning", async () => {
  const statuses = { 200: "none", 401: "signed-out", 403: "refused", 500: "unreachable", 503: "unreachable",
    429: "unreachable", 404: "refused", 422: "refused" };
  for (const [status, why] of Object.entries(statuses)) {
    assert.equal(await whyOf(async () => new Response("{}", { status: Number(status) })), why, status);
  }
});

test("the server's reason is used, and a proxy's refusal does not end the sign-in", async () => {
  const refuse = (status, body) => whyOf(async () => new Response(JSON.stringify(body), { status }));
  for (const reason of ["other-reader", "wrong-origin"]) assert.equal(await refuse(403, { why: "x", reason }), reason);
  assert.equal(await refuse(401, { why: "x", reason: "signed-out" }), "signed-out");
  assert.equal(await refuse(409, { why: "x", reason: "refused" }), "refused");
  assert.equal(await refuse(503, { why: "x", reason: "refused" }), "unreachable");
  assert.equal(await whyOf(async () => new Response("<html>", { status: 403 })), "refused");
});

test("only the server's own message is passed on", async () => {
  const refuse = (body) => routes(async () => new Response(body, { status: 409 })).desk();
  const wordsOf = (body) => refuse(body).catch((error) => error.words);
  assert.equal(await wordsOf('{"why": "The study is not open."}'), "The study is not open.");
  for (const body of ["<html>", "{}", '{"why": 3}', "null"]) assert.equal(await wordsOf(body), "");
});

test("a failed connection and a broken body are retried", async () => {
  assert.equal(await whyOf(async () => { throw new TypeError("failed"); }), "unreachable");
  assert.equal(await whyOf(async () => new Response("<html>")), "unreachable");
});

test("records are sent as JSON, with the cookie and the seal", async () => {
  let seen;
  await routes(async (url, init) => {
    seen = { url, ...init };
    return new Response("{}");
  }, () => 5000).deliver("s", [{ id: "a" }], true);
  assert.equal(seen.url, "http://x/desk/records");
  assert.equal(seen.method, "POST");
  assert.equal(seen.headers["Content-Type"], "application/json");
  assert.equal(seen.credentials, "same-origin");
  assert.equal(seen.keepalive, true);
  assert.deepEqual(JSON.parse(seen.body), { seal: "s", sent_epoch_ms: 5000, records: [{ id: "a" }] });
});
