"""Every MRMC reference number: Obuchowski-Rockette, standalone, U-statistics.

Van Dyke's data (5 readers, 2 treatments, 114 cases) against MRMCaov 0.3.0, iMRMC 2.1.2 and the
Iowa program OR-DBM; a CAD system that reads alone against 9 radiologists against RJafroc.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from analysis.statistics import mrmc
from tests.reference.conftest import Reference

READERS, CASES = 5, 114
FIRST, SECOND = np.arange(READERS), READERS + np.arange(READERS)
CLAIMS = {"RRRC": "random_readers", "FRRC": "fixed_readers", "RRFC": "fixed_items"}
VAN_DYKE = [
    *((f"empirical_auc|{c}", a) for c in ("jackknife", "DeLong", "unbiased") for a in CLAIMS),
    *((f"{m}|jackknife", a) for m in ("binary_sens", "binary_spec", "accuracy") for a in CLAIMS),
]
MISSING = {("empirical_auc|DeLong", "RRFC"), ("empirical_auc|unbiased", "RRFC")}
TREATMENT_NUMBERS: dict[str, Callable[[Any, Any], float]] = {
    "Estimate": lambda result, claim: claim.estimate,
    "MS(R)": lambda result, claim: result.msr,
    "Var(Error)": lambda result, claim: result.var,
    "Cov2": lambda result, claim: result.cov2,
    "StdErr": lambda result, claim: claim.se,
    "df": lambda result, claim: claim.df,
    # MRMCaov truncates the limits of means to the range of the figure of merit.
    "CI_lower": lambda result, claim: max(claim.ci_low, 0.0),
    "CI_upper": lambda result, claim: min(claim.ci_high, 1.0),
}


def van_dyke(reference: Reference, figure: str) -> mrmc.Merits:
    """Return the figures of merit of the readers under treatment 1, then under 2."""
    return reference.merits(f"VanDyke|{figure}")


def treatment_numbers(two: mrmc.TwoTreatments, claim: mrmc.Inference) -> dict[str, float]:
    """Return values of a comparison of two treatments under MRMCaov's names."""
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


def compare(computed: Mapping[str, float], expected: Mapping[str, tuple[float, float]]) -> None:
    """Compare all expected values; a missing value is a failure."""
    wrong = {
        name: (computed.get(name), value)
        for name, (value, tolerance) in expected.items()
        if not abs(computed.get(name, math.nan) - value) <= tolerance
    }
    assert not wrong


@pytest.mark.parametrize(
    ("figure", "claim"), [name for name in VAN_DYKE if name not in MISSING], ids="|".join
)
def test_two_treatments_reproduce_the_values_of_mrmcaov(
    reference: Reference, figure: str, claim: str
) -> None:
    """Statistics, components, test, interval and the means of treatments are compared."""
    expected = reference.expected(f"VanDyke|{figure}|{claim}")
    assert len(expected) in (25, 32, 36)
    merits = van_dyke(reference, figure)
    two = mrmc.two_treatments(merits, FIRST, SECOND)
    numbers = treatment_numbers(two, getattr(two, CLAIMS[claim]))
    for place, columns in ((1, FIRST), (2, SECOND)):
        single = mrmc.single_treatment(merits.take(columns))
        numbers |= {
            f"test_means[{place}].{name}": number(single, getattr(single, CLAIMS[claim]))
            for name, number in TREATMENT_NUMBERS.items()
        }
    compare(numbers, expected)


def test_two_treatments_reproduce_the_output_of_the_iowa_program(reference: Reference) -> None:
    """OR-DBM 2.51 prints five to nine digits; DBM's components are OR's times the items."""
    two = mrmc.two_treatments(van_dyke(reference, "empirical_auc|jackknife"), FIRST, SECOND)
    merits = van_dyke(reference, "empirical_auc|jackknife")
    random, fixed, items = two.random_readers, two.fixed_readers, two.fixed_items
    n = 114
    numbers = {
        "RRRC denominator": READERS * random.se**2 / 2,
        "RRRC df": random.df,
        "RRRC p": random.p,
        "RRRC CI lo": random.ci_low,
        "RRRC CI hi": random.ci_high,
        "FRRC X2": fixed.statistic**2,
        "FRRC p": fixed.p,
        "RRFC p": items.p,
        "Var(R)": two.var_reader,
        "Var(TR)": two.var_treatment_reader,
        "Cov1": two.cov1,
        "Cov2": two.cov2,
        "Cov3": two.cov3,
        "Var(Error)": two.var,
        "DBM Var(C)": n * two.cov3,
        "DBM Var(TC)": n * (two.cov2 - two.cov3),
        "DBM Var(RC)": n * (two.cov1 - two.cov3),
        "DBM Var(TRC)+Var(Error)": n * (two.var - two.cov1 - two.cov2 + two.cov3),
        "treatment1 SE": mrmc.single_treatment(merits.take(FIRST)).random_readers.se,
        "treatment2 SE": mrmc.single_treatment(merits.take(SECOND)).random_readers.se,
    }
    compare(numbers, reference.expected("VanDyke|empirical_auc|jackknife Iowa"))


