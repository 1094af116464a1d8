"""Comparisons of readers who did not all read the same cases: the table `uncrossed.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Ints
from analysis.bundle.model import Bundle, RaterKind
from analysis.figures.drawing.axes import RaterName, condition_name, rater_names
from analysis.options import Options
from analysis.presentation.table import (
    MAX_ROWS,
    ReportTable,
    TableRow,
    rater_name,
    report_table,
    row_label,
    two_conditions,
    whole_number,
)
from analysis.presentation.wording import Row, cell_number, rows_of
from analysis.readings.matrix import ReadingMatrix
from analysis.readings.shared_items import SharedItems
from analysis.results import Results
from analysis.statistics import claims
from analysis.statistics.claims import comparison_cells, comparison_header, factor_of
from analysis.statistics.merits import Metric
from analysis.statistics.mrmc.conditions import NO_READER
from analysis.statistics.mrmc.incomplete import (
    Comparison,
    PairWeightedMeans,
    incomplete_comparisons,
    pair_weighted_means,
)
from analysis.statistics.mrmc.obuchowski_rockette import (
    Claim,
    Inference,
    SingleTreatment,
    TwoTreatments,
    infer,
    inference_cells,
    join_nonempty,
    two_treatments,
    undefined_inference,
    wider_inference,
)
from analysis.statistics.mrmc.panel import model_against_readers
from analysis.statistics.statistic import Column, Method, Source, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t

BDG, BCK, CROSSED = claims.PAIR_WEIGHTED, "U-statistic (BCK)", "Obuchowski-Rockette"
METHOD_NAMES = (BDG, BCK, CROSSED)
PAIR_WEIGHTED_NOTES = {
    Metric.ACCURACY: "pair-weighted: every reading counts alike",
    Metric.AUC: "pair-weighted: every pair of a positive and a negative case read by a reader",
}
TOO_NARROW = f"covers 91 to 94 % where cases are many; prefer {BDG} (docs/coverage.md)"
READER_MEAN = "mean of the readers on the cases they all read"
NO_SHARED_ITEM = later("no item was given to all readers")


def is_uncrossed(study: Study) -> bool:
    """Return whether the readers of any comparison did not all read the same cases."""
    return any(True for _ in incomplete_comparisons(study.matrix))


def uncrossed(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare a model with readers, and two conditions, if not every reader read every case.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `UNCROSSED`: three rows per comparison and metric, in order of model,
        conditions, metric and method. Proportions are from 0 to 1.

    Notes
    -----
    Readers and cases are random. The U-statistics give every reading the same weight (for the AUC,
    every pair of a positive and a negative case that a reader read), so readers with many cases
    have more weight. Obuchowski-Rockette takes the mean of the readers over the cases that all of
    them read. The two methods estimate different quantities. For a model, the kernel is the model's
    score minus the reader's. For two conditions, the estimate is the difference between two means,
    whose readers and cases need not be the same. A patient with several cases is treated as one
    case of the U-statistic. An unbiased variance may be negative; standard error and interval are
    then undefined.

    See Also
    --------
    analysis.statistics.mrmc.u_statistics, analysis.reader_panel, analysis.reader_conditions

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> ids = list("abcdef")
    >>> table = uncrossed(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ids, "truth": list("AAAAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": ["M1"] * 6 + ["R1"] * 6 + ["R2"] * 4, "item_id": ids * 2 + ids[:4],
    ...         "answer": list("AAAAAB" "AABABA" "ABAB"),
    ...     }),
    ...     pd.DataFrame({"rater_id": ["M1", "R1", "R2"],
    ...                   "rater_kind": ["model", "reader", "reader"]}),
    ... ))
    >>> for row in table[["method", "n_items", "n_readings", "difference"]].values.tolist():
    ...     print(*row)
    U-statistic (BDG) 6 10 0.3
    U-statistic (BCK) 6 10 0.3
    Obuchowski-Rockette 4 8 0.375
    """
    study = study_of(study, options)
    rows = [
        {**comparison.names, **row}
        for comparison in incomplete_comparisons(study.matrix)
        for row in _comparison_rows(study, comparison)
    ]
    return pd.DataFrame(rows, columns=UNCROSSED.header)


