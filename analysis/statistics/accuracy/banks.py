"""Differences of accuracy between question banks: the table `banks.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.arrays import Ints
from analysis.bundle.model import Bundle
from analysis.figures.drawing.axes import rater_names, rows_in_condition
from analysis.figures.robustness import differences_chart, task_panels
from analysis.options import Options
from analysis.presentation.captions import case_range, interval_methods
from analysis.presentation.table import (
    ReportTable,
    TableRow,
    condition_cell,
    percent_cell,
    range_cell,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import cell_number, join_sentences, rows_of
from analysis.readings.clusters import (
    PERCENTILE_METHOD,
    WIDENED_METHOD,
    is_widened,
    percentile_limits,
    ratio,
    reason_too_few,
)
from analysis.readings.matrix import (
    ReadingMatrix,
)
from analysis.results import Results
from analysis.statistics.accuracy.accuracy import FEW_RESAMPLES, NOT_GIVEN, resampled_accuracy
from analysis.statistics.accuracy.means import mover_difference, wilson_interval
from analysis.statistics.statistic import Column, Figure, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, localised, t

MOVER = later("MOVER over the banks' Wilson limits")
NO_ITEM_IN_ONE_BANK = f"of one of the banks, {NOT_GIVEN}"


def has_banks(study: Study) -> bool:
    """Return whether the study has items from more than one bank."""
    return len(study.matrix.members("bank")) > 1


def banks(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate every rater's difference in accuracy between two banks, overall and by task.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; with several banks, `bank` names the bank of an item.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `BANKS`. Proportions are from 0 to 1, `difference` from -1 to 1. One row per
        rater, condition, group and pair of banks, in order of their names; none with a single bank.

    Notes
    -----
    `difference` is `accuracy` on `bank` minus `accuracy_other` on `other_bank`, over the items that
    are counted for the rater (see `accuracy`). It is not paired, because the banks have different
    items. If every patient has one item, the interval is the MOVER interval from the Wilson limits
    of both banks [1]_, which is Newcombe's hybrid score interval. Otherwise it is the percentile
    interval over resampled patients, who may have items in both banks. Its levels depend on the
    bank with fewer patients.

    References
    ----------
    .. [1] Zou GY, Huang W, Zhang X. A note on confidence interval estimation for a linear function
       of binomial proportions. Comput Stat Data Anal 2009;53:1080-1085.
       doi:10.1016/j.csda.2008.09.033

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = banks(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("abcd"), "truth": "A", "bank": list("xxyy")}),
    ...     pd.DataFrame({"rater_id": "R1", "item_id": list("abcd"), "answer": list("AAAB")}),
    ... ))
    >>> table[["bank", "other_bank", "n", "n_other", "difference"]].values.tolist()
    [['x', 'y', 2, 2, 0.5]]
    """
    study = study_of(study, options)
    table = pd.DataFrame(list(_bank_rows(study)), columns=["column", *BANKS.header])
    table = table.sort_values("column", kind="stable", ignore_index=True)
    return table.drop(columns="column")


def _bank_rows(study: Study) -> Iterator[dict[str, Any]]:
    matrix = study.matrix
    all_items = np.arange(len(matrix.truth))
    groups = [("overall", "micro", all_items)]
    groups += [("task", name, items) for name, items in matrix.members("task").items()]
    for by, group, items in groups:
        for (bank, bank_items), (other_bank, other_items) in combinations(
            matrix.members("bank").items(), 2
        ):
            key = {"by": by, "group": group, "bank": bank, "other_bank": other_bank}
            item_sets = (np.intersect1d(items, bank_items), np.intersect1d(items, other_items))
            for column, cells in enumerate(_differences(study, item_sets)):
                reads = matrix.columns[column]
                yield {
                    "column": column,
                    "rater_id": reads.rater_id,
                    "rater_kind": reads.kind.value,
                    "condition": reads.condition,
                    **key,
                    **cells,
                }


def _differences(study: Study, item_sets: tuple[Ints, Ints]) -> Iterator[dict[str, Any]]:
    """Yield each column's difference between two sets of items."""
    matrix, alpha = study.matrix, study.options.alpha
    n, n_correct = (
        np.array([cells[part].sum(axis=0) for part in item_sets], dtype=np.float64)
        for cells in (matrix.is_counted, matrix.correct)
    )
    accuracy = ratio(n_correct, n)
    low, high = mover_difference(accuracy, *wilson_interval(n_correct, n, alpha))
    n_patients = np.min([_n_clusters(matrix, part) for part in item_sets], axis=0)
    clustered = study.weights is not None
    if study.weights is not None:
        first, second = (resampled_accuracy(matrix, part, study.weights) for part in item_sets)
        low, high, _ = percentile_limits(first - second, alpha, n_patients)
    for column in range(len(matrix.columns)):
        is_empty = not n[:, column].all()
        reason = NO_ITEM_IN_ONE_BANK if is_empty else ""
        if not is_empty and np.isnan(low[column]):
            reason = reason_too_few(int(n_patients[column]), clustered=True) or FEW_RESAMPLES
        widened = is_widened(n_patients)[column]
        yield {
            "n": int(n[0, column]),
            "n_other": int(n[1, column]),
            "accuracy": accuracy[0, column],
            "accuracy_other": accuracy[1, column],
            "difference": accuracy[0, column] - accuracy[1, column],
            "ci_low": np.nan if is_empty else low[column],
            "ci_high": np.nan if is_empty else high[column],
            "method": (WIDENED_METHOD if widened else PERCENTILE_METHOD) if clustered else MOVER,
            "undefined_because": reason,
        }


