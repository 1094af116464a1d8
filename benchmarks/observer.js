/**
 * Records, for either page, when the reader confirmed and when the next case was visible, in page milliseconds.
 *
 * Installed before the page's own scripts, so that none of their listeners can stop an event. A case counts as
 * painted at the start of the first animation frame after the frame that drew it. The reading room reports it
 * (data-state="ready" is set in that frame). For any other page it is determined here: the new question is in the
 * document, every film is new, loaded and decoded, one frame has drawn them, and the next frame has begun.
 */
(() => {
  if (window !== window.top) return;
  const notes = { commits: [], painted: [], presented: [] };
  window.benchmark = notes;

  const commit = ({ timeStamp }) => notes.commits.push(timeStamp);
  addEventListener("keydown", (event) => {
    if (event.key === "Enter") commit(event);
  }, true);
  addEventListener("click", commit, true);

  // The browser's time of the first picture after a key press, in steps of 8 ms.
  new PerformanceObserver((list) => {
    for (const { name, startTime, duration } of list.getEntries()) {
      if (name === "keydown") notes.presented.push({ at: startTime, presented: startTime + duration });
    }
  }).observe({ type: "event", durationThreshold: 16, buffered: true });

  const painted = (position) => {
    if (notes.painted.at(-1)?.position === position) return;
    const at = performance.now();
    // The time of the current frame, which requestAnimationFrame passes to its callbacks.
    const frame = document.timeline.currentTime;
    notes.painted.push({ position, at, frame });
    window.benchmarkPainted?.(position, frame, at);
  };

  // The reading room is in a shadow root.
  const room = (records) => {
    for (const { target } of records) {
      const { state, position } = target.dataset ?? {};
      if (state === "ready" && position) painted(Number(position));
    }
  };
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (init) {
    const shadow = attach.call(this, init);
    watch(shadow, room);
    return shadow;
  };
  const watch = (node, react) => new MutationObserver(react)
    .observe(node, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-state", "data-position"] });
  watch(document, room);

  // A plain page: question and films.
  let before = [];
  let question = "";
  let waiting = false;
  const frame = () => new Promise(requestAnimationFrame);
  const look = () => {
    const label = document.querySelector("[data-testid=stRadio] [data-testid=stWidgetLabel]")?.textContent ?? "";
    const films = [...document.querySelectorAll("[data-testid=stImage] img, [data-testid=stImageContainer] img")];
    const sources = films.map(({ src }) => src);
    const ready = label && label !== question && films.length >= 2 && films.every((film) => film.complete && film.naturalWidth)
      && sources.every((source) => !before.includes(source));
    return ready ? { label, films, sources } : null;
  };
  const plain = async () => {
    if (waiting || !look()) return;
    waiting = true;
    try {
      const { films, sources, label } = look();
      await Promise.all(films.map((film) => film.decode()));
      if (look()?.sources.join() !== sources.join()) return;
      await frame();
      await frame();
      before = sources;
      question = label;
      painted(notes.painted.length + 1);
    } catch {
      // A film was replaced while it was being decoded; the next change is checked again.
    } finally {
      waiting = false;
    }
    if (look()) plain();
  };
  const start = () => {
    new MutationObserver(plain).observe(document, {
      subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["src"],
    });
    document.addEventListener("load", plain, true);
  };
  if (window.benchmarkPlain) start();
})();
