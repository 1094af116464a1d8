/** Limits reading to one window of the browser: one window holds a lock, and others take it only on request. */

import { newId } from "../page/storage.js";
import { texts } from "../page/texts.js";

/** @import { Overlays } from "../page/overlays.js" */
/** @import { ReaderStorage } from "../page/storage.js" */
/** @import { Connection } from "./connection.js" */

/** @typedef {{id: string, tab: string, since: number, at: number}} Beat  written by the holder, with a new `at` each
 * time */
/** @typedef {{kind: "ask"|"held"|"take"|"gave", from: string, to?: string, since?: number, gift?: any}} Message */

const BEAT = "place";
const BEAT_MS = 1000;
const STALE_MS = 5000; // age of a heartbeat after which a window without a response has crashed
const ANSWER_MS = 300;
const HANDOVER_MS = 1500; // the other window may be busy with a film

/**
 * Which window holds the lock.
 *
 * Web Locks need a secure context, which plain HTTP, common in hospitals, does not provide. The holder therefore
 * writes a heartbeat into the browser's storage and answers messages on a BroadcastChannel: timers of a hidden window
 * may run once a minute, but messages arrive at once. Without a channel every window assumes that it is the only one.
 */
export class WindowLock {
  #id;
  #tab;
  #storage;
  #channel;
  #clock;
  #lost;
  /** @type {"none"|"claiming"|"held"} */
  #state = "none";
  #since = 0;
  /** The last heartbeat. */
  #at = 0;
  #beat = null;
  /** Ends the wait for a response. @type {((message: any) => void)|null} */
  #answer = null;

  /**
   * @param {{id: string, tab: string, storage: ReaderStorage,
   *   channel: {post: (message: Message) => void, listen: (run: (message: Message) => void) => void}|null,
   *   clock: {now: () => number, later: (run: () => void, ms: number) => any, cancel: (timer: any) => void},
   *   lost: () => any}} parts
   *   id: of this page; tab: outlives its reloads (a duplicated tab has the same); storage: under the reader's seal;
   *   clock: the wall clock, which all windows share; lost: called when another window takes over; returns the state to hand over
   */
  constructor({ id, tab, storage, channel, clock, lost }) {
    this.#id = id;
    this.#tab = tab;
    this.#storage = storage;
    this.#channel = channel;
    this.#clock = clock;
    this.#lost = lost;
    channel?.listen((message) => this.#hear(message));
  }

  get holds() { return this.#state === "held"; }

  /** Ask for the lock. @returns {Promise<boolean>} false: another window has it */
  async claim() {
    this.#since = this.#clock.now();
    if (!this.#channel) return this.#hold();
    if (!this.#storage.get(BEAT) && this.#write()) {
      this.#hold();
      this.#post({ kind: "ask" }); // if there is another window nevertheless, the older window continues
      return true;
    }
    this.#state = "claiming";
    do {
      if (await this.#wait({ kind: "ask" }, ANSWER_MS)) {
        this.#state = "none";
        return false;
      }
    } while (this.#beating(this.#storage.get(BEAT)));
    return this.#hold();
  }

  /** Take the lock from any window that has it. @returns {Promise<any>} the state handed over by the other window;
   * null if none */
  async take() {
    this.#state = "none";
    const reply = this.#channel ? await this.#wait({ kind: "take" }, HANDOVER_MS) : null;
    this.#since = this.#clock.now();
    this.#hold();
    return reply?.gift ?? null;
  }

  /** The page is being left. */
  release() {
    this.#stop();
    if (this.#storage.get(BEAT)?.id === this.#id) this.#storage.drop(BEAT);
  }

  /** After a sleep, during which another window may have continued. */
  look() {
    const beat = this.#storage.get(BEAT);
    if (this.holds && beat && beat.id !== this.#id && beat.since > this.#at + STALE_MS && this.#fresh(beat)) {
      this.#yield();
    }
  }

  #hold() {
    this.#state = "held";
    if (this.#channel) this.#tick();
    return true;
  }

  #tick() {
    this.#write();
    this.#clock.cancel(this.#beat);
    this.#beat = this.#clock.later(() => {
      this.look();
      if (this.holds) this.#tick();
    }, BEAT_MS);
  }

  #write() {
    this.#at = this.#clock.now();
    return this.#storage.put(BEAT, { id: this.#id, tab: this.#tab, since: this.#since, at: this.#at });
  }

  /** Whether a holder that does not respond may still exist. @param {Beat|null} beat */
  #beating(beat) {
    return beat !== null && beat.tab !== this.#tab && this.#fresh(beat);
  }

