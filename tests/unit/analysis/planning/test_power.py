"""Power in closed form, the uncertainty of power, and its simulation."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2, f, kstest, ncf, ncx2, norm, t

from analysis.errors import AnalysisError, OptionsError
from analysis.planning import (
    PUBLISHED,
    Comparison,
    Components,
    PlanClaim,
    PlanDesign,
    PowerPlan,
    Sizes,
    cases_needed_lines,
    components_for,
    draw_spread,
    expected_power,
    largest_power,
    parse_range,
    power,
    power_table,
    published_components,
)
from analysis.planning.components import components_from, read_components
from analysis.planning.designs import variances
from analysis.planning.power import power_of
from analysis.planning.simulation import simulated_power
from analysis.statistics.merits import Metric

VAN_DYKE = PUBLISHED["van-dyke"]
NEGATIVE = replace(VAN_DYKE, cov3=0.0004, var_tr=-0.0001)
PANEL = Components(
    metric=Metric.ACCURACY,
    readers=3,
    cases=200,
    var_error=0.0012,
    cov1=0.0,
    cov2=0.0005,
    cov3=0.0,
    var_tr=0.0008,
)


def _powers(plan: PowerPlan, readers: int, cases: int) -> list[float]:
    return [result.power for result in power(plan, plan.size(readers, cases))]


def _formula(parts: Components, effect: float, j: int, cases: int) -> list[float]:
    """Return the power for two conditions by the formula printed in the table's description."""
    s, var_tr = parts.cases / cases, max(parts.var_tr, 0.0)
    own_part, shared = parts.var_error - parts.cov1, parts.cov2 - parts.cov3
    positive = max(shared, 0.0)
    d = var_tr + s * (own_part + (j - 1) * positive)
    df = d**2 / ((var_tr + s * (own_part - positive)) ** 2 / (j - 1))
    random = ncf.sf(f.isf(0.05, 1, df), 1, df, j * effect**2 / (2 * d))
    fixed = ncx2.sf(
        norm.isf(0.025) ** 2, 1, j * effect**2 / (2 * s * (own_part + (j - 1) * positive))
    )
    m = var_tr + s * (own_part - shared)
    cases_fixed = ncf.sf(f.isf(0.05, 1, j - 1), 1, j - 1, j * effect**2 / (2 * m))
    return [float(random), float(fixed), float(cases_fixed)]


@pytest.mark.parametrize("parts", [VAN_DYKE, PUBLISHED["zanca"], NEGATIVE])
@pytest.mark.parametrize(("readers", "cases"), [(2, 50), (3, 400), (12, 150)])
def test_two_conditions_follow_the_printed_formula(
    parts: Components, readers: int, cases: int
) -> None:
    """Negative variance components count as 0."""
    plan = PowerPlan(components=parts, effect=0.05)
    assert _powers(plan, readers, cases) == pytest.approx(_formula(parts, 0.05, readers, cases))


def test_a_panel_has_the_variance_of_its_differences() -> None:
    """D = VarR + s (Var + (J - 1) Cov2), and the noncentrality is J d squared divided by D."""
    plan = PowerPlan(components=PANEL, comparison=Comparison.PANEL, effect=0.06)
    random = next(power(plan, plan.size(5, 100)))
    s = 2.0
    d = 0.0008 + s * (0.0012 + 4 * 0.0005)
    assert random.ncp == pytest.approx(5 * 0.06**2 / d)
    assert random.df == pytest.approx(d**2 / ((0.0008 + s * 0.0007) ** 2 / 4))


def test_the_margin_is_tested_on_one_side_at_half_of_alpha() -> None:
    """If the effect equals minus the margin, power is 2.5 %; it increases with the effect."""
    margin = {"components": PANEL, "comparison": Comparison.PANEL, "margin": 0.05}
    at_margin = PowerPlan(**margin, effect=-0.05)
    assert _powers(at_margin, 4, 150) == pytest.approx([0.025] * 3)
    equal = PowerPlan(**margin, effect=0.0)
    random = next(power(equal, equal.size(4, 150)))
    shift = math.sqrt(random.ncp)
    normal = norm.sf(t.isf(0.025, random.df) - shift)
    assert random.power == pytest.approx(normal, abs=0.08)
    better = PowerPlan(**margin, effect=0.02)
    assert all(a > b for a, b in zip(_powers(better, 4, 150), _powers(equal, 4, 150), strict=True))


