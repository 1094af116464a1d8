const mounted = new WeakSet();
export default function ({ parentElement }) {
  if (!mounted.has(parentElement)) {
    mounted.add(parentElement);
    document.querySelector("[data-testid='stMain']")?.scrollTo(0, 0);
  }
}
