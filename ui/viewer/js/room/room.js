/** The reading room: runs the state machine and carries out its effects. */

import { absolute } from "../page/overlays.js";
import { askForLastReview, Preparation, SmallestWindow } from "../steps/preparation.js";
import { CaseTimer, measured } from "../case/case-timer.js";
import { element, epochAt } from "../page/elements.js";
import { feedbackShown, halted, reasonOf, reasonsOffered, wantsWords } from "./deciding.js";
import { HERE, START, step } from "./machine.js";
import { newId } from "../page/storage.js";
import { OneWindow } from "../delivery/one-window.js";
import { texts } from "../page/texts.js";

/** @import { CannotAnswer, QuestionPanel } from "../page/question-panel.js" */
/** @import { CaseDisplay } from "../case/case-display.js" */
/** @import { Connection } from "../delivery/connection.js" */
/** @import { FilmRenderer } from "../film/film-renderer.js" */
/** @import { Apart, Overlays, StepSheet } from "../page/overlays.js" */
/** @import { Case, Shown } from "../page/types.js" */
/** @import { Effect, Event, Facts, Happening, Phase, State } from "./machine.js" */

/** @typedef {{root: HTMLElement, panel: QuestionPanel, display: CaseDisplay, renderer: FilmRenderer, overlays: Overlays,
 *   sheet: StepSheet, cannotAnswer: CannotAnswer, connection: Connection,
 *   apart: Apart|null}} Parts  apart: if the page does not belong to a study */
/** @typedef {{[Do in Effect["do"]]: (effect: Extract<Effect, {do: Do}>) => void}} Doings  each effect has a method */

const STEPS = ["begin"]; // curtains that are also a step before the first case

/**
 * Carries out the machine's effects in order, on the page, the films, the outbox and the storage.
 * @param {Room} room @param {Parts} parts
 * @returns {{doings: Doings, timer: CaseTimer, facts: () => Facts, tick: (now: number) => void}}  tick: several times a
 * second
 */
