"""The variances that intervals of readers rest on: the table `variance_components.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.statistics.merits import (
    FigureOfMerit,
)
from analysis.statistics.mrmc import conditions, panel
from analysis.statistics.mrmc.obuchowski_rockette import (
    NO_ESTIMATE,
    ONE_READER,
    SingleTreatment,
    TwoTreatments,
)
from analysis.statistics.statistic import Column, Statistic, shared
from analysis.statistics.study import Study, study_of

NEGATIVE = "negative: no sign of such a variance beyond the error of items"


PANEL = {"MSR": "msr", "Var": "var", "Cov2": "cov2", "var_reader": "var_reader"}


CONDITIONS = {
    "MST": "mst",
    "MSR": "msr",
    "MSTR": "mstr",
    "Var": "var",
    "Cov1": "cov1",
    "Cov2": "cov2",
    "Cov3": "cov3",
    "var_reader": "var_reader",
    "var_treatment_reader": "var_treatment_reader",
}


def variance_components(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""List the components behind `reader_panel` and `reader_conditions`.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Not used: components have no interval here.

    Returns
    -------
    pandas.DataFrame
        The columns of `VARIANCE_COMPONENTS`. Variances of proportions. For `reader_panel` they are
        components of the differences model minus reader; for `reader_conditions` `model_id` is
        empty and `condition` is "a - b".

    Notes
    -----
    `MST`, `MSR`, `MSTR`: mean squares of treatments, readers, and both. `Var`: error over items.
    `Cov1`: same reader, two treatments; `Cov2`: two readers, same treatment; `Cov3`: two of both.
    `var_reader` and `var_treatment_reader` are moment estimates and may come out negative.

    See Also
    --------
    analysis.statistics.mrmc.obuchowski_rockette, analysis.statistics.mrmc.obuchowski_rockette

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> raters = ["M1", "R1", "R2"]
    >>> table = variance_components(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("abcd"), "truth": list("AAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": [rater for rater in raters for _ in range(4)],
    ...         "item_id": list("abcd") * 3, "answer": list("AAAA" "AABB" "ABBB"),
    ...     }),
    ...     pd.DataFrame({"rater_id": raters, "rater_kind": ["model", "reader", "reader"]}),
    ... ))
    >>> table[["component", "value"]].round(4).values.tolist()
    [['MSR', 0.0312], ['Var', 0.0729], ['Cov2', 0.0417], ['var_reader', 0.0]]
    """
    study = study_of(study, options)
    rows = [*_of_panels(study), *_of_conditions(study)]
    return pd.DataFrame(rows, columns=VARIANCE_COMPONENTS.header)


def _of_panels(study: Study) -> Iterator[dict[str, object]]:
    for comparison in panel.comparisons_of(study):
        names = {
            "table": "reader_panel",
            "model_id": comparison.panel.model_id,
            "condition": comparison.panel.condition,
            "metric": comparison.figure.metric.value,
        }
        yield from _components(names, comparison.result, PANEL, comparison.figure)


def _of_conditions(study: Study) -> Iterator[dict[str, object]]:
    for comparison in conditions.comparisons_of(study):
        names = {
            "table": "reader_conditions",
            "model_id": "",
            "condition": f"{comparison.contrast.condition_a} - {comparison.contrast.condition_b}",
            "metric": comparison.figure.metric.value,
        }
        yield from _components(names, comparison.result, CONDITIONS, comparison.figure)


def _components(
    names: dict[str, str],
    result: SingleTreatment | TwoTreatments,
    components: dict[str, str],
    figure: FigureOfMerit,
) -> Iterator[dict[str, object]]:
    for component, name in components.items():
        value = math.nan if figure.no_value else float(getattr(result, name))
        note = ""
        if math.isnan(value):
            one_reader = ONE_READER if result.n_readers == 1 else ""
            reason = figure.no_value or figure.merits.no_covariance or one_reader or NO_ESTIMATE
            note = f"undefined: {reason}"
        elif value < 0 and component.startswith("var_"):
            note = NEGATIVE
        yield {**names, "component": component, "value": value, "note": note}


VARIANCE_COMPONENTS = Statistic(
    name="variance_components",
    meaning="A variance component of `reader_panel` or `reader_conditions`.",
    columns=(
        Column("table", "Table whose intervals it belongs to."),
        Column("model_id", "Model; empty for two conditions."),
        Column("condition", "Condition, or the two conditions that are compared."),
        *shared("metric"),
        Column("component", "Its name, such as `MSR` or `Cov2`."),
        Column("value", "The component.", "squared unit of the metric"),
        *shared("note"),
    ),
    compute=variance_components,
)
