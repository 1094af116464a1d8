"""Comparison of each pair of models, overall and by task: the table `model_pairs.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from analysis.arrays import Bools
from analysis.bundle.model import Bundle, PairKind
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import (
    MAX_ROWS,
    ReportTable,
    condition_cell,
    percent_cell,
    percent_with_range,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import Row, cell_number, rows_of
from analysis.readings.matrix import ReadingMatrix
from analysis.results import Results
from analysis.statistics.agreement.pairs.counts import Pair, pair_names, pairs_of
from analysis.statistics.comparison.pairs import (
    COMPARISON_COLUMNS,
    compare_pairs,
    items_given_to_both,
)
from analysis.statistics.statistic import Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import t

PAIR_COLUMNS = (
    *shared_columns("by group"),
    *COMPARISON_COLUMNS,
    *shared_columns("undefined_because"),
)
"""The columns for a pair in a group of items."""


def model_pairs(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare the accuracy of each pair of models, overall and by task.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `MODEL_PAIRS`. One row per pair of models and group: overall (`micro`), then
        the tasks in order of their names.

    Notes
    -----
    Columns are as in `comparisons`; the overall rows repeat its rows of these pairs. For two
    versions of a model, `only_b_correct` counts the items that improved with the second version,
    and `only_a_correct` those that became worse. No p is adjusted for the number of tasks or pairs.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = model_pairs(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": "A", "task": list("ssst")}),
    ...     pd.DataFrame({
    ...         "rater_id": ["M1"] * 4 + ["M2"] * 4, "item_id": list("wxyz") * 2,
    ...         "answer": list("ABBA" "AAAB"),
    ...     }),
    ...     pd.DataFrame({"rater_id": ["M1", "M2"], "rater_kind": "model"}),
    ... ))
    >>> for row in table[["group", "n", "only_a_correct", "only_b_correct"]].values.tolist():
    ...     print(*row)
    micro 4 1 2
    s 3 0 2
    t 1 1 0
    """
    study = study_of(study, options)
    pairs = [pair for pair in pairs_of(study.matrix.columns) if pair.kind is PairKind.MODELS]
    names = pair_names(study.matrix.columns, pairs).drop(columns="pair_kind")
    return names.join(compare_by_task(study, pairs)).reset_index(drop=True)[MODEL_PAIRS.header]


def item_groups(matrix: ReadingMatrix) -> Iterator[tuple[str, str, Bools]]:
    """Yield `by`, `group` and the items: all, then those of each task."""
    all_items = np.ones(len(matrix.item_ids), dtype=np.bool_)
    yield "overall", "micro", all_items
    for task, members in matrix.members("task").items():
        is_in_task = ~all_items
        is_in_task[members] = True
        yield "task", task, is_in_task


def compare_by_task(study: Study, pairs: Sequence[Pair]) -> pd.DataFrame:
    """Compare pairs over the items given to both, then over those of each task.

    Returns
    -------
    pandas.DataFrame
        The columns `PAIR_COLUMNS`; one row per pair and group, overall first. The index is the
        position of the pair.
    """
    matrix, alpha = study.matrix, study.options.alpha
    a, b = (np.array(side, dtype=np.int64) for side in ([p.a for p in pairs], [p.b for p in pairs]))
    parts = [
        compare_pairs(matrix, items & in_group, a[members], b[members], study.weights, alpha)
        .assign(by=by, group=group)
        .set_index(members)
        for by, group, in_group in item_groups(matrix)
        for items, members in items_given_to_both(matrix, a, b)
    ]
    if not parts:
        return pd.DataFrame(columns=[column.name for column in PAIR_COLUMNS])
    return pd.concat(parts).sort_index(kind="stable")[[column.name for column in PAIR_COLUMNS]]


def rows_of_pair(table: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """Return the rows of `model_pairs` of two models, in the order `a` minus `b`.

    Parameters
    ----------
    table : pandas.DataFrame
        The table of `model_pairs`.
    a, b : str
        The models, in either order.

    Returns
    -------
    pandas.DataFrame
        The columns of `table`; `ci_low` and `ci_high` are over patients if such limits exist.
    """
    table = with_patient_intervals(table)
    rows = table.loc[(table["rater_a"] == a) & (table["rater_b"] == b)]
    reverse = table.loc[(table["rater_a"] == b) & (table["rater_b"] == a)]
    reversed_row = reverse.rename(columns=_SWAPPED_COLUMNS)
    for column in ("difference", "ci_low", "ci_high"):
        reversed_row[column] = -reversed_row[column]
    return pd.concat([rows, reversed_row])[list(table)].reset_index(drop=True)


def with_patient_intervals(table: pd.DataFrame) -> pd.DataFrame:
    """Replace `ci_low` and `ci_high` by the limits over patients where these exist."""
    return table.assign(
        ci_low=table["cluster_ci_low"].fillna(table["ci_low"]),
        ci_high=table["cluster_ci_high"].fillna(table["ci_high"]),
    )


_SWAPPED_COLUMNS = {
    **{f"{name}_a": f"{name}_b" for name in ("rater", "accuracy")},
    **{f"{name}_b": f"{name}_a" for name in ("rater", "accuracy")},
    **{"only_a_correct": "only_b_correct", "only_b_correct": "only_a_correct"},
    **{"ci_low": "ci_high", "ci_high": "ci_low"},
}
"""New names of columns after swapping the models of a pair."""


def side_by_side_table(results: Results) -> Iterator[ReportTable]:
    """Show the comparison of each pair of models, overall and by task."""
    names = rater_names(results.bundle)
    rows = rows_of(results, "model_pairs")
    yield report_table(
        name="model-pairs",
        title=t("Models side by side"),
        note=t(
            "Difference: first minus second, in points. Only one correct: cases answered correctly"
            " by the first model only, and by the second only. For two versions of a model, these"
            " are the cases that got worse and those that improved."
        ),
        header=(
            t("Models"),
            t("Condition"),
            t("Cases"),
            "n",
            t("First %"),
            t("Second %"),
            t("Difference and CI"),
            t("Only first correct"),
            t("Only second correct"),
        ),
        rows=[
            (
                tuple(rater_name(names, str(row[side])) for side in ("rater_a", "rater_b")),
                (
                    condition_cell(str(row["condition"])),
                    group_words(row),
                    whole_number(cell_number(row, "n")),
                    percent_cell(cell_number(row, "accuracy_a")),
                    percent_cell(cell_number(row, "accuracy_b")),
                    paired_difference(row),
                    whole_number(cell_number(row, "only_a_correct")),
                    whole_number(cell_number(row, "only_b_correct")),
                ),
            )
            for row in rows[:MAX_ROWS]
        ],
        total=len(rows),
    )


def group_words(row: Row) -> str:
    """Return the words for the cases that a row is about."""
    return t("all") if str(row["by"]) == "overall" else str(row["group"])


def paired_difference(row: Row) -> str:
    """Format a paired difference with its interval, over patients if there is such an interval."""
    clustered = not math.isnan(cell_number(row, "cluster_ci_low"))
    limits = ("cluster_ci_low", "cluster_ci_high") if clustered else ("ci_low", "ci_high")
    return percent_with_range(row, "difference", *limits)


MODEL_PAIRS = Statistic(
    name="model_pairs",
    meaning="Difference of accuracy between two models, overall or in a task.",
    columns=(
        *shared_columns("rater_a rater_b condition"),
        *PAIR_COLUMNS,
    ),
    compute=model_pairs,
    tables={200: side_by_side_table},
)
