const watches = new WeakMap();

async function watch(parentElement, data) {
  const notice = parentElement.querySelector(".alone");
  const url = new URL(`${data.modules_url}page/idle.js`, document.baseURI).href;
  try {
    const { watchOver } = await import(url);
    return watchOver("here", {
      warn: () => { notice.hidden = false; },
      calm: () => { notice.hidden = true; },
      ended: () => location.reload(),
    });
  } catch (error) {
    console.error(error);
    return () => {};
  }
}

export default function ({ parentElement, data }) {
  parentElement.querySelector("form").onsubmit = () => !data.ask || confirm(data.ask);
  parentElement.querySelector(".alone p").textContent = data.alone;
  parentElement.querySelector(".alone button").textContent = data.stay;
  if (!watches.has(parentElement)) watches.set(parentElement, watch(parentElement, data));
  parentElement.querySelector(".bar p").textContent = data.who;
  parentElement.querySelector("button").textContent = data.leave;
  const factor = parentElement.querySelector(".bar a");
  factor.textContent = data.factor;
  factor.hidden = !data.factor;
  if (new URLSearchParams(location.hash.slice(1)).has("code")) {
    history.replaceState(history.state, "", location.pathname + location.search);
    const notice = parentElement.querySelector(".link");
    notice.textContent = data.link;
    notice.hidden = false;
  }
  const watching = watches.get(parentElement);
  return async () => {
    watches.delete(parentElement);
    (await watching)();
  };
}
