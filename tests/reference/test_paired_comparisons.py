"""All reference values of paired comparisons: Tango, McNemar, Yang."""

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, Options, bundle_from_tables, comparisons
from analysis.statistics.comparison.paired_tests import tango_interval, yang_test
from tests.reference.conftest import Reference

PAIRED = (
    "newcombe_b",
    "newcombe_d",
    "newcombe_f",
    "cavo2012",
    "agresti_approval",
    "karacan1976",
    "small",
)
# Outcomes (first right, second right) in the order of the clustered table's columns.
OUTCOMES = ("AA", "AB", "BA", "BB")


def _bundle(counts: pd.DataFrame) -> Bundle:
    """Return a bundle of two raters from a table of patients (rows) and outcomes (columns)."""
    cells = [
        (f"p{patient:04d}", outcome)
        for patient, row in enumerate(counts.itertuples(index=False))
        for outcome, count in zip(OUTCOMES, row, strict=True)
        for _ in range(count)
    ]
    ids = [f"q{i:05d}" for i in range(len(cells))]
    items = pd.DataFrame({"item_id": ids, "truth": "A", "patient_id": [p for p, _ in cells]})
    readings = pd.DataFrame(
        [
            {"rater_id": rater, "item_id": item, "answer": outcome[place]}
            for place, rater in enumerate(("R1", "R2"))
            for item, (_, outcome) in zip(ids, cells, strict=True)
        ]
    )
    return bundle_from_tables(items, readings)


def _unclustered(table: dict[str, int]) -> Bundle:
    counts = [table[name] for name in ("n11", "n12", "n21", "n22")]
    one_each = np.repeat(np.eye(4, dtype=int), counts, axis=0)
    return _bundle(pd.DataFrame(one_each))


@pytest.mark.parametrize("case", PAIRED)
def test_tests_and_intervals_of_paired_tables_match_the_reference(
    reference: Reference, case: str
) -> None:
    """R: binom.test and contingencytables, whose interval has the tolerance of its root finder."""
    row = comparisons(_unclustered(reference.tables("paired")[case])).iloc[0]
    expected = reference.expected(f"paired_{case}")
    for statistic, column in (
        ("diff", "difference"),
        ("exact_p", "p_exact"),
        ("midp_p", "p_mid"),
        ("ci_tango_score.lo", "ci_low"),
        ("ci_tango_score.hi", "ci_high"),
    ):
        value, tolerance = expected[statistic]
        assert row[column] == pytest.approx(value, abs=min(tolerance, 1e-6)), statistic


def _score(b: int, c: int, n: int, delta: float) -> float:
    """Return Tango's statistic as defined in the paper."""
    square, linear = 2 * n, (2 * n - b + c) * delta - b - c
    q = (np.sqrt(linear**2 + 4 * square * c * delta * (1 - delta)) - linear) / (2 * square)
    return float((b - c - n * delta) / np.sqrt(n * (2 * q + delta * (1 - delta))))


@pytest.mark.parametrize("case", PAIRED)
def test_the_score_at_tangos_limits_is_the_normal_quantile(reference: Reference, case: str) -> None:
    """The definition of the limits is more exact than the root finder of any program."""
    table = reference.tables("paired")[case]
    b, c, n = table["n12"], table["n21"], sum(table.values())
    counts = (np.array([float(count)]) for count in (b, c, n))
    low, high = tango_interval(next(counts), next(counts), next(counts), 0.05)
    assert _score(b, c, n, float(low[0])) == pytest.approx(1.959963984540054, abs=1e-10)
    assert _score(b, c, n, float(high[0])) == pytest.approx(-1.959963984540054, abs=1e-10)


def test_thyroid_glands_reproduce_the_values_of_yangs_test(reference: Reference) -> None:
    """The R package clust.bin.pair has 21 patients with 51 glands."""
    counts = pd.read_csv(reference.folder / "paired/clustered_thyroids.csv")
    both, first, second, neither = counts.to_numpy(dtype=float).T
    correct = np.column_stack([both + first, both + second])
    sizes = both + first + second + neither
    statistic, p = yang_test(correct, sizes, np.array([0]), np.array([1]))
    expected = reference.expected("clustered_thyroids")
    # The published value is the last of this name, to two decimals.
    assert statistic[0] == pytest.approx(3.13165974354344, abs=1e-9)
    assert statistic[0] == pytest.approx(expected["yang.statistic"][0], abs=0.005)
    assert p[0] == pytest.approx(expected["yang.p"][0], abs=1e-9)
    row = comparisons(_bundle(counts), Options(bootstrap=20)).iloc[0]
    assert row["p_clustered"] == pytest.approx(expected["yang.p"][0], abs=1e-9)
    assert (row["n"], row["only_a_correct"], row["only_b_correct"]) == (51, 1, 7)


def test_yangs_variance_is_half_obuchowskis_and_half_empirical(reference: Reference) -> None:
    """Obuchowski's statistic of the same glands equals the reference too."""
    counts = pd.read_csv(reference.folder / "paired/clustered_thyroids.csv")
    difference = counts["bk"] - counts["ck"]
    sizes = counts.sum(axis=1)
    share = difference.sum() / sizes.sum()
    factor = (len(counts) - 1) / len(counts) * difference.sum() ** 2
    null, empirical = (difference**2).sum(), ((difference - share * sizes) ** 2).sum()
    expected = reference.expected("clustered_thyroids")
    assert factor / null == pytest.approx(expected["obuchowski.statistic"][0], abs=0.005)
    assert factor / ((null + empirical) / 2) == pytest.approx(3.13165974354344, abs=1e-9)
