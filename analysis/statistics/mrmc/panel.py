"""Models against the mean of the readers: `reader_panel.csv` and `panel_adjusted.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Ints
from analysis.bundle.model import Bundle, PairKind
from analysis.bundle.protocol import margin_of, plan_of
from analysis.figures.comparisons import panel_chart
from analysis.figures.drawing.axes import RaterName, rater_names
from analysis.options import Options
from analysis.presentation.captions import case_range, interval_methods, reader_range
from analysis.presentation.table import (
    EMPTY_CELL,
    MAX_ROWS,
    ReportTable,
    TableRow,
    condition_cell,
    p_cell,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import (
    Row,
    cell_number,
    format_number,
    join_sentences,
    join_with_commas,
    rows_of,
)
from analysis.readings.confidence import MEANING_WORDS, confidence_of
from analysis.readings.matrix import ReadingMatrix
from analysis.readings.shared_items import shared_by_panel
from analysis.results import Results
from analysis.statistics.agreement.pairs.counts import pairs_of
from analysis.statistics.claims import (
    FAMILY_COLUMNS,
    comparison_cells,
    comparison_header,
    displayed_claim,
    factor_of,
    has_fixed_interval,
    narrower_notes,
)
from analysis.statistics.comparison.paired_tests import holm_within
from analysis.statistics.merits import FigureOfMerit, Merits, Metric, differences
from analysis.statistics.mrmc.metrics import Metrics, accuracy_and_auc
from analysis.statistics.mrmc.obuchowski_rockette import (
    NEGATIVE_COVARIANCE,
    Claim,
    Inference,
    SingleTreatment,
    inference_cells,
    join_nonempty,
    method_of_claim,
    single_treatment,
    wider_inference,
)
from analysis.statistics.statistic import Column, Figure, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.statistics.verdicts import (
    FEWEST_PATIENTS,
    declared_plan,
    has_margin,
    no_verdict_reason_of_fewest,
    origin_of_margin,
    patients_of_row,
    score_p,
)
from analysis.translation import capitalise, later, localised, t, translated

METHODS = {
    Claim.THESE_READERS: "Obuchowski-Rockette, standalone model, readers fixed; t, C - 1",
    Claim.READERS_LIKE_THESE: (
        "Obuchowski-Rockette, standalone model, readers random; t, Hillis degrees of freedom"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReaderPanel:
    """A model and the readers it is compared with, as columns of the reading matrix."""

    model_id: str
    condition: str
    model: int
    readers: Ints

    @property
    def columns(self) -> Ints:
        """The readers' columns and the model's."""
        return np.append(self.readers, self.model)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelComparison:
    """The comparison of a panel's model with its readers under one metric."""

    panel: ReaderPanel
    figure: FigureOfMerit
    result: SingleTreatment


