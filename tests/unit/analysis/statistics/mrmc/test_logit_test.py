"""The test of areas near 1, and its rows in `noninferiority.csv`."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from scipy.stats import t as student

from analysis import Bundle, Options, bundle_from_tables, reader_panel
from analysis.statistics.merits import Merits, empirical_auc
from analysis.statistics.mrmc import variance_components
from analysis.statistics.mrmc.logit_test import AreaDifference, area_difference
from analysis.statistics.mrmc.noninferiority import noninferiority

FIXED = (0.0, 0.0, 1)
BOTH = AreaDifference(
    model=0.97,
    readers=0.95,
    model_variance=0.0004,
    readers_variance=0.0003,
    correlation=0.4,
    n_pairs=2500,
    df=49,
)


def test_if_the_area_of_readers_is_known_the_limit_is_that_of_the_model() -> None:
    """If the readers' area has no variance, it is subtracted from the model's logit limit."""
    fixed_readers = replace(BOTH, readers_variance=0.0)
    limits = expit(logit(0.97) + np.array([-2, 2]) * 0.02 / (0.97 * 0.03))
    assert [fixed_readers.lower_limit(2), fixed_readers.lower_limit(-2)] == pytest.approx(
        (limits - 0.95).tolist()
    )


def test_the_limit_combines_those_of_model_and_readers_with_their_correlation() -> None:
    """The distances to the model's lower and the readers' upper limit are sides of a triangle."""
    below = 0.97 - expit(logit(0.97) - 2 * 0.02 / (0.97 * 0.03))
    above = expit(logit(0.95) + 2 * np.sqrt(0.0003) / (0.95 * 0.05)) - 0.95
    distance = np.sqrt(below**2 + above**2 - 0.8 * below * above)
    assert BOTH.lower_limit(2) == pytest.approx(0.02 - distance)
    assert BOTH.lower_limit(0) == pytest.approx(0.02)


def test_the_p_value_is_that_of_the_limit_at_minus_the_margin() -> None:
    """A difference below minus the margin, and a margin that every limit clears, are tested."""
    for margin in (0.1, 0.05, -0.02, -0.05):
        quantile = student.isf(BOTH.p(margin), 49)
        assert BOTH.lower_limit(quantile) == pytest.approx(-margin, abs=1e-8)
    assert BOTH.p(0.05) < 0.5 < BOTH.p(-0.05)
    assert BOTH.p(0.99) < 1e-12
    assert BOTH.p(-0.99) > 1 - 1e-12


def test_a_model_without_an_error_counts_as_half_a_discordant_pair() -> None:
    """One discordant pair of n has the standard error sqrt(2) on the logit scale."""
    ratings, positive = np.r_[np.arange(12.0) - 0.5 * (np.arange(12) == 6)], np.arange(12) >= 5
    ratings[5], ratings[4] = ratings[4], ratings[5]
    merits = empirical_auc(ratings[:, None], positive)
    area, variance = merits.values[0], merits.covariance[0, 0]
    assert area == 1 - 1 / 35
    # DeLong's variance has n - 1 in both classes.
    assert np.sqrt(variance) / (area * (1 - area)) == pytest.approx(np.sqrt(2), rel=0.05)
    perfect = replace(BOTH, model=1.0, model_variance=0.0, readers_variance=0.0)
    assert perfect.lower_limit(2) == pytest.approx(
        expit(logit(1 - 1 / 5000) - 2 * np.sqrt(2)) - 0.95
    )
    assert perfect.lower_limit(-2) == pytest.approx(0.05)
    assert replace(perfect, n_pairs=100).p(0.0) > perfect.p(0.0)


def test_means_variances_and_correlation_follow_from_the_covariance_matrix() -> None:
    """The model is the last row; variation between readers adds to the variance of their mean."""
    covariance = np.array([[4.0, 1.0, 0.5], [1.0, 2.0, 1.5], [0.5, 1.5, 3.0]]) * 1e-4
    merits = Merits(values=np.array([0.9, 0.8, 0.95]), covariance=covariance)
    fixed = area_difference(merits, (20, 30), 600, FIXED)
    assert (fixed.model, fixed.readers) == pytest.approx((0.95, 0.85))
    assert fixed.model_variance == pytest.approx(3e-4)
    assert fixed.readers_variance == pytest.approx(2e-4)
    assert fixed.correlation == pytest.approx(1 / np.sqrt(6))
    assert fixed.df == 19
    random = area_difference(merits, (20, 30), 600, (1e-4, 2e-4, 2))
    assert random.readers_variance == pytest.approx(3e-4)
    assert random.correlation == pytest.approx(1 / 3)
    of_cases, variance = 3e-4, 4e-4
    assert random.df == pytest.approx(variance**2 / (of_cases**2 / 19 + (2e-4) ** 2 / 1))


def study(per_patient: int = 1, n_readers: int = 3, few_patients: str = "B") -> Bundle:
    """Return a model and readers with areas near 0.95 over 80 items of two classes."""
    generator = np.random.default_rng(3)
    ids = [f"q{i:02}" for i in range(80)]
    truth = np.where((np.arange(80) % 4 == 0) == (few_patients == "B"), "B", "A")
    raters = ["M", *(f"R{i}" for i in range(n_readers))]
    scores = generator.normal(size=(len(raters), 80)) + 2.4 * (truth == "B")
    items = pd.DataFrame(
        {
            "item_id": ids,
            "truth": truth,
            "n_options": 2,
            "option_set": "s",
            "patient_id": [f"p{i // per_patient:02}" for i in range(80)],
        }
    )
    readings = pd.DataFrame(
        {
            "rater_id": np.repeat(raters, 80),
            "item_id": ids * len(raters),
            "answer": np.where(scores.ravel() > 1.2, "B", "A"),
            "confidence": scores.ravel().astype(str),
        }
    )
    kinds = pd.DataFrame({"rater_id": raters, "rater_kind": ["model"] + ["reader"] * n_readers})
    return bundle_from_tables(items, readings, kinds)


def declared(bundle: Bundle, **protocol: object) -> Bundle:
    """Return a bundle whose protocol declares a hypothesis about the area."""
    return replace(bundle, protocol={"endpoint": "AUC", **protocol})


@pytest.mark.parametrize("per_patient", [1, 4])
def test_rows_for_the_area_have_the_differences_of_the_panel_and_the_smaller_class(
    per_patient: int,
) -> None:
    """There are 20 positive items; with four items per patient, patients have both classes."""
    bundle = declared(study(per_patient), hypothesis="non-inferiority", margin=0.05)
    options = Options(confidence="finding")
    table = noninferiority(bundle, options).query("metric == 'auc'").set_index("claim")
    panel = reader_panel(bundle, options).query("metric == 'auc'").set_index("claim")
    assert list(table.index) == ["these readers", "readers like these"]
    assert table["difference"].tolist() == pytest.approx(panel["difference"].tolist())
    fixed, random = table.loc["these readers"], table.loc["readers like these"]
    assert fixed["df"] == 19
    components = variance_components(bundle, options).query("metric == 'auc'")
    value = components.set_index("component")["value"]
    of_readers = max(value["var_reader"], 0) / 3
    assert random["df"] <= 19
    assert (random["ci_low"] < fixed["ci_low"]) == (of_readers > 0 or random["df"] < 19)
    for _, row in table.iterrows():
        assert (row["p"] < 0.025) == (row["ci_low"] > -0.05)
        assert row["se"] == pytest.approx(
            (row["difference"] + 0.05) / student.isf(row["p"], row["df"])
        )


def test_the_limit_of_a_row_is_the_margin_at_which_its_test_just_succeeds() -> None:
    """The limit is one-sided at half of alpha."""
    options = Options(confidence="finding")
    first = declared(study(), hypothesis="non-inferiority", margin=0.05)
    low = noninferiority(first, options).query("metric == 'auc'")["ci_low"].iloc[0]
    assert low < 0
    at_limit = declared(study(), hypothesis="non-inferiority", margin=-float(low))
    table = noninferiority(at_limit, options).query("metric == 'auc'")
    assert table["p"].iloc[0] == pytest.approx(0.025)


@pytest.mark.parametrize("few_patients", ["A", "B"])
def test_either_class_may_be_smaller(few_patients: str) -> None:
    """Twenty of 80 items are in the smaller class, which is positive or negative."""
    bundle = declared(study(few_patients=few_patients), hypothesis="superiority")
    table = noninferiority(bundle, Options(confidence="finding"))
    assert table["df"].iloc[0] == 19


def test_superiority_of_the_area_is_tested_at_a_difference_of_zero() -> None:
    """The margin of the protocol does not matter; accuracy has no row without a margin."""
    options = Options(confidence="finding")
    table = noninferiority(declared(study(), hypothesis="superiority"), options)
    assert set(table["metric"]) == {"auc"}
    assert (table["margin"] == 0).all()
    fixed = table.set_index("claim").loc["these readers"]
    assert (fixed["p"] < 0.025) == (fixed["ci_low"] > 0)
    assert not len(noninferiority(study(), options))


def test_a_single_reader_has_no_claim_about_readers_in_general() -> None:
    """The claim about this reader has a p-value; the row of the other claim states a reason."""
    bundle = declared(study(n_readers=1), hypothesis="non-inferiority", margin=0.05)
    table = noninferiority(bundle, Options(confidence="finding")).query("metric == 'auc'")
    fixed, random = table.to_dict("records")
    assert np.isfinite(fixed["p"])
    assert np.isnan(random["p"])
    assert random["undefined_because"] == "a single reader does not show how readers vary"
