/**
 * Which window of this browser the reader reads in: one holds the place, any other takes it only when told to.
 *
 * Web Locks would need a secure context, which a hospital's plain http is not. So the holder writes a heartbeat into
 * the browser's storage and answers questions on a BroadcastChannel: timers of a hidden window may run once a minute,
 * messages reach it at once. Without a channel every window takes itself for the only one.
 */

/** @import { ReaderStorage } from "../page/storage.js" */

/** @typedef {{id: string, tab: string, since: number, at: number}} Beat  what the holder writes, `at` ever anew */
/** @typedef {{kind: "ask"|"held"|"take"|"gave", from: string, to?: string, since?: number, gift?: any}} Message */

const BEAT = "place";
const BEAT_MS = 1000;
const STALE_MS = 5000; // a heartbeat this old, and no answer: a window that crashed
const ANSWER_MS = 300;
const GIFT_MS = 1500; // the other window may be in the middle of a film

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
  /** Ends the waiting for an answer. @type {((message: any) => void)|null} */
  #answer = null;

  /**
   * @param {{id: string, tab: string, storage: ReaderStorage,
   *   channel: {post: (message: Message) => void, listen: (run: (message: Message) => void) => void}|null,
   *   clock: {now: () => number, later: (run: () => void, ms: number) => any, cancel: (timer: any) => void},
   *   lost: () => any}} parts
   *   id: of this page; tab: outlives its reloads (a duplicated tab has the same); storage: under the reader's seal;
   *   clock: the wall clock, which all windows share; lost: another window reads on; returns what to hand over
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

  /** Ask for the place. @returns {Promise<boolean>} false: another window has it */
  async claim() {
    this.#since = this.#clock.now();
    if (!this.#channel) return this.#hold();
    if (!this.#storage.get(BEAT) && this.#write()) {
      this.#hold();
      this.#post({ kind: "ask" }); // should another one be there all the same, the older stays
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

  /** Take the place, whoever has it. @returns {Promise<any>} what the other window handed over; null if none did */
  async take() {
    this.#state = "none";
    const gave = this.#channel ? await this.#wait({ kind: "take" }, GIFT_MS) : null;
    this.#since = this.#clock.now();
    this.#hold();
    return gave?.gift ?? null;
  }

  /** The page is being left. */
  release() {
    this.#stop();
    if (this.#storage.get(BEAT)?.id === this.#id) this.#storage.drop(BEAT);
  }

  /** After a sleep, in which this window seemed to be gone: another one may have gone on meanwhile. */
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

  /** Whether a silent holder may still be there. @param {Beat|null} beat */
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

  /** Say something and wait for the answer. @returns {Promise<Message|null>} null: nobody answered in time */
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
      case "take": this.#robbed(message); break;
      case "held": this.#told(message); break;
      case "gave": this.#answer?.(message); break;
      default: break;
    }
  }

  #asked(message) {
    this.look();
    if (this.#state === "none") return;
    if (this.holds || this.#isOlder(message)) this.#post({ kind: "held", to: message.from });
    else this.#answer?.(message); // two asked at once, and the other was first
    if (this.holds) this.#write();
  }

  #robbed({ from }) {
    if (this.holds) this.#post({ kind: "gave", to: from, gift: this.#yield() });
    else if (this.#state === "claiming") this.#answer?.({});
  }

  #told(message) {
    if (this.#state === "claiming") this.#answer?.(message);
    else if (this.holds && !this.#isOlder(message)) this.#yield();
  }

  #isOlder({ since, from }) {
    return this.#since < since || (this.#since === since && this.#id < from);
  }
}
