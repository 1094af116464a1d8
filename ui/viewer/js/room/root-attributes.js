/** What the root says of the room, for its style, for tests, and for whoever looks from outside. */

/** @import { State } from "./room.js" */
/** @import { Case } from "../page/types.js" */

const STEPS = ["begin"]; // curtains that are a step of the way to the first case as well

/**
 * @param {HTMLElement} root
 * @param {{state: State, item: Case|undefined, total: number|undefined,
 *   halt: string, feedback: boolean}} room  item: on the screen; halt: what the next case waits for
 */
export function sign({ dataset }, { state, item, total, halt, feedback }) {
  if (total) dataset.total = String(total);
  if (item) dataset.position = item.practice ? "0" : String(item.position);
  dataset.practice = String(Boolean(item?.practice));
  dataset.halt = halt;
  if (STEPS.includes(halt)) dataset.step = halt;
  else if (STEPS.includes(dataset.step ?? "")) delete dataset.step;
  dataset.feedback = String(feedback);
  dataset.state = state;
}
