const seen = new WeakSet();
export default function ({ parentElement, data }) {
  const field = parentElement.querySelector("input");
  parentElement.querySelector("label").textContent = data.label;
  parentElement.querySelector("button").textContent = data.button;
  if (!seen.has(parentElement)) {
    seen.add(parentElement);
    field.focus();
  }
}