def reader_panel(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare every model with the mean of the readers, for fixed and for random readers.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha and margin are used; without a margin, that of the protocol.

    Returns
    -------
    pandas.DataFrame
        The columns of `READER_PANEL`; in order of model, condition, metric and claim. Proportions
        are from 0 to 1.

    Notes
    -----
    The difference is the model minus the readers' mean. `these readers` generalises to other items,
    and `readers like these` to other items and other readers. The first is Obuchowski and
    Rockette's analysis with fixed readers, the second that with random readers and Hillis' degrees
    of freedom; both are applied to the differences from a standalone model (`single_treatment`).
    `p` is two-sided for no difference, `p_noninferior` one-sided for a difference of minus the
    margin or less. The metric `auc` requires confidence ratings of a reader and a binary reference
    standard.

    See Also
    --------
    analysis.statistics.mrmc.obuchowski_rockette, analysis.statistics.mrmc.differences

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> ids, raters = list("abcdef"), ["M1", "R1", "R2"]
    >>> table = reader_panel(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ids, "truth": list("AAAAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": np.repeat(raters, 6), "item_id": ids * 3,
    ...         "answer": list("AAAAAB" "AABABA" "ABAABB"),
    ...     }),
    ...     pd.DataFrame({"rater_id": raters, "rater_kind": ["model", "reader", "reader"]}),
    ... ))
    >>> table[["claim", "difference", "se", "df"]].round(3).values.tolist()
    [['these readers', 0.25, 0.214, 5.0], ['readers like these', 0.25, 0.214, 5.0]]
    """
    study = study_of(study, options)
    margins = margins_of(study)
    rows = [
        row
        for comparison in comparisons_of(study)
        for row in panel_rows(comparison, margins[comparison.figure.metric])
    ]
    return pd.DataFrame(rows, columns=READER_PANEL.header)


def margins_of(study: Study) -> dict[Metric, float | None]:
    """Return the non-inferiority margin of every metric; None if it has none."""
    return {metric: margin_of(study.options, study.bundle.protocol, metric) for metric in Metric}


def comparisons_of(study: Study) -> Iterator[ModelComparison]:
    """Yield the comparison of every panel under every metric, in order of model and condition."""
    for panel in panels_of(study.matrix):
        yield from comparisons_by_metric(study, panel)


def comparisons_by_metric(
    study: Study,
    panel: ReaderPanel,
    is_member: Bools | None = None,
    metrics: Metrics = accuracy_and_auc,
) -> Iterator[ModelComparison]:
    """Yield the comparison of a panel under each metric, over `is_member` or all items."""
    shared = shared_by_panel(study.matrix, panel.columns, is_member)
    for figure in metrics(study, shared, panel.columns, panel.readers):
        result = model_against_readers(figure.merits, study.options.alpha, figure.items_df)
        yield ModelComparison(panel=panel, figure=figure, result=result)


def model_against_readers(merits: Merits, alpha: float, items_df: float) -> SingleTreatment:
    """Infer the difference between a model, whose merits are last, and the readers' mean."""
    n_readers = len(merits.values) - 1
    model = np.full(n_readers, n_readers)
    return single_treatment(
        differences(merits, model, np.arange(n_readers)), alpha, items_df=items_df
    )


def panels_of(matrix: ReadingMatrix) -> list[ReaderPanel]:
    """Return every model with the readers of each condition under which it is compared."""
    mixed = [pair for pair in pairs_of(matrix.columns) if pair.kind is PairKind.MIXED]
    names = [(matrix.columns[pair.b].rater_id, pair.condition, pair.b, pair.a) for pair in mixed]
    return [
        ReaderPanel(
            model_id=model_id,
            condition=condition,
            model=model,
            readers=np.array([name[-1] for name in group]),
        )
        for (model_id, condition, model), group in groupby(sorted(names), key=lambda n: n[:3])
    ]


FEW_ERRORS = 10
"""If a model makes fewer errors, the lower limit is too high in 4 % of studies or more."""
NEAR_THE_CEILING = "near the ceiling: the lower limit may be too high (docs/coverage.md)"


def panel_rows(comparison: ModelComparison, margin: float | None) -> Iterator[dict[str, object]]:
    """Yield the rows of both claims about a model under a metric."""
    panel, figure, result = comparison.panel, comparison.figure, comparison.result
    margin = math.nan if margin is None else margin
    readers, model = figure.merits.values[:-1], figure.merits.values[-1]
    ceiling_note = NEAR_THE_CEILING if (1 - model) * figure.n_items < FEW_ERRORS else ""
    common_cells = {
        "model_id": panel.model_id,
        "condition": panel.condition,
        "metric": figure.metric.value,
        "n_readers": result.n_readers,
        "n_items": figure.n_items,
        "reader_mean": readers.mean(),
        "model_value": model,
        "margin": margin,
    }
    for claim, inference, method, note in claims_of(result):
        yield {
            **common_cells,
            **inference_cells(inference, claim, figure.no_value),
            "p_noninferior": inference.p_noninferior(margin),
            "method": f"{method}; {figure.covariances}",
            "note": join_nonempty(
                [note, *figure.notes, figure.reversed_note(readers), ceiling_note]
            ),
        }


def claims_of(result: SingleTreatment) -> Iterator[tuple[Claim, Inference, str, str]]:
    """Yield both claims about a model and readers: claim, inference, method and note."""
    negative = NEGATIVE_COVARIANCE if result.cov2 < 0 else ""
    random, narrower = wider_inference(result.random_readers, result.fixed_readers)
    for claim, inference, note in (
        (Claim.THESE_READERS, result.fixed_readers, negative),
        (Claim.READERS_LIKE_THESE, random, join_nonempty([narrower, negative])),
    ):
        yield claim, inference, method_of_claim(METHODS, claim, narrower), note


