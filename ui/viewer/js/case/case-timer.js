/**
 * Measures whether the case is visible and the remaining time, and flags doubtful measurements.
 *
 * Flags do not affect the reader and do not discard a reading. Their names are documented in docs/reading-page.md.
 */

import { Attempt, MOST_VIEWS } from "./attempt.js";
import { epochAt, find } from "../page/elements.js";
import { fits } from "../steps/preparation.js";
import { newId } from "../page/storage.js";

/** @import { Connection } from "../delivery/connection.js" */
/** @import { Overlays } from "../page/overlays.js" */
/** @import { Shown } from "../page/types.js" */

/** @typedef {{inner: [number, number], outer_width: number, zoom: number, ratio: number, film: [number, number],
 *   whole: boolean, covered: boolean, translated: boolean, software: boolean|null}} Measured
 *   zoom: of two fingers; film: the size of the films' area; whole: the area is completely within the window;
 *   translated: the words on the screen are not those of the study */

const LOOK_EVERY_MS = 500;
const STALL_MS = 1000; // the page is measured every 100 ms
const ASLEEP_MS = 5000; // no page stalls this long, but a computer with a closed lid does
const DRIFT_MS = 250;
const ZOOM = 0.05; // the border of a window is a few pixels wide
const SMALLEST = [1024, 700]; // CSS pixels, if the study does not specify a window
const SMALLEST_FILM = 500;

/**
 * The flags that follow from a single measurement.
 * @param {Measured} measurement @param {{films: boolean, ratio: number, smallest?: number[]}} began  the case has films; the
 *   pixel ratio at its start; the study's smallest window
 * @returns {string[]}
 */
export function doubts(measurement, { films, ratio, smallest = [] }) {
  const small = !fits(measurement.inner, smallest.length ? smallest : SMALLEST) || (films && Math.min(...measurement.film) < SMALLEST_FILM);
  const stretched = Math.abs(measurement.outer_width / measurement.inner[0] - 1) > ZOOM && measurement.outer_width > 0;
  const found = {
    page_covered: measurement.covered,
    page_translated: measurement.translated,
    page_zoom: stretched || Math.abs(measurement.zoom - 1) > ZOOM,
    pixel_ratio_changed: measurement.ratio !== ratio,
    low_pixel_ratio: measurement.ratio < 1,
    window_too_small: small,
    software_rendering: films && measurement.software === true,
  };
  return Object.keys(found).filter((flag) => found[flag]);
}

/** Collects flags of a reading: reasons to doubt what was visible, or the clock. */
export class ViewingConditions {
  #measure;
  #smallest;
  /** @type {WeakMap<Attempt, {ahead_ms: number, ratio: number, whole: boolean}>} */
  #began = new WeakMap();
  /** When the page last ran with the case visible. @type {number|null} */
  #ranAt = null;
  #lookedAt = -Infinity;

  /** @param {() => Measured} measure @param {() => number[]} [smallest] the study's smallest window, if it specifies
   * one */
  constructor(measure, smallest = () => []) {
    this.#measure = measure;
    this.#smallest = smallest;
  }

  /** The case becomes visible or hidden; the time in between does not count as a stall. */
  interrupt() {
    this.#ranAt = null;
    this.#lookedAt = -Infinity;
  }