export function effectsOf(room, parts) {
  const { root, panel, display, renderer, connection, overlays, sheet, cannotAnswer, apart } = parts;
  const timer = new CaseTimer(connection, overlays, () => measured(root, renderer.graphics, panel.translated), () => room.state);
  const preparation = new Preparation(parts, connection, (step) => room.send({ is: "stepDone", step }));
  const smallestWindow = new SmallestWindow(parts, apart ? () => room.send({ is: "anyway" }) : null);
  /** @type {ReturnType<typeof setTimeout>|null} */
  let asking = null;
  // A page without a case is drawn only once, so that text selected on it stays selected.
  let resting = "";

  /** The current facts; without a desk until it is open. @returns {Facts} */
  const facts = () => {
    const { desk, outbox, storage } = connection;
    return {
      desk, unsent: outbox?.records ?? [], running: storage?.get("running"), condition: storage?.get("condition"),
      been: Boolean(storage?.get(HERE)), size: [window.innerWidth, window.innerHeight],
    };
  };

  /** @param {number} now */
  const tick = (now) => {
    panel.warnOfTranslation();
    const left_ms = timer.tick(now);
    if (left_ms === null) return;
    panel.showCountdown(Math.max(0, Math.ceil(left_ms / 1000)));
    if (left_ms <= 0) room.send({ is: "timeUp" }, now);
  };

  const pause = () => room.send({ is: "pause" });

  /** @param {number} position @returns {Promise<Case|null>} null: not available */
  const earlier = (position) => connection.earlier(position).catch(() => null);

  /** @param {Shown} shown @returns {Promise<Case|null>} the case with new addresses of its films */
  const freshen = async ({ n, item }) => {
    if (!item.reading) await connection.refresh();
    const fresh = item.reading ? await earlier(item.position)
      : connection.desk.cases.find((each) => each.case === item.case) ?? null;
    room.send({ is: "freshened", n, views: fresh?.views ?? null });
    return fresh;
  };

  /** @type {Doings} */
  const doings = {
    enter: ({ phase }) => {
      sign(root, room.state, phase, connection.desk?.total);
      panel.openAnswer(phase === "ready");
      // The feedback is read out separately.
      if (!feedbackShown(room.state)) panel.say(phase === "ready" ? panel.position : texts.said[phase]);
    },
    welcome: () => {
      const { desk } = connection;
      panel.showReader(desk);
      root.dataset.back = String(desk.rules.back_navigation);
      root.dataset.cannotAnswer = String(Boolean(desk.rules.cannot_answer));
      panel.showRenderer(renderer.graphics.name);
    },

    present: ({ shown }) => {
      timer.bring(shown);
      panel.showPosition(shown.item, connection.desk);
      panel.showCountdown(null);
      display.bring(shown, connection.desk.rules, () => freshen(shown),
        (frame) => room.send({ is: "painted", n: shown.n }, frame));
    },
    begin: ({ now }) => {
      const attempt = timer.begin(now);
      if (attempt.unrecorded) connection.outbox.put(attempt.presentation(newId(), circumstances(renderer.graphics)));
      connection.outbox.flush();
      timer.keep(now);
      tick(now);
    },
    leave: ({ shown, now, flag }) => timer.leave(shown, now, flag),
    clear: () => {
      display.clear();
      panel.showCountdown(null);
    },
    filmsLost: () => display.lost(),
    prefetch: ({ beside, coming }) => display.prefetch(beside, coming),

    chosen: ({ option, confidence, changed, now }) => {
      if (changed) timer.live?.choose(option, now);
      panel.showChoice(option);
      panel.showConfidence(confidence);
      panel.hint("");
      panel.say(texts.said.chosen(panel.keyOf(option)));
      timer.keep(now);
    },
    written: ({ now }) => {
      timer.live?.written(now);
      panel.showChoice(null);
      panel.hint("");
      timer.keep(now);
    },
    answerField: () => panel.focusAnswer(),
    mark: ({ faulty }) => {
      panel.showMark(faulty);
      panel.say(texts.said.faulty(faulty));
    },
    sure: ({ step }) => {
      panel.showConfidence(step);
      panel.hint("");
      panel.say(texts.said.sure(step, connection.desk.rules.confidence_steps));
    },
    reasons: ({ reasons, option }) => {
      panel.hint("");
      if (reasons) {
        const offered = room.state.shown ? reasonsOffered(room.state.shown.item) : [];
        cannotAnswer.show(reasons, { offered, ownWords: wantsWords(reasons.chosen), complete: Boolean(reasonOf(reasons)) });
      } else {
        cannotAnswer.leave();
        panel.showChoice(option);
      }
    },
    reset: () => {
      panel.leaveFields();
      cannotAnswer.leave();
    },
    submit: ({ shown, status, reason, now }) => {
      const record = { ...timer.record(shown, now, status), ...(reason && { reason }) };
      connection.outbox.put(record);
      room.send({ is: "recorded", record });
    },
    requestAid: ({ item, now }) => {
      connection.outbox.put({ kind: "aid request", id: newId(), case: item.case, epoch_ms: epochAt(now) });
      connection.outbox.flush();
      panel.awaitAid();
    },
    showAid: ({ item }) => display.showAid(item, (frame) => {
      timer.aidShown(frame);
      timer.keep(frame);
    }),
    offerAid: ({ item }) => panel.showAid(item),
    feedback: ({ reference, record }) => panel.showFeedback(reference, record),

    put: ({ record }) => connection.outbox.put(record),
    flush: () => connection.outbox.flush(),
    retryNow: () => connection.outbox.retryNow(),
    remember: ({ name, value }) => { connection.storage.put(name, value); },
    forget: ({ name }) => connection.storage.drop(name),
    fetch: async ({ position }) => room.send({ is: "fetched", position, item: await earlier(position) }),
    recheck: async ({ n, position, id }) => room.send({ is: "corrected", n, id, item: await earlier(position) }),
    askAgain: ({ ms }) => {
      asking ??= setTimeout(async () => {
        await connection.refresh();
        asking = null;
        room.send({ is: "another" });
      }, ms);
    },

    setPaused: ({ paused, now }) => timer.setPaused(paused, now),
    curtain: () => {
      const { title, text, button } = texts.paused;
      overlays.showCurtain({ title, text }, { label: button, run: pause }).focus({ preventScroll: true });
    },
    halt: ({ halt: { name, title, text, button } }) => {
      panel.showLoading("");
      const key = name === "absent" ? "" : texts.keys.enter;
      overlays.showCurtain({ title, text }, { label: button, run: pause, key });
    },
    uncover: () => {
      resting = "";
      overlays.hideCurtain();
    },
    hold: () => {
      const { desk } = connection;
      const { title, lines } = texts.holds[desk.hold](desk);
      panel.showLoading("");
      const words = JSON.stringify([title, lines, desk.receipt]);
      if (words !== resting) overlays.rest(title, lines, desk);
      resting = words;
    },
    finish: () => {
      const { desk, storage, outbox } = connection;
      display.prefetch([], []);
      root.dataset.position = String(desk.total);
      outbox.forget();
      for (const name of storage.names("")) storage.drop(name);
      const { title, text, scoreCard, place, nothingLeft } = texts.finished;
      const { feedback, score_card: card } = desk.rules;
      const later = feedback === "never" ? "" : card === "peers" ? `${scoreCard} ${place}` : scoreCard;
      const lines = [text(desk.read, desk.study), desk.debriefing ?? "", later, nothingLeft];
      overlays.close();
      if (apart && apart.of !== "preview") {
        location.assign(absolute(apart.leave_url)); // the result is shown there
        return;
      }
      overlays.rest(title, lines, desk, apart ? [] : [readingRecord()]);
    },

    window: () => smallestWindow.show(facts().size, connection.desk.rules.smallest_window),
    steps: ({ steps, hint }) => preparation.show(steps, hint),
    review: () => askForLastReview(sheet, connection.desk.total, {
      back: () => room.send({ is: "review" }),
      finish: () => {
        connection.outbox.put({ kind: "finish", id: newId() });
        room.send({ is: "next" });
      },
    }),
    closeSheet: () => sheet.close(),
    closeHelp: () => { if (overlays.optional) overlays.close(); },

    hint: ({ text }) => panel.hint(text),
    toast: ({ text }) => panel.toast(text),
    say: ({ text }) => panel.say(text),
    loading: ({ text }) => panel.showLoading(text),
    trouble: ({ text }) => panel.showTrouble(text),
  };
  return { doings, timer, facts, tick };
}

