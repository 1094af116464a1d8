/** Overlays, the sheet of a step, and the line over a page without a study. */

import { announce, around, button, element, find, pressButton } from "./elements.js";
import { composes } from "./keys.js";
import { texts } from "./texts.js";

/** @import { Desk } from "./types.js" */

const FROM_THE_SERVER = ["signed-out", "other-reader", "left"]; // only the server can close them
const BLOCKING = [...FROM_THE_SERVER, "elsewhere"];

/** @typedef {{label: string, run: () => void, key?: string}} Choice */

/** The curtain that hides the case, and the sheet with help or a question to the reader. */
export class Overlays {
  #main;
  #curtain;
  #sheet;
  #sheetName = "";
  /** The focused element before the sheet was opened. @type {Element|null} */
  #before = null;
  #exit;

  /** @param {HTMLElement} root @param {{url: string, method: string, label: string}} exit the way out */
  constructor(root, exit) {
    this.#main = find(root, ".rr-main");
    this.#curtain = find(root, ".rr-curtain");
    this.#sheet = find(root, ".rr-sheet");
    this.#exit = exit;
  }

  /** The name of the sheet that is open, or "". */
  get open() { return this.#sheetName; }

  /** Whether the reader opened the sheet with a command, which also closes it. */
  get optional() { return ["help", "settings", "typedWindow"].includes(this.#sheetName); }

  /** Whether the open sheet prevents reading. */
  get blocked() { return BLOCKING.includes(this.#sheetName); }

  /** Whether a response of the server closes the open sheet. */
  get awaitsServer() { return FROM_THE_SERVER.includes(this.#sheetName); }

  /** Hide the case. @param {{title: string, text: string}} words @param {Choice} choice
   *  @returns {HTMLButtonElement} the choice */
  showCurtain({ title, text }, choice) {
    const button = choiceButton(choice);
    this.#curtain.replaceChildren(element("h2", title), element("p", text), button);
    this.#curtain.hidden = false;
    return button;
  }

  /** Enter, while the curtain waits for the reader. @returns {boolean} whether it had an effect */
  enter() {
    const choice = this.#curtain.hidden ? null : this.#curtain.querySelector("button");
    choice?.click();
    return Boolean(choice);
  }

  hideCurtain() {
    this.#curtain.hidden = true;
    delete this.#curtain.dataset.whole;
    this.#curtain.replaceChildren();
  }

  /** Show a page without a case. @param {string} title @param {string[]} lines @param {Desk} desk
   *  @param {HTMLElement[]} more  beneath the receipt */
  rest(title, lines, desk, more = []) {
    const head = element("h2", title);
    const said = lines.filter(Boolean).map((line) => element("p", line));
    this.#curtain.replaceChildren(head, ...said, ...receiptSlip(desk), ...more, this.signOut());
    this.#curtain.dataset.whole = "true";
    this.#curtain.hidden = false;
    // Not the sign-out button: a second Enter after the last answer would sign the reader out at once.
    head.tabIndex = -1;
    head.focus({ preventScroll: true });
  }

  /** Open a sheet. @param {string} name @param {{title: string, text: string}} words @param {Choice[]} choices */
  ask(name, { title, text }, choices) {
    const row = element("div", "", "rr-choices");
    row.append(...choices.map(choiceButton));
    this.#show(name, [element("h2", title), element("p", text), row]);
  }

  /** @param {Parameters<typeof texts.help.groups>[0]} facts */
  help(facts) {
    const groups = texts.help.groups(facts).map(([title, rows]) => {
      const group = element("section");
      const list = element("dl");
      for (const [keys, meaning] of rows) {
        const line = element("div");
        line.append(element("dt", keys), element("dd", meaning));
        list.append(line);
      }
      group.append(element("h3", title), list);
      return group;
    });
    const columns = element("div", "", "rr-help");
    columns.append(...groups);
    const close = choiceButton({ label: texts.labels.close, run: () => this.close() });
    this.#show("help", [element("h2", texts.help.title), columns, close]);
  }

  /** Open a sheet with this content, its title first. @param {string} name @param {HTMLElement[]} children */
  sheet(name, children) {
    this.#show(name, children);
  }

  close() {
    this.#sheet.hidden = true;
    this.#main.inert = false;
    delete this.#main.dataset.covered;
    this.#sheetName = "";
    if (this.#before instanceof HTMLElement) this.#before.focus({ preventScroll: true });
    this.#before = null;
  }

  /** @returns {HTMLFormElement} */
  signOut() {
    const form = document.createElement("form");
    form.method = this.#exit.method;
    const to = new URL(this.#exit.url, document.baseURI);
    form.action = to.href;
    form.className = "rr-sign-out";
    const leave = element("button", this.#exit.label);
    leave.type = "submit";
    form.append(leave, ...asked(to));
    return form;
  }

  #show(name, children) {
    if (!this.#sheetName) this.#before = document.activeElement;
    this.#sheetName = name;
    this.#sheet.replaceChildren(...children);
    this.#sheet.setAttribute("aria-label", children[0].textContent);
    this.#sheet.hidden = false;
    this.#main.inert = true;
    // While the clock is stopped, no case may be visible.
    this.#main.toggleAttribute("data-covered", this.blocked);
    find(this.#sheet, "input:checked, button").focus({ preventScroll: true });
  }
}

/** @param {Choice} choice */
const choiceButton = ({ label, run, key }) => key ? pressButton(label, run, key) : button(label, run);

/** The query of an address as fields, because a GET form drops the query. @param {URL} to */
const asked = ({ searchParams }) => [...searchParams].map(([name, value]) =>
  Object.assign(document.createElement("input"), { type: "hidden", name, value }));

/** The reader's receipt, to be copied, printed or mailed without a server.
 *  @param {Desk} desk @returns {HTMLElement[]} none if nothing was read yet */
function receiptSlip({ receipt, study }) {
  if (!receipt) return [];
  const slip = element("section", "", "rr-receipt");
  const line = element("output", receipt);
  const copy = button(texts.receipt.copy, () => {
    if (copied(line)) copy.textContent = texts.receipt.copied;
  });
  const mail = element("a", texts.receipt.mail);
  mail.href = letter(texts.receipt.subject(study), receipt);
  const ways = element("div", "", "rr-choices");
  ways.append(copy, mail);
  slip.append(element("h3", texts.receipt.title), line, element("p", texts.receipt.why), ways);
  return [slip];
}

/** @param {string} subject @param {string} text @returns {string} */
function letter(subject, text) {
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(text)}`;
}

/** Copy an element's text; the clipboard's own interface needs a secure context. @param {HTMLElement} line */
function copied(line) {
  const range = document.createRange();
  range.selectNodeContents(line);
  const selection = getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
  return document.execCommand("copy");
}

/**
 * @typedef {{label: string, run: (now: number) => void, key?: string}} Action
 * @typedef {{name: string, title: string, count: string, body: Node[], primary: Action|null, secondary?: Action|null,
 *   aside?: HTMLElement|null, focus?: HTMLElement|null, keys?: (event: KeyboardEvent) => boolean}} Step keys: handles
 * the keys of the step itself, and returns whether it did; aside: shown before the buttons
 */

/** The sheet of a step of the preparation, with its keys, buttons and hints. */
export class StepSheet {
  #root;
  #place;
  #beneath;
  #hint = element("p", "", "rr-prelude-hint");
  /** @type {Step|null} */
  #step = null;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
    this.#place = find(root, ".rr-prelude");
    this.#beneath = [".rr-films", ".rr-panel"].map((part) => find(root, part));
    this.#hint.setAttribute("role", "status");
  }

  get open() { return Boolean(this.#step); }

  /** @param {Step} step */
  show(step) {
    this.#step = step;
    this.#root.dataset.step = step.name;
    this.hint("");
    const sheet = element("div", "", "rr-prelude-sheet");
    sheet.append(head(step), ...step.body, this.#foot(step));
    this.#place.replaceChildren(sheet);
    this.#place.hidden = false;
    for (const each of this.#beneath) each.inert = true;
    this.#place.setAttribute("aria-label", step.title);
    const first = step.focus ?? (step.primary && find(sheet, ".rr-primary"));
    first?.focus({ preventScroll: true });
  }

  close() {
    this.#step = null;
    delete this.#root.dataset.step;
    this.#place.hidden = true;
    this.#place.replaceChildren();
    for (const each of this.#beneath) each.inert = false;
    this.#root.focus({ preventScroll: true });
  }

  /** @param {string} text @param {{insists?: boolean}} [how] insists: the reader tried to continue without completing
   * it */
  hint(text, { insists = false } = {}) {
    announce(this.#hint, text);
    this.#hint.toggleAttribute("data-insists", insists);
  }

  /** @param {KeyboardEvent} event @returns {boolean} whether the key was the step's */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || composes(event) || event.repeat) return false;
    const { keys, primary } = this.#step ?? {};
    if (keys?.(event)) return true;
    if (event.key !== "Enter" || around(event.target, "button, a") || !primary) return false;
    primary.run(event.timeStamp);
    return true;
  }

  /** @param {Step} step */
  #foot({ primary, secondary, aside }) {
    const foot = element("footer", "", "rr-prelude-foot");
    const row = element("div", "", "rr-prelude-actions");
    if (aside) row.append(aside);
    if (secondary) row.append(actionButton(secondary, "rr-secondary"));
    if (primary) row.append(actionButton({ key: texts.keys.enter, ...primary }, "rr-primary"));
    foot.append(this.#hint, row);
    return foot;
  }
}

/** @param {Action} action @param {string} className */
function actionButton({ label, run, key }, className) {
  const button = pressButton(label, run, key);
  button.className = className;
  return button;
}

function head({ title, count }) {
  const made = element("header", "", "rr-prelude-head");
  made.append(element("p", count, "rr-prelude-count"), element("h1", title));
  return made;
}

/** @typedef {{of: "preview"|"teaching"|"expert"|"scoring", again_url: string|null, leave_url: string, arm?: string}}
 * Apart the kind of a page that does not belong to a study; again_url: a post to it starts the round again; arm: of the
 * reader in a preview */

/** The sign-out button's replacement. @param {Apart} apart @returns {{url: string, method: string, label: string}} */
export function leaveButton({ of, leave_url: url }) {
  return { url, method: "get", label: texts[of].leave };
}

/** An overlay that does not change the layout of the page. @param {Apart} apart @returns {HTMLElement} */
export function banner({ of, again_url: again, leave_url: leave, arm }) {
  const line = element("aside", "", "rr-banner");
  line.append(element("span", arm ? texts.preview.ofArm(arm) : texts[of].line));
  if (again) line.append(button(texts.preview.again, () => beginAgain(absolute(again))));
  line.append(button(texts[of].leave, () => location.assign(absolute(leave))));
  return line;
}

/** @param {string} path @returns {string} */
export function absolute(path) {
  return new URL(path, document.baseURI).href;
}

/** @param {string} url */
async function beginAgain(url) {
  try {
    await fetch(url, { method: "POST", credentials: "same-origin", body: "" });
  } finally {
    location.reload(); // without the server the page shows its own message
  }
}
