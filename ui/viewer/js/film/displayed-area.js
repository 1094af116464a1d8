/** What part of a film a pane shows, and where on the pane it lies. */

/** @import { Rect, ZoomPan } from "../page/types.js" */

/** @typedef {{width: number, height: number}} Size */

/**
 * The film coordinates of the pane's top left corner. At 1:1 it lies on whole pixels, so that every film pixel is
 * exactly one screen pixel.
 * @param {ZoomPan} zoomPan @param {Size} pane
 */
export function origin(zoomPan, pane) {
  const x = zoomPan.x - pane.width / 2 / zoomPan.scale;
  const y = zoomPan.y - pane.height / 2 / zoomPan.scale;
  return zoomPan.scale === 1 ? { x: Math.round(x), y: Math.round(y) } : { x, y };
}

/**
 * The part of a pane that the film covers, in whole pixels from the pane's top left corner.
 * @param {ZoomPan} zoomPan @param {Size} pane @param {Size} film @returns {Rect}
 */
export function covered(zoomPan, pane, film) {
  const corner = origin(zoomPan, pane);
  // A screen pixel belongs to the film when its middle does.
  const edge = (at, length) => Math.min(length, Math.max(0, Math.ceil(at * zoomPan.scale - 0.5)));
  const x = edge(-corner.x, pane.width);
  const y = edge(-corner.y, pane.height);
  const width = edge(film.width - corner.x, pane.width) - x;
  const height = edge(film.height - corner.y, pane.height) - y;
  return { x, y, width: Math.max(1, width), height: Math.max(1, height) };
}

/** Where the covered part begins from the pane's left once the pane is flipped, or as it is.
 *  @param {Rect} part @param {Size} pane @param {boolean} flipped */
export function mirrored(part, pane, flipped) {
  return flipped ? pane.width - part.x - part.width : part.x;
}
