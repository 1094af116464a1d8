"""Judges of a review or scoring who do not work in a browser."""

from collections.abc import Callable
from datetime import UTC, datetime

from study.lifecycle import judging
from study.lifecycle.judging import Judged
from study.store import Store, judgements


def judge_waiting(store: Store, kind: str, judge: int, verdict_of: Callable[[Judged], str]) -> None:
    """Store a verdict on every subject that waits for the judge at a position, from 0."""
    with store.change() as change:
        row = judging.judging_row(change, kind, 1)
        person = judgements.judges(change, row)[judge].person
        assert person is not None
        for case in judging.assignment(change, row, person).waiting:
            judging.judge(
                change,
                row,
                judging.Judgement(
                    position=case.position,
                    person=person,
                    verdict=verdict_of(case),
                    comment="why",
                ),
                now=datetime.now(UTC),
            )
