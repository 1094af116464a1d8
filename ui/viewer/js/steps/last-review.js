/** The last chance to review, where going back is allowed: every case is answered, and the end is said by the reader. */

import { around, element, find } from "../page/elements.js";
import { texts } from "../page/texts.js";

/** @import { StepSheet } from "../page/step-sheet.js" */

/**
 * @param {StepSheet} sheet @param {number} total cases
 * @param {{back: () => void, finish: () => void}} told back: to the last case; finish: the answers stand
 */
export function askForLastReview(sheet, total, { back, finish }) {
  const { title, text, review, finish: stand, choose } = texts.review;
  const words = element("p", text(total), "rr-prelude-text");
  words.tabIndex = -1;
  const button = (/** @type {string} */ name) => find(document, `.rr-prelude ${name}`);
  sheet.show({
    name: "review", title, count: "", body: [words], focus: words,
    secondary: { label: review, key: "1", run: back },
    primary: { label: stand, key: "2", run: finish },
    keys: ({ key, target }) => {
      if (key === "Backspace") back();
      else if (key === "1") button(".rr-secondary").focus();
      else if (key === "2") button(".rr-primary").focus();
      // The last answer's Enter, pressed once too often, finishes nothing.
      else if (key === "Enter" && !around(target, ".rr-prelude-actions")) sheet.hint(choose);
      else return false;
      return true;
    },
  });
  sheet.hint(choose);
}
