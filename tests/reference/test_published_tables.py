"""Small published tables with their sources, which do not need other files."""

import math

import numpy as np
import pytest

from analysis import agreement_pairs
from analysis.statistics.accuracy.means import wilson_interval
from analysis.statistics.agreement.weighted import weighted_kappa
from tests.reference.conftest import bundle_of_table

# Fleiss JL, Cohen J, Everitt BS. Psychol Bull 1969;72:323-327: kappa .429, variance .002885.
FLEISS_COHEN_EVERITT = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]
# Cohen J. Educ Psychol Meas 1960;20:37-46: kappa .492.
COHEN_1960 = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
# Gwet KL. Br J Math Stat Psychol 2008;61:29-48, high agreement with skewed prevalence; numbers
# of irrCAC 1.0, gwet.ac1.table and bp2.table.
GWET_PARADOX = [[118, 5], [2, 0]]


def _estimate(table: list[list[int]], measure: str) -> tuple[float, float]:
    rows = agreement_pairs(bundle_of_table(table))
    row = rows.loc[(rows["measure"] == measure) & (rows["scope"] == "option_set=all")].iloc[0]
    return float(row["estimate"]), float(row["se"])


def test_kappa_and_its_variance_match_fleiss_cohen_and_everitt() -> None:
    """The source prints three and four significant digits."""
    estimate, se = _estimate(FLEISS_COHEN_EVERITT, "kappa")
    assert estimate == pytest.approx(0.429, abs=5e-4)
    assert se**2 == pytest.approx(0.002885, abs=5e-7)


def test_kappa_matches_cohens_example() -> None:
    """The published value is .492."""
    assert _estimate(COHEN_1960, "kappa")[0] == pytest.approx(0.492, abs=5e-4)


def test_ac1_and_brennan_prediger_avoid_the_kappa_paradox() -> None:
    """Raw agreement is .944; kappa is negative, and the other two are positive."""
    assert _estimate(GWET_PARADOX, "raw")[0] == pytest.approx(0.944, abs=1e-12)
    assert _estimate(GWET_PARADOX, "kappa")[0] == pytest.approx(-0.0233918128654961, abs=1e-12)
    assert _estimate(GWET_PARADOX, "ac1")[0] == pytest.approx(0.940776337608718, abs=1e-12)
    assert _estimate(GWET_PARADOX, "brennan_prediger")[0] == pytest.approx(0.888, abs=1e-12)


def test_standard_errors_of_raw_ratings_divide_by_n_minus_1() -> None:
    """In irrCAC the table functions divide by n: 0.0411296486734327 for bp2.table, n = 125."""
    se = _estimate(GWET_PARADOX, "brennan_prediger")[1]
    assert se == pytest.approx(0.0411296486734327 * math.sqrt(125 / 124), abs=1e-12)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe RG. Stat Med 1998;17:857-872, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_intervals_match_newcombes_table(
    successes: int, n: int, low: float, high: float
) -> None:
    """They are published to four places."""
    limits = wilson_interval(np.array([float(successes)]), np.array([float(n)]), 0.05)
    assert limits[0][0] == pytest.approx(low, abs=5e-5)
    assert limits[1][0] == pytest.approx(high, abs=5e-5)


@pytest.mark.parametrize(
    ("table", "disagreement", "published"),
    [
        (COHEN_1960, [[0, 1, 3], [1, 0, 6], [3, 6, 0]], 0.348),
        (FLEISS_COHEN_EVERITT, [[0, 1, 0.5556], [1, 0, 0.3333], [0.5556, 0.3333, 0]], 0.507),
    ],
)
def test_weighted_kappas_with_free_weights_equal_the_published_values(
    table: list[list[int]], disagreement: list[list[float]], published: float
) -> None:
    """Sources: Cohen 1968; the weights of Fleiss, Cohen and Everitt 1969, computed with R."""
    counts = np.array(table, dtype=float)
    kappa = float(weighted_kappa(counts, np.array(disagreement)))
    assert kappa == pytest.approx(published, abs=5e-4)
