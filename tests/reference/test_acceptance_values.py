"""All reference values of the tables of accuracy and pairs."""

import math

import pandas as pd
import pytest

from analysis import Options, accuracy, agreement_pairs, bundle_from_tables
from analysis.statistics.agreement.weighted import WEIGHT_NAMES, agreement_weighted
from tests.reference.conftest import LETTERS, Reference, bundle_of_table

TWO_RATER_CASES = (
    "cont4x4diagnosis",
    "altman_xeromammogram",
    "cohen1960",
    "feinstein_cicchetti_skew",
    "fc_asym_b",
    "gwet_paradox",
    "sas_freq_table10",
)
TABLE_FORMS = {"gwet.ac1": "ac1", "bp2": "brennan_prediger", "pa2": "raw"}
PROPORTIONS = (
    (81, 263),
    (15, 148),
    (0, 20),
    (1, 29),
    (13, 16),
    (20, 20),
    (1, 1),
    (0, 1),
    (30618, 40826),
    (7, 9),
)
MCQ_MEASURES = {
    "raw_agreement": "raw",
    "cohen_kappa_letters": "kappa_letters",
    "brennan_prediger_per_item_1_over_k": "brennan_prediger",
    "error_consistency": "error_consistency",
    "cohen_kappa_correctness": "error_consistency",
}


@pytest.mark.parametrize("case", TWO_RATER_CASES)
def test_kappas_and_errors_of_contingency_tables_match_the_reference(
    reference: Reference, case: str
) -> None:
    """Sources: R package vcd, the closed form for kappa, and irrCAC's table functions."""
    published = reference.tables("two raters")[case]
    table = published["table"]
    rows = agreement_pairs(bundle_of_table(table))
    rows = rows.loc[rows["scope"] == "option_set=all"].set_index("measure")
    expected = reference.expected(case)
    for name, column in (("kappa", "estimate"), ("se_nonnull", "se")):
        value, tolerance = expected[f"fce.unweighted.{name}"]
        assert rows.loc["kappa", column] == pytest.approx(value, abs=tolerance)
    low, high = published["ci95"]
    assert rows.loc["kappa", "ci_low"] == pytest.approx(low, abs=1e-9)
    assert rows.loc["kappa", "ci_high"] == pytest.approx(min(high, 1), abs=1e-9)
    n = sum(map(sum, table))
    for form, measure in TABLE_FORMS.items():
        for name, column, factor in (
            ("coeff", "estimate", 1.0),
            ("se", "se", math.sqrt(n / (n - 1))),
        ):
            value, tolerance = expected[f"irrCAC.unweighted.{form}.table.{name}"]
            assert rows.loc[measure, column] == pytest.approx(value * factor, abs=tolerance)


@pytest.mark.parametrize("case", TWO_RATER_CASES)
def test_weighted_kappas_of_contingency_tables_match_the_reference(
    reference: Reference, case: str
) -> None:
    """Sources: R package vcd and the closed form of Fleiss, Cohen and Everitt."""
    bundle = bundle_of_table(reference.tables("two raters")[case]["table"])
    rows = agreement_weighted(bundle, Options(ordered=True)).set_index("measure")
    expected = reference.expected(case)
    for measure, weights in WEIGHT_NAMES.items():
        for name, column in (("kappa", "estimate"), ("se_nonnull", "se")):
            value, tolerance = expected[f"fce.{weights}.{name}"]
            assert rows.loc[measure, column] == pytest.approx(value, abs=tolerance)


def test_agreement_of_multiple_choice_raters_matches_the_reference(reference: Reference) -> None:
    """Sources: lm-sim and scikit-learn, with 2 to 5 options per item and missing answers."""
    wide = pd.read_csv(reference.folder / "agreement/mcq_raters.csv")
    letter = dict(enumerate(LETTERS))
    items = pd.DataFrame(
        {"item_id": wide["q"], "n_options": wide["k"], "truth": wide["gt"].map(letter)}
    )
    raters = ["h1", "h2", "h3", "ai1", "ai2"]
    readings = wide.melt("q", raters, "rater_id", "answer").rename(columns={"q": "item_id"})
    readings["answer"] = readings["answer"].map(letter)
    kinds = pd.DataFrame({"rater_id": raters, "rater_kind": ["reader"] * 3 + ["model"] * 2})
    rows = agreement_pairs(bundle_from_tables(items, readings, kinds))
    estimates = rows.loc[rows["scope"] == "all"].set_index(["rater_a", "rater_b", "measure"])
    checked = 0
    for statistic, (value, tolerance) in reference.expected("mcq.original").items():
        a, rest = statistic.split("|")
        b, name = rest.split(".")
        if name == "n":
            assert estimates.loc[(a, b, "raw"), "n"] == value
        elif name in MCQ_MEASURES:
            estimate = estimates.loc[(a, b, MCQ_MEASURES[name]), "estimate"]
            assert estimate == pytest.approx(value, abs=tolerance)
        else:
            assert name == "capa_discrete"  # a measure that is in no table
            continue
        checked += 1
    assert checked == 60


@pytest.mark.parametrize(("successes", "n"), PROPORTIONS)
def test_wilson_limits_equal_those_of_r(reference: Reference, successes: int, n: int) -> None:
    """The source is prop.test without continuity correction; values come from a bundle."""
    ids = [f"q{i}" for i in range(n)]
    items = pd.DataFrame({"item_id": ids, "truth": "A"})
    answers = ["A"] * successes + ["B"] * (n - successes)
    readings = pd.DataFrame({"rater_id": "R", "item_id": ids, "answer": answers})
    micro = accuracy(bundle_from_tables(items, readings)).iloc[0]
    expected = reference.expected(f"prop_{successes}_{n}")
    for column, statistic in (("ci_low", "wilson.lo"), ("ci_high", "wilson.hi")):
        value, tolerance = expected[statistic]
        assert micro[column] == pytest.approx(value, abs=tolerance)


def test_the_table_of_fleiss_cohen_and_everitt_matches_their_closed_form(
    reference: Reference,
) -> None:
    """The table fce1969 agrees to ten digits."""
    table = reference.tables("fce1969")
    rows = agreement_pairs(bundle_of_table(table)).set_index("measure")
    expected = reference.expected("fce1969")
    for statistic, value in (
        ("unweighted.kappa", rows.loc["kappa", "estimate"]),
        ("unweighted.var_nonnull", rows.loc["kappa", "se"] ** 2),
    ):
        assert value == pytest.approx(expected[statistic][0], abs=expected[statistic][1])
