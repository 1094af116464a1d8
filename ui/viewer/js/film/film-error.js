/** Why a film is not on the screen, and what to tell the reader about it. */

import { texts } from "../page/texts.js";

/**
 * `line`: it did not arrive; `refused`: the server said no; `unreadable`: what arrived is no such film;
 * `unshowable`: this computer's graphics cannot take it.
 * @typedef {"line"|"refused"|"unreadable"|"unshowable"} Kind
 */

export class FilmError extends Error {
  /**
   * @param {string} message for the log
   * @param {{kind: Kind, status?: number, words?: string}} more the HTTP status, 0 where there was none, and the
   *   server's own words, "" where it gave none
   */
  constructor(message, { kind, status = 0, words = "" }) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.words = words;
  }
}

/** @param {unknown} error @returns {string} what the reader is told */
export function filmTrouble(error) {
  const { kind = "line", words = "" } = /** @type {Partial<FilmError>} */ (error ?? {});
  return [words || texts.filmFailed.why[kind], texts.filmFailed.text].join(" ");
}
