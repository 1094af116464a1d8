/** Between two cases: waiting for the next one, or for the reader, and the end of the study. */

import { texts } from "./texts.js";

const ASK_AGAIN_MS = 1000;

export class Between {
  #root;
  #panel;
  #stage;
  #overlays;
  #courier;
  #again;
  #asking = null;

  /**
   * @param {{root: HTMLElement, panel: import("./panel.js").Panel, stage: import("./stage.js").Stage,
   *   overlays: import("./overlays.js").Overlays}} parts @param {import("./courier.js").Courier} courier
   * @param {() => void} again the desk has been asked: there may be a case now
   */
  constructor({ root, panel, stage, overlays }, courier, again) {
    this.#root = root;
    this.#panel = panel;
    this.#stage = stage;
    this.#overlays = overlays;
    this.#courier = courier;
    this.#again = again;
  }

  /** Nothing to read at the moment: the end, or cases still on their way. @returns {"finished"|"loading"} */
  wait() {
    const { desk, outbox } = this.#courier;
    this.#stage.clear();
    if (desk.finished && !outbox.readings.length) {
      this.#finish(desk);
      return "finished";
    }
    const last = desk.finished || desk.cases.at(-1)?.position === desk.total;
    this.#panel.showLoading(last ? texts.loading.saving : texts.loading.waiting);
    if (outbox.size) outbox.hurry();
    else this.#asking ??= setTimeout(() => this.#ask(), ASK_AGAIN_MS);
    return "loading";
  }

  /** The limit ran out before nobody's eyes: not one more case goes by until somebody is there.
   *  @param {() => void} goOn */
  waitForReader(goOn) {
    this.#stage.clear();
    this.#panel.showCountdown(null);
    const { title, text, button } = texts.absent;
    this.#overlays.draw({ title, text }, { label: button, run: goOn });
  }

  async #ask() {
    await this.#courier.refresh();
    this.#asking = null;
    this.#again();
  }

  #finish({ total, read, study, score }) {
    this.#stage.prefetch([], []);
    this.#root.dataset.position = String(total);
    const lines = [texts.finished.text(read, study)];
    if (score) lines.push(texts.finished.score(score));
    this.#overlays.finish(texts.finished.title, lines);
  }
}