HOLM_OVER_MODELS, PRIMARY_ALONE = "Holm over the models", "the primary model, tested alone"
HOLM_OVER_OTHERS = "Holm over the models that are not the primary one"


def panel_adjusted(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Adjust the p-values of `reader_panel` for the number of models.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; its protocol may name a primary model, by id or label.
    options : Options, optional
        As for `reader_panel`.

    Returns
    -------
    pandas.DataFrame
        The columns of `PANEL_ADJUSTED`; a row for each row of `reader_panel`, in the same order.

    Notes
    -----
    A family consists of all models with the same metric, claim and condition; the tests for a
    difference and those for the margin are adjusted separately. A model that the protocol declares
    as primary is tested alone, at the full level, and the others are a family without it. Tests
    without p are not counted in a family.

    See Also
    --------
    analysis.reader_panel, analysis.statistics.comparison.pairs.holm_within

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> ids, raters = list("abcdef"), ["M1", "M2", "R1", "R2"]
    >>> table = panel_adjusted(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ids, "truth": list("AAAAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": np.repeat(raters, 6), "item_id": ids * 4,
    ...         "answer": list("AAAAAB" "AAAABB" "AABABA" "ABAABB"),
    ...     }),
    ...     pd.DataFrame({"rater_id": raters, "rater_kind": ["model"] * 2 + ["reader"] * 2}),
    ... ))
    >>> table[["model_id", "p", "p_adjusted"]].round(3).values.tolist()[::2]
    [['M1', 0.296, 0.591], ['M2', 0.611, 0.611]]
    """
    study = study_of(study, options)
    return adjust_panel(study.table(reader_panel), study.bundle.labels, study.bundle.protocol)


def adjust_panel(
    panel: pd.DataFrame, labels: Mapping[str, str], protocol: Mapping[str, Any]
) -> pd.DataFrame:
    """Return the table `panel_adjusted` for a table `reader_panel`."""
    primary = plan_of(protocol).primary_model
    is_primary_row = [
        bool(primary) and primary in (model, labels[model]) for model in panel["model_id"]
    ]
    families = [
        "" if is_primary else ", ".join(filter(None, names))
        for names, is_primary in zip(
            panel[FAMILY_COLUMNS].itertuples(index=False), is_primary_row, strict=True
        )
    ]
    other_method = HOLM_OVER_OTHERS if any(is_primary_row) else HOLM_OVER_MODELS
    table = panel.assign(
        family=families,
        method=[PRIMARY_ALONE if primary_row else other_method for primary_row in is_primary_row],
    )
    for column in ("p", "p_noninferior"):
        p = table[column].to_numpy(dtype=np.float64)
        table[f"{column}_adjusted"] = np.where(is_primary_row, p, holm_within(p, families))
    return table[PANEL_ADJUSTED.header]


PANEL_ADJUSTED = Statistic(
    name="panel_adjusted",
    meaning="The p-values of a row of `reader_panel`, adjusted for the number of models.",
    columns=(
        *shared_columns("model_id condition metric claim p p_adjusted"),
        Column("p_noninferior", "One-sided p-value for the margin.", "probability"),
        Column(
            "p_noninferior_adjusted",
            "`p_noninferior` adjusted by Holm's method over the family.",
            "probability",
        ),
        *shared_columns("family method"),
    ),
    compute=panel_adjusted,
)


def panel_table(results: Results) -> Iterator[ReportTable]:
    """Show the comparison of every model with the readers, under both claims."""
    names = rater_names(results.bundle)
    panel = rows_of(results, "reader_panel")
    adjusted = {_panel_key(row): row for row in rows_of(results, "panel_adjusted")}
    with_margin = any(_is_for_margin(results, row) for row in panel)
    rows = [
        _panel_row(results, row, adjusted.get(_panel_key(row), {}), names)
        for row in panel[:MAX_ROWS]
    ]
    table = report_table(
        name="reader-panel",
        title=t("Models against the panel of readers"),
        note=join_sentences(
            [
                t(
                    "Difference: model minus the mean of the readers. These readers: readers"
                    " fixed; readers like these: readers random (Obuchowski-Rockette, Hillis"
                    " degrees of freedom). p: two-sided, for no difference; adjusted for the"
                    " models (Holm)."
                ),
                narrower_notes(panel),
                _margins_sentence(results),
            ]
        ),
        header=(
            t("Model"),
            t("Condition"),
            t("Metric"),
            t("Claim"),
            t("Readers"),
            t("Items"),
            *comparison_header(t("Reader mean"), t("Model value")),
            t("Adjusted p"),
            t("NI p"),
        ),
        rows=rows,
        total=len(panel),
        in_paper=True,
    )
    if not with_margin:
        table = table.without_column(t("NI p"))
    yield table if adjusted else table.without_column(t("Adjusted p"))


def _panel_key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[column]) for column in ("model_id", "condition", "metric", "claim"))


def _is_for_margin(results: Results, row: Row) -> bool:
    """Return whether the row has a margin that was declared or requested."""
    return not math.isnan(cell_number(row, "margin")) and has_margin(results, str(row["metric"]))


def _margins_sentence(results: Results) -> str:
    """Return a sentence with the margins of the column NI p and their origin."""
    panel = rows_of(results, "reader_panel")
    margins = {
        t("{size} points", size=format_number(100 * cell_number(row, "margin"), 1))
        if factor_of(row) == 100
        else t("{size} of area", size=format_number(cell_number(row, "margin"), 2))
        for row in panel
        if _is_for_margin(results, row)
    }
    if not margins:
        return ""
    origin = origin_of_margin(results)
    sizes = join_with_commas(sorted(margins))
    if origin:
        return t(
            "NI p: one-sided (accuracy: score test; AUC: logit scale), for the margin of {margins}"
            " ({origin}).",
            margins=sizes,
            origin=origin,
        )
    return t(
        "NI p: one-sided (accuracy: score test; AUC: logit scale), for the margin of {margins}.",
        margins=sizes,
    )


def _panel_row(
    results: Results, row: Row, adjusted: Row, names: Mapping[str, RaterName]
) -> TableRow:
    factor = factor_of(row)
    cells = (
        condition_cell(str(row["condition"])),
        t("accuracy, %") if factor == 100 else "AUC",
        displayed_claim(row),
        str(int(cell_number(row, "n_readers"))),
        whole_number(cell_number(row, "n_items")),
        *comparison_cells(row, "reader_mean", "model_value"),
        p_cell(cell_number(adjusted, "p_adjusted")),
        p_cell(_p_for_margin(results, row)) if _is_for_margin(results, row) else EMPTY_CELL,
    )
    return (rater_name(names, str(row["model_id"])),), cells


def _p_for_margin(results: Results, row: Row) -> float:
    """Return the p-value that decides: that of `noninferiority`, or else that of the t test."""
    p = score_p(results, row)
    return cell_number(row, "p_noninferior") if math.isnan(p) else p


def panel_figures(results: Results, condition: str) -> Iterator[Figure]:
    """Show every model's difference from the readers' mean, in a figure for each metric."""
    panel = results.tables["reader_panel"]
    for metric, title in PANEL_TITLES.items():
        rows = panel.loc[(panel["metric"] == metric) & (panel["condition"] == condition)]
        records = rows_of(results, "reader_panel", metric=metric, condition=condition)
        few = no_verdict_reason_of_fewest(
            results, [patients_of_row(results, row) for row in records]
        )
        if few or not has_margin(results, metric):
            rows = rows.assign(margin=math.nan, p_noninferior=math.nan)
        chart = panel_chart(
            rows, metric=metric, condition=condition, names=rater_names(results.bundle)
        )
        rows = rows.loc[rows["difference"].notna()]
        caption = _panel_caption(results, rows, narrower_notes(records), few) if len(rows) else ""
        yield Figure("comparison", f"panel-{metric}", translated(title), caption, chart)


PANEL_TITLES = {
    "accuracy": later("Models against the readers' mean, accuracy"),
    "auc": later("Models against the readers' mean, AUC"),
}


def _panel_caption(results: Results, rows: pd.DataFrame, narrower: str, few: str) -> str:
    """Describe the figure of a metric; `narrower` and `few` are sentences on its limitations."""
    percent, origin = results.options.confidence_percent, origin_of_margin(results)
    parts = [
        t(
            "Each model minus the mean of {readers} over {cases}, with {percent} % intervals"
            " ({methods}).",
            readers=reader_range(rows["n_readers"]),
            cases=case_range(rows["n_items"]),
            percent=localised(percent),
            methods=interval_methods(rows),
        ),
        t(
            "Filled: against these readers. Hollow: against readers like these, of whom these"
            " are a sample."
        ),
        narrower,
    ]
    if few:
        parts.append(t("{reason}.", reason=capitalise(few)))
    elif rows["margin"].notna().any():
        level = localised(f"{(100 - float(percent)) / 2:g}")
        parts.append(
            t(
                "An interval within the shaded area clears the margin, at a one-sided level of"
                " {level} %;"
                " the margin was {origin}.",
                level=level,
                origin=origin,
            )
            if origin
            else t(
                "An interval within the shaded area clears the margin, at a one-sided level of"
                " {level} %.",
                level=level,
            )
        )
    return join_sentences(parts)


def panel_methods(results: Results) -> str:
    """Describe the comparison of models with the readers' mean."""
    rows = rows_of(results, "reader_panel")
    n = max(int(row["n_readers"]) for row in rows)
    text = (
        f"Each model is compared with the mean of the readers ({n}), under two claims. For these"
        " readers, readers are fixed and patients random; for readers like these, readers are"
        " random as well: the method of Obuchowski and Rockette for a standalone model against"
        f" readers [@obuchowski1995; @hillis2014; @chakraborty2017], with degrees of"
        f" freedom by Hillis [@hillis2007]."
    )
    if any(map(has_fixed_interval, (*rows, *rows_of(results, "reader_conditions")))):
        text += (
            " Where the interval for readers like these came out narrower than the one for these"
            " readers, the latter is reported for both claims, with its standard error, degrees of"
            " freedom and p-value."
        )
    if results.clustered:
        text += " Covariances are those of clustered cases [@rao1992]."
    if any(row["metric"] == "auc" for row in rows):
        keys = ("delong1988", *(("obuchowski1997",) if results.clustered else ("hillis2005",)))
        text += (
            " The same is done for areas under the ROC curve of the confidence ratings"
            f" [{'; '.join(f'@{key}' for key in keys)}]; confidence is taken as"
            f" {MEANING_WORDS[confidence_of(results.options, results.bundle).meaning]}."
        )
    return text + _endpoint_sentences(results)


