const mounted = new WeakSet();
export default function ({ parentElement, data }) {
  const field = parentElement.querySelector("input");
  parentElement.querySelector("label").textContent = data.label;
  parentElement.querySelector("button").textContent = data.button;
  if (!mounted.has(parentElement)) {
    mounted.add(parentElement);
    field.focus();
  }
}
