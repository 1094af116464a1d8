/**
 * The outbox: records stay here, in memory and in the browser's storage, until the server acknowledges them.
 *
 * Each record has its own storage key, so that two tabs never overwrite each other's. Only one request is sent at a
 * time. Sending the same record twice is harmless: it carries its id from the start.
 *
 * Acknowledged records are kept until the reader signs out or has finished. If the server has fewer records than
 * before, because an earlier state was restored, all records are sent again in order.
 */

/** @import { ReaderStorage } from "../page/storage.js" */
/** @import { OutboxState, Receipt, Record } from "../page/types.js" */

const NEXT_CASE_MS = 100; // after the next case has normally been painted
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 20_000;
const MOST_AT_ONCE = 100;
const MOST_PUT_BY = 1000;
const LARGEST_LAST_MESSAGE_BYTES = 60_000; // browsers refuse keepalive bodies of 64 KiB

export class Outbox {
  #storage;
  #deliver;
  #later;
  #cancel;
  #listener;
  /** @type {Map<string, {order: number, record: Record, kept: boolean}>} */
  #entries = new Map();
  /** Acknowledged records. @type {Map<string, {order: number, record: Record}>} */
  #done = new Map();
  /** Ids of records sent again, until the server has responded to each. @type {Set<string>} */
  #again = new Set();
  /** The outcome to be reported afterwards. @type {{refused: {id: string, why: string}[], sent: Record[]}} */
  #untold = { refused: [], sent: [] };
  #order = 0;
  #sending = false;
  #delivered = false;
  #failures = 0;
  #timer = null;

