/** The reading room: the machine that says what is to be done, and the effects that do it. */

import { feedbackShown } from "./deciding.js";
import { effectsOf } from "./effects.js";
import { OneWindow } from "../delivery/one-window.js";
import { START, step } from "./machine.js";
import { texts } from "../page/texts.js";

/** @import { Parts } from "./effects.js" */
/** @import { Effect, Event, Happening } from "./machine.js" */

export class Room {
  state = START;
  #parts;
  #effects;
  /** What happened and was not gone into yet. @type {Event[]} */
  #events = [];
  #busy = false;
  /** @type {OneWindow|undefined} */
  #window;

  /** @param {Parts} parts */
  constructor(parts) {
    this.#parts = parts;
    this.#effects = effectsOf(this, parts);
  }

  /** Whether the reader may see and handle the film. */
  get filmShown() { return this.state.phase === "ready" || feedbackShown(this.state); }

  /** What happens while something is being done waits for its turn. An effect that fails keeps back none that follows:
   *  it may be a line of words, and the next one the case.
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

  /** @param {() => void} opened it is known who reads */
  async open(opened) {
    const { connection, overlays, panel, renderer } = this.#parts;
    this.#effects.doings.enter({ do: "enter", phase: "loading" });
    panel.showLoading(texts.loading.opening);
    if (!(await connection.open())) return;
    opened();
    await renderer.opened;
    this.#window = new OneWindow(connection, overlays, {
      goOn: () => this.send({ is: "goOn", kept: connection.storage.get("feedback"), epoch: Date.now() }),
      wait: (text) => panel.showLoading(text),
      handOver: () => this.#handOver(),
      finished: () => this.state.phase === "finished",
    });
    this.outboxChanged();
    this.#window.enter();
  }

  /** The page is being left. @param {boolean} asleep it may come back as it is */
  leave(asleep) {
    this.#effects.timer.keep(performance.now());
    if (asleep) this.#window?.sleep();
    this.#window?.leave();
  }

  /** The page is back as it was left. */
  comeBack() {
    this.#window?.enter(true);
  }

  /** The tab, or the case in it, may have been hidden or shown again. @param {number} now */
  visibility(now) {
    this.#window?.look();
    this.#effects.timer.look(now);
  }

  /** Some times a second. @param {number} now */
  tick(now) {
    this.#effects.tick(now);
  }

  /** The reader moved a hand. */
  touched() {
    if (this.state.untouched || this.state.shown?.touched === false) this.send({ is: "touched" });
  }

  /** @param {string} tool */
  used(tool) {
    if (this.state.phase === "ready") this.#effects.timer.used(tool);
  }

  /** @param {string[]} uses views and tools in use from now on @param {number} now */
  looking(uses, now) {
    this.#effects.timer.looking(uses, now);
  }

  outboxChanged() {
    const { root, panel, connection: { outbox } } = this.#parts;
    root.dataset.outbox = String(outbox.readings.length);
    panel.showOutbox(outbox.state);
  }

  /** Answers were refused as they came, not one by one. @param {string} text */
  notTaken(text) {
    this.send({ is: "trouble", text });
    this.#parts.panel.toast(text);
  }

  /** @returns {object|null} where the running case stands, for the window that reads on */
  #handOver() {
    const stands = this.#effects.timer.stands(performance.now());
    this.send({ is: "handOver" });
    return stands;
  }
}