IMRMC = {
    "auc": "empirical_auc|unbiased",
    "tpf": "binary_sens|jackknife",
    "fpf": "binary_spec|jackknife",
    "percent_correct": "accuracy|jackknife",
}


def one_shot(single: mrmc.SingleTreatment) -> float:
    """Return the U-statistics variance of a mean over readers, with unmodified Cov2."""
    return (single.msr + single.n_readers * single.cov2) / single.n_readers


@pytest.mark.parametrize("figure", IMRMC)
def test_components_reproduce_the_one_shot_variances_of_imrmc(
    reference: Reference, figure: str
) -> None:
    """Values, variances and results of the normal distribution, without degrees of freedom.

    iMRMC's degrees of freedom (BDG) and their results belong to another method.
    """
    merits = van_dyke(reference, IMRMC[figure])
    means = [mrmc.single_treatment(merits.take(columns)) for columns in (FIRST, SECOND)]
    both = mrmc.single_treatment(mrmc.differences(merits, FIRST, SECOND))
    numbers: dict[str, float] = {}
    for name, single in (("M1-NO_MOD", means[0]), ("M2-NO_MOD", means[1]), ("M1-M2", both)):
        mean, variance = single.random_readers.estimate, one_shot(single)
        is_alone = name != "M1-M2"
        value, area = (
            (f"{name}.AUCA", f"{name}.varAUCA")
            if is_alone
            else (
                f"{name}.AUCAminusAUCB",
                f"{name}.varAUCAminusAUCB",
            )
        )
        normal = mrmc.infer(mean - 0.5 * is_alone, variance, math.inf, 0.05)
        numbers |= {
            value: mean,
            area: variance,
            f"{name}.pValueNormal": normal.p,
            f"{name}.botCInormal": normal.ci_low + 0.5 * is_alone,
            f"{name}.topCInormal": normal.ci_high + 0.5 * is_alone,
        }
    numbers["M1-M2.AUCA"] = numbers["M1-NO_MOD.AUCA"]
    numbers["M1-M2.varAUCA"] = numbers["M1-NO_MOD.varAUCA"]
    expected = reference.expected(f"iMRMC vandyke|{figure}")
    compare(numbers, {name: value for name, value in expected.items() if "BDG" not in name})


def test_percent_correct_has_u_statistics_of_order_1_1(reference: Reference) -> None:
    """They equal iMRMC's uStat11.jointD to ten digits."""
    merits = van_dyke(reference, "accuracy|jackknife")
    first, second = (mrmc.single_treatment(merits.take(columns)) for columns in (FIRST, SECOND))
    both = mrmc.single_treatment(mrmc.differences(merits, FIRST, SECOND))
    numbers = {
        f"{what}.{name}": number
        for name, single in (("A", first), ("B", second), ("AminusB", both))
        for what, number in (("mean", single.random_readers.estimate), ("var", one_shot(single)))
    }
    compare(numbers, reference.expected("iMRMC vandyke|percent_correct_uStat11_jointD"))


STANDALONE = [("all9", 9), ("first3", 3)]


@pytest.mark.parametrize(("panel", "n_readers"), STANDALONE)
@pytest.mark.parametrize("metric", ["auc", "percent_correct"])
def test_standalone_values_match_rjafroc(
    reference: Reference, panel: str, n_readers: int, metric: str
) -> None:
    """Single treatment against a standalone reader; the source subtracts the model."""
    merits = reference.merits(f"standalone|{metric}")
    readers = np.arange(1, n_readers + 1)
    single = mrmc.single_treatment(mrmc.differences(merits, np.zeros_like(readers), readers))
    random = single.random_readers
    numbers = {
        "theta_model": merits.values[0],
        "diff_mean_reader_minus_model": -random.estimate,
        "MSR": single.msr,
        "varError": single.var,
        "cov2": single.cov2,
        "se": random.se,
        "df": random.df,
        "t": -random.statistic,
        "p_two_sided": random.p,
        "NI_margin0.05.t": (random.estimate + 0.05) / random.se,
        "NI_margin0.05.p": random.p_noninferior(0.05),
    }
    compare(numbers, reference.expected(f"standalone {panel}|{metric}_1T_RRRC"))
    if metric == "percent_correct":
        standalone = mrmc.single_treatment(merits.take(readers))
        shot = {
            "var.AI": merits.covariance[0, 0],
            "var.RAD": one_shot(standalone),
            "var.AIminusRAD": one_shot(single),
        }
        compare(shot, reference.expected(f"standalone {panel}|uStat11"))
