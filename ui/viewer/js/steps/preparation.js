/** The steps before the first case, each on a sheet, the minimum window size, and the last review. */

import { around, element, epochAt, find } from "../page/elements.js";
import { digitOf } from "../page/keys.js";
import { DisplayStep } from "./display-check.js";
import { newId } from "../page/storage.js";
import { QuestionnaireForm } from "./questionnaire.js";
import { texts } from "../page/texts.js";

/** @import { Connection } from "../delivery/connection.js" */
/** @import { Overlays, StepSheet } from "../page/overlays.js" */
/** @import { PreparationStep } from "../page/types.js" */

/**
 * @param {[number, number]} size @param {number[]} smallest either way round; [] for no limit
 * @returns {boolean}
 */
export function fits([width, height], [one = 0, other = 0]) {
  return Math.max(width, height) >= Math.max(one, other) && Math.min(width, height) >= Math.min(one, other);
}

/** The minimum window size: requested first, and closed as soon as the window is large enough. */
export class SmallestWindow {
  #sheet;
  #overlays;
  #anyway;
  /** @type {HTMLElement|null} shows the size of the window while it is too small */
  #said = null;

  /** @param {{sheet: StepSheet, overlays: Overlays}} parts
   *  @param {(() => void)|null} anyway called if the reader continues in a preview */
  constructor({ sheet, overlays }, anyway) {
    this.#sheet = sheet;
    this.#overlays = overlays;
    this.#anyway = anyway;
  }

  /** @param {[number, number]} size @param {number[]} smallest */
  show(size, smallest) {
    const { title, text, remedy, touch, anyway } = texts.smallWindow;
    const words = text(size, smallest);
    if (this.#said?.isConnected) {
      this.#said.textContent = words;
      return;
    }
    const coarse = matchMedia("(pointer: coarse)").matches;
    this.#said = element("p", words, "rr-prelude-text");
    const advice = element("p", coarse ? touch : remedy, "rr-prelude-text");
    this.#sheet.show({
      name: "window", title, count: "", body: [this.#said, advice], aside: this.#overlays.signOut(),
      primary: this.#anyway && { label: anyway, run: this.#anyway },
    });
  }
}

/** Consent, instructions, questionnaire and display check, each on a sheet. */
export class Preparation {
  #sheet;
  #overlays;
  #connection;
  #done;
  /** The first is shown. @type {PreparationStep[]} */
  #due = [];

  /**
   * @param {{sheet: StepSheet, overlays: Overlays}} parts
   * @param {Connection} connection @param {(step: string) => void} done its record is kept
   */
  constructor({ sheet, overlays }, connection, done) {
    this.#sheet = sheet;
    this.#overlays = overlays;
    this.#connection = connection;
    this.#done = done;
  }

  /** @param {PreparationStep[]} due the first of them now @param {string} [refused] the reason for a refusal by the
   * server */
  show(due, refused = "") {
    this.#due = due;
    const [step] = due;
    const shows = {
      consent: () => this.#consent(step),
      instructions: () => this.#instructions(step),
      questionnaire: () => this.#questionnaire(step),
      display: () => this.#display(),
    };
    shows[step.step]();
    if (refused) this.#sheet.hint(refused);
  }

