/** Reading is possible in one window only; another window takes over when that window is closed, or when the reader
 * continues there. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { WindowLock } from "../../../../ui/viewer/js/delivery/one-window.js";
import { ReaderStorage } from "../../../../ui/viewer/js/page/storage.js";

class Storage {
  setItem(key, value) { this[key] = String(value); }
  getItem(key) { return Object.hasOwn(this, key) ? this[key] : null; }
  removeItem(key) { delete this[key]; }
}

/** A browser with storage, messages, and a clock that the test sets. */
class Browser {
  storage = new Storage();
  now = 1_000_000;
  #timers = new Map();
  #next = 1;
  #windows = new Map();

  /** @param {string} id */
  open(id, { tab = id, channel = true } = {}) {
    const window = { id, lost: 0, frozen: [], asleep: false };
    window.holder = new WindowLock({
      id, tab, storage: new ReaderStorage(this.storage, "s"),
      channel: channel ? {
        post: (message) => this.#spread(window, structuredClone(message)),
        listen: (run) => { window.hear = run; },
      } : null,
      clock: {
        now: () => this.now,
        later: (run, ms) => this.#later(window, run, ms),
        cancel: (timer) => this.#timers.delete(timer),
      },
      lost: () => {
        window.lost += 1;
        return { running: id };
      },
    });
    this.#windows.set(id, window);
    return window;
  }

  /** The process has crashed: none of its timers run, and its lock is not released. */
  crash({ id }) {
    this.#windows.get(id).asleep = true;
    this.#windows.delete(id);
  }

  freeze(window) { window.asleep = true; }

  thaw(window) {
    window.asleep = false;
    for (const message of window.frozen.splice(0)) window.hear(message);
  }

  async pass(ms) {
    const end = this.now + ms;
    for (;;) {
      await new Promise((resolve) => { setImmediate(resolve); });
      const due = [...this.#timers].filter(([, { at, window }]) => at <= end && !window.asleep)
        .sort((a, b) => a[1].at - b[1].at)[0];
      if (!due) break;
      this.#timers.delete(due[0]);
      this.now = Math.max(this.now, due[1].at);
      due[1].run();
    }
    this.now = end;
  }

  #later(window, run, ms) {
    this.#next += 1;
    this.#timers.set(this.#next, { run, at: this.now + ms, window });
    return this.#next;
  }

  #spread(from, message) {
    for (const window of this.#windows.values()) {
      if (window === from) continue;
      if (window.asleep) window.frozen.push(message);
      else queueMicrotask(() => window.hear(message));
    }
  }
}

/** @returns the result of a promise after this time */
async function within(browser, ms, promise) {
  let came;
  promise.then((value) => { came = value; });
  await browser.pass(ms);
  return came;
}

test("the first window gets the lock at once", async () => {
  const browser = new Browser();
  assert.equal(await within(browser, 0, browser.open("a").holder.claim()), true);
});

test("a second window is refused, also by a window whose timers are stopped", async () => {
  const browser = new Browser();
  const [a, b] = [browser.open("a"), browser.open("b")];
  await a.holder.claim();
  browser.now += 60_000; // no heartbeat meanwhile
  assert.equal(await within(browser, 10, b.holder.claim()), false);
  assert.deepEqual([a.holder.holds, b.holder.holds, a.lost], [true, false, 0]);
});

test("on request, the second window takes the lock and receives the first window's state", async () => {
  const browser = new Browser();
  const [a, b] = [browser.open("a"), browser.open("b")];
  await a.holder.claim();
  await within(browser, 10, b.holder.claim());
  assert.deepEqual(await within(browser, 10, b.holder.take()), { running: "a" });
  assert.deepEqual([a.holder.holds, b.holder.holds, a.lost], [false, true, 1]);
  assert.deepEqual(await within(browser, 10, a.holder.take()), { running: "b" });
  await browser.pass(5000);
  assert.deepEqual([a.holder.holds, b.holder.holds, a.lost, b.lost], [true, false, 1, 1]);
});

test("a window releases the lock when the page is left", async () => {
  const browser = new Browser();
  const [a, b] = [browser.open("a"), browser.open("b")];
  await a.holder.claim();
  a.holder.release();
  assert.equal(await within(browser, 0, b.holder.claim()), true);
});

