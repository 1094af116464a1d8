"""Readings give the stored figures of merit, and bundles of them give the same numbers.

Collected only if the readings of Van Dyke and of the CAD system are next to the project: they come
with packages under the GPL.
"""

import re
from dataclasses import replace

import pandas as pd
import pytest
from scipy.stats import t

from analysis import Bundle, analyse, bundle_from_tables
from analysis.statistics import mrmc
from tests.reference.conftest import RAW_READINGS, Reference
from tests.reference.test_mrmc_reference import CASES, READERS, STANDALONE, VAN_DYKE, compare


def van_dyke(figure: str) -> mrmc.Merits:
    """Return the figures of merit of the readers under treatment 1, then under 2."""
    rows = pd.read_csv(RAW_READINGS / "vandyke.csv")
    wide = rows.pivot(index="case", columns=["treatment", "reader"], values=["rating", "bin"])
    positive = rows.groupby("case")["truth"].first().loc[wide.index].to_numpy() == 1
    columns = [(treatment, reader) for treatment in (1, 2) for reader in range(1, READERS + 1)]
    scores = wide["bin"][columns].to_numpy() == 1
    name, covariance = figure.split("|")
    if name == "empirical_auc":
        ratings = wide["rating"][columns].to_numpy(dtype=float)
        return mrmc.empirical_auc(ratings, positive, covariance=mrmc.AucCovariance(covariance))
    correct = scores == positive[:, None]
    part = {"binary_sens": positive, "binary_spec": ~positive, "accuracy": positive | ~positive}
    return mrmc.percent_correct(correct[part[name]])


@pytest.mark.parametrize("figure", sorted({figure for figure, _ in VAN_DYKE}))
def test_van_dykes_readings_reproduce_the_stored_numbers(reference: Reference, figure: str) -> None:
    """Areas and percentages with their covariances, from the ratings."""
    computed, stored = van_dyke(figure), reference.merits(f"VanDyke|{figure}")
    assert stored.values == pytest.approx(computed.values, abs=1e-14)
    assert stored.covariance == pytest.approx(computed.covariance, abs=1e-16)


def cad(n_readers: int) -> tuple[pd.DataFrame, list[str]]:
    """Return the CAD system's rows and the first readers', and the names of these."""
    rows = pd.read_csv(RAW_READINGS / "cadlroc_roc.csv")
    return rows[rows["reader"] <= n_readers + 1], [f"R{i:02d}" for i in range(1, n_readers + 1)]


@pytest.mark.parametrize("metric", ["auc", "percent_correct"])
def test_the_cad_readings_reproduce_the_stored_numbers(reference: Reference, metric: str) -> None:
    """The system and nine radiologists."""
    rows, _ = cad(9)
    wide = rows.pivot(index="case", columns="reader", values=["rating", "bin"])
    positive = rows.groupby("case")["truth"].first().loc[wide.index].to_numpy() == 1
    computed = (
        mrmc.empirical_auc(
            wide["rating"].to_numpy(dtype=float),
            positive,
            covariance=mrmc.AucCovariance.JACKKNIFE,
        )
        if metric == "auc"
        else mrmc.percent_correct((wide["bin"].to_numpy() == 1) == positive[:, None])
    )
    stored = reference.merits(f"standalone|{metric}")
    assert stored.values == pytest.approx(computed.values, abs=1e-14)
    assert stored.covariance == pytest.approx(computed.covariance, abs=1e-16)


def as_bundle(rows: pd.DataFrame, raters: pd.DataFrame) -> Bundle:
    """Make a bundle of readings with `rater_id`, `case`, `truth`, `bin` and `rating`."""
    letter = {0: "A", 1: "B"}
    items = rows.drop_duplicates("case")
    items = pd.DataFrame(
        {
            "item_id": items["case"].astype(str),
            "truth": items["truth"].map(letter),
            "n_options": "2",
            "option_set": "lesion",
        }
    )
    readings = pd.DataFrame(
        {
            "rater_id": rows["rater_id"],
            "item_id": rows["case"].astype(str),
            "answer": rows["bin"].map(letter),
            "condition": rows.get("condition", pd.Series("", index=rows.index)),
            "confidence": rows["rating"].astype(str),
        }
    )
    return bundle_from_tables(items, readings, raters)


