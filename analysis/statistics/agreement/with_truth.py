"""Agreement of raters with the reference standard: the table `agreement_with_truth.csv`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.arrays import Floats
from analysis.bundle.model import Bundle, PairKind
from analysis.figures.agreement import INTERVAL_COLUMNS, scope_text
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import (
    MAX_PRINTED_ROWS_IMPORTANT,
    ReportTable,
    TableRow,
    condition_cell,
    estimate_cell,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import join_sentences, rows_by_measure
from analysis.results import Results
from analysis.statistics.agreement.display import (
    LETTERS_NOTE,
    NEVER_WRONG_NOTE,
    displayed_agreement,
    measure_heading,
)
from analysis.statistics.agreement.pairs.counts import Pair, Sums
from analysis.statistics.agreement.pairs.measures import (
    AC1,
    BOTH_CONSTANT,
    BRENNAN_PREDIGER,
    ERROR_CONSISTENCY,
    KAPPA,
    KAPPA_LETTERS,
    NO_ITEM,
    RAW,
    Measure,
    Reasons,
    partitions,
)
from analysis.statistics.agreement.pairs.table import (
    NO_SE_ONE_ANSWER,
    partition_rows,
)
from analysis.statistics.statistic import Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t, translated

NEVER_WRONG = "error consistency: the reference standard is never wrong"
# Reasons that name two raters, reworded for a rater and the reference standard.
REWORDED_REASONS = {
    NO_ITEM: later("no item with a reference standard was answered"),
    BOTH_CONSTANT: later(
        "the rater and the reference standard each have a single answer throughout"
    ),
    NO_SE_ONE_ANSWER: "standard error and interval: the rater or the reference standard has a"
    " single answer throughout",
}


def _undefined_estimates(sums: Sums) -> Floats:
    return np.full(sums.agree.shape, np.nan)


def _never_wrong_reasons(sums: Sums) -> Reasons:
    return np.full(sums.agree.shape, NEVER_WRONG, dtype=object)


MEASURES_OF_EVERY_SCOPE = (
    RAW,
    KAPPA_LETTERS,
    BRENNAN_PREDIGER,
    replace(ERROR_CONSISTENCY, estimate=_undefined_estimates, reason=_never_wrong_reasons),
)
MEASURES_BY_SCOPE: Mapping[str, tuple[Measure, ...]] = {
    "all": MEASURES_OF_EVERY_SCOPE,
    "task": MEASURES_OF_EVERY_SCOPE,
    "category": MEASURES_OF_EVERY_SCOPE,
    "option_set": (*MEASURES_OF_EVERY_SCOPE, KAPPA, AC1),
}


def agreement_with_truth(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the agreement of each rater with the reference standard.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `AGREEMENT_WITH_TRUTH`; in order of kind (readers first), id, condition,
        scope (all, tasks, categories, option sets) and measure. There are no rows if no item has a
        reference standard.

    Notes
    -----
    The reference standard is treated as another rater; estimates and intervals are computed as in
    `agreement_pairs`. Only items with a reference standard that the rater answered are counted, so
    raw agreement is the accuracy of the answers given, while `accuracy.csv` counts missing answers
    as incorrect. Error consistency is undefined, because the reference standard is never wrong.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = agreement_with_truth(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": list("ABAB"), "n_options": 2}),
    ...     pd.DataFrame({"rater_id": "R1", "item_id": list("wxyz"), "answer": list("ABAA")}),
    ... ))
    >>> table[["measure", "n", "estimate"]].values.tolist()[:2]
    [['raw', 4, 0.75], ['kappa_letters', 4, 0.5]]
    """
    study = study_of(study, options)
    matrix, columns = study.matrix, study.matrix.columns
    if not matrix.has_truth.any():
        return pd.DataFrame({name: pd.Series(dtype=object) for name in AGREEMENT_WITH_TRUTH.header})
    with_truth = replace(matrix, answers=np.column_stack([matrix.answers, matrix.truth]))
    pairs = [
        Pair(a=position, b=len(columns), kind=PairKind.MIXED, condition=column.condition)
        for position, column in enumerate(columns)
    ]
    parts = [
        partition_rows(with_truth, pairs, partition, study.options, study.weights)
        for partition in partitions(with_truth, MEASURES_BY_SCOPE)
    ]
    n_rows = sum(part["measure"].shape[1] for part in parts)
    table = pd.DataFrame(
        {
            "rater_id": np.repeat([column.rater_id for column in columns], n_rows),
            "rater_kind": np.repeat([column.kind.value for column in columns], n_rows),
            "condition": np.repeat([column.condition for column in columns], n_rows),
        },
        dtype=object,
    )
    for name in AGREEMENT_WITH_TRUTH.header[len(table.columns) :]:
        table[name] = np.concatenate([part[name] for part in parts], axis=1).ravel()
    return table.assign(undefined_because=table["undefined_because"].replace(REWORDED_REASONS))


