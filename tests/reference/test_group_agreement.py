"""Agreement within groups of raters against irrCAC, irr and published examples."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, agreement_groups, bundle_from_tables
from analysis.arrays import Floats
from analysis.readings.matrix import reading_matrix
from analysis.statistics.agreement.groups import coefficients
from analysis.statistics.agreement.groups.answers import (
    GroupSums,
    letters_of,
    rater_groups,
    sum_answers,
)
from tests.reference.conftest import LETTERS, Reference

# The number of categories passed to irrCAC, which are those of the scale.
CASES = {"cac.raw4raters": 5, "fleiss1971_diagnoses": 5, "irr_anxiety": 6}
MEASURES = {
    "fleiss.kappa": "fleiss_kappa",
    "conger.kappa": "conger_kappa",
    "krippen.alpha": "krippendorff_alpha",
    "gwet.ac1": "ac1",
    "bp.coeff": "brennan_prediger",
}
CHANCE: dict[str, Callable[[GroupSums], Floats]] = {
    "fleiss.kappa": coefficients.fleiss_chance,
    "conger.kappa": coefficients.conger_chance,
    "krippen.alpha": coefficients.krippendorff_chance,
    "gwet.ac1": coefficients.ac1_chance,
    "bp.coeff": coefficients.guessing_chance,
}
# Krippendorff's alpha, article of the English Wikipedia: 3 coders, 15 units, nominal alpha .691.
FIFTEEN_UNITS = ("*****34121133*3", "1*213343*******", "**21344*21133*4")
# Fleiss JL, Levin B, Paik MC. Statistical methods for rates and proportions, 3rd ed. 2003, table
# 18.8: 5 ratings of 10 subjects in 3 categories, kappa .42. Its standard error is irrCAC's.
TABLE_18_8 = ("14.", "2.3", "..5", "4.1", "3.2", "14.", "5..", ".41", "1.4", "3.2")


def _bundle(ratings: pd.DataFrame, n_options: int) -> Bundle:
    ids = [f"q{i:03d}" for i in range(len(ratings))]
    items = pd.DataFrame({"item_id": ids, "n_options": n_options, "option_set": "o"})
    readings = pd.DataFrame(
        [
            {
                "rater_id": rater,
                "item_id": item,
                "answer": "" if pd.isna(x) else LETTERS[int(x) - 1],
            }
            for rater in ratings
            for item, x in zip(ids, ratings[rater], strict=True)
        ]
    )
    return bundle_from_tables(items, readings)


def _within(bundle: Bundle) -> pd.DataFrame:
    rows = agreement_groups(bundle)
    readers = rows.loc[(rows["raters"] == "readers") & (rows["scope"] == "option_set=o")]
    return readers.set_index("measure")


@pytest.mark.parametrize("case", CASES)
def test_coefficients_and_standard_errors_match_irrcac(reference: Reference, case: str) -> None:
    """The first case has missing answers and an item with a single rating."""
    ratings = pd.read_csv(reference.folder / f"agreement/{case}.csv")
    rows = _within(_bundle(ratings, CASES[case]))
    expected = reference.expected(case)
    for form, measure in MEASURES.items():
        for name, column in (("coeff", "estimate"), ("se", "se")):
            value, tolerance = expected[f"unweighted.{form}.raw.{name}"]
            assert rows.loc[measure, column] == pytest.approx(value, abs=tolerance)


@pytest.mark.parametrize("case", CASES)
def test_observed_and_chance_agreement_match_irrcac(reference: Reference, case: str) -> None:
    """Both parts of each coefficient are compared."""
    ratings = pd.read_csv(reference.folder / f"agreement/{case}.csv")
    matrix = reading_matrix(_bundle(ratings, CASES[case]))
    items = np.arange(len(ratings))
    group = rater_groups(matrix.columns)[:1]
    sums = sum_answers(letters_of(matrix, items), matrix.n_options, group, None)[0].sums
    expected = reference.expected(case)
    for form, chance in CHANCE.items():
        observed = (
            coefficients.krippendorff_observed(sums)
            if form == "krippen.alpha"
            else coefficients.observed_agreement(sums)
        )
        for name, value_of in (("pa", observed), ("pe", chance(sums))):
            value, tolerance = expected[f"unweighted.{form}.raw.{name}"]
            assert float(value_of) == pytest.approx(value, abs=tolerance)


def test_fleiss_diagnoses_reproduce_the_values_of_irr(reference: Reference) -> None:
    """The functions are kappam.fleiss, and with exact=TRUE Conger's coefficient."""
    ratings = pd.read_csv(reference.folder / "agreement/fleiss1971_diagnoses.csv")
    rows = _within(_bundle(ratings, 5))
    expected = reference.expected("fleiss1971")
    for statistic, measure in (
        ("fleiss_kappa", "fleiss_kappa"),
        ("conger_exact", "conger_kappa"),
    ):
        value, tolerance = expected[statistic]
        assert rows.loc[measure, "estimate"] == pytest.approx(value, abs=tolerance)


def test_krippendorffs_twelve_units_reproduce_the_published_alpha(reference: Reference) -> None:
    """Data C of Krippendorff (2011): .743."""
    ratings = pd.read_csv(reference.folder / "agreement/krippendorff_12x4.csv")
    alpha = _within(_bundle(ratings, 5)).loc["krippendorff_alpha", "estimate"]
    value, tolerance = reference.expected("krippendorff_12x4")["alpha.nominal"]
    assert alpha == pytest.approx(value, abs=tolerance)


def test_fifteen_units_reproduce_the_published_alpha() -> None:
    """The nominal alpha is .691; units with a single rating do not count."""
    ratings = pd.DataFrame(
        {
            f"coder {i}": [np.nan if x == "*" else int(x) for x in row]
            for i, row in enumerate(FIFTEEN_UNITS)
        }
    )
    row = _within(_bundle(ratings, 4)).loc["krippendorff_alpha"]
    assert row["estimate"] == pytest.approx(0.691358024691358, abs=1e-12)


def test_ten_subjects_reproduce_the_published_fleiss_kappa() -> None:
    """The published kappa is .42; irrCAC's standard error is 0.1094."""
    subjects = [
        [category for category, n in enumerate(row, start=1) for _ in range(int(n.strip(".") or 0))]
        for row in TABLE_18_8
    ]
    row = _within(_bundle(pd.DataFrame(subjects), 3)).loc["fleiss_kappa"]
    assert row["estimate"] == pytest.approx(0.417892156862745, abs=1e-12)
    assert row["se"] == pytest.approx(0.10944489817298, abs=1e-12)