@pytest.mark.parametrize(("panel", "n_readers"), STANDALONE)
def test_a_bundle_reproduces_the_standalone_numbers(
    reference: Reference, panel: str, n_readers: int
) -> None:
    """The ratings 0 to 101 are expressed as answer and confidence, with a cut-off of 50."""
    rows, names = cad(n_readers)
    ids = ["CAD", *names]
    rows = rows.assign(rater_id=rows["reader"].map(lambda reader: ids[reader - 1]))
    raters = pd.DataFrame({"rater_id": ids, "rater_kind": ["model"] + ["reader"] * n_readers})
    protocol = {"endpoint": "AUC", "margin": 0.05}
    results = analyse(replace(as_bundle(rows, raters), protocol=protocol))
    table = results.tables["reader_panel"].set_index(["metric", "claim"])
    parts = results.tables["variance_components"].set_index(["metric", "component"])["value"]
    for metric, name in (("auc", "auc"), ("accuracy", "percent_correct")):
        row = table.loc[(metric, "readers like these")]
        numbers = {
            "theta_model": row["model_value"],
            "diff_mean_reader_minus_model": -row["difference"],
            "MSR": parts[(metric, "MSR")],
            "varError": parts[(metric, "Var")],
            "cov2": parts[(metric, "Cov2")],
            "se": row["se"],
            "df": row["df"],
            "t": -row["difference"] / row["se"],
            "p_two_sided": row["p"],
            "NI_margin0.05.t": (row["difference"] + 0.05) / row["se"],
            "NI_margin0.05.p": row["p_noninferior"],
        }
        compare(numbers, reference.expected(f"standalone {panel}|{name}_1T_RRRC"))
    published, tolerance = reference.expected("standalone published")["auc 1T-RRRC p"]
    if panel == "all9":
        p = table.loc[("auc", "readers like these"), "p"]
        assert p == pytest.approx(published, abs=tolerance)


@pytest.mark.parametrize(("metric", "figure"), [("auc", "empirical_auc"), ("accuracy", "accuracy")])
def test_a_bundle_reproduces_the_numbers_of_mrmcaov(
    reference: Reference, metric: str, figure: str
) -> None:
    """Van Dyke's readers under two conditions, with answers and confidence."""
    rows = pd.read_csv(RAW_READINGS / "vandyke.csv")
    rows = rows.assign(
        rater_id="R" + rows["reader"].astype(str), condition="T" + rows["treatment"].astype(str)
    )
    raters = pd.DataFrame({"rater_id": [f"R{i}" for i in range(1, 6)], "rater_kind": "reader"})
    results = analyse(as_bundle(rows, raters))
    both = [results.tables[name] for name in ("reader_conditions", "reader_conditions_items")]
    table = pd.concat(both).set_index(["metric", "claim"])
    parts = results.tables["variance_components"].set_index(["metric", "component"])["value"]
    claims = {"RRRC": "readers like these", "FRRC": "these readers", "RRFC": "these items"}
    for name, claim in claims.items():
        row = table.loc[(metric, claim)]
        statistic = row["difference"] / row["se"]
        numbers = {
            "test_equality[1].MS(T)": parts[(metric, "MST")],
            "test_equality[1].MS(T:R)": parts[(metric, "MSTR")],
            "test_equality[1].Denominator": READERS * row["se"] ** 2 / 2,
            "test_equality[1].F": statistic**2,
            "test_equality[1].X2": statistic**2,
            "test_equality[1].df1": 1.0,
            "test_equality[1].df": 1.0,
            "test_equality[1].df2": row["df"],
            "test_equality[1].p-value": row["p"],
            "test_diffs[1 - 2].Estimate": row["difference"],
            "test_diffs[1 - 2].StdErr": row["se"],
            "test_diffs[1 - 2].df": row["df"],
            "test_diffs[1 - 2].t": statistic,
            "test_diffs[1 - 2].z": statistic,
            "test_diffs[1 - 2].p-value": row["p"],
            "test_diffs[1 - 2].CI_lower": row["ci_low"],
            "test_diffs[1 - 2].CI_upper": row["ci_high"],
            "test_means[1].Estimate": row["value_a"],
            "test_means[2].Estimate": row["value_b"],
            "vcov.reader": parts[(metric, "var_reader")],
            "vcov.treatment:reader": parts[(metric, "var_treatment_reader")],
            "vcov.Error": parts[(metric, "Var")],
        }
        for cov in ("Cov1", "Cov2", "Cov3"):
            numbers |= {f"{to}.{cov}": parts[(metric, cov)] for to in ("vcov", "test_equality[1]")}
        expected = reference.expected(f"VanDyke|{figure}|jackknife|{name}")
        if name == "FRRC":
            # MRMCaov uses the normal distribution here, the table uses t with 113 degrees of
            # freedom.
            assert row["p"] == pytest.approx(2 * t.sf(abs(statistic), CASES - 1), rel=1e-12)
            numbers = {k: v for k, v in numbers.items() if not re.search("p-value|CI_", k)}
        compare(numbers, {k: v for k, v in expected.items() if k in numbers})
        assert sum(k in numbers for k in expected) >= 8
