export default function ({ parentElement, data }) {
  const form = parentElement.querySelector("form");
  form.elements.grant.value = data.grant;
  form.elements.study.value = data.study;
  const button = form.querySelector("button");
  button.textContent = data.button;
  button.setAttribute("aria-label", data.spoken);
}
