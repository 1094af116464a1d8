/** The order films hang in, whatever order the item gives them: frontal on the left, lateral on the right. */

// Whole labels only: a lateral decubitus is a frontal film.
const FRONTAL = /^(PA|AP|FRONTAL)$/i;
const LATERAL = /^((LEFT|RIGHT) )?LATERAL$/i;

/** @param {string} label @returns {number} */
function rank(label) {
  if (FRONTAL.test(label)) return 0;
  return LATERAL.test(label) ? 2 : 1;
}

/**
 * @template {{view: {label: string}}} T
 * @param {T[]} films as the item has them @returns {T[]} frontal first, lateral last, else in their order
 */
export function hangingOrder(films) {
  return [...films].sort((a, b) => rank(a.view.label) - rank(b.view.label));
}
