"""The end of a study for its reader: a last chance to review where going back is allowed."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from study.base.errors import NotAllowed, NotNow
from study.lifecycle import studies
from study.reading import desk
from study.store import Store
from study.trail.verification import verify
from tests.conftest import NOW, person, preparation, reading

Opened = Callable[..., Store]
END = {"kind": "finish", "id": "the-end-of-it"}


def _desk(store: Store, **other: Any) -> desk.Desk:
    return desk.desk(store, replace(person(store), **other), now=NOW)


def _take(store: Store, *records: dict[str, Any]) -> desk.Acknowledgement:
    return desk.take_records(store, person(store), records, now=NOW + timedelta(seconds=2))


def _read_all(store: Store) -> str:
    """Read every case, and return the last."""
    last = ""
    while cases := _desk(store).cases:
        last = cases[0].case
        assert _take(store, reading(last, id=f"first-{last}")).refused == ()
    return last


def _changed(case: str) -> dict[str, Any]:
    return reading(case, id="changed-it", option="D", supersedes=f"first-{case}")


def _kinds(store: Store) -> list[str]:
    with store.look() as look:
        return [row["kind"] for row in look.rows("SELECT kind FROM events")]


def test_whoever_may_go_back_may_review_until_they_finish(opened: Opened) -> None:
    """Every case is read and may still be changed; said twice, the end is noted once."""
    store = opened(back_navigation=True)
    assert not _desk(store).review
    case = _read_all(store)
    found = _desk(store)
    assert (found.finished, found.review) == (True, True)
    assert _take(store, _changed(case)).refused == ()
    receipt = _take(store, END, END, {**END, "id": "another-one"})
    assert receipt.stored == ("the-end-of-it", "the-end-of-it", "another-one")
    assert (receipt.desk.finished, receipt.desk.review) == (True, False)
    assert _kinds(store).count("reading finished") == 1
    assert verify(store) == []


def test_after_the_end_answers_stand(opened: Opened) -> None:
    """Nothing is looked at or changed any more; what was sent before it may come again."""
    store = opened(back_navigation=True)
    case = _read_all(store)
    _take(store, END)
    ((_, why),) = _take(store, _changed(case)).refused
    assert "no longer be changed" in why
    with pytest.raises(NotAllowed, match="no longer be changed"):
        desk.case_at(store, person(store), 1, now=NOW)
    assert _take(store, reading(case, id=f"first-{case}")).refused == ()


def test_nobody_finishes_before_the_last_case_or_for_another(opened: Opened) -> None:
    """Too early is refused, and each reader has an end of their own."""
    store = opened(back_navigation=True)
    ((_, why),) = _take(store, END).refused
    assert why == "Some cases have not been read yet."
    _read_all(store)
    _take(store, END)
    assert _kinds(store).count("reading finished") == 1
    other = person(store, "R2")
    while cases := desk.desk(store, other, now=NOW).cases:
        desk.take_records(store, other, [reading(cases[0].case)], now=NOW)
    assert desk.desk(store, other, now=NOW).review


def test_without_going_back_the_last_answer_is_the_end(opened: Opened) -> None:
    """There is nothing to review, and nothing to finish."""
    store = opened()
    _read_all(store)
    assert (_desk(store).finished, _desk(store).review) == (True, False)
    ((_, why),) = _take(store, END).refused
    assert why == "This study ends with the last answer."


def test_whoever_finishes_as_the_study_is_closed_loses_nothing(opened: Opened) -> None:
    """The page that waited for them is told yes; an answer beside it would be refused."""
    store = opened(back_navigation=True)
    case = _read_all(store)
    studies.close(store, study="trial", reason="Every case is read.", now=NOW)
    assert not _desk(store).review
    assert _take(store, END).stored == ("the-end-of-it",)
    with pytest.raises(NotNow):
        _take(store, _changed(case), END)


def test_whoever_has_read_everything_is_not_asked_for_the_screen_again(opened: Opened) -> None:
    """At the next sign-in there is nothing to prepare for; with cases left there is."""
    store = opened(display_check=True)
    _take(store, preparation("display", {"dark_step": 2}))
    assert [one.step for one in _desk(store, sign_in="next").preparation] == ["display"]
    _read_all(store)
    assert _desk(store, sign_in="next").preparation == ()
