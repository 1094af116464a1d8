"""Where answers can be guessed is told with counts and a test, and chance is not."""

import json
import random
from collections.abc import Iterable
from pathlib import Path

import pytest
from scipy import stats

from study.bank.guessing import guessable
from study.bank.importing import Imported, import_bank
from study.base.bank_model import GuessableQuestion
from study.lifecycle import exposure, studies
from study.protocol.protocol import Protocol
from study.store import Store
from tests.conftest import NOW, bank_records, write_bank


def _asked(truths: Iterable[str], n: int = 4, view: str = "PA") -> list[GuessableQuestion]:
    options = [f"Option {letter}" for letter in "ABCDEFGH"[:n]]
    return [GuessableQuestion(options=options, truth=truth, view=view) for truth in truths]


def test_a_letter_that_is_always_right_is_told_with_its_count_and_test() -> None:
    """Sixty of sixty, where chance gives fifteen."""
    assert guessable(_asked("A" * 60), shuffled=False) == (
        "The correct answer is A in 60 of 60 questions (15 expected, p < 0.001): readers can guess "
        "it. Shuffle the options.",
    )


def test_letters_tell_nothing_where_options_are_shuffled() -> None:
    """Neither by themselves nor with a view."""
    asked = _asked("A" * 30) + _asked("B" * 30, view="AP")
    assert any("The correct answer is A" in one for one in guessable(asked[:30], shuffled=False))
    by_text = guessable(asked, shuffled=True)
    assert len(by_text) == 1
    assert "“Option A” in 30 of the 30 questions with the view PA" in by_text[0]


@pytest.mark.parametrize(("counts", "told"), [((34, 22, 22, 22), False), ((40, 20, 20, 20), True)])
def test_the_letters_test_is_pearsons(counts: tuple[int, ...], told: bool) -> None:
    """What is told is what `scipy.stats.chisquare` finds against equal shares."""
    truths = "".join(letter * n for letter, n in zip("ABCD", counts, strict=True))
    p = float(stats.chisquare(counts).pvalue)
    assert (p < 0.01) is told
    found = guessable(_asked(truths), shuffled=False)
    assert bool(found) is told
    if told:
        assert f"A in 40 of 100 questions (25 expected, p = {p:.3f})" in found[0]


def test_each_question_counts_with_its_own_number_of_options() -> None:
    """Of twenty with two options and forty with four, twenty A are expected, and twenty are."""
    fair = _asked("AB" * 10, n=2) + _asked("ABCD" * 10, n=4)
    assert guessable(fair, shuffled=False) == ()
    skewed = _asked("A" * 20, n=2) + _asked("AABCD" * 8, n=4)
    (sentence,) = guessable(skewed, shuffled=False)
    assert "A in 36 of 60 questions (20 expected, p < 0.001)" in sentence


def test_few_questions_are_tested_exactly() -> None:
    """Eight of eight: a binomial tail for the letter most in excess, times four letters."""
    (sentence,) = guessable(_asked("C" * 8), shuffled=False)
    assert "C in 8 of 8 questions (2 expected, p < 0.001)" in sentence
    assert guessable(_asked("CCC"), shuffled=False) == ()  # 4 / 64 is well chance


def test_the_longest_option_is_told_where_it_is_right_too_often() -> None:
    """Counted are the questions that have one longest option; the tail is the binomial's."""
    long, none = ["no", "yes, on the left", "none", "two"], ["ab", "cd", "ef", "gh"]
    asked = [
        GuessableQuestion(options=long, truth="B" if i < 14 else "ACD"[i % 3], view="")
        for i in range(24)
    ]
    asked += [GuessableQuestion(options=none, truth="ABCD"[i % 4], view="") for i in range(20)]
    p = stats.binom.sf(13, 24, 0.25)
    assert p < 0.001
    assert guessable(asked, shuffled=True) == (
        "The correct answer is the longest option in 14 of 24 questions that have one (6 expected, "
        "p < 0.001): readers can guess it. Make the options equally long.",
    )


def test_an_answer_that_goes_with_a_view_is_told() -> None:
    """Fisher's exact test among the questions that offer it, times the pairs looked at."""
    options = ["Effusion", "Normal lung", "Fracture xy", "Mass, left"]
    asked = [GuessableQuestion(options=options, truth="A", view="AP")] * 12
    asked += [GuessableQuestion(options=options, truth=letter, view="PA") for letter in "BCD" * 8]
    (sentence,) = guessable(asked, shuffled=True)
    assert "“Effusion” in 12 of the 12 questions with the view AP" in sentence
    assert "and in 0 of the 24 others (p < 0.001)" in sentence


def test_what_an_answer_is_not_offered_with_is_no_tie() -> None:
    """Yes/no questions on one view and lists on another say nothing of the right answer."""
    yes_no = [
        GuessableQuestion(options=["Yes", "Nay"], truth="AB"[i % 2], view="PA") for i in range(40)
    ]
    lists = [
        GuessableQuestion(options=["w", "x", "y", "z"], truth="ABCD"[i % 4], view="AP")
        for i in range(40)
    ]
    assert guessable(yes_no + lists, shuffled=False) == ()


@pytest.mark.slow
def test_chance_is_seldom_told() -> None:
    """Of 600 banks answered by lot, 20 to 200 questions each, at most 3 % are warned of."""
    lot = random.Random(4)
    told = 0
    for _ in range(600):
        asked = []
        for _ in range(lot.choice((20, 60, 200))):
            n = lot.choice((2, 4, 4, 5))
            asked.append(
                GuessableQuestion(
                    options=["x" * lot.randint(1, 20) for _ in range(n)],
                    truth=lot.choice("ABCDE"[:n]),
                    view=lot.choice(("PA", "AP", "PA+LATERAL")),
                )
            )
        told += bool(guessable(asked, shuffled=False))
    assert told <= 18


def _always_a(store: Store, folder: Path) -> Imported:
    path = write_bank(folder)
    records = bank_records(12)
    for record in records.values():
        record["correct_answer"] = "A"
    path.write_text(json.dumps(records))
    return import_bank(store, path, name="bank", images=path.parent, now=NOW)


def _draw(store: Store, **values: object) -> tuple[str, ...]:
    name = f"study {len(values)}"
    asked = {"cases": 12, "one_question_per": "item", **values}
    studies.draw(store, bank="bank", study=name, protocol=Protocol.from_json(asked), now=NOW)
    return exposure.cautions(store, name)


def test_import_and_drawn_study_tell_it_and_shuffling_cures_it(
    store: Store, tmp_path: Path
) -> None:
    """The bank's 24, then the study's 12; with shuffled options nothing is left to say."""
    (sentence,) = _always_a(store, tmp_path / "bank").guessable
    assert "A in 24 of 24 questions (6 expected, p < 0.001)" in sentence
    (sentence,) = _draw(store)
    assert "A in 12 of 12 questions (3 expected, p < 0.001)" in sentence
    assert _draw(store, option_order="random") == ()
    with store.look() as look:
        assert look.value("SELECT count(*) FROM studies") == 2  # warned of, not refused


def test_a_sound_bank_is_imported_without_a_warning(store: Store, tmp_path: Path) -> None:
    """Letters in equal shares say nothing."""
    path = write_bank(tmp_path / "bank")
    done = import_bank(store, path, name="bank", images=path.parent, now=NOW)
    assert done.guessable == ()
