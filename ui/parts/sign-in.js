const mounted = new WeakSet();
export default function ({ parentElement, data }) {
  const field = parentElement.querySelector("input");
  parentElement.querySelector("label").textContent = data.label;
  parentElement.querySelector("button").textContent = data.button;
  const given = new URLSearchParams(location.hash.slice(1)).get("code");
  if (given) {
    field.value = given.slice(0, 60);
    history.replaceState(history.state, "", location.pathname + location.search);
  }
  if (!mounted.has(parentElement)) {
    mounted.add(parentElement);
    field.focus();
  }
}