  /**
   * Called several times a second, and at the commit.
   * @param {Attempt} attempt in sight, its clock running @param {number} now @param {number} epoch
   * @param {boolean} clear nothing covers the case
   */
  pass(attempt, now, epoch, clear) {
    this.#breathe(attempt, now);
    if (clear && now - this.#lookedAt >= LOOK_EVERY_MS) this.#look(attempt, now, epoch);
    const began = this.#began.get(attempt);
    if (began && Math.abs(epoch - now - began.ahead_ms) > DRIFT_MS) attempt.flag("clock_set");
  }

  /** Flags that are known only at the end. @param {Attempt} attempt @param {number} now */
  close(attempt, now) {
    const began = this.#began.get(attempt);
    if (this.#measure().translated) attempt.flag("page_translated");
    if (!attempt.item.views.length) return;
    if (began && !began.whole) attempt.flag("film_not_whole");
    if (unseen(attempt.item.views.length, attempt.inUse(now))) attempt.flag("view_not_shown");
  }

  /** Some monotonic clocks continue during a computer's sleep, which must not count as reading time. */
  #breathe(attempt, now) {
    const gap_ms = this.#ranAt === null ? 0 : now - this.#ranAt;
    if (gap_ms > ASLEEP_MS) {
      attempt.clock.setHidden(this.#ranAt, true);
      attempt.clock.setHidden(now, false);
      attempt.flag("asleep");
    } else if (gap_ms > STALL_MS) {
      attempt.flag("page_stalled");
    }
    this.#ranAt = now;
  }

  #look(attempt, now, epoch) {
    this.#lookedAt = now;
    const measurement = this.#measure();
    const began = this.#began.get(attempt) ?? { ahead_ms: epoch - now, ratio: measurement.ratio, whole: false };
    began.whole ||= measurement.whole;
    this.#began.set(attempt, began);
    const context = { films: attempt.item.views.length > 0, ratio: began.ratio, smallest: this.#smallest() };
    for (const flag of doubts(measurement, context)) attempt.flag(flag);
  }
}

/** Whether a view was never on the screen, according to the viewing times.
 *  @param {number} views @param {{[name: string]: number}} inUse as in the record */
function unseen(views, inUse) {
  const times = Array.from({ length: Math.min(views, MOST_VIEWS) }, (_, i) => inUse[`view_${i + 1}_ms`]);
  return times.some((ms) => ms > 0) && times.some((ms) => !ms);
}

/** @param {HTMLElement} root @param {{software: boolean|null}} renderer @param {boolean} translated
 *  @returns {Measured} */
export function measured(root, { software }, translated) {
  const place = find(root, ".rr-films").getBoundingClientRect();
  const { offsetLeft: left = 0, offsetTop: top = 0, width = innerWidth, height = innerHeight, scale = 1 } =
    window.visualViewport ?? {};
  const middle = { x: place.left + place.width / 2, y: place.top + place.height / 2 };
  return {
    inner: [window.innerWidth, window.innerHeight],
    outer_width: window.outerWidth,
    zoom: scale,
    ratio: window.devicePixelRatio || 1,
    film: [place.width, place.height],
    whole: place.left >= left - 1 && place.top >= top - 1
      && place.right <= left + width + 1 && place.bottom <= top + height + 1,
    covered: coveredAt(root, middle),
    translated,
    software,
  };
}

/** Whether a foreign element of this page covers the films; windows of other programs cannot be detected. */
function coveredAt(root, { x, y }) {
  const page = root.getRootNode();
  const topmost = page.elementFromPoint(x, y);
  if (topmost && !root.contains(topmost)) return true;
  // Hit testing ignores elements made inert by our modal dialog, although they may lie above it.
  return [...page.querySelectorAll(":is(dialog:modal, :popover-open)")].some((each) => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    return each !== root && !root.contains(each) && left <= x && x <= right && top <= y && y <= bottom;
  });
}

const KEEP_EVERY_MS = 1000;

/** Visibility, remaining time, and the checkpoint for a reload. */
export class CaseTimer {
  #connection;
  #overlays;
  #room;
  #surroundings;
  #keptAt = 0;
  /** The first frame of the latest case. @type {{position: number, t0: number}|null} */
  #firstFrame = null;
  /** The attempts of the case on the screen and of the case set aside. @type {Map<number, Attempt>} */
  #attempts = new Map();

  /** @param {Connection} connection @param {Overlays} overlays @param {() => Measured} measure
   *  @param {() => {shown: Shown|null, aside: Shown|null}} room the case on the screen, and the case set aside */
  constructor(connection, overlays, measure, room) {
    this.#connection = connection;
    this.#overlays = overlays;
    this.#room = room;
    this.#surroundings = new ViewingConditions(measure, () => connection.desk.rules.smallest_window);
  }