  #fresh(beat) {
    return Math.abs(this.#clock.now() - beat.at) <= STALE_MS;
  }

  #yield() {
    this.#stop();
    return this.#lost();
  }

  #stop() {
    this.#state = "none";
    this.#clock.cancel(this.#beat);
  }

  #post(message) {
    this.#channel?.post({ ...message, from: this.#id, since: this.#since });
  }

  /** Send a message and wait for the response. @returns {Promise<Message|null>} null: no response in time */
  #wait(message, ms) {
    return new Promise((resolve) => {
      const end = (answer) => {
        this.#clock.cancel(timer);
        this.#answer = null;
        resolve(answer);
      };
      const timer = this.#clock.later(() => end(null), ms);
      this.#answer = end;
      this.#post(message);
    });
  }

  /** @param {Message} message */
  #hear(message) {
    if (message.to && message.to !== this.#id) return;
    switch (message.kind) {
      case "ask": this.#asked(message); break;
      case "take": this.#passOn(message); break;
      case "held": this.#heldElsewhere(message); break;
      case "gave": this.#answer?.(message); break;
      default: break;
    }
  }

  #asked(message) {
    this.look();
    if (this.#state === "none") return;
    if (this.holds || this.#isOlder(message)) this.#post({ kind: "held", to: message.from });
    else this.#answer?.(message); // both asked at once, and the other window was first
    if (this.holds) this.#write();
  }

  #passOn({ from }) {
    if (this.holds) this.#post({ kind: "gave", to: from, gift: this.#yield() });
    else if (this.#state === "claiming") this.#answer?.({});
  }

  #heldElsewhere(message) {
    if (this.#state === "claiming") this.#answer?.(message);
    else if (this.holds && !this.#isOlder(message)) this.#yield();
  }

  #isOlder({ since, from }) {
    return this.#since < since || (this.#since === since && this.#id < from);
  }
}

const QUIET_MS = 600; // the Enter that opened this window may still be held down and must not press its button
const AGED_MS = 1000; // after a wait this long the desk is requested again
const TAB = "reading-room:tab";

/** Covers the page while another window is in use, and hands the running case over on request. */
export class OneWindow {
  #connection;
  #overlays;
  #room;
  #lock;
  /** The text of the sheet while another window has the lock. @type {{title: string, text: string}|null} */
  #words = null;

  /**
   * @param {Connection} connection with its desk open
   * @param {Overlays} overlays
   * @param {{readHere: () => void, wait: (text: string) => void, handOver: () => object|null, finished: () => boolean}} room
   *   readHere: read in this window from now on; handOver: stop reading here, and return the state of the case
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

  /** Continue in this window as soon as no other window prevents it. @param {boolean} [again] the desk may be
   * outdated */
  async enter(again = false) {
    const { desk, outbox } = this.#connection;
    const asked = performance.now();
    if (!again && desk.finished && !desk.review && !outbox.size) this.#readHere();
    else if (!(await this.#lock.claim())) this.#cover(texts.twoWindows.open);
    else if (again || performance.now() - asked > AGED_MS) await this.#resumeAfterRefresh();
    else this.#readHere();
  }

  /** The page is being left. */
  leave() {
    this.#lock.release();
  }

  /** The browser keeps the page for its Back button: no content may remain visible. */
  sleep() {
    this.#room.handOver();
    this.#room.wait(texts.loading.opening);
  }

  /** Check the lock after the page was asleep or another sheet was closed. */
  look() {
    this.#lock.look();
    if (this.#words && !this.#overlays.open) this.#cover(this.#words);
  }

  #lost() {
    const finished = this.#room.finished();
    const handover = { running: this.#room.handOver(), records: this.#connection.outbox.records };
    if (!finished) this.#cover(texts.twoWindows.gone);
    return handover;
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
    const handover = await this.#lock.take();
    if (handover) this.#adopt(handover);
    await this.#resumeAfterRefresh();
  }

  #adopt({ running, records }) {
    const { storage, outbox } = this.#connection;
    if (running) storage.put("running", running);
    else storage.drop("running");
    for (const record of records) outbox.put(record);
  }

  /** The other window may have continued, so the reader's position is requested. */
  async #resumeAfterRefresh() {
    if ((await this.#connection.refresh()) && this.#lock.holds) this.#readHere();
  }

  #readHere() {
    this.#words = null;
    this.#room.readHere();
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
