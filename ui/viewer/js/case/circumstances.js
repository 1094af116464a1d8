/** What the film was shown on: recorded with each presentation, so that odd readings can be explained. */

/** @param {{name: string, software: boolean|null}} renderer */
export function circumstances(renderer) {
  return {
    device_pixel_ratio: window.devicePixelRatio ?? null,
    viewport: [window.innerWidth, window.innerHeight],
    screen: [window.screen.width, window.screen.height],
    renderer: renderer.name,
    software_rendering: renderer.software,
    user_agent: navigator.userAgent,
  };
}
