"""Feedback between sessions has rounded shares, is shown before the next session, once."""

import json
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from study.base.bank_model import LETTERS
from study.lifecycle import studies
from study.models.synthetic import add_synthetic
from study.protocol.contradictions import MIN_FEEDBACK_ANSWERS
from study.protocol.protocol import Protocol
from study.reading import desk
from study.reading.desk import Desk
from study.reading.session_feedback import rounded_percent
from study.store import Store, banks, events, people
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, invite, person, presentation, reading
from ui.reading.desk import desk_json

DAY = timedelta(days=1)
ARMS = [{"name": "alone"}, {"name": "with AI", "conditions": ["aided"]}]
FEEDBACK_PROTOCOL: dict[str, Any] = {
    "cases": 20,
    "one_question_per": "item",
    "sessions": 2,
    "washout_days": 10,
    "session_feedback": True,
    "option_order": "random",
}


def _open(store: Store, *readers: str, accuracy: float = 0.75, **values: Any) -> None:
    protocol = Protocol.from_json({**FEEDBACK_PROTOCOL, **values})
    studies.draw(store, bank="bank", study="trial", protocol=protocol, acting=ACTING)
    invite(store, *(readers or ("R1",)))
    if protocol.is_aided:
        add_synthetic(store, study="trial", model_id="m", accuracy=accuracy, seed=1, acting=ACTING)
    studies.open_study(store, study="trial", acting=ACTING)


def _desk(store: Store, now: datetime = NOW, reader: str = "R1") -> Desk:
    return desk.desk(store, person(store, reader), now=now)


def _read_session(store: Store, n_correct: int, now: datetime = NOW, reader: str = "R1") -> Desk:
    """Read a session with this many correct answers; return the desk that follows the last one."""
    with store.look() as look:
        items = banks.items_of_study(look, study_row(look, "trial").id)
    right = {row.question: json.loads(row.options)[LETTERS.index(row.truth or "")] for row in items}
    page = _desk(store, now, reader)
    session, left = page.session, n_correct
    while page.cases and page.session == session:
        case = page.cases[0]
        is_right = left > 0
        option = next(
            letter for letter, text in case.options if (text == right[case.question]) == is_right
        )
        left -= case.stage != 1
        records = [presentation(case.case), reading(case.case, option)]
        page = desk.take_records(store, person(store, reader), records, now=now).desk
    return page


def _feedback_events(store: Store) -> list[tuple[str, int]]:
    with store.look() as look:
        rows = events.of_kinds(look, events.study_chain("trial"), ("session feedback shown",))
    return [(row.actor, row.detail["session"]) for row in rows]


def test_a_reader_sees_both_shares_before_the_next_session_and_not_later(banked: Store) -> None:
    """The shares are rounded, and the same after a reload; the event contains no share."""
    _open(banked, conditions=["unaided", "aided"], aid_model="m")
    assert (_desk(banked).ended_session, _desk(banked).session_feedback) == (0, "")
    ended = _read_session(banked, n_correct=13)
    assert (ended.hold, ended.session) == ("washing out", 2)
    assert ended.session_feedback == (
        "In session 1 your answers were correct in about 70 % of the cases. "
        "The AI model's answers were correct in about 80 % of the same cases."
    )
    opens = NOW + 10 * DAY
    for now in (NOW + DAY, opens):
        page = _desk(banked, now)
        assert page.session_feedback == ended.session_feedback
        assert desk_json(page, lambda film: film.film)["session_feedback"] == page.session_feedback
    assert _feedback_events(banked) == [("R1", 1)]
    case = page.cases[0].case
    desk.take_records(banked, person(banked), [presentation(case, opens)], now=opens)
    assert _desk(banked, opens).session_feedback == ""
    result = _read_session(banked, n_correct=20, now=opens)
    assert result.finished
    assert "session_feedback" not in desk_json(result, lambda film: film.film)
    assert _feedback_events(banked) == [("R1", 1)]
    assert verify(banked) == []


def test_readers_in_an_unaided_arm_see_only_their_own_share(banked: Store) -> None:
    """In the other arm, the model's share is that of the answers shown, with planted errors."""
    _open(banked, "R1", "R2", arms=ARMS, aid_model="m", aid_errors=6, accuracy=1.0)
    with banked.look() as look:
        arm_of = {row.reader_id: row.arm for row in people.readers(look, 1)}
    for reader, arm in arm_of.items():
        feedback = _read_session(banked, n_correct=20, reader=reader).session_feedback
        assert "your answers were correct in about 90 % or more" in feedback
        assert ("model" in feedback) == (arm == "with AI")
        assert ("about 70 % of the same cases" in feedback) == (arm == "with AI")


def test_the_last_answer_counts_in_sequential_reading(banked: Store) -> None:
    """Both answers for a case count as one case."""
    _open(banked, conditions=["aided"], aid="after", aid_model="m")
    feedback = _read_session(banked, n_correct=0).session_feedback
    assert "correct in about 10 % or fewer of the cases" in feedback


def test_there_is_no_feedback_without_the_key(banked: Store) -> None:
    """The key is off by default, and then it is not part of the protocol's hash."""
    _open(banked, session_feedback=False)
    assert _read_session(banked, n_correct=10).session_feedback == ""
    assert _feedback_events(banked) == []
    assert "session_feedback" not in Protocol().as_json()


def test_cases_with_wrong_images_and_open_ended_cases_do_not_count(banked: Store) -> None:
    """If too few other cases remain, there is no feedback."""
    _open(banked, conditions=["unaided", "wrong-image"])
    assert _read_session(banked, n_correct=20).session_feedback == ""
    assert _feedback_events(banked) == []


@given(st.integers(MIN_FEEDBACK_ANSWERS, 1000))
def test_no_displayed_share_implies_that_all_or_no_answers_were_correct(n: int) -> None:
    """Every rounded share corresponds to at least two numbers of correct answers."""
    shares = Counter(rounded_percent(n_correct, n) for n_correct in range(n + 1))
    assert min(shares.values()) >= 2
    assert set(shares) <= set(range(10, 100, 10))
