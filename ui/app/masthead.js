const watches = new WeakMap();

// Codes are shown in this window alone: leaving it would lose those nobody has hidden.
const ask = (event) => {
  event.preventDefault();
  event.returnValue = "";
};

async function watch(parentElement, data) {
  const notice = parentElement.querySelector(".alone");
  const url = new URL(`${data.modules_url}page/idle.js`, document.baseURI).href;
  try {
    const { watchOver } = await import(url);
    return watchOver("here", {
      warn: () => { notice.hidden = false; },
      calm: () => { notice.hidden = true; },
      ended: () => {
        removeEventListener("beforeunload", ask);
        location.reload();
      },
    });
  } catch (error) {
    console.error(error);
    return () => {};
  }
}

export default function ({ parentElement, data }) {
  (data.codes ? addEventListener : removeEventListener)("beforeunload", ask);
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