@pytest.mark.parametrize("design", [PlanDesign.CROSSED, PlanDesign.BLOCKS])
def test_blocks_of_all_readers_are_the_crossed_design(design: PlanDesign) -> None:
    """A design in which all readers read each case is crossed, regardless of its name."""
    crossed = PowerPlan(components=VAN_DYKE, effect=0.05)
    same = replace(crossed, design=design, reads=6)
    assert _powers(same, 6, 120) == pytest.approx(_powers(crossed, 6, 120))


def test_more_readings_of_the_same_cases_give_more_power() -> None:
    """More readers per case reduce the variance, at most to that of the crossed design."""
    plan = PowerPlan(components=VAN_DYKE, effect=0.05)
    fixed = [_powers(replace(plan, reads=reads), 6, 120)[1] for reads in (1, 2, 3, 6)]
    assert fixed == sorted(fixed)
    assert fixed[0] < fixed[-1]


def test_a_split_plot_is_more_precise_than_the_crossed_design_with_equal_readings() -> None:
    """Six readers in two blocks read 240 cases as often as six crossed readers read 120.

    Obuchowski, Gallas and Hillis 2012, doi:10.1016/j.acra.2012.09.012.
    """
    crossed = PowerPlan(components=VAN_DYKE, effect=0.05)
    blocks = replace(crossed, design=PlanDesign.BLOCKS, reads=3)
    exact = variances(crossed.spread, crossed.size(6, 120), PlanDesign.CROSSED)
    split = variances(blocks.spread, blocks.size(6, 240), PlanDesign.BLOCKS)
    assert float(split.random_readers.value) < float(exact.random_readers.value)


def test_parallel_arms_need_more_readers_than_crossed_readers() -> None:
    """The arms have different readers, so the full variance between readers counts."""
    crossed = PowerPlan(components=VAN_DYKE, effect=0.05)
    arms = replace(crossed, design=PlanDesign.ARMS)
    assert _powers(arms, 12, 150)[0] < _powers(crossed, 6, 150)[0]
    random = next(power(arms, arms.size(12, 150)))
    v = 2 * (0.00153499935 + 0.00020040252) / 6 + 114 / 150 * (
        2 * (0.00080228827 - 0.00034407483) / 6 + 2 * (0.00034407483 - 0.00023902837)
    )
    assert random.ncp == pytest.approx(0.05**2 / v)


def test_arms_without_a_variance_between_readers_state_their_assumption() -> None:
    """Every row that depends on the assumption states it."""
    arms = PowerPlan(components=replace(VAN_DYKE, var_r=None), effect=0.05, design=PlanDesign.ARMS)
    methods = [result.method for result in power(arms, arms.size(8, 100))]
    assert ["0.8" in method for method in methods] == [True, False, True]


def test_limits_contain_the_power_and_are_narrower_for_a_larger_pilot() -> None:
    """Ten times as many readers and cases in the pilot reduce the uncertainty."""
    widths = []
    for factor in (1, 10):
        parts = replace(VAN_DYKE, readers=5 * factor, cases=114 * factor)
        plan = PowerPlan(components=parts, effect=0.05)
        spread = plan.spread
        random = next(power(plan, plan.size(6, 150), draw_spread(spread, 1)))
        assert random.low < random.power < random.high
        widths.append(random.high - random.low)
    assert widths[1] < widths[0]


