const sent = new WeakSet();
export default function ({ parentElement, data }) {
  const form = parentElement.querySelector("form");
  form.querySelector("button").textContent = data.button;
  form.elements.ticket.value = data.ticket;
  if (!sent.has(parentElement)) {
    sent.add(parentElement);
    form.submit();
  }
}
