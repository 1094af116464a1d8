const seen = new WeakSet();
export default function ({ parentElement }) {
  if (!seen.has(parentElement)) {
    seen.add(parentElement);
    document.querySelector("[data-testid='stMain']")?.scrollTo(0, 0);
  }
}
