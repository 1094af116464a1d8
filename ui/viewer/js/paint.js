/** When something is truly on the screen. */

/**
 * Call back at the first animation frame that begins after the drawing just asked for has been done and shown.
 * @param {() => boolean} done whether the graphics card has finished
 * @param {(frame: number) => void} run gets the frame's time on the monotonic clock
 */
export function afterPaint(done, run) {
  const shown = (frame) => (done() ? run(frame) : requestAnimationFrame(shown));
  // The coming frame shows what was drawn; the one after it is the first that can know.
  requestAnimationFrame(() => requestAnimationFrame(shown));
}

/** The wall clock at a moment of the monotonic clock. @param {number} now @returns {number} ms since 1970 */
export function epochAt(now) {
  return Date.now() - performance.now() + now;
}
