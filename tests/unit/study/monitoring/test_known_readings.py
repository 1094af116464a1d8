"""Readings kept between two looks: the same as if all were read anew, whatever happened between."""

import shutil
from collections.abc import Callable
from datetime import timedelta

from study.monitoring.progress import _KNOWN
from study.monitoring.quality import readings_of
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store
from tests.conftest import NOW, person, presentation, reading

Opened = Callable[..., Store]


def _both(store: Store) -> None:
    """Compare what is known already with what is read anew."""
    known = readings_of(store, "trial")
    _KNOWN.clear()
    assert known == readings_of(store, "trial")


def test_new_readings_and_changed_answers_are_seen(opened: Opened) -> None:
    """One reader has read; then another reads, and the first changes an answer."""
    store = opened(readers=("R1", "R2"), back_navigation=True)
    who = person(store)
    case = desk.desk(store, who, now=NOW).cases[0].case
    first = reading(case)
    desk.take_records(store, who, [presentation(case), first], now=NOW)
    _both(store)
    assert len(readings_of(store, "trial")) == 1
    simulate(store, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)
    changed = reading(case, "B", id="changed-it", supersedes=first["id"])
    later = NOW + timedelta(minutes=1)
    desk.take_records(store, who, [changed], now=later)
    of_first = [one for one in readings_of(store, "trial") if one.reader_id == "R1"]
    assert [one.id for one in of_first] == ["changed-it"]
    _both(store)


def test_another_store_in_its_place_is_read_anew(opened: Opened) -> None:
    """A backup put in place of the store has fewer readings, and then others."""
    store = opened(readers=("R1", "R2"))
    before = store.path.with_name("before.db")
    store.copy_to(before)
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    assert {one.reader_id for one in readings_of(store, "trial")} == {"R1"}
    for left in store.path.parent.glob(f"{store.path.name}-*al"):
        left.unlink()
    shutil.copy(before, store.path)
    again = Store(store.path)
    assert readings_of(again, "trial") == []
    simulate(again, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)
    assert {one.reader_id for one in readings_of(again, "trial")} == {"R2"}