  /**
   * @param {{storage: ReaderStorage, order: number,
   *   deliver: (records: Record[], leaving: boolean) => Promise<Receipt>,
   *   listener: {changed: () => void, receipt: (r: Receipt, sent: Record[]) => void,
   *              failed: (error: any) => void},
   *   later?: (run: () => void, ms: number) => any, cancel?: (timer: any) => void}} parts
   *   order: a number that increases with every page, such as the time
   */
  constructor({ storage, order, deliver, listener, later, cancel }) {
    this.#storage = storage;
    this.#deliver = deliver;
    this.#listener = listener;
    this.#later = later ?? ((run, ms) => setTimeout(run, ms));
    this.#cancel = cancel ?? ((timer) => clearTimeout(timer));
    this.#gather();
    this.#gatherDone();
    // the computer's clock may have been set back since the last page
    const before = [...this.#entries.values(), ...this.#done.values()];
    this.#order = Math.max(order, ...before.map((entry) => entry.order + 1));
  }

  get size() { return this.#entries.size; }

  /** @returns {Record[]} readings not yet acknowledged, oldest first */
  get readings() { return this.records.filter((record) => record.kind === "reading"); }

  /** @returns {Record[]} */
  get records() {
    return [...this.#entries.values()].sort((a, b) => a.order - b.order).map((e) => e.record);
  }

  /** @returns {OutboxState} */
  get state() {
    if (!this.readings.length) return this.#delivered ? "empty" : "idle";
    if (!this.#failures) return "sending";
    return [...this.#entries.values()].every((entry) => entry.kept) ? "kept" : "unkept";
  }

  /** @returns {boolean} whether an answer exists only in this page's memory */
  get unkept() {
    return [...this.#entries.values()].some(({ record, kept }) => record.kind === "reading" && !kept);
  }

  /** Add a record; it is stored before this returns, and sent shortly afterwards. @param {Record} record */
  put(record) {
    const order = this.#order++;
    this.#entries.set(record.id, this.#keeping({ order, record, kept: false }));
    this.#listener.changed();
    this.#schedule(NEXT_CASE_MS);
  }

  /** Nothing is being painted: send the waiting records. */
  flush() {
    if (this.size) this.#schedule(0);
  }

  /** Try at once, without waiting. */
  retryNow() {
    this.#gather();
    if (this.size) this.#schedule(0);
  }

  /** The desk states how many records the server has. If it had more before, all are sent again.
   *  @param {{stored?: number}} desk @returns {boolean} whether the server has an older store */
  heard({ stored }) {
    if (stored === undefined || !Number.isInteger(stored)) return false;
    const back = stored < (this.#storage.get(STORED) ?? 0);
    this.#storage.put(STORED, stored);
    if (back) this.#offerAgain();
    return back && this.#again.size > 0;
  }

  /** The reader signs out or has finished: acknowledged records are no longer needed. */
  forget() {
    for (const name of this.#storage.names(doneKeyOf(""))) this.#storage.drop(name);
    this.#storage.drop(STORED);
    this.#done.clear();
  }

  /** The page is being left: a last attempt that the browser completes by itself. */
  sendOnLeaving() {
    const last = [];
    let bytes = 0;
    for (const record of this.records) {
      bytes += JSON.stringify(record).length * 2;
      if (bytes > LARGEST_LAST_MESSAGE_BYTES) break;
      last.push(record);
    }
    if (last.length) this.#deliver(last, true).catch(() => {});
  }

  stop() {
    this.#cancel(this.#timer);
  }

  #gather() {
    for (const name of this.#storage.names(keyOf(""))) {
      const entry = this.#storage.get(name);
      if (entry?.record?.id && !this.#entries.has(entry.record.id)) {
        this.#entries.set(entry.record.id, { ...entry, kept: true });
      }
    }
  }

  #gatherDone() {
    for (const name of this.#storage.names(doneKeyOf(""))) {
      const entry = this.#storage.get(name);
      if (entry?.record?.id) this.#done.set(entry.record.id, entry);
    }
  }

  #offerAgain() {
    this.#gatherDone();
    for (const { order, record } of this.#done.values()) {
      this.#entries.set(record.id, this.#keeping({ order, record: { ...record, again: true }, kept: false }));
      this.#again.add(record.id);
    }
    this.#listener.changed();
  }

  /** The browser's storage may have space again; waiting records come before acknowledged ones. */
  #keeping(entry) {
    const { order, record } = entry;
    entry.kept ||= this.#storage.put(keyOf(record.id), { order, record });
    const putBy = entry.kept ? [] : this.#storage.names(doneKeyOf(""));
    if (putBy.length) {
      for (const name of putBy) this.#storage.drop(name);
      entry.kept = this.#storage.put(keyOf(record.id), { order, record });
    }
    return entry;
  }

  #schedule(ms) {
    this.#cancel(this.#timer);
    this.#timer = this.#later(() => this.#send(), ms);
  }

  async #send() {
    const records = this.records.slice(0, MOST_AT_ONCE);
    if (this.#sending || !records.length) return;
    this.#sending = true;
    try {
      const receipt = await this.#deliver(records, false);
      this.#failures = 0;
      this.#delivered ||= records.some((record) => record.kind === "reading");
      this.#sending = false;
      // A refusal may be due to missing earlier records, so these outcomes do not count.
      if (receipt.desk && this.heard(receipt.desk)) {
        this.#schedule(0);
        return;
      }
      for (const id of receipt.stored) this.#putBy(id);
      for (const { id } of receipt.refused) this.#remove(id);
      this.#tell(receipt, records);
      this.#listener.changed();
      if (this.size) this.#schedule(this.#unmoved(records) ? FIRST_WAIT_MS : NEXT_CASE_MS);
    } catch (error) {
      this.#sending = false;
      this.#failures += 1;
      this.#entries.forEach((entry) => this.#keeping(entry));
      this.#listener.failed(error);
      this.#listener.changed();
      this.#schedule(Math.min(FIRST_WAIT_MS * 2 ** (this.#failures - 1), LONGEST_WAIT_MS));
    }
  }

  /** Whether the server responded to none of them, so that an immediate retry would not help. */
  #unmoved(records) {
    return records.every((record) => this.#entries.has(record.id));
  }

  /** While records are being sent again, the desk could contain cases that were already read. */
  #tell(receipt, records) {
    const refused = [...this.#untold.refused, ...receipt.refused];
    const sent = [...this.#untold.sent, ...records];
    this.#untold = this.#again.size ? { refused, sent } : { refused: [], sent: [] };
    if (!this.#again.size) this.#listener.receipt({ ...receipt, refused }, sent);
  }

  #putBy(id) {
    const entry = this.#entries.get(id);
    this.#remove(id);
    if (!entry) return;
    const { again, ...record } = entry.record;
    const done = { order: entry.order, record };
    this.#done.delete(id);
    this.#done.set(id, done);
    if (!this.#storage.put(doneKeyOf(id), done)) this.#storage.drop(doneKeyOf(id)); // it remains in this page's memory
    if (this.#done.size <= MOST_PUT_BY) return;
    const [oldest] = this.#done.keys();
    this.#done.delete(oldest);
    this.#storage.drop(doneKeyOf(oldest));
  }

  #remove(id) {
    this.#entries.delete(id);
    this.#again.delete(id);
    this.#done.delete(id);
    this.#storage.drop(keyOf(id));
  }
}

const STORED = "stored";
const keyOf = (id) => `record:${id}`;
const doneKeyOf = (id) => `done:${id}`;
