/** Cases and the screen: one is brought before the reader and begins once it is seen; the films beside it are kept. */

import { newId } from "../page/ids.js";
import { epochAt } from "../page/paint.js";

/** @import { Attempt } from "../case/attempt.js" */
/** @import { Awaited } from "../case/feedback.js" */
/** @import { OpenParts, Room } from "./room.js" */
/** @import { Case } from "../page/types.js" */

export class Presenter {
  /** When the case became ready, on the monotonic clock. */
  readyAt = 0;
  #room;
  #parts;

  /** @param {Room} room @param {OpenParts} parts */
  constructor(room, parts) {
    this.#room = room;
    this.#parts = parts;
  }

  /** @param {Case} item one that was answered @returns {Attempt} */
  revisit(item) {
    const attempt = this.#room.list.attempt(item);
    this.present(attempt);
    return attempt;
  }

  /** Bring a case back with the answer it was given, which stands.
   *  @param {Awaited} awaited @param {() => void} painted */
  recall({ item, record }, painted) {
    const attempt = this.#room.list.attempt(item);
    this.present(Object.assign(attempt, { option: record.option, committed: true }), painted);
  }

  /** Bring a case to the screen. @param {Attempt} attempt @param {(frame: number) => void} [painted] */
  present(attempt, painted = (frame) => this.#begin(attempt, frame)) {
    const room = this.#room;
    room.attempt = attempt;
    room.answering.reset();
    room.enter("loading");
    this.#parts.panel.showPosition(attempt.item, this.#parts.connection.desk);
    this.#parts.panel.showCountdown(null);
    this.#parts.display.bring(attempt, room.rules, () => this.#freshen(attempt), painted);
  }

  /** Fetch the films of the coming cases, keep those that the reader may turn to, and let go of the rest. */
  prefetch() {
    const { attempt, rules, list: { coming } } = this.#room;
    const shown = [attempt, this.#parts.earlier.aside].flatMap((each) => each?.item ?? []);
    const beside = rules.back_navigation && attempt ? this.#parts.earlier.beside(attempt.item.position) : [];
    // Further back the films have gone from the card: fetch them while this case is looked at.
    const wanted = attempt?.revisited ? [...coming, ...beside] : coming;
    this.#parts.display.prefetch([...shown, ...beside].map((item) => item.case), wanted);
  }

  /** @returns {Promise<Case|undefined>} the case with new addresses of its films */
  async #freshen(attempt) {
    const { item } = attempt;
    if (attempt.revisited) return (await this.#parts.earlier.fetch(item.position)) ?? undefined;
    await this.#parts.connection.refresh();
    const fresh = this.#parts.connection.desk.cases.find((each) => each.case === item.case);
    // It was answered and is here for its feedback only: no film will come any more.
    if (!fresh && attempt.committed && attempt === this.#room.attempt) this.#room.next();
    return fresh;
  }

  #begin(attempt, t0) {
    const room = this.#room;
    attempt.away = false;
    this.#parts.timer.look(attempt, t0);
    attempt.begin(t0, epochAt(t0));
    this.readyAt = t0;
    room.began(attempt);
    if (attempt.unrecorded) {
      this.#parts.connection.outbox.put(attempt.presentation(newId(), circumstances(this.#parts.renderer.graphics)));
    }
    this.#parts.connection.outbox.flush();
    room.keep(t0);
    room.tick(t0);
    this.prefetch();
  }
}

/** What the film is shown on: recorded with each presentation, so that odd readings can be explained.
 *  @param {{name: string, software: boolean|null}} graphics */
function circumstances({ name, software }) {
  return {
    device_pixel_ratio: window.devicePixelRatio ?? null,
    viewport: [window.innerWidth, window.innerHeight],
    screen: [window.screen.width, window.screen.height],
    renderer: name,
    software_rendering: software,
    user_agent: navigator.userAgent,
  };
}