def _comparison_rows(study: Study, comparison: Comparison) -> Iterator[dict[str, object]]:
    crossed = _crossed_cells(study, comparison)
    for metric in Metric:
        if metric.value not in crossed:
            continue
        is_counted = _reading_counts(study.matrix, comparison)
        estimates, reason = pair_weighted_means(study, comparison, metric)
        values = _mean_cells(comparison, estimates)
        for method in (BDG, BCK):
            inference = _infer_difference(estimates, reason, method, study.options.alpha)
            yield {
                "metric": metric.value,
                "method": method,
                **is_counted,
                **values,
                **_inference_cells(inference, reason),
                "note": join_nonempty(
                    [PAIR_WEIGHTED_NOTES[metric], TOO_NARROW if method == BCK else ""]
                ),
            }
        yield {"metric": metric.value, "method": CROSSED, **crossed[metric.value]}


def _reading_counts(matrix: ReadingMatrix, comparison: Comparison) -> dict[str, int]:
    is_counted = comparison.counted_readings(matrix)
    readers = np.zeros(len(comparison.sides[0].columns), dtype=np.bool_)
    for side in comparison.sides:
        readers |= side.counted_readings(matrix).any(axis=0)
    return {
        "n_readers": int(readers.sum()),
        "n_items": int(is_counted.any(axis=1).sum()),
        "n_readings": int(is_counted.sum()),
    }


def _mean_cells(comparison: Comparison, estimates: PairWeightedMeans | None) -> dict[str, float]:
    if estimates is None:
        return {"value_a": math.nan, "value_b": math.nan}
    return {"value_a": estimates.value_a, "value_b": estimates.value_b}


def _infer_difference(
    estimates: PairWeightedMeans | None, reason: str, method: str, alpha: float
) -> Inference:
    if estimates is None:
        return undefined_inference(math.nan, reason)
    statistic = estimates.statistic
    if statistic.undefined_because:
        return undefined_inference(statistic.estimate, statistic.undefined_because)
    df = statistic.df_bdg if method == BDG else statistic.df_bck
    return infer(statistic.estimate, statistic.variance, df, alpha)


def _inference_cells(inference: Inference, no_value: str) -> dict[str, object]:
    cells = inference_cells(inference, Claim.READERS_LIKE_THESE, no_value)
    del cells["claim"]
    return cells


def _crossed_cells(study: Study, comparison: Comparison) -> dict[str, dict[str, object]]:
    """Return the cells of Obuchowski-Rockette's method by metric.

    The cases are those that all readers read.
    """
    matrix = study.matrix
    if len(comparison.sides) == 1:
        side = comparison.sides[0]
        readers, columns = side.columns, np.append(side.columns, side.model or 0)
        n_readings = len(readers)
    else:
        a, b = (side.columns for side in comparison.sides)
        has_both = (a >= 0) & (b >= 0)
        readers = columns = np.concatenate([a[has_both], b[has_both]])
        n_readings = len(columns)
    items: Bools = np.all(matrix.is_counted[:, columns], axis=1)
    if not len(readers):
        items = np.zeros_like(items)
    reason = "" if items.any() else NO_SHARED_ITEM if len(readers) else NO_READER
    n = int(items.sum())
    note = f"{READER_MEAN}: {n} of {int(matrix.has_truth.sum())} items"
    cells = {}
    rated = readers if len(readers) else _reader_columns(matrix)
    for figure in study.figures_of_merit.of_raters(
        SharedItems(items=items, reason=reason), columns, rated
    ):
        result: SingleTreatment | TwoTreatments
        if len(comparison.sides) == 1:
            result = model_against_readers(figure.merits, study.options.alpha, figure.items_df)
            value_a, value_b = figure.merits.values[-1], figure.merits.values[:-1].mean()
        elif len(readers):
            first, second = np.arange(len(columns)).reshape(2, -1)
            result = two_treatments(
                figure.merits, first, second, study.options.alpha, items_df=figure.items_df
            )
            value_a, value_b = result.value_a, result.value_b
        else:
            cells[figure.metric.value] = _no_reader_cells()
            continue
        random, narrower = wider_inference(result.random_readers, result.fixed_readers)
        cells[figure.metric.value] = {
            "n_readers": result.n_readers,
            "n_items": n,
            "n_readings": n * n_readings,
            "value_a": value_a,
            "value_b": value_b,
            **_inference_cells(random, figure.no_value),
            "note": join_nonempty([note, narrower, *figure.notes]),
        }
    return cells


