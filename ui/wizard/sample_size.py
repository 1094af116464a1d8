"""The sample size in the endpoint step: components, power, and the plan to be locked."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from study.base.translation import decimal, language, t, tn
from ui.parts.text import plain
from ui.server.pilots import components_table
from ui.wizard.components import chosen_components
from ui.wizard.draft import WorkingDraft

if TYPE_CHECKING:  # the analysis takes seconds to import, so it is imported only when needed
    from analysis.planning import PowerPlan

DEFAULT_CLAIM = "readers like these"
_MIN_STATED_DIFFERENCE = 0.01
"""Minimum difference between the two powers for stating the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInputs:
    """The values of the fields on which the power depends."""

    comparison: str
    effect: float
    margin: float
    claim: str
    readers: int
    cases: int
    reads: int
    has_arms: bool
    published: str
    components: str
    source: str


def sample_size(working: WorkingDraft) -> None:
    """Show the fields of the sample size and the power; write the plan into the draft."""
    st.subheader(t("Sample size"), anchor=False)
    base: Mapping[str, Any] = working.base["sample_size"]
    if not st.toggle(
        t("Compute the power of this study"), value=bool(base), key=working.key("planned")
    ):
        working.values["sample_size"] = {}
        st.caption(t("No sample size is stored in the protocol."))
        return
    from analysis.errors import AnalysisError

    left, right = st.columns([2, 3], gap="large")
    with left:
        request = _plan_inputs(working, base)
    if not request.published and not request.components:
        return
    with right:
        try:
            plan = _compute_plan(request)
        except AnalysisError as error:
            st.error(plain(str(error)))
            return
        working.values["sample_size"] = dict(plan)
        _show_result(request, plan)
        for warning in metric_mismatch_warnings(
            str(working.values["endpoint"]), str(plan["metric"])
        ):
            st.warning(warning)
    _show_figure(request)


def _plan_inputs(working: WorkingDraft, base: Mapping[str, Any]) -> PlanInputs:
    aided = len(working.values["conditions"]) > 1 or bool(working.values["arms"])
    comparisons = {
        "panel": t("A model and the readers"),
        "conditions": t("Two conditions"),
    }
    names = list(comparisons)
    comparison = st.selectbox(
        t("Comparison"),
        names,
        index=names.index(base.get("comparison", names[aided])),
        format_func=comparisons.__getitem__,
        key=working.key("comparison"),
    )
    is_margin = working.values["hypothesis"] == "non-inferiority"
    effect = st.number_input(
        t("True difference (percentage points)"),
        min_value=-99.0,
        max_value=99.0,
        value=round(100 * float(base.get("effect", 0.0 if is_margin else 0.05)), 4),
        step=0.5,
        help=t("Model minus readers, or first condition minus second. For AUC, enter hundredths."),
        key=working.key("effect"),
    )
    readers = st.number_input(
        t("Readers"), 2, 1000, int(base.get("readers", 5)), key=working.key("readers")
    )
    cases = int(working.values["cases"])
    st.caption(tn("{n} case, from the first step.", "{n} cases, from the first step.", cases))
    arms = bool(working.values["arms"]) and comparison == "conditions"
    published, components, source = chosen_components(working, base, str(comparison), arms=arms)
    return PlanInputs(
        comparison=str(comparison),
        effect=round(float(effect) / 100, 6),
        margin=float(working.values["margin"]) if is_margin else 0.0,
        claim=working.values["claim_about"] or DEFAULT_CLAIM,
        readers=int(readers),
        cases=cases,
        reads=int(working.values["reads_per_case"]),
        has_arms=arms,
        published=published,
        components=components,
        source=source,
    )


def _power_plan(request: PlanInputs) -> "PowerPlan":
    """Return the plan as an object of the analysis.

    Raises
    ------
    AnalysisError
        The components have errors, or do not fit the comparison.
    """
    from analysis.planning import (
        Comparison,
        PlanDesign,
        PowerPlan,
        components_for,
        components_from,
        published_components,
    )

    comparison = Comparison(request.comparison)
    if request.published:
        components = published_components(request.published, comparison)
    else:
        values = tomllib.loads(request.components)
        components = components_for(components_from(values, request.source), comparison)
    return PowerPlan(
        components=components,
        comparison=comparison,
        design=PlanDesign.ARMS if request.has_arms else PlanDesign.CROSSED,
        effect=request.effect,
        margin=request.margin or None,
        reads=request.reads or None,
    )


