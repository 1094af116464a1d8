"""When missed cases come back."""

import random

import pytest

from study.lifecycle.teaching import GAPS, Answer, coming_back, upcoming
from study.reading.records import HANDED_OUT

BANK = range(30)


def _new(number: int, but: tuple[int, ...]) -> int | None:
    """Return one of what is not known yet, another one for each number."""
    left = [item for item in BANK if item not in but]
    return left[number % len(left)] if left else None


def test_a_missed_case_comes_back_after_three_cases_and_again_after_ten() -> None:
    answers: list[Answer] = []
    met: list[int] = []
    missed = upcoming(answers, _new)[0]
    for number in range(1, 2 + sum(GAPS) + len(GAPS)):
        item = upcoming(answers, _new)[0]
        if item == missed:
            met.append(number)
        answers.append((item, number > 1))
    assert met == [1, 1 + GAPS[0], 1 + GAPS[0] + GAPS[1]]
    assert coming_back(answers) == {}


@pytest.mark.parametrize("seed", range(60))
def test_what_was_handed_out_stays_and_everything_is_learnt_in_the_end(seed: int) -> None:
    """However somebody answers: a page may show the next cases before the server hears of this."""
    chance = random.Random(seed)
    answers: list[Answer] = []
    handed: list[int] = []
    while window := upcoming(answers, _new):
        assert len(set(window)) == len(window) <= HANDED_OUT
        assert window[: len(handed)] == handed
        item, *handed = window
        assert item not in [one for one, _ in answers[-1:]] or len(coming_back(answers)) == 1
        answers.append((item, chance.random() < 0.7))
        assert len(answers) < 2000
    assert {item for item, _ in answers} == set(BANK)
    last = dict(answers)
    assert all(last.values())
