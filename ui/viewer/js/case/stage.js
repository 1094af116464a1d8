/** Bringing a case to the screen: its films fetched, however often it takes, hung, and truly painted. */

import { filmTrouble } from "../film/film-error.js";
import { afterPaint } from "../page/paint.js";
import { texts } from "../page/texts.js";

/** @typedef {import("./sitting.js").Sitting} Sitting */

const TRIES = 4;
const FIRST_WAIT_MS = 400;
const STALE = [401, 403, 404, 410]; // the film's address has expired: a fresh desk has a new one

export class Stage {
  #root;
  #panel;
  #picture;
  #films;
  #hands;
  #overlays;
  #turn = 0;

  /** @param {{root: HTMLElement, panel: import("../page/panel.js").Panel, picture: import("../viewer/picture.js").Picture,
   *   films: import("../film/films.js").Films, hands: import("../viewer/hands.js").Hands,
   *   overlays: import("../page/overlays.js").Overlays}} parts */
  constructor({ root, panel, picture, films, hands, overlays }) {
    this.#root = root;
    this.#panel = panel;
    this.#picture = picture;
    this.#films = films;
    this.#hands = hands;
    this.#overlays = overlays;
  }

  get renderer() { return this.#picture.renderer; }

  /** @returns {Promise<void>} when it is known what draws */
  get opened() { return this.#picture.opened; }

  /**
   * @param {Sitting} sitting @param {import("../page/types.js").Rules} rules
   * @param {() => Promise<import("../page/types.js").Case|undefined>} freshen asks for the case with new film addresses
   * @param {(frame: number) => void} painted gets the first animation frame with everything on the screen;
   *   never called once another case has been brought
   */
  bring(sitting, rules, freshen, painted) {
    this.#turn += 1;
    this.#overlays.drawBack();
    const ready = this.#films.ready(sitting.item.case);
    if (ready) this.#hang(sitting, rules, ready, painted);
    else this.#fetch(sitting, rules, freshen, painted);
  }

  /** Nothing to show. */
  clear() {
    this.#turn += 1;
    this.#picture.show([]);
  }

  /**
   * Fetch what comes next and let go of the rest.
   * @param {string[]} shown @param {import("../page/types.js").Case[]} coming
   */
  prefetch(shown, coming) {
    this.#films.keepOnly(new Set([...shown, ...coming.map((item) => item.case)]));
    // One after the other, so that the very next case has the line for itself.
    coming.reduce((before, item) => before.then(() => this.#films.load(item)).catch(() => {}),
      Promise.resolve());
  }

  /** The card lost every film. */
  lost() {
    this.#films.lost();
    this.#panel.showRenderer(this.renderer.name);
  }

  async #fetch(sitting, rules, freshen, painted) {
    const turn = this.#turn;
    this.#picture.show([]);
    this.#panel.showLoading(texts.loading.film);
    for (let tries = 1; turn === this.#turn; tries += 1) {
      try {
        const films = await this.#films.load(sitting.item);
        if (turn === this.#turn) this.#hang(sitting, rules, films, painted);
        return;
      } catch (error) {
        if (turn !== this.#turn) return;
        if (tries % TRIES === 0) await this.#askToRetry(error);
        else await new Promise((resolve) => { setTimeout(resolve, FIRST_WAIT_MS * 2 ** ((tries - 1) % TRIES)); });
        if (turn === this.#turn && STALE.includes(error.status)) await this.#freshen(sitting, freshen);
      }
    }
  }

  async #freshen(sitting, freshen) {
    const fresh = await freshen();
    if (fresh) sitting.item = { ...sitting.item, views: fresh.views };
  }

  #askToRetry(error) {
    const { title, button } = texts.filmFailed;
    this.#panel.showLoading(title);
    return new Promise((resolve) => {
      const run = () => {
        this.#overlays.drawBack();
        this.#panel.showLoading(texts.loading.film);
        resolve();
      };
      this.#overlays.draw({ title, text: filmTrouble(error) }, { label: button, run });
    });
  }

  #hang(sitting, rules, films, painted) {
    const turn = this.#turn;
    this.#hands.letGo();
    this.#root.dataset.films = String(films.length);
    // The question first: how long it is decides how much room the films have.
    this.#panel.showCase(sitting.item, rules);
    this.#panel.showAnswer(sitting.option, sitting.confidence, sitting.comment);
    this.#picture.show(films);
    afterPaint(this.#picture.shown(), (frame) => {
      if (turn === this.#turn) painted(frame);
    });
  }
}
