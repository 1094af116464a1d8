/** The script that Streamlit runs: loads the modules once per mounted element and never restarts a running room. */

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** @type {WeakMap<ParentNode, Promise<() => void>>} */
const rooms = new WeakMap();

export default function ({ parentElement, data }) {
  const left = new AbortController();
  const room = rooms.get(parentElement) ?? open(parentElement, data, left.signal);
  rooms.set(parentElement, room);
  return async () => {
    rooms.delete(parentElement);
    left.abort();
    (await room)();
  };
}

/** Start the room, with retries. @returns {Promise<() => void>} stops it */
async function open(parentElement, data, left) {
  const folder = data.modules_url.replace(/\/$/, "");
  for (let tries = 0; !left.aborted; tries += 1) {
    // Browsers remember the addresses of a module that failed to load and of its imports. An additional slash gives the
    // same files new addresses.
    const url = new URL(`${folder}${"/".repeat(tries + 1)}start.js`, document.baseURI).href;
    try {
      const { start } = await import(url);
      say(parentElement, "");
      if (!left.aborted) return start(parentElement, data);
    } catch (error) {
      console.error(error);
      say(parentElement, data.trouble);
      await sleep(Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_WAIT_MS), left);
    }
  }
  return () => {};
}

function say(parentElement, text) {
  parentElement.querySelector(".rr-unloaded")?.remove();
  if (!text) return;
  const line = document.createElement("p");
  line.className = "rr-unloaded";
  line.setAttribute("role", "status");
  line.textContent = text;
  parentElement.querySelector(".reading-room").before(line);
}

function sleep(ms, left) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    addEventListener("online", resolve, { once: true });
    left.addEventListener("abort", resolve, { once: true });
  });
}