@pytest.mark.thorough
@pytest.mark.parametrize("margin", [None, 0.04])
def test_simulated_studies_agree_with_the_closed_form(margin: float | None) -> None:
    """The difference is below 4 points in 1,000 studies, about three standard errors."""
    plan = PowerPlan(components=VAN_DYKE, effect=0.05 if margin is None else 0.01, margin=margin)
    size = plan.size(8, 150)
    for exact, simulated in zip(power(plan, size), simulated_power(plan, size, 1000), strict=True):
        assert simulated.power == pytest.approx(exact.power, abs=0.04)
        assert simulated.low < simulated.power < simulated.high
        assert simulated.method == "simulation, 1000 studies"


@pytest.mark.parametrize(
    ("design", "reads", "readers"),
    [
        (PlanDesign.CROSSED, 3, 6),
        (PlanDesign.BLOCKS, 3, 6),
        (PlanDesign.BLOCKS, 4, 12),
        (PlanDesign.ARMS, None, 12),
    ],
)
def test_simulated_designs_agree_with_the_closed_form(
    design: PlanDesign, reads: int | None, readers: int
) -> None:
    """The difference is below 5 points in 1,000 studies, for the claim about these readers only."""
    plan = PowerPlan(components=VAN_DYKE, effect=0.05, design=design, reads=reads)
    size = plan.size(readers, 200)
    (simulated,) = simulated_power(plan, size, 1000)
    assert simulated.claim is PlanClaim.READERS_LIKE_THESE
    assert simulated.power == pytest.approx(next(power(plan, size)).power, abs=0.05)


def test_arms_with_fewer_readings_are_not_simulated() -> None:
    """Groups of readers can be compared only on cases that all of their readers have read."""
    plan = PowerPlan(components=VAN_DYKE, effect=0.05, design=PlanDesign.ARMS, reads=2)
    with pytest.raises(OptionsError, match="leave out --simulate"):
        power_table([plan], Sizes(readers=(8,), cases=(100,)), n_simulated=5)


def test_three_readers_never_reach_80_percent() -> None:
    """The sentence states the number of readers and the limit."""
    plan = PowerPlan(components=VAN_DYKE, effect=0.05)
    assert largest_power(plan, 3) < 0.8 < largest_power(plan, 4)
    lines = list(cases_needed_lines(plan, (3, 4)))
    assert (
        lines[-1] == "Three readers do not reach 80 % power at any number of cases (at most 62 %)."
    )


def test_the_table_names_the_rule_of_every_row() -> None:
    """Rows are sorted by claim, readers and cases; the simulation follows the closed form."""
    plan = PowerPlan(components=VAN_DYKE, effect=0.05)
    table = power_table([plan], Sizes(readers=(9, 10), cases=(150,)), n_simulated=5)
    assert list(table["method"].unique()) == [
        "OR, projected Hillis 2011",
        "simulation, 5 studies",
        "OR, chi-square",
        "OR, J - 1",
    ]
    assert table["claim"].tolist() == [claim.value for claim in PlanClaim for _ in range(4)]
    assert table["n_readers"].tolist() == [9, 9, 10, 10] * 3
    assert np.isinf(table.loc[table["method"] == "OR, chi-square", "df"]).all()


@pytest.mark.parametrize(
    ("name", "comparison", "readers", "cases", "simulated"),
    [
        ("van-dyke", Comparison.CONDITIONS, 3, 100, 36.0),
        ("van-dyke", Comparison.CONDITIONS, 3, 200, 51.2),
        ("van-dyke", Comparison.CONDITIONS, 10, 200, 93.0),
        ("van-dyke", Comparison.PANEL, 3, 200, 28.3),
        ("zanca", Comparison.CONDITIONS, 3, 100, 20.2),
        ("zanca", Comparison.CONDITIONS, 5, 100, 38.0),
        ("zanca", Comparison.PANEL, 3, 200, 28.8),
        ("zanca", Comparison.PANEL, 10, 100, 27.1),
    ],
)
def test_the_expected_power_is_that_of_simulated_studies(
    name: str, comparison: Comparison, readers: int, cases: int, simulated: float
) -> None:
    """The difference is below 1 point with 10,000 studies analysed as in a report (coverage.md)."""
    panel = {"effect": 0.0, "margin": 0.05}
    plan = PowerPlan(
        components=published_components(name, comparison),
        comparison=comparison,
        **({"effect": 0.05} if comparison is Comparison.CONDITIONS else panel),
    )
    expected = 100 * expected_power(plan, plan.size(readers, cases))
    assert expected == pytest.approx(simulated, abs=1.0)