  #consent(step) {
    const { title, agree, disagree, choose } = texts.preparation.consent;
    const words = scrolling(step.html, title);
    const actions = () => [".rr-primary", ".rr-secondary"].map((each) => find(document, `.rr-prelude ${each}`));
    this.#sheet.show({
      name: "consent", title, count: this.#count(), body: [words], focus: words,
      primary: { label: agree, key: "1", run: (now) => this.#take("consent", { agreed: true }, now) },
      secondary: { label: disagree, key: "2", run: () => this.#declined() },
      keys: (event) => {
        const action = actions()[(digitOf(event) ?? 0) - 1];
        if (action) action.focus();
        // Consent must not be given by a repeated key press.
        else if (event.key === "Enter" && !actions().some((each) => each === event.target)) {
          this.#sheet.hint(choose, { insists: true });
        } else return false;
        return true;
      },
    });
    this.#sheet.hint(choose);
  }

  #declined() {
    const { title, text, back } = texts.preparation.declined;
    const goBack = { label: back, key: texts.keys.escape, run: () => this.show(this.#due) };
    this.#sheet.show({
      name: "declined", title, count: "", body: [element("p", text, "rr-prelude-text")],
      primary: goBack, aside: this.#overlays.signOut(),
      keys: ({ key }) => {
        if (key === "Escape") goBack.run();
        return key === "Escape";
      },
    });
  }

  #instructions(step) {
    const { title } = texts.preparation.instructions;
    const words = scrolling(step.html, title);
    this.#sheet.show({
      name: "instructions", title, count: this.#count(), body: [words], focus: words,
      primary: { label: this.#onward, run: (now) => this.#take("instructions", {}, now) },
    });
  }

  /** @param {PreparationStep} step */
  #questionnaire({ questions = [] }) {
    const { storage } = this.#connection;
    const { missing } = texts.preparation.questionnaire;
    const form = new QuestionnaireForm(questions, storage.get("questionnaire"), {
      changed: (values) => storage.put("questionnaire", values),
      missing: (n) => this.#sheet.hint(n ? missing(n) : "", { insists: true }),
    });
    this.#sheet.show({
      name: "questionnaire", title: texts.preparation.questionnaire.title, count: this.#count(),
      body: [form.element], focus: form.first, keys: (event) => form.key(event),
      primary: {
        label: this.#onward,
        run: (now) => {
          const answers = form.submit();
          if (answers) this.#take("questionnaire", { answers }, now);
        },
      },
    });
  }

  #display() {
    const finish = (detail, now) => this.#take("display", detail, now);
    new DisplayStep(this.#sheet, { count: this.#count(), onward: this.#onward, finish }).begin();
  }

  /** The step is done: its record is stored before the next step is shown. */
  #take(step, detail, now) {
    const { outbox, storage } = this.#connection;
    outbox.put({ kind: "preparation", id: newId(), step, epoch_ms: epochAt(now), detail });
    if (step === "questionnaire") storage.drop("questionnaire");
    if (this.#due.length === 1) storage.drop("preparation");
    this.#done(step);
  }

  get #onward() {
    return this.#due.length > 1 ? texts.preparation.onward : texts.preparation.begin;
  }

  /** The number of the step and the total: the desk omits finished steps, so their number is kept for a reload. */
  #count() {
    const { storage } = this.#connection;
    const due = this.#due.map(({ step }) => step);
    const known = storage.get("preparation");
    const goesOn = Array.isArray(known) && due.every((step, i) => known[known.length - due.length + i] === step);
    const all = goesOn ? known : due;
    storage.put("preparation", all);
    return all.length > 1 ? texts.preparation.count(all.length - due.length + 1, all.length) : "";
  }
}

/** HTML from the server, which has sanitised it. @param {string} html @param {string} label */
function scrolling(html, label) {
  const box = element("div", "", "rr-words");
  box.innerHTML = html;
  box.tabIndex = 0; // so that the arrow keys scroll it
  box.setAttribute("role", "group"); // it is inside a region of this name
  box.setAttribute("aria-label", label);
  return box;
}

/**
 * The last review, if going back is allowed: every case is answered, and the reader confirms the end.
 * @param {StepSheet} sheet @param {number} total cases
 * @param {{back: () => void, finish: () => void}} callbacks back: to the last case; finish: the answers are final
 */
export function askForLastReview(sheet, total, { back, finish }) {
  const { title, text, review, finish: stand, choose } = texts.review;
  const words = element("p", text(total), "rr-prelude-text");
  words.tabIndex = -1;
  const button = (/** @type {string} */ name) => find(document, `.rr-prelude ${name}`);
  sheet.show({
    name: "review", title, count: "", body: [words], focus: words,
    secondary: { label: review, key: "1", run: back },
    primary: { label: stand, key: "2", run: finish },
    keys: (event) => {
      const digit = digitOf(event);
      if (event.key === "Backspace") back();
      else if (digit === 1) button(".rr-secondary").focus();
      else if (digit === 2) button(".rr-primary").focus();
      // A repeated Enter of the last answer must not finish the study.
      else if (event.key === "Enter" && !around(event.target, ".rr-prelude-actions")) sheet.hint(choose, { insists: true });
      else return false;
      return true;
    },
  });
  sheet.hint(choose);
}
