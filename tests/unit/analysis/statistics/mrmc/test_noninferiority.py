"""The score test of non-inferiority, and its table."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import norm

from analysis import Options, bundle_from_tables, reader_panel
from analysis.statistics.comparison.paired_tests import tango_interval
from analysis.statistics.mrmc import variance_components
from analysis.statistics.mrmc.noninferiority import noninferiority, score_test
from tests.conftest import number_of_examples

FIXED = (0.0, 0.0, 1)


def paired_differences(
    both: int, only_model: int, only_reader: int, neither: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return differences of a model and one reader, and sizes of patients with one case."""
    differences = np.repeat([0.0, 1.0, -1.0, 0.0], [both, only_model, only_reader, neither])
    return differences, np.ones(len(differences))


@pytest.mark.parametrize("counts", [(80, 5, 9, 6), (90, 0, 3, 7), (30, 2, 0, 8), (43, 0, 0, 1)])
def test_one_reader_and_independent_cases_give_tangos_test(counts: tuple[int, ...]) -> None:
    """At the lower limit of Tango's interval the statistic is the normal quantile."""
    low, _ = tango_interval(counts[1], counts[2], sum(counts), 0.05)
    test = score_test(*paired_differences(*counts), -low, FIXED)
    assert test.statistic == pytest.approx(norm.isf(0.025), abs=1e-6)


def test_without_errors_the_p_value_depends_on_the_number_of_cases() -> None:
    """A t test would report certainty because such answers have no variance."""
    few, many = (score_test(np.zeros(n), np.ones(n), 0.05, FIXED) for n in (40, 400))
    assert few.p == pytest.approx(0.077, abs=1e-3)
    assert few.statistic == pytest.approx(np.sqrt(40 * 0.05 / 0.95))
    assert many.p < 1e-5


@settings(max_examples=number_of_examples(60))
@given(
    arrays.arrays(np.int64, st.integers(4, 20), elements=st.integers(-3, 3)),
    st.floats(0.01, 0.3),
    st.floats(0, 0.01),
)
def test_claims_about_random_readers_are_never_stronger_than_about_fixed_readers(
    sums: np.ndarray, margin: float, variance: float
) -> None:
    """The model's lead is at least the margin; the order of patients does not matter."""
    differences, sizes = sums.astype(float), np.full(len(sums), 3.0)
    fixed = score_test(differences, sizes, margin, FIXED)
    random = score_test(differences, sizes, margin, (variance, variance + 0.001, 3))
    assert random.se >= fixed.se
    assert random.df <= fixed.df
    if fixed.statistic > 0:
        assert random.p >= fixed.p - 1e-12
    mirrored_result = score_test(differences[::-1], sizes, margin, FIXED)
    assert (mirrored_result.statistic, mirrored_result.p) == pytest.approx(
        (fixed.statistic, fixed.p), abs=1e-9
    )


def study(per_patient: int = 1, n_readers: int = 3) -> tuple[pd.DataFrame, ...]:
    """Return a model and readers with accuracies of about 90 % on 60 items."""
    generator = np.random.default_rng(5)
    ids = [f"q{i:02}" for i in range(60)]
    raters = ["M", *(f"R{i}" for i in range(n_readers))]
    items = pd.DataFrame(
        {"item_id": ids, "truth": "A", "patient_id": [f"p{i // per_patient}" for i in range(60)]}
    )
    readings = pd.DataFrame(
        [
            {"rater_id": rater, "item_id": item, "answer": generator.choice(list("AAAAAAAAAB"))}
            for rater in raters
            for item in ids
        ]
    )
    kinds = pd.DataFrame({"rater_id": raters, "rater_kind": ["model"] + ["reader"] * n_readers})
    return items, readings, kinds


