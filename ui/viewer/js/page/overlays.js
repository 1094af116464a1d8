/** What lies over the page: the curtain that hides the case, and the sheet with keys or a question to the reader. */

import { button, element, find } from "./elements.js";
import { texts } from "./texts.js";

const FROM_THE_SERVER = ["signed-out", "other-reader", "left"]; // only the server can make them go
const BLOCKING = [...FROM_THE_SERVER, "elsewhere"];

/** @import { Desk } from "./types.js" */

/** @typedef {{label: string, run: () => void}} Choice */

export class Overlays {
  #main;
  #curtain;
  #sheet;
  #sheetName = "";
  /** What had the focus before the sheet. @type {Element|null} */
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

  /** Whether nobody can read on behind the open sheet. */
  get blocked() { return BLOCKING.includes(this.#sheetName); }

  /** Whether an answer of the server makes the open sheet go. */
  get awaitsServer() { return FROM_THE_SERVER.includes(this.#sheetName); }

  /** Hide the case. @param {{title: string, text: string}} words @param {Choice} choice
   *  @returns {HTMLButtonElement} the choice */
  showCurtain({ title, text }, choice) {
    const button = choiceButton(choice);
    this.#curtain.replaceChildren(element("h2", title), element("p", text), button);
    this.#curtain.hidden = false;
    return button;
  }

  /** Enter, while the curtain waits for the reader. @returns {boolean} whether it did anything */
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

  /** A page on which nothing is to be read. @param {string} title @param {string[]} lines @param {Desk} desk
   *  @param {HTMLElement[]} more  beneath the receipt */
  rest(title, lines, desk, more = []) {
    const head = element("h2", title);
    const said = lines.filter(Boolean).map((line) => element("p", line));
    this.#curtain.replaceChildren(head, ...said, ...receiptSlip(desk), ...more, this.signOut());
    this.#curtain.dataset.whole = "true";
    this.#curtain.hidden = false;
    // Not the way out: the last answer's Enter, pressed again, would sign the reader out before they read this.
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

  /** Open a sheet with this on it, its title first. @param {string} name @param {HTMLElement[]} children */
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
    // Where time does not count, nothing is to be read.
    this.#main.toggleAttribute("data-covered", this.blocked);
    find(this.#sheet, "input:checked, button").focus({ preventScroll: true });
  }
}

const choiceButton = ({ label, run }) => button(label, run);

/** What an address asks: a form that is sent by GET drops it, but for fields. @param {URL} to */
const asked = ({ searchParams }) => [...searchParams].map(([name, value]) =>
  Object.assign(document.createElement("input"), { type: "hidden", name, value }));

/** The reader's receipt on a slip, to be copied, printed or mailed: no server has a part in that.
 *  @param {Desk} desk @returns {HTMLElement[]} none where nothing was read yet */
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
