"""Published power and sample sizes of the Van Dyke study, and values computed from its formula.

RJafroc's stored values (tests/testthat/test-SsSampleSizeRoc.R): power, noncentrality, degrees of
freedom. The table of sample sizes: Academic Journal of Naval Medical University 2025, article
20250518, effect .044, 5 readers. The remaining values were computed by another program from the
published formula (Hillis, Obuchowski and Berbaum, doi:10.1016/j.acra.2010.09.007).

Two pilots have a negative variance of readers' differences, which counts as 0: Franken's (OR-DBM
MRMC 2.51 prints the components, RJafroc's test-SsSampleSizeRoc.R has the power) and the weighted
area of Zanca's (RJafrocQuickStart, froc-sample-size).
"""

import math
from dataclasses import replace

import pytest
from scipy.stats import f, ncf

from analysis.planning import (
    PUBLISHED,
    Components,
    PlanClaim,
    Power,
    PowerPlan,
    cases_needed,
    power,
)
from analysis.planning.designs import PlanDesign, Size, Spread, variances
from analysis.statistics.merits import Metric

RANDOM, FIXED, CASES = PlanClaim
EFFECT = 0.043800322
VAN_DYKE = PUBLISHED["van-dyke"]
FRANKEN = Components(
    metric=Metric.AUC,
    readers=4,
    cases=100,
    var_error=0.00152578,
    cov1=0.00079168,
    cov2=0.00048364,
    cov3=0.00051251,
    var_tr=-0.00071276,
    var_r=0.00003776,
)
ZANCA_WEIGHTED = replace(
    PUBLISHED["zanca"],
    var_error=0.0009081383,
    cov1=0.0003736844,
    cov2=0.0003567162,
    cov3=0.0003058902,
    var_tr=-0.0004439279,
    var_r=0.0018542289,
)


def _power(
    effect: float, readers: int, cases: int, claim: PlanClaim, pilot: Components = VAN_DYKE
) -> Power:
    plan = PowerPlan(components=pilot, effect=effect)
    rows = power(plan, plan.size(readers, cases))
    return next(row for row in rows if row.claim is claim)


@pytest.mark.parametrize(
    ("readers", "cases", "claim", "expected", "ncp", "df"),
    [
        (10, 165, RANDOM, 0.805419947001519, 8.20959703275383, 62.7072797149567),
        (10, 131, FIXED, 0.80091813050382, 7.86727247384422, math.inf),
        (10, 53, CASES, 0.804966633682562, 10.0487163956274, 9.0),
    ],
)
def test_power_equals_that_of_rjafroc(
    readers: int, cases: int, claim: PlanClaim, expected: float, ncp: float, df: float
) -> None:
    """The components are printed with 8 digits, so 7 of the results agree."""
    result = _power(EFFECT, readers, cases, claim)
    assert result.power == pytest.approx(expected, rel=1e-7)
    assert result.ncp == pytest.approx(ncp, rel=2e-7)
    assert result.df == pytest.approx(df, rel=2e-7)


@pytest.mark.parametrize(
    ("effect", "readers", "cases", "expected"),
    [
        (EFFECT, 6, 111, 0.5526116),
        (EFFECT, 5, 100, 0.4679939096),
        (EFFECT, 5, 344, 0.8005141033),
        (EFFECT, 6, 250, 0.7995652792),
        (EFFECT, 6, 251, 0.8005402587),
        (EFFECT, 4, 1089, 0.8000377978),
        (EFFECT, 8, 188, 0.8006559543),
        (EFFECT, 15, 137, 0.8024112506),
        (0.05, 6, 251, 0.892281989),
        (0.05, 5, 100, 0.5733359754),
    ],
)
def test_power_for_random_readers_agrees_with_other_programs(
    effect: float, readers: int, cases: int, expected: float
) -> None:
    """The first value is printed by RJafroc, the others by the second program."""
    assert _power(effect, readers, cases, RANDOM).power == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(("claim", "cases"), [(RANDOM, 337), (FIXED, 162), (CASES, 282)])
def test_sample_sizes_equal_those_of_the_published_table(claim: PlanClaim, cases: int) -> None:
    """Effect .044, 5 readers, power 80 %."""
    plan = PowerPlan(components=PUBLISHED["van-dyke"], effect=0.044)
    assert cases_needed(plan, 5, claim) == cases


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        (EFFECT, [None, 1089, 344, 251, 211, 188, 173, 163, 155, 149, 144, 140, 137]),
        (0.05, [None, 361, 213, 170, 148, 134, 125, 119, 114, 110, 107, 104, 102]),
    ],
)
def test_sample_sizes_for_each_number_of_readers_agree_with_another_program(
    effect: float, expected: list[int | None]
) -> None:
    """Sizes are compared for 3 to 15 readers; three readers never reach 80 %."""
    plan = PowerPlan(components=PUBLISHED["van-dyke"], effect=effect)
    assert [cases_needed(plan, readers, RANDOM) for readers in range(3, 16)] == expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [(FIXED, [159, 138, 126, 118, 107, 101, 92]), (CASES, [None, 529, 166, 99, 55, 38, 22])],
)
def test_sample_sizes_of_the_other_claims_agree_with_another_program(
    claim: PlanClaim, expected: list[int | None]
) -> None:
    """Effect .05."""
    plan = PowerPlan(components=PUBLISHED["van-dyke"], effect=0.05)
    assert [cases_needed(plan, j, claim) for j in (3, 4, 5, 6, 8, 10, 15)] == expected