/** The attributes of the root that describe the room, for styles, tests and other tools.
 *  @param {HTMLElement} root @param {State} state @param {Phase} phase @param {number} [total] cases */
function sign(root, state, phase, total) {
  const { dataset } = root;
  const item = state.shown?.item;
  const halt = halted(state);
  if (total) dataset.total = String(total);
  if (item) dataset.position = item.practice ? "0" : String(item.position);
  dataset.practice = String(Boolean(item?.practice));
  dataset.halt = halt;
  if (STEPS.includes(halt)) dataset.step = halt;
  else if (STEPS.includes(dataset.step ?? "")) delete dataset.step;
  dataset.feedback = String(feedbackShown(state));
  dataset.state = phase;
  signTools(root, phase, feedbackShown(state));
}

/** Enable tools: none without a film on the screen, and no pause during feedback.
 *  @param {HTMLElement} root @param {Phase} phase @param {boolean} feedback */
function signTools(root, phase, feedback) {
  for (const tool of root.querySelectorAll(".rr-tools button")) {
    const { command } = /** @type {HTMLElement} */ (tool).dataset;
    const idle = command === "pause" ? phase === "loading" || feedback
      : command !== "help" && phase !== "ready" && !feedback;
    tool.setAttribute("aria-disabled", String(idle));
  }
}