@lru_cache(maxsize=64)
def _compute_plan(request: PlanInputs) -> Mapping[str, Any]:
    """Return the plan with its power, as the protocol stores it."""
    from analysis.planning import draw_spread, half_width, power

    plan = _power_plan(request)
    size = plan.size(request.readers, request.cases)
    results = power(plan, size, draw_spread(plan.spread, plan.seed))
    result = next(result for result in results if result.claim.value == request.claim)
    table = components_table(plan.components)
    return {
        "comparison": request.comparison,
        "design": plan.design.value,
        "claim": request.claim,
        "metric": table.pop("metric"),
        "effect": request.effect,
        "margin": request.margin,
        "readers": request.readers,
        "cases": request.cases,
        "reads_per_case": size.reads,
        "power": round(result.power, 4),
        "power_low": round(result.low, 4),
        "power_high": round(result.high, 4),
        "half_width": round(half_width(plan, size), 4),
        "method": result.method,
        "source": plan.components.source,
        "components": table,
    }


def _show_result(request: PlanInputs, plan: Mapping[str, Any]) -> None:
    from analysis.planning import TARGET_POWER, PlanClaim, largest_power, power_of_analysis

    st.metric(t("Power"), f"{100 * plan['power']:.0f} %")
    st.caption(
        t(
            "{low} to {high} % because of the size of the study that the components come from. "
            "Half-width of the 95 % interval for readers like these: {half} percentage points.",
            low=f"{100 * plan['power_low']:.0f}",
            high=f"{100 * plan['power_high']:.0f}",
            half=decimal(100 * plan["half_width"], 1),
        )
    )
    size = _power_plan(request).size(request.readers, request.cases)
    expected = power_of_analysis(_power_plan(request), size, PlanClaim(request.claim))
    if abs(expected - plan["power"]) >= _MIN_STATED_DIFFERENCE:
        st.caption(
            t(
                "This closed form takes the variances as known. The analysis estimates them and is "
                "expected to show the difference in {percent} % of studies.",
                percent=f"{100 * expected:.0f}",
            )
        )
    if (
        request.claim == DEFAULT_CLAIM
        and largest_power(_power_plan(request), request.readers) < TARGET_POWER
    ):
        st.warning(
            tn(
                "{n} reader does not reach 80 % power at any number of cases.",
                "{n} readers do not reach 80 % power at any number of cases.",
                request.readers,
            )
        )
    elif plan["power"] < TARGET_POWER:
        st.warning(t("The power is below 80 %: plan more readers or more cases."))


def metric_mismatch_warnings(endpoint: str, metric: str) -> tuple[str, ...]:
    """Return a warning if the power is for a metric other than the declared endpoint's."""
    is_area = metric == "auc"
    if not endpoint or is_area == endpoint.endswith("AUC"):
        return ()
    if is_area:
        return (
            t(
                "The power is that of the AUC, but the endpoint is accuracy. Choose variance "
                "components of accuracy, from a pilot study or from values that you enter."
            ),
        )
    return (
        t(
            "The power is that of accuracy, but the endpoint is the AUC. Choose variance "
            "components of the AUC."
        ),
    )


def _show_figure(request: PlanInputs) -> None:
    """Show the power for numbers of readers and cases around the planned numbers."""
    from analysis.errors import AnalysisError
    from analysis.figures.drawing.colours import DARK, LIGHT
    from analysis.figures.drawing.to_plotly import plotly_figure
    from analysis.figures.power import power_chart
    from analysis.translation import use_language

    try:
        table = _power_around(request)
    except AnalysisError:
        return  # fewer readers than the design needs
    palette = DARK if st.context.theme.type == "dark" else LIGHT
    with use_language(language()):
        figure = plotly_figure(power_chart(table), palette)
    st.plotly_chart(figure, theme=None, width="stretch", key="power")


@lru_cache(maxsize=16)
def _power_around(request: PlanInputs) -> Any:
    from analysis.planning import Sizes, power_table

    fewest = max(2, request.reads, 4 if request.has_arms else 2)
    readers = sorted(
        {max(fewest, request.readers + difference) for difference in (-2, -1, 0, 2, 4)}
    )
    cases = sorted({max(10, round(request.cases * share)) for share in (0.25, 0.5, 1, 1.5, 2, 3)})
    return power_table([_power_plan(request)], Sizes(readers=tuple(readers), cases=tuple(cases)))
