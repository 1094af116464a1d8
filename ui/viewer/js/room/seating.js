/** Cases and the screen: one is brought before the reader and begins once it is seen; the films beside it are kept. */

import { circumstances } from "../case/circumstances.js";
import { newId } from "../page/ids.js";
import { epochAt } from "../page/paint.js";

/** @typedef {import("../page/types.js").Case} Case */
/** @typedef {import("../case/sitting.js").Sitting} Sitting */

export class Seating {
  /** When the case became ready, on the monotonic clock. */
  readyAt = 0;
  #room;
  #panel;
  #stage;
  #courier;
  #past;
  #watch;

  /** @param {import("./room.js").Room} room
   *  @param {import("./room.js").Parts & {past: import("../case/looking-back.js").LookingBack,
   *   watch: import("../case/watch.js").Watch}} parts @param {import("../delivery/courier.js").Courier} courier */
  constructor(room, { panel, stage, past, watch }, courier) {
    this.#room = room;
    this.#panel = panel;
    this.#stage = stage;
    this.#courier = courier;
    this.#past = past;
    this.#watch = watch;
  }

  /** @param {Case} item one that was answered @returns {Sitting} */
  revisit(item) {
    const sitting = this.#room.list.sitting(item);
    this.seat(sitting);
    return sitting;
  }

  /** Bring a case back with the answer it was given, which stands.
   *  @param {import("../case/feedback.js").Awaited} awaited @param {() => void} painted */
  recall({ item, record }, painted) {
    const sitting = this.#room.list.sitting(item);
    this.seat(Object.assign(sitting, { option: record.option, committed: true }), painted);
  }

  /** Bring a case to the screen. @param {Sitting} sitting @param {(frame: number) => void} [painted] */
  seat(sitting, painted = (frame) => this.#begin(sitting, frame)) {
    const room = this.#room;
    room.sitting = sitting;
    room.answering.reset();
    room.enter("loading");
    this.#panel.showPosition(sitting.item, this.#courier.desk);
    this.#panel.showCountdown(null);
    this.#stage.bring(sitting, room.rules, () => this.#freshen(sitting), painted);
  }

  /** Fetch the films of the coming cases, keep those that the reader may turn to, and let go of the rest. */
  prefetch() {
    const { sitting, rules, list: { coming } } = this.#room;
    const shown = [sitting, this.#past.aside].filter(Boolean).map(({ item }) => item);
    const beside = rules.back_navigation && sitting ? this.#past.beside(sitting.item.position) : [];
    // Further back the films have gone from the card: fetch them while this case is looked at.
    const wanted = sitting?.revisited ? [...coming, ...beside] : coming;
    this.#stage.prefetch([...shown, ...beside].map((item) => item.case), wanted);
  }

  /** @returns {Promise<Case|undefined>} the case with new addresses of its films */
  async #freshen(sitting) {
    const { item } = sitting;
    if (sitting.revisited) return (await this.#past.fetch(item.position)) ?? undefined;
    await this.#courier.refresh();
    const fresh = this.#courier.desk.cases.find((each) => each.case === item.case);
    // It was answered and is here for its feedback only: no film will come any more.
    if (!fresh && sitting.committed && sitting === this.#room.sitting) this.#room.next();
    return fresh;
  }

  #begin(sitting, t0) {
    const room = this.#room;
    sitting.away = false;
    this.#watch.look(sitting, t0);
    sitting.begin(t0, epochAt(t0));
    this.readyAt = t0;
    room.began(sitting);
    if (sitting.unrecorded) {
      this.#courier.outbox.put(sitting.presentation(newId(), circumstances(this.#stage.renderer)));
    }
    this.#courier.outbox.flush();
    room.keep(t0);
    room.tick(t0);
    this.prefetch();
  }
}
