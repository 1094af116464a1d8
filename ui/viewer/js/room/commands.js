/** What each key and each tool button does, and which keys are left alone. */

import { actionOf } from "../page/keys.js";
import { settingsSheet } from "../page/settings-sheet.js";

const PAN_PX = 60;
const LEVEL_PX = 16;
const GLASS_PX = 24;
const ZOOM_STEP = 1.2;
const NATIVE = ["confirm", "scroll", "pan", "level", "back"];
const FILM = ["pan", "level", "zoomIn", "zoomOut", "preset", "invert", "reset", "fit", "actualSize", "view", "flip",
  "swap", "glass", "measure", "otherEnd", "newLine", "remove"];
// What is asked of the question brings it back to the screen; Enter and Esc do no more than that.
const QUESTION = ["select", "digit", "confirm", "giveUp", "comment", "scroll", "back", "close"];

export class Commands {
  #room;
  #picture;
  #panel;
  #overlays;
  #root;
  #sheet;
  #settings;

  /** @param {{root: HTMLElement, room: import("./room.js").Room, picture: import("../viewer/picture.js").Picture,
   *   panel: import("../page/panel.js").Panel, overlays: import("../page/overlays.js").Overlays,
   *   sheet: import("../page/step-sheet.js").StepSheet, settings: import("../page/settings.js").Settings}} parts */
  constructor({ root, room, picture, panel, overlays, sheet, settings }) {
    this.#sheet = sheet;
    this.#settings = settings;
    this.#root = root;
    this.#room = room;
    this.#picture = picture;
    this.#panel = panel;
    this.#overlays = overlays;
  }

