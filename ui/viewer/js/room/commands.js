/** The effect of each key and tool button, and the keys without an effect. */

import { around } from "../page/elements.js";
import { asksWords } from "../page/question-panel.js";
import { actionInWords, actionOf } from "../page/keys.js";
import { settingsSheet } from "../page/storage.js";
import { windowSheet } from "./window-sheet.js";

/** @import { FilmViewer } from "../viewer/film-viewer.js" */
/** @import { Action } from "../page/keys.js" */
/** @import { Overlays, StepSheet } from "../page/overlays.js" */
/** @import { QuestionPanel } from "../page/question-panel.js" */
/** @import { MoreTools } from "../page/more-tools.js" */
/** @import { Rules } from "../page/types.js" */
/** @import { Room } from "./room.js" */
/** @import { Settings } from "../page/storage.js" */

const PAN_PX = 60;
const LEVEL_PX = 16;
const GLASS_PX = 24;
const ZOOM_STEP = 1.2;
const NATIVE = ["confirm", "scroll", "pan", "level", "back"];
const FILM = ["pan", "level", "zoomIn", "zoomOut", "preset", "typedWindow", "invert", "reset", "fit", "actualSize", "view", "flip",
  "rotate", "swap", "compare", "glass", "measure", "heart", "angle", "region", "otherEnd", "newLine", "remove"];
// Commands for the question show it again if it is hidden; Enter and Esc do nothing else then.
const QUESTION = ["select", "digit", "confirm", "giveUp", "comment", "faulty", "aid", "scroll", "back", "close"];

export class Commands {
  #parts;

  /** @param {{root: HTMLElement, room: Room, viewer: FilmViewer, panel: QuestionPanel, overlays: Overlays, sheet:
   *  StepSheet, settings: Settings, more: MoreTools}} parts */
  constructor(parts) {
    this.#parts = parts;
  }

  /** Listens in the capture phase of the window, because Streamlit has its own shortcuts. @param {KeyboardEvent}
   * event */
  key(event) {
    const { target } = event;
    const choosing = target instanceof HTMLElement && target.matches("input[type=radio]");
    const writing = !choosing && target instanceof HTMLElement && target.matches("input, textarea, select");
    const answering = writing && target.matches(".rr-answer textarea");
    const action = answering ? actionInWords(event) : actionOf(event);
    if (this.#parts.sheet.open && !this.#parts.overlays.open) {
      this.#onSheet(event, action, writing);
      return;
    }
    const confirms = writing && target.matches(".rr-reason-text, .rr-answer textarea") && action?.do === "confirm";
    if (!action || (writing && action.do !== "close" && !confirms)) return;
    if (action.do === "scroll" && this.#parts.overlays.open) return; // the browser scrolls the sheet
    if (action.do === "confirm" && meansItself(target)) return;
    if (action.do === "pan" && choosing) return;
    swallow(event);
    if (event.repeat && !action.repeats) return;
    if (writing && (!confirms || answering)) target.blur(); // the following digits mean the confidence
    // Esc leaves a field of the question; in a sheet it closes the sheet.
    if (!writing || confirms || this.#parts.overlays.open) this.run({ ...this.#meant(action), held: event.repeat }, event.timeStamp);
  }

  /** During the preparation the sheet receives the keys, then the browser: Tab, arrows, pages. */
  #onSheet(event, action, writing) {
    if (this.#parts.sheet.key(event)) {
      swallow(event);
    } else if (action?.do === "close" || (action?.do === "confirm" && event.repeat)) {
      swallow(event); // Esc would close the room's dialog; Enter held down would press each new button
    } else if (action && !writing && !NATIVE.includes(action.do)) {
      swallow(event); // Streamlit binds shortcuts to letters
      if (["help", "theme"].includes(action.do) && !event.repeat) this.run(action, event.timeStamp);
    }
  }

  /** While measuring, the key for going back removes the last line. The button still goes back.
   *  @param {Action} action @returns {Action} */
  #meant(action) {
    const removes = action.do === "back" && this.#parts.viewer.measure.on && this.#parts.room.filmShown && !this.#parts.overlays.open;
    return removes ? { do: "remove" } : action;
  }

