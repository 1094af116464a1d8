"""The record of what was read: to keep once it is done, with a score only where one is told."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from study.base.errors import NotNow
from study.reading import desk
from study.reading.score_card import Count, ReadingRecord, reading_record
from study.store import Store
from tests.conftest import NOW, person, reading
from tests.unit.study.reading.test_peers import FIVE, PEERS, read
from tests.unit.study.reading.test_score_card import close
from ui.reading.score_card import page, pdf

Opened = Callable[..., Store]


def _read(store: Store, n: int) -> None:
    """Read cases a day apart, for half an hour each, the last of them for an unknown time."""
    for day in range(n):
        at = NOW + timedelta(days=day)
        case = desk.desk(store, person(store), now=at).cases[0].case
        took = None if day == n - 1 else 30 * 60_000.0
        times = {**reading(case)["times"], "response_ms": took, "elapsed_ms": took}
        record = reading(case, times=times)
        assert desk.take_records(store, person(store), [record], now=at).refused == ()


def _record(store: Store) -> ReadingRecord:
    return reading_record(store, person(store))


def _words(record: ReadingRecord) -> str:
    """Return what stands in the PDF, on one line."""
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext here; install it with: apt-get install poppler-utils")
    command = ["pdftotext", "-layout", "-", "-"]
    done = subprocess.run(command, input=pdf(record), capture_output=True, check=True)
    return " ".join(done.stdout.decode().split())


def test_a_record_is_to_be_had_when_every_case_is_read_and_tells_no_score_before_closing(
    opened: Opened,
) -> None:
    """Days, cases and measured time; what matches only once the score card tells it too."""
    store = opened(feedback="after study")
    _read(store, 7)
    with pytest.raises(NotNow, match="once you have read every case"):
        _record(store)
    case = desk.desk(store, person(store), now=NOW).cases[0].case
    desk.take_records(store, person(store), [reading(case)], now=NOW + timedelta(days=7))
    found = _record(store)
    assert (found.n_read, found.n_assigned, found.n_timed, found.score) == (8, 8, 7, None)
    assert found.last_at_utc is not None
    assert found.last_at_utc.startswith("2025-06-11")
    assert found.receipt.startswith("R1 · 8 of 8 · ")
    shown = page(found)
    assert "4 Jun 2025 to 11 Jun 2025" in shown
    assert "(7 cases timed)" in shown
    assert "3 h 0 min" in shown
    assert "reference standard" not in shown
    close(store)
    score = _record(store).score
    assert isinstance(score, Count)
    assert f"{score.n_correct} of 8" in page(_record(store))
    assert f"{score.n_correct} of 8" in _words(_record(store))
    assert "place" not in _words(_record(store)).casefold()


def test_the_pdf_tells_the_place_among_peers_once_the_score_card_does(opened: Opened) -> None:
    """Without any other reader's id; before closing nothing of it."""
    store = opened(readers=FIVE, **PEERS)
    for reader, n_right in zip(FIVE, (5, 7, 5, 2, 6), strict=True):
        read(store, reader, n_right)
    assert "place" not in _words(_record(store)).casefold()
    close(store)
    shown = _words(_record(store))
    assert "Your place: 3 (shared) of 5 readers" in shown
    assert not any(other in shown for other in FIVE if other != "R1")


def test_the_pdf_says_what_the_page_says_in_any_script_and_leaves_the_score_where_none_is_told(
    opened: Opened,
) -> None:
    """Hours and cases alone under feedback "never"; no markup, no box for a name, no lost sign."""
    store = opened(feedback="never")
    _read(store, 8)
    close(store)
    found = replace(_record(store), study="胸片 かな 한글 Ω", reader="R1 #[*b*]")
    shown = _words(found)
    assert found.card is None
    assert "R1 #[*b*]" in shown
    assert "胸片 かな 한글 Ω" in shown
    assert "8 of 8" in shown
    assert "3 h 30 min" in shown
    assert "reference standard" not in shown
    assert "Optional" not in shown


def test_without_feedback_a_record_never_tells_a_score(opened: Opened) -> None:
    """A closed study gives one to whoever read part of it; what is typed outside is escaped."""
    store = opened(readers=("<b>R1",))
    close(store)
    found = reading_record(store, person(store, "<b>R1"))
    assert (found.score, found.n_read, found.receipt) == (None, 0, "")
    shown = page(found)
    assert "&lt;b&gt;R1" in shown
    assert "<b>R1" not in shown
    assert "Period" not in shown
