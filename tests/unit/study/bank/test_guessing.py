"""Clues to the answers are reported with counts and a test; chance results are not."""

import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from scipy import stats

from study.bank import guessing
from study.bank.guessing import clue_sentences
from study.bank.importing import Imported, import_bank
from study.base.bank_model import GuessableQuestion
from study.lifecycle import exposure, studies
from study.protocol.protocol import Protocol
from study.store import Store
from tests.conftest import ACTING, bank_records, write_bank


def _questions(truths: Iterable[str], n: int = 4, view: str = "PA") -> list[GuessableQuestion]:
    options = [f"Option {letter}" for letter in "ABCDEFGH"[:n]]
    return [GuessableQuestion(options=options, truth=truth, view=view) for truth in truths]


def test_a_frequent_letter_is_reported_with_count_and_test() -> None:
    """The letter is correct in sixty of sixty questions, where fifteen are expected."""
    assert clue_sentences(_questions("A" * 60), shuffled=False) == (
        "The correct answer is A in 60 of 60 questions (15 expected, p < 0.001): readers can guess "
        "it. Shuffle the options.",
    )


def test_letters_are_not_a_clue_if_options_are_shuffled() -> None:
    """Letters in combination with a view are not a clue either."""
    questions = _questions("A" * 30) + _questions("B" * 30, view="AP")
    assert any(
        "The correct answer is A" in sentence
        for sentence in clue_sentences(questions[:30], shuffled=False)
    )
    by_text = clue_sentences(questions, shuffled=True)
    assert len(by_text) == 1
    assert "“Option A” in 30 of the 30 questions with the view PA" in by_text[0]


@pytest.mark.parametrize(
    ("counts", "reported"), [((34, 22, 22, 22), False), ((40, 20, 20, 20), True)]
)
def test_letters_are_tested_with_pearsons_chi_square_test(
    counts: tuple[int, ...], reported: bool
) -> None:
    """The test agrees with `scipy.stats.chisquare` for equal shares."""
    truths = "".join(letter * n for letter, n in zip("ABCD", counts, strict=True))
    p = float(stats.chisquare(counts).pvalue)
    assert (p < 0.01) is reported
    sentences = clue_sentences(_questions(truths), shuffled=False)
    assert bool(sentences) is reported
    if reported:
        assert f"A in 40 of 100 questions (25 expected, p = {p:.3f})" in sentences[0]


def test_expected_counts_use_the_number_of_options_of_each_question() -> None:
    """For 20 questions with two options and 40 with four, 20 answers A are expected."""
    fair = _questions("AB" * 10, n=2) + _questions("ABCD" * 10, n=4)
    assert clue_sentences(fair, shuffled=False) == ()
    skewed = _questions("A" * 20, n=2) + _questions("AABCD" * 8, n=4)
    (sentence,) = clue_sentences(skewed, shuffled=False)
    assert "A in 36 of 60 questions (20 expected, p < 0.001)" in sentence


def test_few_questions_are_tested_exactly() -> None:
    """The p-value is the binomial tail for the most frequent letter, times four letters."""
    (sentence,) = clue_sentences(_questions("C" * 8), shuffled=False)
    assert "C in 8 of 8 questions (2 expected, p < 0.001)" in sentence
    assert clue_sentences(_questions("CCC"), shuffled=False) == ()  # p = 4 / 64


def test_the_longest_option_is_reported_if_it_is_correct_too_often() -> None:
    """Only questions with a single longest option count; the test is a binomial tail."""
    long, none = ["no", "yes, on the left", "none", "two"], ["ab", "cd", "ef", "gh"]
    questions = [
        GuessableQuestion(options=long, truth="B" if i < 14 else "ACD"[i % 3], view="")
        for i in range(24)
    ]
    questions += [GuessableQuestion(options=none, truth="ABCD"[i % 4], view="") for i in range(20)]
    p = stats.binom.sf(13, 24, 0.25)
    assert p < 0.001
    assert clue_sentences(questions, shuffled=True) == (
        "The correct answer is the longest option in 14 of 24 questions that have one (6 expected, "
        "p < 0.001): readers can guess it. Make the options equally long.",
    )