def test_rows_state_the_power_of_the_analysis() -> None:
    """The expected power is stated for crossed designs and readers like these, as an extra row."""
    sizes = Sizes(readers=(3, 10), cases=(200,))
    plan = PowerPlan(
        components=published_components("van-dyke", Comparison.CONDITIONS), effect=0.05
    )
    table = power_table([plan], sizes)
    like_these = table["claim"] == "readers like these"
    assert (table["method"][like_these] == "OR, projected Hillis 2011").all()
    difference = 100 * (table["power_of_analysis"] - table["power"])
    assert difference[like_these].round(1).tolist()[0] == 1.7
    assert abs(difference[like_these].tolist()[1]) < 1
    assert table["power_of_analysis"][~like_these].isna().all()
    arms = replace(plan, design=PlanDesign.ARMS)
    assert power_table([arms], Sizes(readers=(6,), cases=(100,)))["power_of_analysis"].isna().all()


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("7", (7,)), ("3:5", (3, 4, 5)), ("50:160:50", (50, 100, 150)), ("4:4", (4,))],
)
def test_ranges_of_values_are_read(text: str, numbers: tuple[int, ...]) -> None:
    """A range is a start, an end and a step, or a single number."""
    assert parse_range(text, "cases") == numbers


@pytest.mark.parametrize("text", ["", "x", "5:3", "1:3", "3:9:0", "3:9:2:1", "3:", "2.5"])
def test_invalid_ranges_are_refused(text: str) -> None:
    """The message names the option and shows the correct form."""
    with pytest.raises(OptionsError, match=r"readers is .*FROM:TO"):
        parse_range(text, "readers")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"effect": 1.5}, "effect is 1.5"),
        ({"effect": 0.0}, "effect is 0"),
        ({"margin": -0.1}, "margin is -0.1"),
        ({"alpha": 0.0}, "alpha is 0.0"),
        ({"reads": 0}, "reads per case is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"comparison": Comparison.PANEL}, "no cov1"),
        ({"comparison": Comparison.PANEL, "design": PlanDesign.ARMS}, "two conditions"),
    ],
)
def test_impossible_plans_are_refused(changes: dict[str, object], message: str) -> None:
    """The message names the invalid value."""
    with pytest.raises(OptionsError, match=message):
        PowerPlan(**{"components": VAN_DYKE, "effect": 0.05, **changes})


def test_too_few_readers_are_refused() -> None:
    """One reader, three in two arms, and more reads per case than readers are refused."""
    plan = PowerPlan(components=VAN_DYKE, effect=0.05)
    for refused, readers in (
        (plan, 1),
        (replace(plan, design=PlanDesign.ARMS), 3),
        (replace(plan, reads=5), 4),
    ):
        with pytest.raises(OptionsError, match="reader"):
            refused.size(readers, 100)


def test_errors_of_components_are_listed_together() -> None:
    """One message has a missing key, an unknown key and a value that is not a number."""
    with pytest.raises(AnalysisError) as refused:
        components_from({"var_tr": "x", "varerror": 1.0, "metric": "accuracy"}, "file.toml")
    for words in ("var_tr = “x”", "varerror: unknown key", "missing key(s): cov1"):
        assert f"file.toml: {words}" in str(refused.value)


def test_a_covariance_above_the_variance_is_refused() -> None:
    """Such values may have been entered in the wrong fields."""
    values = {"var_tr": 0.1, "cov1": 0.3, "cov2": 0.1, "cov3": 0.1, "var_error": 0.2}
    with pytest.raises(AnalysisError, match="smaller than a covariance"):
        components_from({**values, "readers": 3, "cases": 50, "metric": "auc"}, "file.toml")


