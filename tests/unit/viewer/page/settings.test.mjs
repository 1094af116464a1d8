/** What a reader set is there for that reader again, and for nobody else. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Keep } from "../../../../ui/viewer/js/page/keep.js";
import { Settings } from "../../../../ui/viewer/js/page/settings.js";

const storage = () => {
  const kept = new Map();
  return { getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value) };
};
const opened = (keep) => {
  const told = [];
  const settings = new Settings((values) => told.push({ ...values }));
  settings.open(keep);
  return { settings, told };
};

test("a reader's choice comes back, another reader's page begins anew", () => {
  const shared = storage();
  opened(new Keep(shared, "one")).settings.set("wheel", "pan");
  assert.equal(opened(new Keep(shared, "one")).told[0].wheel, "pan");
  assert.deepEqual(opened(new Keep(shared, "two")).settings.values,
    { wheel: "zoom", left: "window", views: "separate", panel: "dark" });
});

test("what is turned is told at once, and turned back", () => {
  const { settings, told } = opened(new Keep(storage(), "one"));
  settings.turn("views");
  settings.turn("views");
  assert.deepEqual(told.map(({ views }) => views), ["separate", "linked", "separate"]);
});

test("what was kept and means nothing is left aside, and a full storage is no trouble", () => {
  const broken = storage();
  const keep = new Keep(broken, "one");
  keep.put("settings", { wheel: "spin", left: "pan", extra: 1 });
  assert.deepEqual(opened(keep).settings.values, { wheel: "zoom", left: "pan", views: "separate", panel: "dark" });
  const { settings } = opened(new Keep(null, "one"));
  settings.set("panel", "light");
  assert.equal(settings.values.panel, "light");
});