  /** A case comes to the screen, with its earlier clock. @param {Shown} shown */
  bring({ n, item, committed, resumed }) {
    const aside = this.#room().aside?.n;
    for (const each of this.#attempts.keys()) if (each !== n && each !== aside) this.#attempts.delete(each);
    if (committed || this.#attempts.has(n)) return;
    const kept = resumed ? this.#connection.storage.get("running") : null;
    this.#attempts.set(n, new Attempt(item, { readingId: newId(), kept }));
  }

  /** The case is painted. @param {number} t0 @returns {Attempt} */
  begin(t0) {
    const attempt = /** @type {Attempt} */ (this.live);
    attempt.away = false;
    this.#look(attempt, t0);
    attempt.begin(t0, epochAt(t0));
    if (attempt.item.aid?.content) this.aidShown(t0);
    if (attempt.item.stage !== 2) this.#firstFrame = { position: attempt.item.position, t0 };
    return attempt;
  }

  /** The model's answer is on the screen. In sequential reading its time counts from the first frame of stage 1, which a
   *  reload forgets. @param {number} now */
  aidShown(now) {
    const { live } = this;
    if (!live) return;
    const { position, stage } = live.item;
    const first = this.#firstFrame?.position === position ? this.#firstFrame : null;
    live.aidShown(stage === 2 ? first && now - first.t0 : live.clock.read(now).elapsed_ms);
  }

  /** The tab, or the case in it, may have been hidden or shown again. @param {number} now */
  look(now) {
    if (!this.live) return;
    this.#look(this.live, now);
    this.keep(now);
  }

  /** The case leaves the screen unfinished; from now on its time counts as hidden.
   *  @param {Shown} shown @param {number} now @param {string} [flag] a reason for doubt, if there is one */
  leave(shown, now, flag) {
    const attempt = this.#attempts.get(shown.n);
    if (!attempt) return;
    if (flag && attempt.clock.running) attempt.flag(flag);
    attempt.away = true;
    this.#look(attempt, now);
    this.#keep(shown, now);
  }

  /** @param {boolean} paused @param {number} now */
  setPaused(paused, now) {
    this.live?.clock.setPaused(now, paused);
    this.keep(now);
  }

  /** Store the state of the case on the screen, for a reload. @param {number} now */
  keep(now) {
    const { shown } = this.#room();
    if (shown) this.#keep(shown, now);
  }

  /** @param {number} now @returns {object|null} the state of the running case that must survive; null: no case was
   * begun */
  stands(now) {
    const { shown, aside } = this.#room();
    const running = aside ?? shown;
    return running && this.#stands(running, now);
  }

  /** Called several times a second. @param {number} now @returns {number|null} the remaining time; null without a
   * limit */
  tick(now) {
    const attempt = this.live;
    if (!attempt?.clock.running) return null;
    this.#attend(attempt, now);
    if (now - this.#keptAt >= KEEP_EVERY_MS) this.keep(now);
    const limit_ms = this.#connection.desk.rules.time_limit_s * 1000;
    return !limit_ms || attempt.item.reading ? null : limit_ms - attempt.clock.read(now).response_ms;
  }

  /** The case is confirmed, or its time limit has passed. @param {Shown} shown @param {number} now
   *  @param {"answered"|"skipped"|"timed_out"} status */
  record(shown, now, status) {
    const attempt = /** @type {Attempt} */ (this.#attempts.get(shown.n));
    this.#attend(attempt, now);
    this.#surroundings.close(attempt, now);
    return attempt.reading(now, epochAt(now), status, shown);
  }

  /** The attempt of the case on the screen until it is done. */
  get live() {
    const { shown } = this.#room();
    return shown && !shown.committed ? this.#attempts.get(shown.n) : undefined;
  }

  #look(attempt, now) {
    // No case can be read behind a sheet that only the server can close.
    attempt.clock.setHidden(now, this.#hides(attempt));
    this.#surroundings.interrupt();
  }

  #keep(shown, now) {
    const stands = this.#stands(shown, now);
    if (!stands) return;
    this.#keptAt = now;
    this.#connection.storage.put("running", stands);
  }

  #stands(shown, now) {
    const attempt = this.#attempts.get(shown.n);
    const begun = attempt?.clock.running && !shown.item.reading && !shown.committed;
    return begun ? attempt.keep(now, epochAt(now), shown) : null;
  }

  #attend(attempt, now) {
    if (this.#hides(attempt) || attempt.clock.paused) this.#surroundings.interrupt();
    else this.#surroundings.pass(attempt, now, epochAt(now), !this.#overlays.open);
  }

  #hides(attempt) {
    return document.hidden || attempt.away || this.#overlays.blocked;
  }
}
