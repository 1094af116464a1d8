const focused = new Set();

// The content below may still be growing, so the report is kept in view until the user acts.
function keepInView(names) {
  const elements = () => names.map((name) => document.querySelector(`.st-key-${name}`));
  const show = () => elements().forEach((element) => element?.scrollIntoView({ block: "nearest" }));
  const growing = new ResizeObserver(show);
  const coming = new MutationObserver(() => elements().forEach((element) => element && growing.observe(element)));
  const stop = () => {
    growing.disconnect();
    coming.disconnect();
    for (const kind of ["pointerdown", "keydown", "wheel"]) removeEventListener(kind, stop, true);
  };
  for (const kind of ["pointerdown", "keydown", "wheel"]) addEventListener(kind, stop, true);
  coming.observe(document.body, { childList: true, subtree: true });
  elements().forEach((element) => element && growing.observe(element));
  show();
}

export default function ({ data }) {
  if (focused.has(data.name)) return;
  focused.add(data.name);
  requestAnimationFrame(() => {
    const report = document.querySelector(`.st-key-${data.name}`);
    if (!report) return;
    report.tabIndex = -1;
    report.setAttribute("role", "group");
    report.setAttribute("aria-label", data.label);
    report.focus({ preventScroll: true });
    keepInView([...(data.followed_by ? [data.followed_by] : []), data.name]);
  });
}
