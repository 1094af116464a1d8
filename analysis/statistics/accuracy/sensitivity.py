"""Accuracy under other choices of the analysis: the table `sensitivity.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from analysis.arrays import Bools
from analysis.bundle.model import Bundle
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import (
    EMPTY_CELL,
    ReportTable,
    TableRow,
    condition_cell,
    percent_cell,
    rater_name,
    report_table,
)
from analysis.presentation.wording import cell_number, join_words, rows_of
from analysis.readings.circumstances import faulty_items, marked_readings
from analysis.readings.clusters import (
    ratio,
)
from analysis.readings.matrix import (
    NO_LETTER,
    ReadingMatrix,
    reading_matrix,
)
from analysis.readings.open_answers import matrices_by_rules
from analysis.results import Results
from analysis.statistics.accuracy.means import wilson_interval
from analysis.statistics.statistic import Column, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t, translated


def sensitivity(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate every rater's accuracy under each choice for missing and doubtful answers.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `SENSITIVITY`; proportions are from 0 to 1. In order of analysis, with a row
        per rater and condition, readers first. Cells are empty if an analysis excludes all
        readings.

    Notes
    -----
    Items with a reference standard are counted: for a reader those that were presented, for a model
    all of them.

    - `missing as wrong`, the primary analysis, counts missing answers as incorrect.
    - `missing dropped` includes only the items that were answered.
    - `missing as right` counts missing answers as correct; together with the primary analysis it
      bounds the effect of missing answers.
    - `absent as wrong` counts a reader's items that were never presented as incorrect.
    - `flagged times dropped` omits the items whose reading has a flag that casts doubt on its time.
    - `faulty questions dropped` and `marked questions dropped` omit the items that an expert review
      found faulty (`Options.faulty`), or that a reader marked as faulty, if there are any.
    - `model answers read by strict rules`, `standard rules` and `loose rules` use the answers
      parsed by these rules, if they change an answer of a model.
    - `excluded readings dropped` omits the items whose reading was excluded, if there are any. If
      the protocol drops them in the primary analysis, there is `excluded readings counted` instead.

    Intervals are Wilson's [1]_.

    References
    ----------
    .. [1] Wilson EB. Probable inference, the law of succession, and statistical inference. J Am
       Stat Assoc 1927;22:209-212. doi:10.1080/01621459.1927.10502953

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = sensitivity(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("abcd"), "truth": list("AAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": "R1", "item_id": list("abc"), "answer": ["A", "A", ""],
    ...         "flags": ["", "too_fast", ""],
    ...     }),
    ... ))
    >>> for row in table[["analysis", "n", "accuracy"]].round(3).values.tolist():
    ...     print(*row)
    missing as wrong 3 0.667
    missing dropped 2 1.0
    missing as right 3 1.0
    absent as wrong 4 0.5
    flagged times dropped 2 0.5
    """
    study = study_of(study, options)
    bundle, matrix, options = study.bundle, study.matrix, study.options
    tables = [
        _accuracy_rows(matrix, name, is_counted, correct, options.alpha)
        for name, (is_counted, correct) in _analyses(bundle, matrix, options.faulty).items()
    ]
    return pd.concat(tables, ignore_index=True)[SENSITIVITY.header]


