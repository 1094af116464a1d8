/** Random orders of events of the reader, the connection and the server: no answer is lost or doubled, and the study
    ends. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { asksWords } from "../../../../ui/viewer/js/page/question-panel.js";
import { feedbackShown, isAnswered } from "../../../../ui/viewer/js/room/deciding.js";
import { START, step } from "../../../../ui/viewer/js/room/machine.js";
import { CONTENT, desk, frozen, item } from "./desks.mjs";

const WALKS = 100;
const STEPS = 200;
const CASES = 6;
const KEYS = [
  { is: "choose", option: "A" }, { is: "choose", option: "C" }, { is: "digit", number: 2 }, { is: "sure", step: 3 }, { is: "confirm" },
  { is: "confirm" }, { is: "confirm" }, { is: "pause" }, { is: "back" }, { is: "giveUp" }, { is: "reason", number: 1 },
  { is: "words", text: "blurred" }, { is: "write", text: "effusion" }, { is: "write", text: " " }, { is: "comment", text: "so" }, { is: "faulty" }, { is: "aid" }, { is: "touched" }, { is: "next" }, { is: "resized" },
];

/** Random numbers that depend on the seed only (mulberry32). */
function chance(seed) {
  let state = seed;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n;
  };
}

/** A simulated server with its cases, its records and its end. */
class Server {
  hold = "";
  shown = new Set();
  /** Readings by case, the latest last. */
  readings = new Map();
  stored = new Set();
  /** Cases whose model's answer was requested. */
  requested = new Set();
  finished = false;

  /** @param {object} rules @param {number} open how many cases are open-ended, before those with options
   *  @param {string} aid when a model's answer is shown; "" for never */
  constructor(rules, open, aid = "") {
    this.rules = rules;
    this.open = open;
    this.aid = aid;
  }

  /** All entries of the reader's list: sequential reading has two at each position. */
  get places() {
    return Array.from({ length: CASES }, (_, i) => i + 1).flatMap((position) => {
      if (this.aid !== "after") return [this.item(position, this.aid && { condition: "aided", aid: this.#aidOf() })];
      const [case1, case2] = ["a", "b"].map((stage) => `c${position}${stage}`);
      return [this.item(position, { case: case1, stage: 1 }), this.item(position, {
        case: case2, stage: 2, condition: "aided", aid: this.#aidOf(),
        before: this.readings.has(case1) ? { option: this.readings.get(case1).at(-1).option, confidence: null } : null,
      })];
    });
  }

  #aidOf() {
    return { when: this.aid, html: "", content: null };
  }

  /** Only the first remaining case has the model's answer, on demand only after a request. */
  #due(each, i) {
    const due = this.aid === "on demand" ? this.requested.has(each.case) : i === 0;
    return each.aid && due ? { ...each, aid: { ...each.aid, content: CONTENT } } : each;
  }

  item(position, more) {
    return item(position, { ...more, ...(position <= this.open && { condition: "open-ended", options: [] }) });
  }

  get desk() {
    const left = this.places.filter((each) => !this.readings.has(each.case)).map((each, i) => this.#due(each, i));
    const back = this.rules.back_navigation;
    return desk({
      rules: this.rules, total: CASES, hold: this.hold, review: back && !left.length && !this.finished,
      finished: !left.length && (!back || this.finished),
      cases: this.hold ? [] : left.slice(0, 3).map((each) => ({ ...each, presented: this.shown.has(each.case) })),
    });
  }

  earlier(position) {
    return this.item(position, { presented: true, reading: this.readings.get(`c${position}`)?.at(-1) ?? null });
  }

  /** @returns its response to these records */
  take(sent) {
    const refused = [];
    for (const record of sent.filter(({ id }) => !this.stored.has(id))) {
      const { id, kind, case: name } = record;
      if (kind === "presentation" && this.hold) refused.push({ id, why: "paused" });
      else if (kind === "reading" && this.hold && !this.shown.has(name)) refused.push({ id, why: "paused" });
      else this.#store(record);
    }
    return { stored: sent.map(({ id }) => id).filter((id) => this.stored.has(id)), refused, feedback: this.#feedback(sent) };
  }

  #store(record) {
    this.stored.add(record.id);
    if (record.kind === "presentation") this.shown.add(record.case);
    else if (record.kind === "finish") this.finished = true;
    else if (record.kind === "aid request") this.requested.add(record.case);
    else this.#read(record);
  }

  #read(record) {
    const before = this.readings.get(record.case) ?? [];
    assert.equal(record.supersedes !== null, before.length > 0, `${record.case} was handed in twice`);
    this.readings.set(record.case, [...before, record]);
    this.shown.add(record.case);
  }

  #feedback(sent) {
    if (this.rules.feedback !== "after case") return {};
    return Object.fromEntries(sent.map(({ id }) => [id, { option: "A", correct: true, explanation: "" }]));
  }
}

