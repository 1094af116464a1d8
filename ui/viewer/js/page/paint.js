/** When something is truly on the screen. */

/**
 * Call back at the first animation frame that begins after what was asked for has been on the screen for a frame.
 * @param {Promise<void>} shown everything is on the canvas
 * @param {(frame: number) => void} run gets the frame's time on the monotonic clock
 */
export async function afterPaint(shown, run) {
  await shown;
  // The coming frame shows what was drawn; the one after it is the first that can know. Firefox dates a frame back to
  // the screen's signal for it, so a frame late in coming may bear a time at which nothing was shown yet.
  requestAnimationFrame(() => {
    const showing = performance.now();
    const know = (frame) => (frame < showing ? requestAnimationFrame(know) : run(frame));
    requestAnimationFrame(know);
  });
}

/** The wall clock at a moment of the monotonic clock. @param {number} now @returns {number} ms since 1970 */
export function epochAt(now) {
  return Date.now() - performance.now() + now;
}