def _analyses(
    bundle: Bundle, matrix: ReadingMatrix, faulty: Sequence[str]
) -> Mapping[str, tuple[Bools, Bools]]:
    """Return, for each analysis, the readings that are counted and the correct ones."""
    is_counted, correct = matrix.is_counted, matrix.correct
    answered = matrix.answers != NO_LETTER
    flagged, excluded = (
        marked_readings(bundle, matrix, column) for column in ("flags", "excluded")
    )
    analyses = {
        later("missing as wrong"): (is_counted, correct),
        later("missing dropped"): (is_counted & answered, correct),
        later("missing as right"): (is_counted, correct | ~answered),
        later("absent as wrong"): (matrix.has_truth[:, None] & ~matrix.left_out, correct),
        later("flagged times dropped"): (is_counted & ~flagged, correct),
    }
    if excluded.any():
        analyses[later("excluded readings dropped")] = (is_counted & ~excluded, correct)
    if matrix.left_out.any():
        with_excluded = reading_matrix(bundle, count_excluded=True)
        analyses[later("excluded readings counted")] = (
            with_excluded.is_counted,
            with_excluded.correct,
        )
    for name, is_faulty in faulty_items(bundle, matrix, faulty).items():
        analyses[name] = (is_counted & ~is_faulty[:, None], correct)
    for name, reparsed in matrices_by_rules(bundle).items():
        analyses[name] = (reparsed.is_counted, reparsed.correct)
    return analyses


def _accuracy_rows(
    matrix: ReadingMatrix, name: str, is_counted: Bools, correct: Bools, alpha: float
) -> pd.DataFrame:
    n = is_counted.sum(axis=0, dtype=np.int64)
    n_correct = (is_counted & correct).sum(axis=0).astype(np.float64)
    low, high = wilson_interval(n_correct, n.astype(np.float64), alpha)
    return pd.DataFrame(
        {
            "analysis": name,
            "rater_id": [column.rater_id for column in matrix.columns],
            "condition": [column.condition for column in matrix.columns],
            "n": n,
            "accuracy": ratio(n_correct, n.astype(np.float64)),
            "ci_low": low,
            "ci_high": high,
        }
    )


def sensitivity_table(results: Results) -> Iterator[ReportTable]:
    """Show each rater's accuracy under every choice, with a column per choice."""
    names = rater_names(results.bundle)
    rows = rows_of(results, "sensitivity")
    choices = list(dict.fromkeys(str(row["analysis"]) for row in rows))
    raters = list(dict.fromkeys((str(row["rater_id"]), str(row["condition"])) for row in rows))
    row_by_rater_and_choice = {
        (str(row["rater_id"]), str(row["condition"]), str(row["analysis"])): row for row in rows
    }
    table_rows: list[TableRow] = []
    for rater, condition in raters:
        by_choice = [
            row_by_rater_and_choice.get((rater, condition, choice), {}) for choice in choices
        ]
        cells = [
            EMPTY_CELL
            if math.isnan(cell_number(row, "accuracy"))
            else t(
                "{value} (n = {n})",
                value=percent_cell(cell_number(row, "accuracy")),
                n=int(cell_number(row, "n")),
            )
            for row in by_choice
        ]
        table_rows.append(((rater_name(names, rater),), (condition_cell(condition), *cells)))
    yield report_table(
        name="sensitivity",
        title=t("Accuracy under other choices, in percent"),
        note=t("The first column is the primary analysis."),
        header=(t("Rater"), t("Condition"), *map(_column_heading, choices)),
        rows=table_rows,
    )


def _column_heading(choice: str) -> str:
    words = translated(choice)
    return (
        words[:1].upper() + words[1:].lower() if words == choice else words[:1].upper() + words[1:]
    )


def sensitivity_methods(results: Results) -> str:
    """Name the choices that the sensitivity analyses compare."""
    rows = [*rows_of(results, "sensitivity"), *rows_of(results, "sensitivity_panel")]
    choices = dict.fromkeys(str(row["analysis"]) for row in rows)
    return (
        "The primary analysis counts missing answers as wrong, and leaves out of a reader's cases"
        f" those that were never presented. Choices compared: {join_words([*choices])}."
    )


SENSITIVITY = Statistic(
    name="sensitivity",
    meaning="Accuracy of a rater under one choice of the analysis.",
    columns=(
        Column("analysis", "The choice, such as `missing as wrong` (primary)."),
        *shared_columns("rater_id condition n accuracy ci_low ci_high"),
    ),
    compute=sensitivity,
    methods={700: Method("Sensitivity analyses", sensitivity_methods)},
    tables={250: sensitivity_table},
)
