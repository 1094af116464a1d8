"""Properties of MRMC inference, for random readings."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from analysis import Bundle, bundle_from_tables, reader_conditions, reader_panel
from analysis.statistics import mrmc
from tests.conftest import number_of_examples

READERS = ["R1", "R2", "R3"]
CONDITIONS = ("aided", "unaided")


@st.composite
def answers(draw: st.DrawFn) -> np.ndarray:
    """Return scores of items by a model and by three readers under two conditions."""
    n = draw(st.integers(3, 12))
    return draw(arrays.arrays(np.bool_, (n, 7)))


def bundle(
    correct: np.ndarray,
    names: list[str] = READERS,
    patients: list[str] | None = None,
    conditions: tuple[str, str] = CONDITIONS,
    seed: int = 0,
) -> Bundle:
    """Return a bundle; `seed` determines the order of rows and the names of items."""
    random = np.random.default_rng(seed)
    n = len(correct)
    ids = [f"q{i}" for i in random.permutation(n)]
    columns = [("M", ""), *((name, condition) for condition in conditions for name in names)]
    readings = pd.DataFrame(
        [
            {
                "rater_id": rater,
                "condition": condition,
                "item_id": item,
                "answer": "A" if right else "B",
                "confidence": 1,
            }
            for (rater, condition), answers in zip(columns, correct.T, strict=True)
            for item, right in zip(ids, answers, strict=True)
        ]
    )
    items = pd.DataFrame({"item_id": ids, "truth": "A"})
    if patients is not None:
        items["patient_id"] = patients
    raters = pd.DataFrame({"rater_id": ["M", *names], "rater_kind": ["model"] + ["reader"] * 3})
    return bundle_from_tables(items, readings.sample(frac=1, random_state=seed), raters)


def same_numbers(before: pd.DataFrame, after: pd.DataFrame) -> None:
    """Check that two tables are equal except for rounding, including undefined cells."""
    numbers = before.select_dtypes("number").columns
    assert after[numbers].to_numpy() == pytest.approx(
        before[numbers].to_numpy(), abs=1e-10, nan_ok=True
    )
    assert (before["undefined_because"] == after["undefined_because"]).all()


@settings(max_examples=number_of_examples(30))
@given(answers())
def test_the_variance_for_random_readers_is_the_one_shot_u_statistic(correct: np.ndarray) -> None:
    """Only samples without a component set to zero are compared."""
    merits = mrmc.percent_correct(correct)
    model, readers = np.zeros(3, dtype=int), np.array([1, 2, 3])
    single_treatment = mrmc.single_treatment(mrmc.differences(merits, model, readers))
    assume(single_treatment.cov2 > 0)
    psi = correct[:, :1].astype(float) - correct[:, 1:4]
    n, j = psi.shape
    others = (
        psi.sum() ** 2
        - (psi.sum(axis=0) ** 2).sum()
        - (psi.sum(axis=1) ** 2).sum()
        + (psi**2).sum()
    )
    expected = psi.mean() ** 2 - others / (n * (n - 1) * j * (j - 1))
    assert single_treatment.random_readers.se**2 == pytest.approx(expected, abs=1e-12)


# The covariance of these data is a rounding error; it must not become a standard error.
CANCELLING = np.array(
    [[1, 1, 1, 1, 1, 1, 1], [1, 1, 0, 0, 0, 1, 1], [1, 0, 1, 1, 1, 1, 1]], dtype=bool
)


@pytest.mark.thorough
@settings(max_examples=number_of_examples(8))
@given(answers(), st.integers(1, 10**6))
@example(CANCELLING, 3)
def test_names_and_order_do_not_matter(correct: np.ndarray, seed: int) -> None:
    """The order of rows and the names of items and raters are changed."""
    before, after = bundle(correct), bundle(correct, ["Z", "A", "K"], seed=seed)
    for table in (reader_panel, reader_conditions):
        same_numbers(table(before), table(after))


@pytest.mark.thorough
@settings(max_examples=number_of_examples(8))
@given(answers())
def test_exchanging_the_conditions_reverses_the_sign(correct: np.ndarray) -> None:
    """Difference and limits change sign; error, degrees of freedom and p do not change."""
    before = reader_conditions(bundle(correct))
    after = reader_conditions(bundle(correct, conditions=("unaided", "aided")))
    for column in ("se", "df", "p"):
        assert after[column].to_numpy() == pytest.approx(before[column].to_numpy(), nan_ok=True)
    for column, other in (("difference", "difference"), ("ci_low", "ci_high")):
        assert after[column].to_numpy() == pytest.approx(-before[other].to_numpy(), nan_ok=True)


@pytest.mark.thorough
@settings(max_examples=number_of_examples(8))
@given(answers())
def test_repeating_the_items_of_patients_does_not_matter(correct: np.ndarray) -> None:
    """Copies of items add no information; only `n_items` doubles."""
    patients = [f"p{i}" for i in range(len(correct))]
    before = bundle(correct, patients=patients)
    after = bundle(np.repeat(correct, 2, axis=0), patients=[p for p in patients for _ in range(2)])
    for table in (reader_panel, reader_conditions):
        same_numbers(table(before), table(after).assign(n_items=len(correct)))
