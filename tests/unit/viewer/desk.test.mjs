/** What the server's answers mean for the outbox. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { DeskRoutes } from "../../../ui/viewer/js/desk.js";

const routes = (answer) => new DeskRoutes("http://x/desk", answer);
const whyOf = async (answer) => routes(answer).desk().then(() => "none", (error) => error.why);

test("each status has one meaning", async () => {
  const statuses = { 200: "none", 401: "signed-out", 403: "other-reader", 500: "unreachable", 503: "unreachable",
    429: "unreachable", 404: "refused", 422: "refused" };
  for (const [status, why] of Object.entries(statuses)) {
    assert.equal(await whyOf(async () => new Response("{}", { status: Number(status) })), why, status);
  }
});

test("the server's own words come along, and nobody else's", async () => {
  const refuse = (body) => routes(async () => new Response(body, { status: 409 })).desk();
  const wordsOf = (body) => refuse(body).catch((error) => error.words);
  assert.equal(await wordsOf('{"why": "The study is not open."}'), "The study is not open.");
  for (const body of ["<html>", "{}", '{"why": 3}', "null"]) assert.equal(await wordsOf(body), "");
});

test("no line and a broken body are both worth another try", async () => {
  assert.equal(await whyOf(async () => { throw new TypeError("failed"); }), "unreachable");
  assert.equal(await whyOf(async () => new Response("<html>")), "unreachable");
});

test("records go out as JSON, with the cookie and under the seal", async () => {
  let seen;
  await routes(async (url, init) => {
    seen = { url, ...init };
    return new Response("{}");
  }).deliver("s", [{ id: "a" }], true);
  assert.equal(seen.url, "http://x/desk/records");
  assert.equal(seen.method, "POST");
  assert.equal(seen.headers["Content-Type"], "application/json");
  assert.equal(seen.credentials, "same-origin");
  assert.equal(seen.keepalive, true);
  assert.deepEqual(JSON.parse(seen.body), { seal: "s", records: [{ id: "a" }] });
});