def test_an_answer_associated_with_a_view_is_reported() -> None:
    """Fisher's exact p-value of the questions with that option is multiplied by the pairs."""
    options = ["Effusion", "Normal lung", "Fracture xy", "Mass, left"]
    questions = [GuessableQuestion(options=options, truth="A", view="AP")] * 12
    questions += [
        GuessableQuestion(options=options, truth=letter, view="PA") for letter in "BCD" * 8
    ]
    (sentence,) = clue_sentences(questions, shuffled=True)
    assert "“Effusion” in 12 of the 12 questions with the view AP" in sentence
    assert "and in 0 of the 24 others (p < 0.001)" in sentence


def test_options_that_are_not_offered_cause_no_association() -> None:
    """Yes/no questions about one view and lists about another are not a clue."""
    yes_no = [
        GuessableQuestion(options=["Yes", "Nay"], truth="AB"[i % 2], view="PA") for i in range(40)
    ]
    lists = [
        GuessableQuestion(options=["w", "x", "y", "z"], truth="ABCD"[i % 4], view="AP")
        for i in range(40)
    ]
    assert clue_sentences(yes_no + lists, shuffled=False) == ()


@pytest.mark.thorough
def test_random_answers_are_rarely_reported() -> None:
    """Of 600 banks with random answers to 20 to 200 questions, at most 3 % get a warning."""
    generator = random.Random(4)
    n_reported = 0
    for _ in range(600):
        questions = []
        for _ in range(generator.choice((20, 60, 200))):
            n = generator.choice((2, 4, 4, 5))
            questions.append(
                GuessableQuestion(
                    options=["x" * generator.randint(1, 20) for _ in range(n)],
                    truth=generator.choice("ABCDE"[:n]),
                    view=generator.choice(("PA", "AP", "PA+LATERAL")),
                )
            )
        n_reported += bool(clue_sentences(questions, shuffled=False))
    assert n_reported <= 18


def _always_a(store: Store, folder: Path) -> Imported:
    path = write_bank(folder)
    records = bank_records(12)
    for record in records.values():
        record["correct_answer"] = "A"
    path.write_text(json.dumps(records))
    return import_bank(store, path, name="bank", images=path.parent, acting=ACTING)


def _draw(store: Store, **values: object) -> tuple[str, ...]:
    name = f"study {len(values)}"
    asked = {"cases": 12, "one_question_per": "item", **values}
    studies.draw(store, bank="bank", study=name, protocol=Protocol.from_json(asked), acting=ACTING)
    return exposure.opening_warnings(store, name)


def test_the_import_and_the_draw_report_a_clue(store: Store, tmp_path: Path) -> None:
    """Counts refer to the bank and to the study; shuffled options remove the clue."""
    (sentence,) = _always_a(store, tmp_path / "bank").guessable
    assert "A in 24 of 24 questions (6 expected, p < 0.001)" in sentence
    (sentence,) = _draw(store)
    assert "A in 12 of 12 questions (3 expected, p < 0.001)" in sentence
    assert _draw(store, option_order="random") == ()
    with store.look() as look:
        assert (
            look.value("SELECT count(*) FROM studies") == 2
        )  # the draw is not refused because of a warning


def test_a_bank_with_equally_frequent_letters_has_no_warning(store: Store, tmp_path: Path) -> None:
    """Letters with equal shares are not a clue."""
    path = write_bank(tmp_path / "bank")
    result = import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    assert result.guessable == ()


def test_p_values_equal_those_of_scipy() -> None:
    """The binomial, normal and hypergeometric tails are computed without importing SciPy."""
    assert guessing._tail_probability(7, {4: 12}) == pytest.approx(
        stats.binom.sf(6, 12, 0.25), rel=1e-9
    )
    z = (760 - 0.5 - 750) / (3000 * 3 / 16) ** 0.5
    assert guessing._tail_probability(760, {4: 3000}) == pytest.approx(stats.norm.sf(z), rel=1e-9)
    assert guessing._fisher(8, 20, 15, 60) == pytest.approx(
        stats.hypergeom.sf(7, 60, 20, 15), rel=1e-9
    )


def test_the_p_value_of_the_letters_is_computed_only_for_a_possible_clue() -> None:
    """If the gain from guessing is too small, no p-value is needed."""
    places = Counter({(place, 4): 1000 + 30 * (place == 2) for place in range(4)})
    assert guessing.position_balance(places, least_gain=guessing.MIN_GAIN).p == 1
    assert guessing.position_balance(places).p < 1