/** A page in its browser: stored values, the case on the screen, and pending messages. */
class Page {
  now = 0;
  outbox = [];
  storage = {};
  refused = new Set();
  /** Submitted readings by id. */
  handedIn = new Map();

  constructor(server) {
    this.server = server;
    this.reload();
  }

  reload() {
    this.state = { ...START };
    this.desk = this.server.desk;
    this.pending = [];
    this.events = [];
    this.screen = { n: 0, painted: false, covered: false, sheet: "" };
    this.running = new Set();
    this.send({ is: "readHere", kept: this.storage.feedback ?? null, epoch: this.now });
  }

  send(event) {
    this.events.push(event);
    if (this.events.length > 1) return;
    for (; this.events.length; this.events.shift()) {
      this.now += 50;
      const facts = {
        desk: this.desk, unsent: [...this.outbox], running: this.storage.running ?? null,
        condition: this.storage.condition ?? null, been: Boolean(this.storage.here), size: [1440, 900],
      };
      const { state, effects } = step(frozen({ ...this.state, facts }), frozen({ now: this.now, ...this.events[0] }));
      this.state = state;
      for (const effect of effects) this[effect.do]?.(effect);
      this.check();
    }
  }

  check() {
    const { phase, shown, here, aside } = this.state;
    const { n, painted, covered, sheet } = this.screen;
    if (phase === "ready") {
      assert.ok(here && shown && !shown.committed, "a case that can be answered is neither done nor elsewhere");
      assert.ok(shown.n === n && painted && !covered && !sheet, "what can be answered is seen");
    }
    assert.ok([...this.running].every((each) => each === n && painted && phase === "ready"), "no clock runs unseen");
    assert.equal(this.running.size, phase === "ready" ? 1 : 0, "where a case can be answered its clock runs");
    const { aid } = shown?.item ?? {};
    if (aid && aid.when !== "on demand") assert.ok(aid.content, "a case is shown together with its model's answer");
    if (aside) assert.ok(!aside.committed && !aside.item.reading, "what waits aside is still to be answered");
    if (!here) assert.equal(shown, null);
  }

  // The effects that change the page or the browser.
  present({ shown }) {
    Object.assign(this.screen, { n: shown.n, painted: false, covered: false });
    this.running.clear();
    this.pending.push({ is: "painted", n: shown.n });
  }

  begin() {
    const { shown } = this.state;
    if (!shown.item.reading) this.storage.running = { ...shown, case: shown.item.case, clock: { paused: shown.paused } };
    if (!shown.paused) this.running.add(shown.n);
    const seen = shown.item.presented || shown.item.reading || shown.resumed || this.presented?.has(shown.n);
    if (!seen) this.outbox.push({ kind: "presentation", id: `p${this.outbox.length}-${this.now}`, case: shown.item.case });
  }

  submit({ shown, status }) {
    const id = `r${this.handedIn.size}`;
    assert.ok(![...this.handedIn.values()].some(({ made }) => made === shown), "one case on the screen, one answer");
    const supersedes = shown.item.reading?.id ?? null;
    const { option, words } = shown;
    if (status === "answered") assert.ok(shown.item.options.length ? option && !words : !option && words.trim(), "an answer of its kind");
    const record = { kind: "reading", id, case: shown.item.case, option, words, status, supersedes, confidence: shown.confidence,
      comment: shown.comment, committed_epoch_ms: this.now };
    this.handedIn.set(id, { made: shown, record });
    this.running.clear();
    this.outbox.push(record);
    this.send({ is: "recorded", record });
  }

  setPaused({ paused }) {
    const { shown } = this.state;
    if (!shown.item.reading) this.storage.running = { ...shown, case: shown.item.case, clock: { paused } };
    if (paused) this.running.clear();
    else this.running.add(shown.n);
  }

  put({ record }) { this.outbox.push(record); }
  requestAid({ item: { case: name } }) { this.outbox.push({ kind: "aid request", id: `q${name}-${this.now}`, case: name }); }
  remember({ name, value }) { this.storage[name] = value; }
  forget({ name }) { delete this.storage[name]; }
  leave({ shown }) { this.running.delete(shown.n); }
  curtain() { this.screen.covered = true; }
  halt() { this.screen.covered = true; }
  hold() { this.screen.covered = true; }
  uncover() { this.screen.covered = false; }
  window() { this.screen.sheet = "window"; }
  review() { this.screen.sheet = "review"; }
  closeSheet() { this.screen.sheet = ""; }
  finish() { this.storage = {}; }
  askAgain() { this.pending.push({ is: "another" }); }
  fetch({ position }) { this.pending.push({ is: "fetched", position }); }
  recheck({ n, position, id }) { this.pending.push({ is: "corrected", n, id, position }); }

  clear() {
    Object.assign(this.screen, { n: 0, painted: false });
    this.running.clear();
  }

