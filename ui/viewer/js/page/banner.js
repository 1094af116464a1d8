/** The line over a reading page that is no study's: a preview, which records nothing, teaching, an expert review, or a scoring. */

import { button, element } from "./elements.js";
import { texts } from "./texts.js";

/** @typedef {{of: "preview"|"teaching"|"expert"|"scoring", again_url: string|null, leave_url: string}} Apart  what the page is instead of
 *   a study's; again_url: which a post to begins it anew */

/** Where a reader would sign out. @param {Apart} apart @returns {{url: string, method: string, label: string}} */
export function wayOut({ of, leave_url: url }) {
  return { url, method: "get", label: texts[of].leave };
}

/** It lies over the page and moves nothing on it. @param {Apart} apart @returns {HTMLElement} */
export function banner({ of, again_url: again, leave_url: leave }) {
  const line = element("aside", "", "rr-banner");
  line.append(element("span", texts[of].line));
  if (again) line.append(button(texts.preview.again, () => beginAgain(absolute(again))));
  line.append(button(texts[of].leave, () => location.assign(absolute(leave))));
  return line;
}

/** @param {string} path @returns {string} */
export function absolute(path) {
  return new URL(path, document.baseURI).href;
}

/** @param {string} url */
async function beginAgain(url) {
  try {
    await fetch(url, { method: "POST", credentials: "same-origin", body: "" });
  } finally {
    location.reload(); // without the server the page says so itself
  }
}
