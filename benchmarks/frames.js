/** Drags over the first film at every frame, within the page, and records frames and pictures. */
(() => {
  if (window !== window.top) return;
  let pictures = [];
  const { prototype } = ImageBitmapRenderingContext;
  const transfer = prototype.transferFromImageBitmap;
  prototype.transferFromImageBitmap = function transferAndNote(bitmap) {
    pictures.push({ at: performance.now(), width: bitmap.width });
    return transfer.call(this, bitmap);
  };

  const between = (times) => times.slice(1).map((at, i) => at - times[i]);
  const frame = () => new Promise((resolve) => { requestAnimationFrame(resolve); });

  /** @param {[number|null, number]} order the mouse button, null for none, and the duration in ms */
  window.watchDrag = async ([button, length_ms]) => {
    const films = document.querySelector(".rr-films");
    const { left, top } = films.getBoundingClientRect();
    const [x, y] = [left + 220, top + 320];
    const send = (type, dx, dy) => films.dispatchEvent(new PointerEvent(type, {
      pointerId: 1, pointerType: "mouse", button: button ?? 0, buttons: 1, bubbles: true, clientX: x + dx, clientY: y + dy,
    }));
    pictures = [];
    if (button !== null) send("pointerdown", 0, 0);
    const frames = [];
    for (let i = 0; !frames.length || performance.now() - frames[0] < length_ms; i += 1) {
      await frame();
      frames.push(performance.now());
      // The pointer moves back and forth, so that it does not leave the film.
      if (button !== null) send("pointermove", 60 * Math.sin(i / 12), 40 * Math.sin(i / 9));
    }
    if (button !== null) send("pointerup", 0, 0);
    const rested = performance.now();
    const during = pictures.map(({ at }) => at);
    const widest = films.querySelector(".rr-measure").getBoundingClientRect().width * devicePixelRatio - 2;
    let whole_after_ms = null;
    while (button !== null && performance.now() - rested < 3000) {
      await frame();
      const last = pictures.at(-1);
      if (!last || last.width < widest) continue;
      await new Promise((resolve) => { setTimeout(resolve, 300); });
      const settled = pictures.at(-1);
      whole_after_ms = Math.round(Math.max(0, settled.at - rested));
      break;
    }
    return { frames_ms: between(frames), pictures_ms: between(during), whole_after_ms };
  };
})();