  /** Listens in the capture phase of the window: Streamlit has shortcuts of its own. @param {KeyboardEvent} event */
  key(event) {
    const { target } = event;
    const choosing = target instanceof HTMLElement && target.matches("input[type=radio]");
    const writing = !choosing && target instanceof HTMLElement && target.matches("input, textarea, select");
    const action = actionOf(event);
    if (this.#sheet.open && !this.#overlays.open) {
      this.#onSheet(event, action, writing);
      return;
    }
    const givesReason = writing && target.matches(".rr-reason-text") && action?.do === "confirm";
    if (!action || (writing && action.do !== "close" && !givesReason)) return;
    if (action.do === "scroll" && this.#overlays.open) return; // the browser scrolls the sheet
    if (action.do === "confirm" && meansItself(target)) return;
    if (action.do === "pan" && choosing) return;
    swallow(event);
    if (event.repeat && !action.repeats) return;
    if (writing && !givesReason) target.blur();
    else this.run({ ...this.#meant(action), held: event.repeat }, event.timeStamp);
  }

  /** During the preparation the sheet has the keys, then the browser: Tab, arrows, pages. */
  #onSheet(event, action, writing) {
    if (this.#sheet.key(event)) {
      swallow(event);
    } else if (action?.do === "close" || (action?.do === "confirm" && event.repeat)) {
      swallow(event); // Esc would close the dialog that is the room; Enter held down presses each button that comes
    } else if (action && !writing && !NATIVE.includes(action.do)) {
      swallow(event); // Streamlit has shortcuts on letters
      if (["help", "theme"].includes(action.do) && !event.repeat) this.run(action, event.timeStamp);
    }
  }

  /** While lines are measured, the key that goes back takes the last one away. The button still goes back.
   *  @param {import("../page/keys.js").Action} action @returns {import("../page/keys.js").Action} */
  #meant(action) {
    const removes = action.do === "back" && this.#picture.tape.on && this.#room.filmShown && !this.#overlays.open;
    return removes ? { do: "remove" } : action;
  }

  /** @param {import("../page/keys.js").Action} action @param {number} now */
  run(action, now) {
    const sheet = this.#overlays.open;
    if (sheet) {
      const closes = action.do === "close" || (["help", "settings"].includes(sheet) && action.do === sheet);
      if (closes && !this.#overlays.blocked) this.#overlays.close();
      return;
    }
    if (QUESTION.includes(action.do) && this.#unfold() && ["confirm", "close"].includes(action.do)) return;
    if (FILM.includes(action.do)) {
      if (this.#room.filmShown) this.#onFilm(action);
    } else {
      this.#onPage(action, now);
    }
  }

  #onPage(action, now) {
    const room = this.#room;
    switch (action.do) {
      case "select": room.answering.choose(action.letter, now); break;
      case "digit": room.answering.digit(action.number, now); break;
      case "confirm": if (room.state !== "loading" || !this.#overlays.enter()) room.confirm(now); break;
      case "pause": room.pause(now); break;
      case "back": room.back(); break;
      case "close": this.#escape(); break;
      case "giveUp": room.answering.giveUp(); break;
      case "comment": if (room.state === "ready" && !room.answering.givingUp) this.#panel.focusComment(); break;
      case "scroll": this.#panel.scroll(action.down); break;
      case "help": this.#help(); break;
      case "theme": this.#settings.turn("panel"); break;
      case "link": this.#link(); break;
      case "settings": this.#set(); break;
      case "question": if (!this.#unfold() && room.filmShown) this.#root.dataset.panel = "strip"; break;
      default: break;
    }
  }

  #onFilm({ do: what, right, down, held }) {
    const picture = this.#picture;
    switch (what) {
      case "pan": this.#arrow(right, down, held); break;
      case "level": picture.level(right * LEVEL_PX, down * LEVEL_PX); this.#room.used("window"); break;
      case "zoomIn": picture.zoom(ZOOM_STEP); this.#room.used("zoom"); break;
      case "zoomOut": picture.zoom(1 / ZOOM_STEP); this.#room.used("zoom"); break;
      case "preset": picture.nextPreset(); break;
      case "invert": picture.invert(); break;
      case "reset": picture.reset(); break;
      case "fit": picture.fit(); break;
      case "actualSize": picture.actualSize(); break;
      case "flip": picture.flip(); break;
      case "swap": picture.swap(); break;
      case "glass": picture.toggleGlass(); break;
      case "measure": picture.tape.toggle(); break;
      case "otherEnd": picture.tape.other(); break;
      case "newLine": picture.tape.another(); break;
      case "remove": picture.tape.remove(); break;
      default: picture.nextView();
    }
  }

  #link() {
    if (Number(this.#root.dataset.films) < 2) return;
    this.#settings.turn("views");
    this.#room.used("link");
  }

  #set() {
    this.#overlays.sheet("settings", settingsSheet(this.#settings, () => this.#overlays.close()));
  }

  /** Arrows move what was taken up last: a measured end, the glass, or the film. */
  #arrow(right, down, held) {
    const picture = this.#picture;
    if (picture.tape.on) picture.tape.step(right, down, held);
    else if (picture.magnifying) picture.moveGlass(right * GLASS_PX, down * GLASS_PX);
    else {
      picture.pan(-right * PAN_PX, -down * PAN_PX);
      this.#room.used("pan");
    }
  }

  /** Esc puts down what was taken up last. */
  #escape() {
    const picture = this.#picture;
    if (this.#room.answering.stepBack() || !this.#room.filmShown) return;
    if (picture.tape.on || !picture.tape.empty) picture.tape.clear();
    else if (picture.magnifying) picture.toggleGlass();
  }

  /** The question's panel, if it is a strip, is whole again. @returns {boolean} whether it was a strip */
  #unfold() {
    const folded = this.#root.dataset.panel === "strip";
    delete this.#root.dataset.panel;
    return folded;
  }

  #help() {
    const options = this.#room.sitting?.item.options ?? [];
    const n = options.length || 4;
    const rules = this.#room.rules ?? {};
    const { confidence_steps: steps = 0, back_navigation: back, comments, cannot_answer: skips } = rules;
    const last = options.at(-1)?.option ?? "D";
    this.#overlays.help({
      letters: `A – ${last}`, digits: `1 – ${n}`, steps, back, comments, skips, ...this.#settings.values,
    });
  }
}

/** @param {KeyboardEvent} event that nobody else is to see */
function swallow(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** Enter on a button or link that the focus was taken to, and that is not the answer, presses that. */
function meansItself(target) {
  const button = target instanceof HTMLElement ? target.closest(".reading-room :is(button, a)") : null;
  return Boolean(button) && !button.matches(".rr-confirm, [aria-pressed=true]");
}