def _n_clusters(matrix: ReadingMatrix, items: Ints) -> Ints:
    """Return the number of patients from whom each column was given an item."""
    is_counted = matrix.is_counted[items]
    return np.array(
        [len(np.unique(matrix.clusters[items][column])) for column in is_counted.T], dtype=np.int64
    )


def banks_table(results: Results) -> Iterator[ReportTable]:
    """Show the differences of accuracy between banks, overall and by task."""
    names = rater_names(results.bundle)
    rows: list[TableRow] = [
        (
            (rater_name(names, str(row["rater_id"])),),
            (
                condition_cell(str(row["condition"])),
                t("All") if row["by"] == "overall" else str(row["group"]),
                t("{bank} minus {other_bank}", bank=row["bank"], other_bank=row["other_bank"]),
                t(
                    "{n} and {n_other}",
                    n=whole_number(row["n"]),
                    n_other=whole_number(row["n_other"]),
                ),
                percent_cell(cell_number(row, "accuracy")),
                percent_cell(cell_number(row, "accuracy_other")),
                percent_cell(cell_number(row, "difference")),
                range_cell(cell_number(row, "ci_low"), cell_number(row, "ci_high")),
            ),
        )
        for row in rows_of(results, "banks")
    ]
    yield report_table(
        name="banks",
        title=t("Difference between banks, by task"),
        note=join_sentences(
            [
                t(
                    "Accuracy on the cases of one bank minus accuracy on those of another, in"
                    " percent and percentage points. The cases are different ones, so nothing"
                    " is paired."
                ),
                t("CI: over patients.") if results.clustered else t("CI: MOVER."),
            ]
        ),
        header=(
            t("Rater"),
            t("Condition"),
            t("Task"),
            t("Banks"),
            "n",
            "%",
            t("Other %"),
            t("Difference"),
            t("CI"),
        ),
        rows=rows,
    )


def banks_figures(results: Results, condition: str) -> Iterator[Figure]:
    """Show every rater's difference between two banks, in a figure for each pair of banks."""
    pairs = rows_in_condition(results.tables["banks"], condition).groupby(
        ["bank", "other_bank"], sort=False
    )
    for figure_number, ((bank, other), rows) in enumerate(pairs, start=1):
        rows = rows.assign(panel=task_panels(rows), n=rows["n"] + rows["n_other"])
        yield Figure(
            "robustness",
            f"banks-{figure_number}",
            t(
                "Difference between banks: {bank} minus {other_bank}",
                bank=bank,
                other_bank=other,
            ),
            _banks_caption(rows, results.options.confidence_percent),
            differences_chart(
                rows, axis_title=t("Difference, points"), names=rater_names(results.bundle)
            ),
        )


def _banks_caption(rows: pd.DataFrame, percent: str) -> str:
    """Describe the figure of the difference between two banks."""
    return join_sentences(
        [
            t(
                "Accuracy on {bank} minus that on {other_bank}, {cases}, with {percent} %"
                " intervals ({methods}).",
                bank=rows["bank"].iloc[0],
                other_bank=rows["other_bank"].iloc[0],
                cases=case_range(rows["n"]),
                percent=localised(percent),
                methods=interval_methods(rows),
            ),
            t("The cases are different ones, and may differ in difficulty."),
        ]
    )


BANKS = Statistic(
    name="banks",
    meaning="Difference of a rater's accuracy between two question banks.",
    columns=(
        *shared_columns("rater_id rater_kind condition by group"),
        Column("bank", "First bank."),
        Column("other_bank", "Second bank."),
        Column("n", "Items of the first bank.", "count"),
        Column("n_other", "Items of the second bank.", "count"),
        Column("accuracy", "Accuracy on the first bank.", "proportion"),
        Column("accuracy_other", "Accuracy on the second bank.", "proportion"),
        Column("difference", "Accuracy on the first bank minus that on the second.", "proportion"),
        *shared_columns("ci_low ci_high method undefined_because"),
    ),
    compute=banks,
    applies=has_banks,
    methods={
        110: Method(
            "Accuracy",
            "Accuracies on different banks are compared as those of independent samples, with the"
            " MOVER interval, or over patients where they have several cases.",
        )
    },
    tables={100: banks_table},
    figures={130: banks_figures},
)