test("a late release by the previous page does not affect its successor", async () => {
  const browser = new Browser();
  const [a, b] = [browser.open("a", { tab: "t" }), browser.open("b", { tab: "t" })];
  await a.holder.claim();
  browser.crash(a);
  await within(browser, 400, b.holder.claim());
  a.holder.release();
  assert.equal(await within(browser, 10, browser.open("c").holder.claim()), false);
});

test("a crashed window blocks others for a few seconds at most, and its own reload even less", async () => {
  const browser = new Browser();
  const a = browser.open("a", { tab: "t" });
  await a.holder.claim();
  browser.crash(a);
  assert.equal(await within(browser, 301, browser.open("c", { tab: "t" }).holder.claim()), true);
  const other = new Browser();
  const first = other.open("a");
  await first.holder.claim();
  other.crash(first);
  const claim = other.open("b").holder.claim();
  assert.equal(await within(other, 4000, claim), undefined);
  assert.equal(await within(other, 2000, claim), true);
});

test("a duplicated tab is refused although it has the same session storage", async () => {
  const browser = new Browser();
  const [a, b] = [browser.open("a", { tab: "t" }), browser.open("b", { tab: "t" })];
  await a.holder.claim();
  assert.equal(await within(browser, 10, b.holder.claim()), false);
});

test("one of two windows opened at the same time gets the lock", async () => {
  for (const apart_ms of [0, 1, 200]) {
    const browser = new Browser();
    const [a, b] = [browser.open("a"), browser.open("b")];
    browser.storage["reading-room:s:place"] = JSON.stringify({ id: "x", tab: "x", since: 0, at: 0 });
    a.holder.claim();
    browser.now += apart_ms;
    b.holder.claim();
    await browser.pass(7000);
    assert.deepEqual([a.holder.holds, b.holder.holds], [true, false], String(apart_ms));
  }
});

test("if two windows find the lock free, the older window keeps it", async () => {
  const browser = new Browser();
  const [a, b] = [browser.open("a"), browser.open("b")];
  await a.holder.claim();
  browser.storage.removeItem("reading-room:s:place"); // not yet visible to the other process
  browser.now += 1;
  await b.holder.claim();
  await browser.pass(3000);
  assert.deepEqual([a.holder.holds, b.holder.holds, a.lost, b.lost], [true, false, 0, 1]);
});

test("a frozen window does not block, and yields when it thaws", async () => {
  const browser = new Browser();
  const [a, b] = [browser.open("a"), browser.open("b")];
  await a.holder.claim();
  browser.freeze(a);
  await browser.pass(10_000);
  assert.equal(await within(browser, 301, b.holder.claim()), true);
  await browser.pass(2000);
  browser.thaw(a);
  await browser.pass(2000);
  assert.deepEqual([a.holder.holds, b.holder.holds, a.lost, b.lost], [false, true, 1, 0]);
});

test("a window that does not respond is replaced without its state", async () => {
  const browser = new Browser();
  const [a, b] = [browser.open("a"), browser.open("b")];
  await a.holder.claim();
  await within(browser, 10, b.holder.claim());
  browser.crash(a);
  assert.equal(await within(browser, 2000, b.holder.take()), null);
  assert.equal(b.holder.holds, true);
});

test("without a channel every window can read", async () => {
  const browser = new Browser();
  for (const id of ["a", "b"]) {
    const { holder } = browser.open(id, { channel: false });
    assert.equal(await within(browser, 60_000, holder.claim()), true);
    assert.equal(holder.holds, true);
  }
  assert.deepEqual(Object.keys(browser.storage), []);
});

test("without storage, the messages alone decide", async () => {
  const browser = new Browser();
  browser.storage.setItem = () => { throw new Error("full"); };
  const [a, b] = [browser.open("a"), browser.open("b")];
  assert.equal(await within(browser, 301, a.holder.claim()), true);
  assert.equal(await within(browser, 10, b.holder.claim()), false);
});

test("a waiting window is not notified when the lock moves to another window", async () => {
  const browser = new Browser();
  const [a, b, c] = ["a", "b", "c"].map((id) => browser.open(id));
  await a.holder.claim();
  await within(browser, 10, b.holder.claim());
  await within(browser, 10, c.holder.claim());
  assert.deepEqual(await within(browser, 10, c.holder.take()), { running: "a" });
  await browser.pass(3000);
  assert.deepEqual([a, b, c].map(({ holder }) => holder.holds), [false, false, true]);
  assert.deepEqual([a.lost, b.lost, c.lost], [1, 0, 0]);
});
