"""Every MRMC reference number: Obuchowski-Rockette, standalone, U-statistics.

Van Dyke's data (5 readers, 2 treatments, 114 cases) against MRMCaov 0.3.0, iMRMC 2.1.2 and the
Iowa program OR-DBM; a CAD system that reads alone against 9 radiologists against RJafroc.
"""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

from analysis import mrmc
from tests.reference.conftest import Reference

READERS = 5
FIRST, SECOND = np.arange(READERS), READERS + np.arange(READERS)
CLAIMS = {"RRRC": "random_readers", "FRRC": "fixed_readers", "RRFC": "fixed_items"}
VAN_DYKE = [
    *((f"empirical_auc|{c}", a) for c in ("jackknife", "DeLong", "unbiased") for a in CLAIMS),
    *((f"{m}|jackknife", a) for m in ("binary_sens", "binary_spec", "accuracy") for a in CLAIMS),
]
MISSING = {("empirical_auc|DeLong", "RRFC"), ("empirical_auc|unbiased", "RRFC")}
TREATMENT_NUMBERS = {
    "Estimate": lambda one, claim: claim.estimate,
    "MS(R)": lambda one, claim: one.msr,
    "Var(Error)": lambda one, claim: one.var,
    "Cov2": lambda one, claim: one.cov2,
    "StdErr": lambda one, claim: claim.se,
    "df": lambda one, claim: claim.df,
    # MRMCaov cuts the limits of means to the range of the figure of merit.
    "CI_lower": lambda one, claim: max(claim.ci_low, 0.0),
    "CI_upper": lambda one, claim: min(claim.ci_high, 1.0),
}


def van_dyke(reference: Reference, figure: str) -> mrmc.Merits:
    """Return the figures of merit of the readers under treatment 1, then under 2."""
    rows = pd.read_csv(reference.folder / "mrmc/vandyke.csv")
    wide = rows.pivot(index="case", columns=["treatment", "reader"], values=["rating", "bin"])
    positive = rows.groupby("case")["truth"].first().loc[wide.index].to_numpy() == 1
    columns = [(treatment, reader) for treatment in (1, 2) for reader in range(1, READERS + 1)]
    found = wide["bin"][columns].to_numpy() == 1
    name, covariance = figure.split("|")
    if name == "empirical_auc":
        ratings = wide["rating"][columns].to_numpy(dtype=float)
        return mrmc.empirical_auc(
            ratings, positive, covariance=mrmc.AucCovariance(covariance)
        )
    correct = found == positive[:, None]
    part = {"binary_sens": positive, "binary_spec": ~positive, "accuracy": positive | ~positive}
    return mrmc.percent_correct(correct[part[name]])


def treatment_numbers(two: mrmc.TwoTreatments, claim: mrmc.Inference) -> dict[str, float]:
    """Return MRMCaov's names for what a comparison of two treatments holds."""
    denominator = two.n_readers * claim.se**2 / 2
    numbers = {
        "test_equality[1].MS(T)": two.mst,
        "test_equality[1].MS(T:R)": two.mstr,
        "test_equality[1].Denominator": denominator,
        "test_equality[1].F": claim.statistic**2,
        "test_equality[1].X2": claim.statistic**2,
        "test_equality[1].df1": 1.0,
        "test_equality[1].df": 1.0,
        "test_equality[1].df2": claim.df,
        "test_equality[1].p-value": claim.p,
        "test_diffs[1 - 2].Estimate": claim.estimate,
        "test_diffs[1 - 2].StdErr": claim.se,
        "test_diffs[1 - 2].df": claim.df,
        "test_diffs[1 - 2].t": claim.statistic,
        "test_diffs[1 - 2].z": claim.statistic,
        "test_diffs[1 - 2].p-value": claim.p,
        "test_diffs[1 - 2].CI_lower": claim.ci_low,
        "test_diffs[1 - 2].CI_upper": claim.ci_high,
        "vcov.reader": two.var_reader,
        "vcov.treatment:reader": two.var_treatment_reader,
        "vcov.Error": two.var,
    }
    covariances = {"Cov1": two.cov1, "Cov2": two.cov2, "Cov3": two.cov3}
    for prefix in ("vcov", "test_equality[1]"):
        numbers |= {f"{prefix}.{name}": value for name, value in covariances.items()}
    return numbers


def compare(found: Mapping[str, float], expected: Mapping[str, tuple[float, float]]) -> None:
    """Compare every expected number; one that is not there is a failure."""
    wrong = {
        name: (found.get(name), value)
        for name, (value, tolerance) in expected.items()
        if not abs(found.get(name, math.nan) - value) <= tolerance
    }
    assert not wrong


@pytest.mark.parametrize(
    ("figure", "claim"), [one for one in VAN_DYKE if one not in MISSING], ids="|".join
)
def test_two_treatments_give_mrmcaovs_numbers(
    reference: Reference, figure: str, claim: str
) -> None:
    """All of MRMCaov's statistics, components, test, interval and the treatments' means."""
    expected = reference.expected(f"VanDyke|{figure}|{claim}")
    assert len(expected) in (25, 32, 36)
    merits = van_dyke(reference, figure)
    two = mrmc.two_treatments(merits, FIRST, SECOND)
    numbers = treatment_numbers(two, getattr(two, CLAIMS[claim]))
    for place, columns in ((1, FIRST), (2, SECOND)):
        one = mrmc.single_treatment(merits.take(columns))
        numbers |= {
            f"test_means[{place}].{name}": number(one, getattr(one, CLAIMS[claim]))
            for name, number in TREATMENT_NUMBERS.items()
        }
    compare(numbers, expected)
