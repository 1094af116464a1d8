"""Sensitivity and specificity of each rater: the table `diagnostic.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.model import Bundle
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    TableRow,
    condition_cell,
    percent_with_range,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import cell_number, rows_of
from analysis.readings.clusters import ratio
from analysis.readings.item_groups import item_groups
from analysis.results import Results
from analysis.statistics.accuracy.means import wilson_interval
from analysis.statistics.mrmc.obuchowski_rockette import join_nonempty
from analysis.statistics.statistic import Column, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t

WILSON = later("Wilson score")
GROUPED_BY = ("task", "category", "subcategory")
NO_POSITIVE = "sensitivity: no positive item was given"
NO_NEGATIVE = "specificity: no negative item was given"


def has_two_classes(study: Study) -> bool:
    """Return whether any item has a positive and a negative class."""
    return bool(study.dichotomy.counted_items(study.matrix).any())


def diagnostic(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Estimate every rater's sensitivity and specificity, overall and by group of items.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used; `positive` names the positive options.

    Returns
    -------
    pandas.DataFrame
        The columns of `DIAGNOSTIC`. Proportions are from 0 to 1. One row per rater, condition and
        group, readers first. Groups without items that have two classes have no row.

    Raises
    ------
    OptionsError
        No item offers an option that was named as positive.

    Notes
    -----
    Sensitivity is the proportion of positive items that were answered with a positive option,
    specificity the proportion of negative items that were answered with another option. Items are
    counted as in `accuracy`; unanswered items are incorrect for their class. The intervals are
    Wilson's score intervals [1]_ and assume independent items. `dichotomy_of` defines which items
    have two classes, and which option is positive.

    References
    ----------
    .. [1] Wilson EB. Probable inference, the law of succession, and statistical inference. J Am
       Stat Assoc 1927;22:209-212. doi:10.1080/01621459.1927.10502953

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = diagnostic(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("pqrs"), "truth": list("AABB"), "n_options": 2}),
    ...     pd.DataFrame({"rater_id": "R1", "item_id": list("pqr"), "answer": ["A", "", "B"]}),
    ... ))
    >>> table[["positive", "n_positive", "sensitivity", "specificity"]].values.tolist()
    [['B', 1, 1.0, 0.5]]
    """
    study = study_of(study, options)
    is_counted = study.dichotomy.counted_items(study.matrix)
    tables = [
        _group_rows(study, by, group, items[is_counted[items]])
        for by, group, items in item_groups(study.matrix, GROUPED_BY)
        if is_counted[items].any()
    ]
    if not tables:
        return pd.DataFrame(columns=DIAGNOSTIC.header)
    table = pd.concat(tables, ignore_index=True)
    table = table.sort_values("column", kind="stable", ignore_index=True)
    return table[DIAGNOSTIC.header]


def _group_rows(study: Study, by: str, group: str, items: Ints) -> pd.DataFrame:
    matrix, dichotomy = study.matrix, study.dichotomy
    is_counted, correct = matrix.is_counted[items], dichotomy.has_item_class(matrix)[items]
    positive = dichotomy.positive_items(matrix)[items]
    sensitivity = _proportion(correct[positive], is_counted[positive], study.options.alpha)
    specificity = _proportion(correct[~positive], is_counted[~positive], study.options.alpha)
    is_in_group = np.zeros(len(matrix.truth), dtype=np.bool_)
    is_in_group[items] = True
    return pd.DataFrame(
        {
            "column": np.arange(len(matrix.columns)),
            "rater_id": [column.rater_id for column in matrix.columns],
            "rater_kind": [column.kind.value for column in matrix.columns],
            "condition": [column.condition for column in matrix.columns],
            "by": by,
            "group": group,
            "positive": dichotomy.positive_option_names(is_in_group),
            "n_positive": sensitivity["n"],
            "n_negative": specificity["n"],
            "sensitivity": sensitivity["share"],
            "sens_low": sensitivity["low"],
            "sens_high": sensitivity["high"],
            "specificity": specificity["share"],
            "spec_low": specificity["low"],
            "spec_high": specificity["high"],
            "method": WILSON,
            "undefined_because": [
                join_nonempty([NO_POSITIVE * (not n), NO_NEGATIVE * (not m)])
                for n, m in zip(sensitivity["n"], specificity["n"], strict=True)
            ],
        }
    )


def _proportion(correct: Bools, is_counted: Bools, alpha: float) -> dict[str, Ints | Floats]:
    """Return each column's share of correct answers, with its limits."""
    n = is_counted.sum(axis=0, dtype=np.int64)
    n_correct = (correct & is_counted).sum(axis=0).astype(np.float64)
    low, high = wilson_interval(n_correct, n.astype(np.float64), alpha)
    return {"n": n, "share": ratio(n_correct, n.astype(np.float64)), "low": low, "high": high}


def diagnostic_table(results: Results) -> Iterator[ReportTable]:
    """Show every rater's sensitivity and specificity over all items."""
    names = rater_names(results.bundle)
    rows: list[TableRow] = [
        ((rater_name(names, str(row["rater_id"])),), _row_cells(row))
        for row in rows_of(results, "diagnostic", by="overall")
    ]
    yield report_table(
        name="diagnostic",
        title=t("Sensitivity and specificity"),
        note=t(
            "Percent, with Wilson intervals. Cases that were presented but not answered count as"
            " incorrect. Results by task and category are in the file."
        ),
        header=(
            t("Rater"),
            t("Condition"),
            t("Positive option"),
            t("Positive cases"),
            t("Sensitivity"),
            t("Negative cases"),
            t("Specificity"),
        ),
        rows=rows,
        in_paper=True,
    )


def _row_cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        condition_cell(str(row["condition"])),
        str(row["positive"]),
        whole_number(cell_number(row, "n_positive")),
        percent_with_range(row, "sensitivity", "sens_low", "sens_high"),
        whole_number(cell_number(row, "n_negative")),
        percent_with_range(row, "specificity", "spec_low", "spec_high"),
    )


DIAGNOSTIC = Statistic(
    name="diagnostic",
    meaning="Sensitivity and specificity of a rater in a group of items with two classes.",
    columns=(
        *shared_columns("rater_id rater_kind condition by group"),
        Column("positive", "Positive options: letters, or texts where letters differ."),
        Column("n_positive", "Positive items that are counted.", "count"),
        Column("n_negative", "Negative items that are counted.", "count"),
        Column("sensitivity", "Share of correct answers to positive items.", "proportion"),
        Column("sens_low", "Lower limit of the interval of `sensitivity`.", "proportion"),
        Column("sens_high", "Upper limit of the interval of `sensitivity`.", "proportion"),
        Column("specificity", "Share of correct answers to negative items.", "proportion"),
        Column("spec_low", "Lower limit of the interval of `specificity`.", "proportion"),
        Column("spec_high", "Upper limit of the interval of `specificity`.", "proportion"),
        *shared_columns("method undefined_because"),
    ),
    compute=diagnostic,
    applies=has_two_classes,
    methods={
        20: Method(
            "Sensitivity and specificity",
            "Sensitivity and specificity are given for questions with a positive and a negative"
            " class, with Wilson's score intervals [@wilson1927]; cases that were presented but not"
            " answered count as incorrect for their class.",
        )
    },
    tables={12: diagnostic_table},
)