  /** @param {Action} action @param {number} now */
  run(action, now) {
    const sheet = this.#parts.overlays.open;
    if (sheet) {
      const closes = action.do === "close" || (this.#parts.overlays.optional && action.do === sheet);
      if (closes && !this.#parts.overlays.blocked) this.#parts.overlays.close();
      return;
    }
    if (QUESTION.includes(action.do) && this.#unfold() && ["confirm", "close"].includes(action.do)) return;
    if (FILM.includes(action.do)) {
      if (this.#parts.room.filmShown) this.#onFilm(action);
    } else {
      this.#onPage(action, now);
    }
  }

  #onPage(action, now) {
    const room = this.#parts.room;
    switch (action.do) {
      case "select": room.send({ is: "letter", letter: action.letter ?? "" }, now); break;
      case "digit": room.send({ is: "digit", number: action.number ?? 0 }, now); break;
      case "confirm":
        if (room.state.phase !== "loading" || !this.#parts.overlays.enter()) room.send({ is: "confirm" }, now);
        break;
      case "pause": room.send({ is: "pause" }, now); break;
      case "back": room.send({ is: "back" }); break;
      case "close": this.#escape(); break;
      case "giveUp": room.send({ is: "giveUp" }); break;
      case "comment": if (room.state.phase === "ready" && !room.state.reasons) this.#parts.panel.focusComment(); break;
      case "faulty": room.send({ is: "faulty" }); break;
      case "aid":
        if (room.state.shown?.item.aid?.content) this.#parts.viewer.toggleMarks();
        else room.send({ is: "aid" }, now);
        break;
      case "scroll": this.#parts.panel.scroll(action.down); break;
      case "help": this.#help(); break;
      case "theme": this.#parts.settings.turn("panel"); break;
      case "link": this.#link(); break;
      case "settings": this.#set(); break;
      case "more": if (room.filmShown) this.#parts.more.toggle(); break;
      case "question": if (!this.#unfold() && room.filmShown) this.#parts.root.dataset.panel = "strip"; break;
      default: break;
    }
  }

  /** @param {Action} action */
  #onFilm({ do: what, number, right = 0, down = 0, held = false }) {
    const viewer = this.#parts.viewer;
    switch (what) {
      case "pan": this.#arrow(right, down, held); break;
      case "level": viewer.level(right * LEVEL_PX, down * LEVEL_PX); this.#parts.room.used("window"); break;
      case "zoomIn": viewer.zoom(ZOOM_STEP); this.#parts.room.used("zoom"); break;
      case "zoomOut": viewer.zoom(1 / ZOOM_STEP); this.#parts.room.used("zoom"); break;
      case "preset": number === undefined ? viewer.nextPreset() : viewer.preset(number); break;
      case "typedWindow": this.#typeWindow(); break;
      case "invert": viewer.invert(); break;
      case "reset": this.#parts.panel.settle(); viewer.reset(); break;
      case "fit": viewer.fit(); break;
      case "actualSize": viewer.actualSize(); break;
      case "flip": viewer.flip(); break;
      case "rotate": viewer.rotate(); break;
      case "swap": viewer.swap(); break;
      case "compare": viewer.compare(); break;
      case "glass": viewer.toggleMagnifier(); break;
      case "measure": viewer.measure.toggle(); break;
      case "heart": viewer.measure.heart(); break;
      case "angle": case "region": viewer.measure.toggle(what); break;
      case "otherEnd": viewer.measure.other(); break;
      case "newLine": viewer.measure.another(); break;
      case "remove": viewer.measure.remove(); break;
      default: viewer.nextView();
    }
  }

  #link() {
    if (Number(this.#parts.root.dataset.films) < 2) return;
    this.#parts.settings.turn("views");
    this.#parts.room.used("link");
  }

  #set() {
    this.#parts.overlays.sheet("settings", settingsSheet(this.#parts.settings, () => this.#parts.overlays.close()));
  }

  #typeWindow() {
    const { overlays, viewer } = this.#parts;
    const typed = viewer.typedWindow;
    if (!typed) return;
    const { children, first } = windowSheet(typed, () => overlays.close());
    overlays.sheet("typedWindow", children);
    first.select();
  }

  /** Arrows move the last tool in use: a measured end, the glass, or the film. */
  #arrow(right, down, held) {
    const viewer = this.#parts.viewer;
    if (viewer.measure.on) viewer.measure.step(right, down, held);
    else if (viewer.magnifying) viewer.moveMagnifier(right * GLASS_PX, down * GLASS_PX);
    else {
      viewer.pan(-right * PAN_PX, -down * PAN_PX);
      this.#parts.room.used("pan");
    }
  }

  /** Esc closes the menu, or ends the last tool in use. */
  #escape() {
    const { room, viewer, more } = this.#parts;
    if (!room.filmShown) return;
    if (more.open) more.close();
    else if (room.state.reasons) room.send({ is: "giveUp" });
    else if (viewer.measure.on || !viewer.measure.empty) viewer.measure.clear();
    else if (viewer.magnifying) viewer.toggleMagnifier();
  }

  /** Unfold the question's panel. @returns {boolean} whether it was folded */
  #unfold() {
    const folded = this.#parts.root.dataset.panel === "strip";
    delete this.#parts.root.dataset.panel;
    return folded;
  }

  #help() {
    const { shown, facts } = this.#parts.room.state;
    const options = shown?.item.options ?? [];
    const n = options.length || 4;
    const rules = /** @type {Partial<Rules>} */ (facts?.desk?.rules ?? {});
    const { confidence_steps: steps = 0, back_navigation: back, comments, fault_marks: marks, cannot_answer: skips, numbered } = rules;
    const last = options.at(-1)?.option ?? "D";
    this.#parts.overlays.help({
      letters: numbered ? "" : `A – ${last}`, digits: `1 – ${n}`, words: Boolean(shown && asksWords(shown.item)), steps, back, comments, marks, skips,
      aid: Boolean(shown?.item.aid), ...this.#parts.settings.values,
    });
  }
}

/** @param {KeyboardEvent} event that no other listener should receive */
function swallow(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** Enter presses a focused button or link that is not an answer. */
function meansItself(target) {
  const button = around(target, ".reading-room :is(button, a)");
  return button !== null && !button.matches(".rr-confirm, .rr-case [aria-pressed=true]");
}
