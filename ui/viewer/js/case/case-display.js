/** Brings a case to the screen: fetches its films (with retries), hangs them, and waits until they are painted. */

import { FilmError, filmTrouble } from "../film/film-cache.js";
import { afterPaint } from "../page/elements.js";
import { texts } from "../page/texts.js";

/** @import { FilmCache } from "../film/film-cache.js" */
/** @import { FilmViewer } from "../viewer/film-viewer.js" */
/** @import { Overlays } from "../page/overlays.js" */
/** @import { PointerInput } from "../viewer/pointer-input.js" */
/** @import { QuestionPanel } from "../page/question-panel.js" */
/** @import { Case, Rules, Shown } from "../page/types.js" */

const TRIES = 4;
const FIRST_WAIT_MS = 400;
const STALE = [401, 403, 404, 410]; // the film's address has expired; a new request for the desk returns a new address

export class CaseDisplay {
  #parts;
  #turn = 0;

  /** @param {{root: HTMLElement, panel: QuestionPanel, viewer: FilmViewer, films: FilmCache, pointerInput:
   *  PointerInput, overlays: Overlays}} parts */
  constructor(parts) {
    this.#parts = parts;
  }

  /**
   * @param {Shown} shown @param {Rules} rules
   * @param {() => Promise<Case|null>} freshen asks for the case with new film addresses
   * @param {(frame: number) => void} painted gets the first animation frame with everything on the screen;
   *   never called once another case has been brought
   */
  bring(shown, rules, freshen, painted) {
    this.#turn += 1;
    this.#parts.overlays.hideCurtain();
    const ready = this.#parts.films.ready(shown.item.case);
    if (ready) this.#hang(shown, rules, ready, painted);
    else this.#fetch(shown, rules, freshen, painted);
  }

  /** The model's answer for the case on the screen. @param {Case} item @param {(frame: number) => void} painted gets the
   *  first animation frame with it */
  showAid(item, painted) {
    const turn = this.#turn;
    this.#parts.panel.showAid(item);
    this.#parts.viewer.showMarks(marksOf(item));
    afterPaint(this.#parts.viewer.renderer.shown(), (frame) => {
      if (turn === this.#turn) painted(frame);
    });
  }

  /** Show no case. */
  clear() {
    this.#turn += 1;
    this.#parts.viewer.show([]);
  }

  /**
   * Fetch the next films and release the others.
   * @param {string[]} shown @param {Case[]} coming
   */
  prefetch(shown, coming) {
    this.#parts.films.keepOnly(new Set([...shown, ...coming.map((item) => item.case)]));
    // One after another, so that the next case has the full bandwidth; and after a picture that the reader waits for,
    // because decoding would slow it down.
    /** @type {Promise<unknown>} */
    let before = Promise.resolve();
    for (const item of coming) {
      before = before.then(() => this.#pictureShown()).then(() => this.#parts.films.load(item)).catch(() => {});
    }
  }

  /** Resolved when the picture of the loaded films is on the screen, or none is expected. */
  #pictureShown() {
    return new Promise((resolve) => { setTimeout(resolve); }).then(() => this.#parts.viewer.renderer.shown());
  }

  /** The graphics card lost every film. */
  lost() {
    this.#parts.films.lost();
    this.#parts.panel.showRenderer(this.#parts.viewer.renderer.graphics.name);
  }

  async #fetch(shown, rules, freshen, painted) {
    const turn = this.#turn;
    let { item } = shown;
    this.#parts.viewer.show([]);
    this.#parts.panel.showLoading(texts.loading.film);
    for (let tries = 1; turn === this.#turn; tries += 1) {
      try {
        const films = await this.#parts.films.load(item);
        if (turn === this.#turn) this.#hang(shown, rules, films, painted);
        return;
      } catch (error) {
        if (turn !== this.#turn) return;
        if (tries % TRIES === 0) await this.#askToRetry(error);
        else await new Promise((resolve) => { setTimeout(resolve, FIRST_WAIT_MS * 2 ** ((tries - 1) % TRIES)); });
        const stale = error instanceof FilmError && STALE.includes(error.status);
        if (turn === this.#turn && stale) item = (await freshen()) ?? item;
      }
    }
  }

  #askToRetry(error) {
    const { title, button } = texts.filmFailed;
    this.#parts.panel.showLoading(title);
    return /** @type {Promise<void>} */ (new Promise((resolve) => {
      const run = () => {
        this.#parts.overlays.hideCurtain();
        this.#parts.panel.showLoading(texts.loading.film);
        resolve();
      };
      this.#parts.overlays.showCurtain({ title, text: filmTrouble(error) }, { label: button, run });
    }));
  }

  #hang(shown, rules, films, painted) {
    const turn = this.#turn;
    this.#parts.pointerInput.letGo();
    this.#parts.root.dataset.films = String(films.length);
    this.#parts.root.dataset.priors = String(films.some(({ view }) => view.prior));
    // The question comes first, because its length determines the space for the films.
    this.#parts.panel.showCase(shown.item, rules);
    this.#parts.panel.showAnswer(shown);
    this.#parts.viewer.show(films, { same: shown.item.stage === 2, marks: marksOf(shown.item) });
    afterPaint(this.#parts.viewer.renderer.shown(), (frame) => {
      if (turn === this.#turn) painted(frame);
    });
  }
}

/** @param {Case} item @returns {import("../page/types.js").AidMarks} */
const marksOf = ({ aid }) => ({ boxes: aid?.content?.boxes ?? [], map: aid?.content?.map ?? [] });
