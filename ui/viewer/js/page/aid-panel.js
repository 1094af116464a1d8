/** The model's answer next to the options: reserved, offered, awaited or shown. */

import { element, find } from "./elements.js";
import { texts } from "./texts.js";

/** @import { Aid, Case } from "./types.js" */

/** @typedef {"none"|"reserved"|"offered"|"awaited"|"shown"} AidState */

/** Whether a case cannot be shown before the server sends the model's answer. @param {Case} item */
export function needsAid({ aid }) {
  return Boolean(aid) && aid?.when !== "on demand" && !aid?.content;
}

/** Whether the reader may ask for the model's answer. @param {Case} item */
export function offersAid({ aid }) {
  return aid?.when === "on demand" && !aid.content;
}

/** Sequential reading reserves the space in stage 1, so that the options do not move in stage 2.
 *  @param {Case} item @returns {AidState} */
export function aidState({ aid, stage }) {
  if (!aid) return stage === 1 ? "reserved" : "none";
  return aid.content ? "shown" : "offered";
}

export class AidPanel {
  #box;
  #text;
  #answer;
  #explanation;
  #ask;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#box = find(root, ".rr-aid");
    [this.#text, this.#answer, this.#explanation, this.#ask] =
      ["text", "answer", "explanation", "ask"].map((name) => find(this.#box, `.rr-aid-${name}`));
  }

  /** @param {Case} item @param {HTMLElement[]} options  their buttons: the one the model chose is marked */
  show(item, options) {
    const { aid } = item;
    this.#enter(aidState(item));
    this.#text.innerHTML = aid?.html ?? ""; // sanitised by the server
    this.#text.hidden = !aid?.html;
    this.#write(aid?.content ?? null, options);
  }

  /** The model's answer has been requested. */
  showPending() {
    this.#enter("awaited");
  }

  /** @param {Aid["content"]} content @param {HTMLElement[]} options */
  #write(content, options) {
    const chosen = content?.answer ? options.find(({ dataset }) => dataset.option === content.answer) : null;
    for (const button of options) {
      button.querySelector(".rr-aid-mark")?.remove();
      delete button.dataset.aid;
    }
    this.#answer.textContent = content ? texts.aid.answer(content) : "";
    this.#explanation.textContent = content?.explanation ?? "";
    this.#explanation.hidden = !content?.explanation;
    if (!chosen) return;
    chosen.dataset.aid = "true";
    chosen.append(element("em", texts.aid.mark, "rr-aid-mark"));
  }

  /** @param {AidState} state */
  #enter(state) {
    this.#box.hidden = state === "none";
    this.#box.dataset.state = state;
    this.#ask.hidden = state !== "offered" && state !== "awaited";
    this.#ask.setAttribute("aria-disabled", String(state !== "offered"));
  }
}
