/**
 * Values that cannot be stored are kept while the page is open.
 * A reader's settings are restored for that reader only.
 * Names of records are random version 4 UUIDs.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { newId, ReaderStorage, Settings } from "../../../../ui/viewer/js/page/storage.js";

const full = { setItem() { throw new Error("full"); }, getItem: () => '"old"', removeItem() {} };

test("values that do not fit are kept in memory and take precedence over stored values", () => {
  for (const browser of [full, null]) {
    const storage = new ReaderStorage(browser, "s");
    assert.equal(storage.put("running", { option: "A" }), false);
    assert.deepEqual(storage.get("running"), { option: "A" });
    storage.drop("running");
    assert.equal(storage.get("running"), browser ? "old" : null);
  }
});

const browser = () => {
  const kept = new Map();
  return { getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value) };
};
const opened = (storage) => {
  const told = [];
  const settings = new Settings((values) => told.push({ ...values }));
  settings.open(storage);
  return { settings, told };
};

test("a reader's settings are restored, another reader has the defaults", () => {
  const shared = browser();
  opened(new ReaderStorage(shared, "one")).settings.set("wheel", "pan");
  assert.equal(opened(new ReaderStorage(shared, "one")).told[0].wheel, "pan");
  assert.deepEqual(opened(new ReaderStorage(shared, "two")).settings.values,
    { wheel: "zoom", left: "window", views: "separate", sizes: "frontal", windows: "reset", panel: "dark" });
});

test("a changed setting is reported at once and can be reset", () => {
  const { settings, told } = opened(new ReaderStorage(browser(), "one"));
  settings.turn("views");
  settings.turn("views");
  assert.deepEqual(told.map(({ views }) => views), ["separate", "linked", "separate"]);
});

test("unknown stored values are ignored, and a full storage causes no error", () => {
  const broken = browser();
  const storage = new ReaderStorage(broken, "one");
  storage.put("settings", { wheel: "spin", left: "pan", extra: 1 });
  assert.deepEqual(opened(storage).settings.values,
    { wheel: "zoom", left: "pan", views: "separate", sizes: "frontal", windows: "reset", panel: "dark" });
  const { settings } = opened(new ReaderStorage(null, "one"));
  settings.set("panel", "light");
  assert.equal(settings.values.panel, "light");
});

test("ids are unique UUIDs", () => {
  const ids = Array.from({ length: 500 }, newId);
  assert.ok(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)));
  assert.equal(new Set(ids).size, ids.length);
});