def test_components_of_differences_are_not_converted_for_a_panel() -> None:
    """Only components for two conditions can be converted, and only to another comparison."""
    assert components_for(PANEL, Comparison.PANEL) == PANEL
    assert components_for(VAN_DYKE, Comparison.CONDITIONS) == VAN_DYKE
    assert components_for(VAN_DYKE, Comparison.PANEL).cov1 == 0.0


def test_published_sets_of_components_work_for_both_comparisons() -> None:
    """For a panel, the model counts as a reader under another condition."""
    for name in PUBLISHED:
        parts = published_components(name, Comparison.PANEL)
        assert parts.cov1 == parts.cov3 == 0.0
        plan = PowerPlan(components=parts, comparison=Comparison.PANEL, effect=0.05)
        assert 0.05 < _powers(plan, 5, 100)[0] < 1.0
    with pytest.raises(OptionsError, match="van-dyke"):
        published_components("unknown", Comparison.PANEL)


def test_each_block_costs_a_degree_of_freedom() -> None:
    """If only readers vary, J readers have J - 3 in three blocks, and J - 1 in crossed designs."""
    parts = replace(VAN_DYKE, cov1=0.0, cov2=0.0, cov3=0.0, var_error=1e-15)
    for design, reads, expected in ((PlanDesign.BLOCKS, 3, 4), (PlanDesign.CROSSED, 7, 6)):
        plan = PowerPlan(components=parts, effect=0.05, design=design, reads=reads)
        exact = variances(plan.spread, plan.size(7, 100), design)
        assert float(exact.random_readers.df) == pytest.approx(expected)


def test_draws_of_the_variance_between_readers_follow_its_distribution() -> None:
    """Without other errors, J - 1 times the estimate over the drawn value is chi-square."""
    parts = replace(VAN_DYKE, cov1=0.0, cov2=0.0, cov3=0.0, var_error=1e-15)
    spread = PowerPlan(components=parts, effect=0.05).spread
    drawn = np.asarray(draw_spread(spread, 1, 5000).reader)
    assert kstest(4 * spread.reader / drawn, chi2(4).cdf).pvalue > 0.01


def test_an_effect_below_the_margin_is_refused() -> None:
    """The noncentrality squares the effect, so such an effect would appear to have power."""
    with pytest.raises(OptionsError, match="give an effect of -0"):
        PowerPlan(components=VAN_DYKE, effect=-0.2, margin=0.1)


def test_a_components_file_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="does not exist") as error:
        read_components(tmp_path / "missing.toml")
    assert "read" not in str(error.value)


@pytest.mark.parametrize("reads", [1, 2, 5, 6])
def test_degrees_of_freedom_count_the_cases_that_two_readers_share(reads: int) -> None:
    """The variance of a reader's mean and the covariance on shared cases determine the degrees."""
    j, cases = 6, 120
    plan = PowerPlan(components=PANEL, comparison=Comparison.PANEL, effect=0.06, reads=reads)
    own_cases = cases * reads / j
    shared_cases = cases * reads * (reads - 1) / (j * (j - 1))
    variance = PANEL.var_error * PANEL.cases / own_cases
    covariance = PANEL.cov2 * PANEL.cases * shared_cases / own_cases**2
    mean_square = PANEL.var_tr + variance - covariance
    total = (PANEL.var_tr + variance + (j - 1) * covariance) / j
    row = next(power(plan, plan.size(j, cases)))
    assert row.ncp == pytest.approx(0.06**2 / total)
    assert row.df == pytest.approx((j - 1) * (total * j / mean_square) ** 2)


def test_limits_are_the_middle_95_percent_of_the_draws() -> None:
    plan = PowerPlan(components=VAN_DYKE, effect=0.05)
    size = plan.size(5, 100)
    drawn = draw_spread(plan.spread, 1)
    row = next(power(plan, size, drawn))
    powers = sorted(power_of(plan, variances(drawn, size, plan.design).random_readers))
    assert powers[24] <= row.low <= powers[25]
    assert powers[974] <= row.high <= powers[975]