def _endpoint_sentences(results: Results) -> str:
    """Describe the declared endpoint, its margin and the adjustment for several models."""
    plan, origin = declared_plan(results), origin_of_margin(results)
    planned = margin_of(results.options, results.bundle.protocol)
    text = ""
    if has_margin(results, "accuracy") and planned is not None:
        origin_words = f" ({origin})" if origin else ""
        size = f"{format_number(100 * planned, 1)} percentage points"
        text += f" The non-inferiority margin is {size}{origin_words}"
        text += ": it is cleared where the lower limit of the interval is above minus the margin."
    if not plan.is_confirmatory:
        return f"{text} No hypothesis was declared with an endpoint; the results are exploratory."
    text += f" The declared endpoint is decided alone ({plan.hypothesis}); all else is exploratory."
    text += f" No verdict is given for fewer than {FEWEST_PATIENTS} patients."
    if plan.primary_model:
        return f"{text} One model was named primary, so that nothing is adjusted."
    return (
        f"{text} No model was named primary: in addition to the interval a verdict needs"
        f" its p-value, adjusted for the number of models by Holm's method [@holm1979]."
    )


READER_PANEL = Statistic(
    name="reader_panel",
    meaning="A model against the mean of the readers, under one claim.",
    columns=(
        *shared_columns("model_id condition metric claim n_readers n_items"),
        Column("reader_mean", "Mean of the readers.", "that of the metric"),
        Column("model_value", "Value of the model.", "that of the metric"),
        Column("difference", "The model minus the mean of the readers.", "that of the metric"),
        *shared_columns("se df ci_low ci_high p"),
        Column("margin", "Non-inferiority margin.", "proportion"),
        Column("p_noninferior", "One-sided p-value for the margin.", "probability"),
        *shared_columns("method note undefined_because"),
    ),
    compute=reader_panel,
    methods={400: Method("Models against the panel of readers", panel_methods)},
    tables={20: panel_table},
    figures={40: panel_figures},
)
