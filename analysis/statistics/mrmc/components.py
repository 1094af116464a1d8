"""What the readers' variances are made of: the table `variance_components.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.statistics.columns import COLUMNS
from analysis.statistics.merits.figures_of_merit import FigureOfMerit
from analysis.statistics.mrmc import conditions, panel
from analysis.statistics.mrmc.single_treatment import NO_ESTIMATE, ONE_READER, SingleTreatment
from analysis.statistics.mrmc.two_treatments import TwoTreatments
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
        Columns `table, model_id, condition, metric, component, value, note`. Variances of
        proportions. For `reader_panel` they are components of the differences model minus reader;
        for `reader_conditions` `model_id` is empty and `condition` is "a - b".

    Notes
    -----
    `MST`, `MSR`, `MSTR`: mean squares of treatments, readers, and both. `Var`: error over items.
    `Cov1`: same reader, two treatments; `Cov2`: two readers, same treatment; `Cov3`: two of both.
    `var_reader` and `var_treatment_reader` are moment estimates and may come out negative.

    See Also
    --------
    analysis.statistics.mrmc.single_treatment, analysis.statistics.mrmc.two_treatments

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
    return pd.DataFrame(rows, columns=COLUMNS["variance_components"])


def _of_panels(study: Study) -> Iterator[dict[str, object]]:
    for one in panel.comparisons_of(study):
        names = {
            "table": "reader_panel",
            "model_id": one.panel.model_id,
            "condition": one.panel.condition,
            "metric": one.figure.metric.value,
        }
        yield from _rows(names, one.result, PANEL, one.figure)


def _of_conditions(study: Study) -> Iterator[dict[str, object]]:
    for one in conditions.comparisons_of(study):
        names = {
            "table": "reader_conditions",
            "model_id": "",
            "condition": f"{one.contrast.condition_a} - {one.contrast.condition_b}",
            "metric": one.figure.metric.value,
        }
        yield from _rows(names, one.result, CONDITIONS, one.figure)


def _rows(
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
