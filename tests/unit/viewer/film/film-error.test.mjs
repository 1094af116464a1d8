/** What a reader is told when a film does not come. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { FilmError, filmTrouble } from "../../../../ui/viewer/js/film/film-error.js";

test("the server's words come first, and the connection is not blamed", () => {
  const words = "This film was changed after its import. Ask your coordinator.";
  const told = filmTrouble(new FilmError("film refused", { kind: "refused", status: 503, words }));
  assert.ok(told.startsWith(words));
  assert.doesNotMatch(told, /connection/);
});

test("only a film that did not arrive is a matter of the connection", () => {
  const told = (kind) => filmTrouble(new FilmError("", { kind }));
  assert.match(told("line"), /connection/);
  for (const kind of ["refused", "unreadable", "unshowable"]) {
    assert.doesNotMatch(told(kind), /connection/);
    assert.match(told(kind), /coordinator/);
  }
  assert.match(filmTrouble(new Error("anything")), /connection/);
});
