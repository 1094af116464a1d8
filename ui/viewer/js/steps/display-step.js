/** The display check on its sheet: shapes to be found by key or finger, then the result and what to do about it. */

import { adviceOn, DisplayCheck, factsOf, PLACES } from "./display-check.js";
import { element, pressButton } from "../page/elements.js";
import { texts } from "../page/texts.js";

/** @import { Trial } from "./display-check.js" */
/** @import { StepSheet } from "../page/step-sheet.js" */

const BY_ARROW = { ArrowUp: 0, ArrowRight: 1, ArrowDown: 2, ArrowLeft: 3 };
const ARROWS = ["↑", "→", "↓", "←"];
const SIDE_PX = 360;
const SMALLEST_PX = 160;
const ROUND_IT_PX = 460; // of the window's height, for words and buttons
const DISC = 0.12; // of the side: large enough that sharp eyes are no advantage
const FROM_MIDDLE = 0.3; // of the side
const BLANK_MS = 250; // black in between, or the disc would give itself away by jumping

/** Places go round from the top, as a clock does. */
const DIRECTIONS = [[0, -1], [1, 0], [0, 1], [-1, 0]];

export class DisplayStep {
  #sheet;
  #told;
  /** How often the reader went through it: the last time counts. */
  #times = 0;

  /**
   * @param {StepSheet} sheet
   * @param {{count: string, onward: string, finish: (detail: object, now: number) => void}} told
   */
  constructor(sheet, told) {
    this.#sheet = sheet;
    this.#told = told;
  }

  begin() {
    this.#times += 1;
    const check = new DisplayCheck(byChance);
    const { title, text, unseen, field: label } = texts.preparation.display;
    let ready = false;
    const answer = (place) => {
      if (!ready) return;
      check.answer(place);
      if (check.done) this.#result(check);
      else draw();
    };
    const field = new DisplayField(window, answer);
    field.canvas.setAttribute("role", "img");
    const draw = () => {
      ready = false;
      field.canvas.setAttribute("aria-label", label(check.trial.field));
      field.draw(check.trial, () => { ready = true; });
    };
    const frame = this.#frame(field.canvas, answer);
    this.#sheet.show({
      name: "display", title, count: this.#told.count, focus: frame,
      body: [element("p", text, "rr-prelude-text"), frame],
      primary: null, secondary: { label: unseen, key: texts.keys.space, run: () => answer(null) },
      keys: (event) => {
        const place = placeOf(event);
        if (place !== undefined) answer(place);
        return place !== undefined;
      },
    });
    draw();
  }

  #frame(canvas, answer) {
    const frame = element("div", "", "rr-field-frame");
    frame.tabIndex = -1;
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", texts.preparation.display.places);
    frame.append(canvas, ...Array.from({ length: PLACES }, (_, place) => {
      const button = pressButton(String(place + 1), () => answer(place), ARROWS[place]);
      button.dataset.place = String(place + 1);
      button.setAttribute("aria-label", texts.preparation.display.place[place]);
      return button;
    }));
    return frame;
  }

  #result(check) {
    const { title, result, good, advice, again } = texts.preparation.display;
    const facts = factsOf(window);
    const told = adviceOn(facts, check.seen);
    const detail = {
      ...stepsOf(check.seen), presses: check.presses, misplaced: check.misplaced, times: this.#times,
      advice: told.join(" "), ...facts,
    };
    const lines = told.length ? told.map((name) => element("li", advice[name](facts))) : [element("li", good)];
    const list = element("ul", "", "rr-advice");
    list.append(...lines);
    list.toggleAttribute("data-good", !told.length);
    this.#sheet.show({
      name: "display", title, count: this.#told.count, body: [table(result(check.seen)), list],
      primary: { label: this.#told.onward, run: (now) => this.#told.finish(detail, now) },
      secondary: { label: again, run: () => this.begin() },
    });
  }
}

/** @returns {number|null|undefined} undefined: none of this check's keys */
function placeOf({ key, code, shiftKey }) {
  if (key in BY_ARROW) return BY_ARROW[key];
  if (key === " " || key === "0") return null;
  const digit = /^[1-4]$/.test(key) ? key : !shiftKey && /^Digit([1-4])$/.exec(code ?? "")?.[1];
  return digit ? Number(digit) - 1 : undefined;
}

/** A step that was not seen was measured all the same: null would say that it was not. */
function stepsOf(seen) {
  return Object.fromEntries(Object.entries(seen).map(([field, step]) => [`${field}_step`, step ?? "none"]));
}

function table(rows) {
  const list = element("dl", "", "rr-result");
  for (const [name, value] of rows) {
    const line = element("div");
    line.append(element("dt", name), element("dd", value));
    list.append(line);
  }
  return list;
}

/** Four divides the numbers drawn from, so that no place comes more often. */
function byChance(n) {
  return crypto.getRandomValues(new Uint32Array(1))[0] % n;
}

/** The field: a ground of one grey, and on it a faint disc at one of four places. */
class DisplayField {
  canvas = document.createElement("canvas");
  #pen;
  #side;
  #timer = 0;

  /** @param {{devicePixelRatio: number, innerHeight: number}} browser @param {(place: number) => void} pointed */
  constructor({ devicePixelRatio: density, innerHeight }, pointed) {
    const side_px = Math.max(SMALLEST_PX, Math.min(SIDE_PX, innerHeight - ROUND_IT_PX));
    this.#side = Math.round(side_px * (density || 1));
    this.canvas.style.width = `${side_px}px`;
    this.canvas.style.height = `${side_px}px`;
    this.canvas.width = this.#side;
    this.canvas.height = this.#side;
    this.canvas.className = "rr-field";
    this.#pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.canvas.addEventListener("click", ({ offsetX, offsetY }) => {
      pointed(placeAt(offsetX - this.canvas.clientWidth / 2, offsetY - this.canvas.clientHeight / 2));
    });
  }

  /** @param {Trial} trial @param {() => void} shown */
  draw(trial, shown) {
    this.#fill(0);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#fill(trial.ground);
      this.#disc(trial.shape, trial.place);
      shown();
    }, BLANK_MS);
  }

  #fill(grey) {
    this.#pen.fillStyle = `rgb(${grey} ${grey} ${grey})`;
    this.#pen.fillRect(0, 0, this.#side, this.#side);
  }

  #disc(grey, place) {
    const pen = this.#pen;
    const [right, down] = DIRECTIONS[place];
    pen.fillStyle = `rgb(${grey} ${grey} ${grey})`;
    pen.beginPath();
    pen.arc(this.#side * (0.5 + right * FROM_MIDDLE), this.#side * (0.5 + down * FROM_MIDDLE),
      (this.#side * DISC) / 2, 0, 2 * Math.PI);
    pen.fill();
  }
}

/** @param {number} right @param {number} down from the middle */
function placeAt(right, down) {
  if (Math.abs(down) > Math.abs(right)) return down < 0 ? 0 : 2;
  return right > 0 ? 1 : 3;
}