def test_the_franken_data_need_the_published_number_of_cases() -> None:
    """Effect .05, 6 readers: 121 cases, power .8004469; the components have five digits."""
    plan = PowerPlan(components=FRANKEN, effect=0.05)
    assert cases_needed(plan, 6, RANDOM) == 121
    assert _power(0.05, 6, 121, RANDOM, FRANKEN).power == pytest.approx(0.8004469, abs=1e-5)


def test_power_for_the_franken_data_equals_that_of_the_2004_method() -> None:
    """Without constraints on covariances both have the same variance.

    Df, ncp and power are published.
    """
    result = _power(0.05, 6, 121, CASES, FRANKEN)
    assert result.df == 5
    assert result.ncp == pytest.approx(11.8943767216214, rel=1e-5)
    assert result.power == pytest.approx(0.78574588, abs=1e-5)


def test_a_weighted_area_needs_the_published_number_of_cases() -> None:
    """Zanca's pilot, effect .0759268, 6 readers: 84 cases, power .8023879."""
    plan = PowerPlan(components=ZANCA_WEIGHTED, effect=0.0759268)
    assert cases_needed(plan, 6, RANDOM) == 84
    result = _power(0.0759268, 6, 84, RANDOM, ZANCA_WEIGHTED)
    assert result.power == pytest.approx(0.8023879, abs=2e-7)


@pytest.mark.parametrize(
    ("cases", "claim", "ncp", "df", "critical", "expected"),
    [
        (163, RANDOM, 8.1269825, 34.334268, 4.1270572, 0.79111255),
        (133, FIXED, 7.9873835, 132, 3.912875, 0.80111671),
        (53, CASES, 10.048716, 9, 5.117355, 0.80496663),
    ],
)
def test_noncentralities_equal_those_in_rjafrocs_book(
    cases: int, claim: PlanClaim, ncp: float, df: float, critical: float, expected: float
) -> None:
    """Its degrees of freedom are the pilot's (K - 1 for these readers), and give its power.

    Source: RJafrocBook, roc-sample-size-or; 10 readers. This program projects the degrees of
    freedom to the planned study, which moves the first power by one point.
    """
    result = _power(EFFECT, 10, cases, claim)
    assert result.ncp == pytest.approx(ncp, rel=1e-7)
    assert f.isf(0.05, 1, df) == pytest.approx(critical, abs=1e-6)
    assert ncf.sf(critical, 1, df, result.ncp) == pytest.approx(expected, abs=1e-6)
    assert result.power == pytest.approx(expected, abs=0.011)


def test_efficiencies_of_split_plot_designs_equal_the_published_values() -> None:
    """Obuchowski, Gallas and Hillis 2012, table 3: variance of two blocks over that of each design.

    The table does not state its components. Two of its values, 3 blocks and 60 paired cases, give
    their two ratios; the other two values follow.
    """
    published = {
        (9, 120, 3): 1.2,
        (6, 60, 6): 0.83,
        (12, 120, 3): 1.33,
        (6, 120, 6): 1.16,
    }
    # 1/6 + x = 1.2 (1/9 + x), and 1/6 + x + shared = (1/6 + x) / 0.83, with x = own / 3 + shared.
    reads = (1 / 6 - 1.2 / 9) / 0.2
    shared = (1 / 6 + reads) * (1 / 0.83 - 1)
    spread = Spread(
        reader=1.0,
        own=3 * (reads - shared),
        shared=shared,
        within=shared,
        cases=120,
        readers=6,
    )

    def variance(readers: int, cases: int, reads: int) -> float:
        size = Size(readers=readers, cases=cases, reads=reads)
        design = PlanDesign.CROSSED if reads == readers else PlanDesign.BLOCKS
        return float(variances(spread, size, design).random_readers.value)

    efficiency = {size: variance(6, 120, 3) / variance(*size) for size in published}
    assert efficiency == pytest.approx(published, abs=0.015)


@pytest.mark.parametrize(
    ("readers", "effect", "r1", "lambda_", "var_tr", "of_cases", "var_error", "cases"),
    [
        (10, 0.1, 0.47, 9.920187319, 0.000211170054, 0.005406720648, 0.007370216057, 50),
        (20, 0.05, 0.47, 8.723663583, 0.000573482770, 0.000620359031, 0.002583854440, 394),
        (15, 0.05, 0.5, 9.079786786, 0.000663703124, 0.001820898975, 0.002311772727, 186),
    ],
)
def test_plans_without_a_pilot_have_the_noncentrality_of_mrmcsamplesize(
    readers: int,
    effect: float,
    r1: float,
    lambda_: float,
    var_tr: float,
    of_cases: float,
    var_error: float,
    cases: int,
) -> None:
    """The examples of its README (version 1.0.0, commit 4674a0f), planned for a power of .80.

    `of_cases` is the error variance without that within readers; r2 and r3 are .3, so that Hillis'
    degrees of freedom are its J - 1. It derives the components from ranges of readers and the
    binormal variance of one area, which this program does not do.
    """
    components = Components(
        metric=Metric.AUC,
        readers=readers,
        cases=cases,
        var_error=var_error,
        cov1=r1 * of_cases,
        cov2=0.3 * of_cases,
        cov3=0.3 * of_cases,
        var_tr=var_tr,
    )
    result = _power(effect, readers, cases, RANDOM, components)
    assert result.df == pytest.approx(readers - 1)
    assert result.ncp == pytest.approx(lambda_, rel=1e-7)
    assert result.power == pytest.approx(0.8, abs=1e-7)