/** The link to the record of reading, which opens in another window. */
function readingRecord() {
  const link = element("a", texts.finished.record, "rr-record");
  link.href = "reading-record";
  link.target = "_blank";
  link.rel = "noopener";
  return link;
}

/** The display environment, recorded with each presentation to explain unusual readings.
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

export class Room {
  state = START;
  #parts;
  #effects;
  /** Events that are not processed yet. @type {Event[]} */
  #events = [];
  #busy = false;
  /** @type {OneWindow|undefined} */
  #window;

  /** @param {Parts} parts */
  constructor(parts) {
    this.#parts = parts;
    this.#effects = effectsOf(this, parts);
  }

  /** Whether the reader may see and use the film. */
  get filmShown() { return this.state.phase === "ready" || feedbackShown(this.state); }

  /** Events during an effect wait for their turn. A failed effect does not prevent the following effects.
   *  @param {Happening} happening @param {number} [now] when, on the monotonic clock */
  send(happening, now = performance.now()) {
    this.#events.push({ ...happening, now });
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let event; (event = this.#events.shift());) {
        const { state, effects } = step({ ...this.state, facts: this.#effects.facts() }, event);
        this.state = state;
        for (const effect of effects) {
          try {
            /** @type {(effect: Effect) => void} */ (this.#effects.doings[effect.do])(effect);
          } catch (error) {
            reportError(error);
          }
        }
      }
    } finally {
      this.#busy = false;
    }
  }

  /** @param {() => void} opened called when the reader is known */
  async open(opened) {
    const { connection, overlays, panel, renderer } = this.#parts;
    this.#effects.doings.enter({ do: "enter", phase: "loading" });
    panel.showLoading(texts.loading.opening);
    if (!(await connection.open())) return;
    opened();
    await renderer.opened;
    this.#window = new OneWindow(connection, overlays, {
      readHere: () => this.send({ is: "readHere", kept: connection.storage.get("feedback"), epoch: Date.now() }),
      wait: (text) => panel.showLoading(text),
      handOver: () => this.#handOver(),
      finished: () => this.state.phase === "finished",
    });
    this.outboxChanged();
    this.#window.enter();
  }

  /** The page is being left. @param {boolean} asleep the page may be restored */
  leave(asleep) {
    this.#effects.timer.keep(performance.now());
    if (asleep) this.#window?.sleep();
    this.#window?.leave();
  }

  /** The page was restored. */
  comeBack() {
    this.#window?.enter(true);
  }

  /** The tab, or the case in it, may have been hidden or shown again. @param {number} now */
  visibility(now) {
    this.#window?.look();
    this.#effects.timer.look(now);
  }

  /** Called several times a second. @param {number} now */
  tick(now) {
    this.#effects.tick(now);
  }

  /** The reader pressed a key or moved the mouse. */
  touched() {
    if (this.state.untouched || this.state.shown?.touched === false) this.send({ is: "touched" });
  }

  /** @param {string} tool */
  used(tool) {
    if (this.state.phase === "ready") this.#effects.timer.live?.used(tool);
  }

  /** @param {string[]} uses views and tools in use from now on @param {number} now */
  recordUse(uses, now) {
    this.#effects.timer.live?.recordUse(uses, now);
  }

  outboxChanged() {
    const { root, panel, connection: { outbox } } = this.#parts;
    root.dataset.outbox = String(outbox.readings.length);
    panel.showOutbox(outbox.state);
  }

  /** The server refused a complete message, not single answers. @param {string} text */
  notTaken(text) {
    this.send({ is: "trouble", text });
    this.#parts.panel.toast(text);
  }

  /** @returns {object|null} the state of the running case, for the window that continues */
  #handOver() {
    const stands = this.#effects.timer.stands(performance.now());
    this.send({ is: "handOver" });
    return stands;
  }
}