  /** A pending response arrives; without a connection the request fails. */
  arrives(n, line) {
    const [event] = this.pending.splice(n, 1);
    if (event.is === "another" && line) this.desk = this.server.desk;
    const asked = ["fetched", "corrected"].includes(event.is);
    if (event.is === "painted" && event.n === this.screen.n) this.screen.painted = true;
    const seen = event.is !== "painted" || this.screen.painted;
    if (seen) this.send(asked ? { ...event, item: line ? this.server.earlier(event.position) : null } : event);
  }

  /** The outbox is emptied, or an answer of the server is lost on the way back. */
  deliver(n, heard) {
    const sent = this.outbox.slice(0, n);
    const receipt = this.server.take(sent);
    if (!heard) return;
    for (const { id } of receipt.refused) this.refused.add(id);
    const through = [...receipt.stored, ...receipt.refused.map(({ id }) => id)];
    this.outbox = this.outbox.filter(({ id }) => !through.includes(id));
    this.desk = this.server.desk;
    this.send({ is: "receipt", receipt, sent });
  }

  /** Every submitted reading is on the server, in the outbox, or refused by the server. */
  keepsEverything() {
    for (const id of this.handedIn.keys()) {
      const there = this.server.stored.has(id) || this.refused.has(id) || this.outbox.some((record) => record.id === id);
      assert.ok(there, `the answer ${id} is gone`);
    }
  }
}

/** @param {(n: number) => number} by chance */
function anything(page, by) {
  const what = by(20);
  if (what < 10) page.send(KEYS[by(KEYS.length)]);
  else if (what < 14 && page.pending.length) page.arrives(by(page.pending.length), by(4) > 0);
  else if (what < 17) page.deliver(by(4), by(5) > 0);
  else if (what === 17) page.send(by(2) ? { is: "timeUp" } : { is: "filmsLost" });
  else if (what === 18) page.server.hold = by(3) ? "" : "paused";
  else somethingRare(page, by);
}

function somethingRare(page, by) {
  const what = by(4);
  if (what === 0) page.reload();
  else if (what === 1) page.send({ is: "trouble", text: "no line" });
  else if (what === 2) page.storage.here = false;
  else if (page.state.here) page.send({ is: "handOver" });
  else page.send({ is: "readHere", kept: page.storage.feedback ?? null, epoch: page.now });
}

/** A reader who answers every question, with a reliable connection. */
function diligent(page) {
  const { phase, shown, here, reasons, sheet } = page.state;
  page.now += 1000;
  page.server.hold = "";
  if (!here) page.send({ is: "readHere", kept: page.storage.feedback ?? null, epoch: page.now });
  else if (page.outbox.length) page.deliver(page.outbox.length, true);
  else if (page.pending.length) page.arrives(0, true);
  else if (sheet === "review") finish(page);
  else if (phase === "paused") page.send(feedbackShown(page.state) ? { is: "confirm" } : { is: "pause" });
  else if (reasons) page.send({ is: "giveUp" });
  else if (shown && !isAnswered(shown)) page.send(asksWords(shown.item) ? { is: "write", text: "effusion" } : { is: "choose", option: "B" });
  else if (shown?.confidence === null) page.send({ is: "sure", step: 3 });
  else page.send({ is: "confirm" });
}

function finish(page) {
  page.outbox.push({ kind: "finish", id: "f" });
  page.send({ is: "next" });
}

const RULES = [
  {}, { confidence_steps: 5, cannot_answer: true }, { back_navigation: true }, { back_navigation: true, confidence_steps: 5, break_every: 2 },
  { feedback: "after case" }, { feedback: "after case", cannot_answer: true, break_every: 3 },
  { aid: "first", confidence_steps: 5, break_every: 2 }, { aid: "first", feedback: "after case" }, { aid: "on demand", cannot_answer: true },
  { aid: "on demand", back_navigation: true }, { aid: "after", confidence_steps: 5 }, { aid: "after", feedback: "after case", break_every: 2 },
  { open: CASES / 2, confidence_steps: 5, cannot_answer: true }, { open: CASES, back_navigation: true }, { open: CASES, feedback: "after case" },
];

for (const { open = 0, aid = "", ...rules } of RULES) {
  test(`with ${JSON.stringify({ open, aid, ...rules })}`, () => {
    let read = 0;
    for (let seed = 1; seed <= WALKS; seed += 1) {
      const by = chance(seed);
      const page = new Page(new Server(desk({ rules }).rules, open, aid));
      try {
        for (let i = 0; i < STEPS; i += 1) {
          anything(page, by);
          page.keepsEverything();
        }
        for (let i = 0; i < STEPS && page.state.phase !== "finished"; i += 1) diligent(page);
        assert.equal(page.state.phase, "finished", "the reader never comes to the end");
        page.keepsEverything();
      } catch (error) {
        error.message = `walk ${seed}: ${error.message}`;
        throw error;
      }
      read += page.handedIn.size;
    }
    assert.ok(read >= WALKS * CASES);
  });
}
