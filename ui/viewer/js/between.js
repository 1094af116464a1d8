/** Between two cases: waiting for the next one, or for the reader, and the end of the study. */

import { texts } from "./texts.js";

const ASK_AGAIN_MS = 1000;
const QUIET_MS = 600; // an Enter this soon is the second half of the last answer's

/** @typedef {{name: "absent"|"begin"|"block"|"break", title: string, text: string, button: string}} Halt */

export class Between {
  #root;
  #panel;
  #stage;
  #overlays;
  #courier;
  #again;
  #asking = null;
  /** @type {{name: Halt["name"]|"", since: number}} */
  #halt = { name: "", since: 0 };

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
    if (desk.finished && !outbox.size) {
      this.#finish(desk);
      return "finished";
    }
    const end = desk.cases.at(-1);
    const last = desk.finished || (end?.position === desk.total && !end.practice);
    const words = last ? texts.loading.saving : texts.loading.waiting;
    this.#panel.showLoading(desk.preparation?.length ? texts.loading.opening : words);
    if (outbox.size) outbox.hurry();
    else this.#asking ??= setTimeout(() => this.#ask(), ASK_AGAIN_MS);
    return "loading";
  }

  /** What the next case waits for; "" if it does not. */
  get halted() { return this.#halt.name; }

  /** Whether Enter goes on: not for a reader who may have left, whose hand may lie on the keyboard.
   *  @param {number} now */
  endsWithEnter(now) {
    return !["", "absent"].includes(this.halted) && now - this.#halt.since > QUIET_MS;
  }

  /** Not one more case goes by until the reader goes on. @param {Halt} halt @param {number} now
   *  @param {() => void} goOn */
  halt({ name, title, text, button }, now, goOn) {
    this.#halt = { name, since: now };
    this.#stage.clear();
    this.#panel.showCountdown(null);
    this.#panel.showLoading("");
    this.#overlays.draw({ title, text }, { label: button, run: goOn });
  }

  /** The reader goes on. @returns {boolean} whether it was an interlude, not an absence, that ends */
  lift() {
    const { name } = this.#halt;
    this.#halt = { name: "", since: 0 };
    return !["", "absent"].includes(name);
  }

  async #ask() {
    await this.#courier.refresh();
    this.#asking = null;
    this.#again();
  }

  #finish({ total, read, study, score }) {
    this.#stage.prefetch([], []);
    this.#root.dataset.position = String(total);
    const { keep } = this.#courier;
    for (const name of keep.names("")) keep.drop(name);
    const lines = [texts.finished.text(read, study)];
    if (score) lines.push(texts.finished.score(score));
    lines.push(texts.finished.nothingLeft);
    this.#overlays.finish(texts.finished.title, lines);
  }
}