def _reader_columns(matrix: ReadingMatrix) -> Ints:
    kinds = [column.kind is RaterKind.READER for column in matrix.columns]
    return np.flatnonzero(kinds)


def _no_reader_cells() -> dict[str, object]:
    undefined_cells = {"value_a": math.nan, "value_b": math.nan, "note": ""}
    counts = {"n_readers": 0, "n_items": 0, "n_readings": 0}
    return {
        **counts,
        **undefined_cells,
        **_inference_cells(undefined_inference(math.nan, NO_READER), ""),
    }


def uncrossed_table(results: Results) -> Iterator[ReportTable]:
    """Show the estimates of every comparison in which not every reader read every case."""
    names = rater_names(results.bundle)
    rows = rows_of(results, "uncrossed")
    yield report_table(
        name="uncrossed",
        title=t("Comparisons in which not every reader read every case"),
        note=t(
            "Readers and cases random. U-statistics weight every reading equally;"
            " Obuchowski-Rockette takes the mean of the readers on the cases that all of them"
            " read. The two estimate different quantities. A negative variance is undefined."
        ),
        header=(
            t("Comparison"),
            t("Metric"),
            t("Method"),
            t("Readers"),
            t("Items"),
            t("Readings"),
            *comparison_header(t("First"), t("Second")),
        ),
        rows=[_table_row(row, names) for row in rows[:MAX_ROWS]],
        total=len(rows),
    )


def _table_row(row: Row, names: Mapping[str, RaterName]) -> TableRow:
    factor = factor_of(row)
    cells = (
        t("accuracy, %") if factor == 100 else "AUC",
        str(row["method"]),
        whole_number(cell_number(row, "n_readers")),
        whole_number(cell_number(row, "n_items")),
        whole_number(cell_number(row, "n_readings")),
        *comparison_cells(row),
    )
    return compared_subjects(row, names), cells


def compared_subjects(row: Row, names: Mapping[str, RaterName]) -> tuple[RaterName, ...]:
    """Return the subject of a row: a model under a condition, or two conditions."""
    model, first = str(row["model_id"]), str(row["condition_a"])
    if not model:
        return two_conditions(row)
    return (rater_name(names, model), *((row_label(condition_name(first)),) if first else ()))


UNCROSSED = Statistic(
    name="uncrossed",
    meaning=(
        "A model against readers, or two conditions, where not every reader read every case;"
        " readers and cases random."
    ),
    columns=(
        Column("model_id", "Model; empty for two conditions."),
        Column("condition_a", "First condition; for a model the condition of the readers."),
        Column("condition_b", "Second condition; empty for a model."),
        *shared_columns("metric"),
        Column("method", f"`{BDG}`, `{BCK}` or `{CROSSED}` on the cases that all readers read."),
        *shared_columns("n_readers n_items n_readings"),
        Column("value_a", "The model, or the first condition.", "that of the metric"),
        Column("value_b", "The readers, or the second condition.", "that of the metric"),
        *shared_columns("difference se df ci_low ci_high p note undefined_because"),
    ),
    compute=uncrossed,
    applies=is_uncrossed,
    methods={
        525: Method(
            "Models against the panel of readers",
            "Where not every reader read every case, differences are also estimated by U-statistics"
            " with readers and cases random, in which every reading counts equally; their variance"
            " does not require complete data [@gallas2009; @clarkson2006]. Obuchowski and"
            " Rockette's method"
            " on the cases that all readers read estimates the mean of these readers instead.",
        )
    },
    sources=(
        Source(
            "components of variance of readers and cases",
            "Clarkson E, Kupinski MA, Barrett HH. A probabilistic model for the MRMC method, part"
            " 1: theoretical development. Acad Radiol 2006;13:1410-1421.",
            "10.1016/j.acra.2006.07.016",
        ),
    ),
    tables={135: uncrossed_table},
)
