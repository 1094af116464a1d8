/** What Streamlit runs: loads the modules once per mounted element, and leaves a running room alone ever after. */

const rooms = new WeakMap();

export default function ({ parentElement, data }) {
  if (!rooms.has(parentElement)) {
    const url = new URL(`${data.modules_url.replace(/\/$/, "")}/start.js`, document.baseURI).href;
    rooms.set(parentElement, import(url).then(({ start }) => start(parentElement, data)));
  }
  const room = rooms.get(parentElement);
  return async () => {
    rooms.delete(parentElement);
    (await room)();
  };
}
