/** What a reader set is there for that reader again, and for nobody else. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Settings } from "../../../../ui/viewer/js/page/settings.js";
import { ReaderStorage } from "../../../../ui/viewer/js/page/storage.js";

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

test("a reader's choice comes back, another reader's page begins anew", () => {
  const shared = browser();
  opened(new ReaderStorage(shared, "one")).settings.set("wheel", "pan");
  assert.equal(opened(new ReaderStorage(shared, "one")).told[0].wheel, "pan");
  assert.deepEqual(opened(new ReaderStorage(shared, "two")).settings.values,
    { wheel: "zoom", left: "window", views: "separate", sizes: "frontal", windows: "reset", panel: "dark" });
});

test("what is turned is told at once, and turned back", () => {
  const { settings, told } = opened(new ReaderStorage(browser(), "one"));
  settings.turn("views");
  settings.turn("views");
  assert.deepEqual(told.map(({ views }) => views), ["separate", "linked", "separate"]);
});

test("what was kept and means nothing is left aside, and a full storage is no trouble", () => {
  const broken = browser();
  const storage = new ReaderStorage(broken, "one");
  storage.put("settings", { wheel: "spin", left: "pan", extra: 1 });
  assert.deepEqual(opened(storage).settings.values,
    { wheel: "zoom", left: "pan", views: "separate", sizes: "frontal", windows: "reset", panel: "dark" });
  const { settings } = opened(new ReaderStorage(null, "one"));
  settings.set("panel", "light");
  assert.equal(settings.values.panel, "light");
});
