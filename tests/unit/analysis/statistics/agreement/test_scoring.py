"""Agreement of scorers in open_scoring.csv, compared with scikit-learn and statsmodels."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from analysis import Bundle, Options, bundle_from_tables
from analysis.readings.open_answers import final_scores
from analysis.statistics.agreement.judges import (
    BRENNAN,
    KAPPA,
    LEVEL,
    LEVELS,
    NO_VARIATION,
    ONE_LEVEL,
    RAW,
    THIRD,
    TWO_BLIND,
    open_scoring,
)
from tests.conftest import number_of_examples

OPTIONS = Options(bootstrap=200)
READING_COLUMNS = ["rater_id", "item_id", "answer"]
SCORE_PAIRS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=40)


def _bundle(pairs: list[tuple[int, int]], *, answers_per_item: int = 1) -> Bundle:
    """Return a study whose answers have two blind scores, and a third if these differ."""
    n = len(pairs)
    items = [f"q{i // answers_per_item:03d}" for i in range(n)]
    answers = pd.DataFrame(
        {
            "answer_id": [f"a{i:03d}" for i in range(n)],
            "kind": "answer",
            "rater_id": [f"R{i % answers_per_item}" for i in range(n)],
            "item_id": items,
            "words": "some words",
        }
    )
    rows = [
        (f"a{i:03d}", f"S{turn + (i % 2)}", turn, LEVELS[level])
        for i, pair in enumerate(pairs)
        for turn, level in enumerate((*pair, 0) if pair[0] != pair[1] else pair, start=1)
    ]
    ids = sorted(set(items))
    raters = sorted(set(answers["rater_id"]))
    return bundle_from_tables(
        pd.DataFrame({"item_id": ids, "truth": "A"}),
        pd.DataFrame(
            [(r, i, "A") for r in raters for i in ids], columns=["rater_id", "item_id", "answer"]
        ),
        open_answers=answers,
        open_scores=pd.DataFrame(rows, columns=["answer_id", "scorer", "turn", "score"]),
    )


def _scores_by_method(bundle: Bundle) -> pd.DataFrame:
    table = open_scoring(bundle, OPTIONS)
    return table.loc[table["scorer"] == ""].set_index("measure")


def _random_pairs(n: int = 60, seed: int = 3) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    first = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    second = np.where(rng.random(n) < 0.7, first, rng.choice(3, n))
    return list(zip(first.tolist(), second.tolist(), strict=True))


def test_kappa_equals_scikit_learn_for_pairs_in_both_orders() -> None:
    """Kappa has linear weights and agrees to twelve digits in either order of scorers."""
    pairs = _random_pairs()
    first, two = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    result = _scores_by_method(_bundle(pairs))
    both = np.r_[first, two], np.r_[two, first]
    plain = cohen_kappa_score(*both, weights="linear", labels=[0, 1, 2])
    assert result.loc[KAPPA, "estimate"] == pytest.approx(plain, abs=1e-12)
    table = pd.crosstab(*both).to_numpy()
    expected = cohens_kappa(table, wt="linear").kappa
    assert result.loc[KAPPA, "estimate"] == pytest.approx(expected, abs=1e-12)
    raw = (first == two).mean()
    assert result.loc[RAW, "estimate"] == pytest.approx(raw, abs=1e-15)
    assert result.loc[BRENNAN, "estimate"] == pytest.approx((raw - 1 / 3) / (2 / 3), abs=1e-15)
    assert result.loc[THIRD, ["n_found", "n"]].tolist() == [int((first != two).sum()), 60]
    assert result.loc[RAW, "se"] == pytest.approx(np.sqrt(raw * (1 - raw) / 59), abs=1e-15)


def test_the_standard_error_of_kappa_equals_the_jackknife() -> None:
    """The jackknife does not use the formula of the program."""
    pairs = _random_pairs(80)
    row = _scores_by_method(_bundle(pairs)).loc[KAPPA]

    def kappa(scores: list[tuple[int, int]]) -> float:
        first, two = zip(*scores, strict=True)
        return float(cohen_kappa_score([*first, *two], [*two, *first], weights="linear"))

    left = np.array([kappa(pairs[:i] + pairs[i + 1 :]) for i in range(80)])
    jackknife = np.sqrt(79 / 80 * ((left - left.mean()) ** 2).sum())
    assert row["se"] == pytest.approx(jackknife, rel=0.02)
    assert row["ci_low"] < row["estimate"] < row["ci_high"] <= 1


def test_answers_to_an_item_are_resampled_together() -> None:
    """With three equal answers per item, the interval is wider."""
    pairs = [pair for pair in _random_pairs(40) for _ in range(3)]
    apart, together = (
        _scores_by_method(_bundle(pairs, answers_per_item=k)).loc[KAPPA] for k in (1, 3)
    )
    assert apart["estimate"] == pytest.approx(together["estimate"], abs=1e-15)
    assert 1.5 < together["se"] / apart["se"] < 2
    assert together["method"] == "percentile bootstrap over items"


@pytest.mark.thorough
@settings(max_examples=number_of_examples(15))
@given(SCORE_PAIRS, st.randoms(use_true_random=False))
def test_values_do_not_depend_on_the_order_of_scorers_rows_or_levels(
    pairs: list[tuple[int, int]], random: object
) -> None:
    """Scorers, rows, and the best and worst level are exchanged together."""
    before = _scores_by_method(_bundle(pairs))[["estimate", "se"]].astype(float)
    other = [(2 - two, 2 - entry) for entry, two in reversed(pairs)]
    after = _scores_by_method(_bundle(other))[["estimate", "se"]].astype(float)
    pd.testing.assert_frame_equal(before, after, rtol=1e-9, atol=1e-12)


@settings(max_examples=number_of_examples(15))
@given(SCORE_PAIRS)
def test_empty_cells_have_a_reason(pairs: list[tuple[int, int]]) -> None:
    result = open_scoring(_bundle(pairs), OPTIONS)
    empty = result["estimate"].isna() | result["ci_low"].isna()
    assert (empty == (result["undefined_because"] != "")).all()
    assert not (result["ci_low"] > result["ci_high"]).any()
    assert not (result["ci_high"] > 1).any()


def test_constant_and_single_scores_are_undefined_with_a_reason() -> None:
    result = _scores_by_method(_bundle([(0, 0)] * 9))
    assert result.loc[KAPPA, "undefined_because"] == ONE_LEVEL
    assert result.loc[RAW, "undefined_because"] == NO_VARIATION
    bundle = _bundle([(0, 1)] * 3)
    single_score = replace(
        bundle, open_scores=bundle.open_scores.loc[bundle.open_scores["turn"] == 1]
    )
    assert set(_scores_by_method(single_score)["undefined_because"]) == {TWO_BLIND}


def test_the_levels_of_each_scorer_add_up_to_the_total() -> None:
    table = open_scoring(_bundle(_random_pairs()), OPTIONS)
    levels = table.loc[table["measure"] == LEVEL]
    assert set(levels.groupby("scorer")["estimate"].sum().round(12)) == {1.0}
    assert (
        levels.groupby("scorer")["n_found"].sum() == levels.groupby("scorer")["n"].first()
    ).all()


@pytest.mark.parametrize(
    ("scores_of_three", "value"),
    [
        ("cc", 1.0),
        ("ii", 0.0),
        ("ci", None),
        ("c", None),
        ("cii", 0.0),
        ("cpc", 1.0),
        ("cip", 0.5),
        ("pic", 0.5),
        ("ppc", 0.5),
    ],
)
def test_the_final_score_is_that_of_two_scorers_or_the_middle_of_three(
    scores_of_three: str, value: float | None
) -> None:
    words = dict(zip("cpi", LEVELS, strict=True))
    table = pd.DataFrame(
        {
            "answer_id": "a",
            "turn": range(1, len(scores_of_three) + 1),
            "score": [words[entry] for entry in scores_of_three],
        }
    )
    assert final_scores(table).to_dict() == ({} if value is None else {"a": value})