TRUTH_NOTE = later("Over the cases that each rater answered: estimate and interval.")
TRUTH_MEASURES = ("kappa_letters", "brennan_prediger", "raw")


def truth_table(results: Results) -> Iterator[ReportTable]:
    """Show the agreement of each rater with the reference standard over all items."""
    table = results.tables["agreement_with_truth"]
    yield report_table(
        name="truth",
        title=t("Agreement with the reference standard"),
        note=join_sentences(
            [translated(TRUTH_NOTE), translated(LETTERS_NOTE), translated(NEVER_WRONG_NOTE)]
        ),
        header=(t("Rater"), t("Condition"), "n", *map(measure_heading, TRUTH_MEASURES)),
        rows=_truth_rows(results, table.loc[table["scope"] == "all"]),
        in_paper=True,
    )


def truth_groups_table(results: Results) -> Iterator[ReportTable]:
    """Show the agreement of each rater with the reference standard by task and category."""
    table = results.tables["agreement_with_truth"]
    groups = table.loc[table["scope"].str.startswith(("task=", "category="))]
    yield report_table(
        name="truth-by-group",
        title=t("Agreement with the reference standard by task and category"),
        note=join_sentences([translated(TRUTH_NOTE), translated(LETTERS_NOTE)]),
        header=(t("Rater"), t("Condition"), t("Cases"), "n", *map(measure_heading, TRUTH_MEASURES)),
        rows=_truth_rows(results, groups, named_scopes=True),
        max_printed_rows=MAX_PRINTED_ROWS_IMPORTANT,
    )


def _truth_rows(
    results: Results, part: pd.DataFrame, *, named_scopes: bool = False
) -> list[TableRow]:
    names = rater_names(results.bundle)
    rows: list[TableRow] = []
    groups = rows_by_measure(displayed_agreement(results, part), ("rater_id", "condition", "scope"))
    for (rater, condition, scope), by_measure in groups.items():
        cells = [
            estimate_cell(*(float(by_measure[m][end]) for end in INTERVAL_COLUMNS))
            for m in TRUTH_MEASURES
        ]
        scope_cell = (scope_text(scope),) if named_scopes else ()
        n = whole_number(by_measure["raw"]["n"])
        rows.append(
            ((rater_name(names, rater),), (condition_cell(condition), *scope_cell, n, *cells))
        )
    return rows


def truth_methods(results: Results) -> str:
    """Describe the agreement with the reference standard."""
    if not results.has("agreement_pairs"):
        return ""
    return (
        "The agreement of each rater with the reference standard is measured in the same way,"
        " over the cases that the rater answered."
    )


AGREEMENT_WITH_TRUTH = Statistic(
    name="agreement_with_truth",
    meaning="Agreement of a rater with the reference standard, by one measure.",
    columns=(
        *shared_columns(
            "rater_id rater_kind condition scope measure"
            " n estimate se ci_low ci_high method undefined_because"
        ),
    ),
    compute=agreement_with_truth,
    methods={310: Method("Agreement", truth_methods)},
    tables={80: truth_table, 160: truth_groups_table},
)
