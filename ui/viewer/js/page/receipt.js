/** The reader's receipt on a slip, to be copied, printed or mailed: no server has a part in that. */

import { button, element } from "./elements.js";
import { texts } from "./texts.js";

/** @import { Desk } from "./types.js" */

/** @param {Desk} desk @returns {HTMLElement|null} null: nothing was read yet */
export function receiptSlip({ receipt, study }) {
  if (!receipt) return null;
  const slip = element("section", "", "rr-receipt");
  const line = element("output", receipt);
  const copy = button(texts.receipt.copy, () => {
    if (copied(line)) copy.textContent = texts.receipt.copied;
  });
  const mail = element("a", texts.receipt.mail);
  mail.href = letter(texts.receipt.subject(study), receipt);
  const ways = element("div", "", "rr-choices");
  ways.append(copy, mail);
  slip.append(element("h3", texts.receipt.title), line, element("p", texts.receipt.why), ways);
  return slip;
}

/** @param {string} subject @param {string} text @returns {string} */
export function letter(subject, text) {
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(text)}`;
}

/** Copy an element's text; the clipboard's own interface needs a secure context. @param {HTMLElement} line */
function copied(line) {
  const range = document.createRange();
  range.selectNodeContents(line);
  const selection = getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
  return document.execCommand("copy");
}
