/** The scale bar: a round length, and how long it is on the screen. */

const STEPS = [1, 2, 5];

/**
 * @param {number} px_per_mm CSS pixels of the screen @param {number} longest_px
 * @returns {{mm: number, px: number}} the longest of 1, 2, 5, 10, 20, 50 ... mm, or a tenth of these, that fits
 */
export function scaleBar(px_per_mm, longest_px) {
  const most_mm = longest_px / px_per_mm;
  const power = Math.floor(Math.log10(most_mm));
  const step = STEPS.findLast((each) => each * 10 ** power <= most_mm * (1 + 1e-9)) ?? 1;
  // A negative power of ten is not exact, its inverse is.
  const mm = power < 0 ? step / 10 ** -power : step * 10 ** power;
  return { mm, px: mm * px_per_mm };
}
