/** A review, a scoring and teaching replace texts, and restore them afterwards. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { texts } from "../../../../ui/viewer/js/page/texts.js";
import { wordsFor } from "../../../../ui/viewer/js/page/room-texts.js";

const study = { ...texts };
/** The messages about a case that is loading. */
const said = () => [
  texts.reader("X"), texts.position(1, 2), texts.begin(2).text, texts.onAgain.text, texts.paused.text, texts.filmFailed.text,
  texts.twoWindows.open.title, texts.twoWindows.gone.text, texts.otherReader.title, texts.otherReader.button,
].join(" ").toLowerCase();

for (const room of ["teaching", "expert", "scoring"]) {
  test(`${room} names neither a reader nor a timer`, () => {
    wordsFor(room);
    assert.doesNotMatch(said(), /reader|timer|case/);
  });

  test(`a study after ${room} in the same document has its own texts again`, () => {
    wordsFor(room);
    for (const next of [undefined, "preview"]) {
      wordsFor(next);
      assert.deepEqual(texts, study);
    }
  });
}
