/** The field of the display check: a ground of one grey, and on it a faint disc at one of four places. */

/** @import { Trial } from "./display-check.js" */

const SIDE_PX = 360;
const SMALLEST_PX = 160;
const ROUND_IT_PX = 460; // of the window's height, for words and buttons
const DISC = 0.12; // of the side: large enough that sharp eyes are no advantage
const FROM_MIDDLE = 0.3; // of the side
const BLANK_MS = 250; // black in between, or the disc would give itself away by jumping

/** Places go round from the top, as a clock does. */
const DIRECTIONS = [[0, -1], [1, 0], [0, 1], [-1, 0]];

export class DisplayField {
  canvas = document.createElement("canvas");
  #pen;
  #side;
  #timer = 0;

  /** @param {{devicePixelRatio: number, innerHeight: number}} browser @param {(place: number) => void} pointed */
  constructor({ devicePixelRatio: density, innerHeight }, pointed) {
    const side_px = Math.max(SMALLEST_PX, Math.min(SIDE_PX, innerHeight - ROUND_IT_PX));
    this.#side = Math.round(side_px * (density || 1));
    this.canvas.style.width = `${side_px}px`;
    this.canvas.style.height = `${side_px}px`;
    this.canvas.width = this.#side;
    this.canvas.height = this.#side;
    this.canvas.className = "rr-field";
    this.#pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.canvas.addEventListener("click", ({ offsetX, offsetY }) => {
      pointed(placeAt(offsetX - this.canvas.clientWidth / 2, offsetY - this.canvas.clientHeight / 2));
    });
  }

  /** @param {Trial} trial @param {() => void} shown */
  draw(trial, shown) {
    this.#fill(0);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#fill(trial.ground);
      this.#disc(trial.shape, trial.place);
      shown();
    }, BLANK_MS);
  }

  #fill(grey) {
    this.#pen.fillStyle = `rgb(${grey} ${grey} ${grey})`;
    this.#pen.fillRect(0, 0, this.#side, this.#side);
  }

  #disc(grey, place) {
    const pen = this.#pen;
    const [right, down] = DIRECTIONS[place];
    pen.fillStyle = `rgb(${grey} ${grey} ${grey})`;
    pen.beginPath();
    pen.arc(this.#side * (0.5 + right * FROM_MIDDLE), this.#side * (0.5 + down * FROM_MIDDLE),
      (this.#side * DISC) / 2, 0, 2 * Math.PI);
    pen.fill();
  }
}

/** @param {number} right @param {number} down from the middle */
function placeAt(right, down) {
  if (Math.abs(down) > Math.abs(right)) return down < 0 ? 0 : 2;
  return right > 0 ? 1 : 3;
}