@pytest.mark.parametrize("per_patient", [1, 4])
def test_the_table_has_the_panels_differences_and_larger_p_values(per_patient: int) -> None:
    """If accuracies are near 100 %, the score test is more cautious than the t test."""
    bundle = bundle_from_tables(*study(per_patient))
    table, panel = (
        noninferiority(bundle, Options(margin=0.05)),
        reader_panel(bundle, Options(margin=0.05)),
    )
    assert table["claim"].tolist() == panel["claim"].tolist()
    assert table["difference"].to_numpy() == pytest.approx(panel["difference"].to_numpy())
    assert (table["n_patients"] == 60 // per_patient).all()
    assert (table["p"] >= panel["p_noninferior"]).all()
    assert table["df"].iloc[0] == pytest.approx(60 // per_patient - 1)


def test_without_a_margin_there_is_no_table_and_one_reader_has_no_random_claim() -> None:
    """The claim about readers like these needs two readers."""
    bundle = bundle_from_tables(*study(n_readers=1))
    assert not len(noninferiority(bundle))
    table = noninferiority(bundle, Options(margin=0.05)).set_index("claim")
    assert np.isfinite(table.loc["these readers", "p"])
    random = table.loc["readers like these"]
    assert np.isnan(random["p"])
    assert random["undefined_because"] == "a single reader does not show how readers vary"


def test_differences_between_readers_widen_the_claim_about_random_readers() -> None:
    """The variance of their true differences is added, with fewer degrees of freedom."""
    items, readings, kinds = study()
    poor = (readings["rater_id"] == "R0") & (readings["item_id"] < "q30")
    readings.loc[poor, "answer"] = "B"
    bundle = bundle_from_tables(items, readings, kinds)
    table = noninferiority(bundle, Options(margin=0.05)).set_index("claim")
    components = variance_components(bundle).set_index("component")["value"]
    assert components["var_reader"] > 0
    fixed, random = table.loc["these readers"], table.loc["readers like these"]
    of_readers = components["var_reader"] / 3
    assert random["se"] ** 2 == pytest.approx(fixed["se"] ** 2 + of_readers)
    shares = fixed["se"] ** 4 / 59 + (components["MSR"] / 3) ** 2 / 2
    assert random["df"] == pytest.approx(random["se"] ** 4 / shares)


def test_copies_of_items_within_a_patient_do_not_change_the_score_test() -> None:
    """The variance is computed over patients, regardless of their numbers of items."""
    random = np.random.default_rng(6)
    differences, sizes = random.choice([-1.0, 0.0, 0.0, 1.0], 80), np.ones(80)
    single = score_test(differences, sizes, 0.05, (0.0, 0.0, 1))
    twice = score_test(2 * differences, 2 * sizes, 0.05, (0.0, 0.0, 1))
    assert (twice.se, twice.df, twice.p) == pytest.approx((single.se, single.df, single.p))


@pytest.mark.parametrize("per_patient", [1, 3])
def test_sensitivity_and_specificity_are_tested_as_accuracy_on_their_class(
    per_patient: int,
) -> None:
    """Accuracy over the items of one class has the same p-values."""
    items, readings, raters = study(per_patient)
    two = readings.assign(answer=readings["answer"].where(readings["answer"] == "A", "B"))
    items = items.assign(truth=["A", "B"] * 30, n_options=2)
    columns = ["margin", "difference", "n_items", "n_patients", "se", "df", "p", "p_superior"]
    table = noninferiority(bundle_from_tables(items, two, raters), Options(margin=0.07))
    for metric, truth in (("sensitivity", "B"), ("specificity", "A")):
        part = items[items["truth"] == truth]
        single_score = noninferiority(
            bundle_from_tables(part, two[two["item_id"].isin(part["item_id"])], raters),
            Options(margin=0.07),
        )
        expected = single_score.loc[single_score["metric"] == "accuracy", columns].reset_index(
            drop=True
        )
        rows = table.loc[table["metric"] == metric, columns].reset_index(drop=True)
        pd.testing.assert_frame_equal(rows, expected)


def test_superiority_is_the_test_at_a_margin_of_0() -> None:
    """A declared hypothesis of superiority has this margin unless an option states another one."""
    bundle = bundle_from_tables(*study())
    plan = {"endpoint": "accuracy", "hypothesis": "superiority"}
    declared = replace(bundle, protocol=plan)
    before, superior, stated = (
        noninferiority(each, Options(margin=margin))
        for each, margin in ((bundle, 0.05), (declared, None), (declared, 0.05))
    )
    assert set(superior["margin"]) == {0.0}
    assert before["p_superior"].tolist() == superior["p"].tolist()
    assert stated["p"].tolist() == before["p"].tolist()


@pytest.mark.parametrize("named_by", ["M", "The model"])
def test_a_primary_model_is_tested_alone_by_id_and_by_label(named_by: str) -> None:
    items, readings, kinds = study()
    second = readings[readings["rater_id"] == "M"].assign(rater_id="N")
    kinds = pd.concat([kinds, pd.DataFrame({"rater_id": ["N"], "rater_kind": "model"})])
    kinds["label"] = kinds["rater_id"].map({"M": "The model", "N": "Another"}).fillna("")
    bundle = bundle_from_tables(items, pd.concat([readings, second]), kinds)
    bundle = replace(bundle, protocol={"primary_model": named_by})
    table = noninferiority(bundle, Options(margin=0.1)).set_index("model_id")
    assert (table["family"] == "").to_dict() == {"M": True, "N": False}
