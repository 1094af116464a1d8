/** Reading in one window of the browser at a time: the sheet over the others, and handing the case over. */

import { newId } from "../page/ids.js";
import { texts } from "../page/texts.js";
import { WindowLock } from "./window-lock.js";

/** @import { Connection } from "./connection.js" */
/** @import { Overlays } from "../page/overlays.js" */

const QUIET_MS = 600; // the Enter that opened this window, still held down, does not mean its button
const AGED_MS = 1000; // after so long a wait the desk is asked again
const TAB = "reading-room:tab";

export class OneWindow {
  #connection;
  #overlays;
  #room;
  #lock;
  /** What the sheet says, while another window has the place. @type {{title: string, text: string}|null} */
  #words = null;

  /**
   * @param {Connection} connection with its desk open
   * @param {Overlays} overlays
   * @param {{goOn: () => void, wait: (text: string) => void, handOver: () => object|null, finished: () => boolean}} room
   *   goOn: read in this window from now on; handOver: stop reading here, and say where the case stands
   */
  constructor(connection, overlays, room) {
    this.#connection = connection;
    this.#overlays = overlays;
    this.#room = room;
    this.#lock = new WindowLock({
      id: newId(), tab: thisTab(), storage: connection.storage, channel: channelOf(connection.desk.seal),
      clock: wallClock, lost: () => this.#lost(),
    });
  }

  /** Go on in this window as soon as no other stands against it. @param {boolean} [again] the desk may have aged */
  async enter(again = false) {
    const { desk, outbox } = this.#connection;
    const asked = performance.now();
    if (!again && desk.finished && !desk.review && !outbox.size) this.#goOn();
    else if (!(await this.#lock.claim())) this.#cover(texts.twoWindows.open);
    else if (again || performance.now() - asked > AGED_MS) await this.#goOnAfresh();
    else this.#goOn();
  }

  /** The page is being left. */
  leave() {
    this.#lock.release();
  }

  /** The browser keeps the page for a way back: nothing of it may be there to be seen. */
  sleep() {
    this.#room.handOver();
    this.#room.wait(texts.loading.opening);
  }

  /** The page was asleep, or another sheet has gone: is it as it should be? */
  look() {
    this.#lock.look();
    if (this.#words && !this.#overlays.open) this.#cover(this.#words);
  }

  #lost() {
    const finished = this.#room.finished();
    const gift = { running: this.#room.handOver(), records: this.#connection.outbox.records };
    if (!finished) this.#cover(texts.twoWindows.gone);
    return gift;
  }

  #cover(words) {
    this.#words = words;
    const since = performance.now();
    this.#room.wait(words.title);
    this.#overlays.ask("elsewhere", words, [{
      label: words.button,
      run: () => { if (performance.now() - since > QUIET_MS) this.#takeOver(); },
    }]);
  }

  async #takeOver() {
    this.#words = null;
    this.#overlays.close();
    this.#room.wait(texts.loading.opening);
    const gift = await this.#lock.take();
    if (gift) this.#adopt(gift);
    await this.#goOnAfresh();
  }

  #adopt({ running, records }) {
    const { storage, outbox } = this.#connection;
    if (running) storage.put("running", running);
    else storage.drop("running");
    for (const record of records) outbox.put(record);
  }

  /** The other window may have read on for a while: where is the reader now? */
  async #goOnAfresh() {
    if ((await this.#connection.refresh()) && this.#lock.holds) this.#goOn();
  }

  #goOn() {
    this.#words = null;
    this.#room.goOn();
  }
}

const wallClock = {
  now: () => Date.now(),
  later: (run, ms) => setTimeout(run, ms),
  cancel: (timer) => clearTimeout(timer),
};

/** Messages between the windows of one reader in this browser. @param {string} seal */
function channelOf(seal) {
  try {
    const channel = new BroadcastChannel(`reading-room:${seal}`);
    return {
      post: (message) => channel.postMessage(message),
      listen: (run) => channel.addEventListener("message", ({ data }) => run(data)),
    };
  } catch {
    return null;
  }
}

/** A name that this tab keeps over reloads. */
function thisTab() {
  try {
    const name = window.sessionStorage.getItem(TAB) ?? newId();
    window.sessionStorage.setItem(TAB, name);
    return name;
  } catch {
    return newId();
  }
}
