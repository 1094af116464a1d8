/** The preview of a study: the reader's page as it is, with a line that says that nothing is recorded. */

import { button, element } from "./elements.js";
import { texts } from "./texts.js";

/** @typedef {{again_url: string, leave_url: string}} Urls */

/** Where a reader would sign out. @param {Urls} urls @returns {{url: string, method: string, label: string}} */
export function wayOut({ leave_url: url }) {
  return { url, method: "get", label: texts.preview.leave };
}

/** It lies over the page and moves nothing on it. @param {Urls} urls @returns {HTMLElement} */
export function banner({ again_url: again, leave_url: leave }) {
  const line = element("aside", "", "rr-preview");
  const url = (path) => new URL(path, document.baseURI).href;
  line.append(
    element("span", texts.preview.unrecorded),
    button(texts.preview.again, () => beginAgain(url(again))),
    button(texts.preview.leave, () => location.assign(url(leave))),
  );
  return line;
}

/** @param {string} url */
async function beginAgain(url) {
  try {
    await fetch(url, { method: "POST", credentials: "same-origin", body: "" });
  } finally {
    location.reload(); // without the server the page says so itself
  }
}
