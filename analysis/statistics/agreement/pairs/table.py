"""Agreement of every two raters: the table `agreement_pairs.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.arrays import Floats
from analysis.bundle.model import Bundle, PairKind
from analysis.figures.agreement import (
    REFERENCE,
    UNKNOWN,
    beside_truth,
    matrix_order,
    pair_estimates,
    pairs_in_condition,
    reference_name,
)
from analysis.figures.drawing.axes import RaterName, conditions_of, rater_names
from analysis.options import Options
from analysis.presentation.table import (
    EMPTY,
    MANY_IN_PRINT,
    MOST_ROWS,
    ReportTable,
    TableRow,
    condition_cell,
    estimate_cell,
    named,
    report_table,
    whole,
)
from analysis.presentation.wording import (
    Row,
    rounded,
    rows_by_measure,
    sentences,
    shown_condition,
    span,
)
from analysis.readings.matrix import ReadingMatrix
from analysis.results import Results
from analysis.statistics.agreement.pairs.counts import (
    Pair,
    PairCounts,
    Sums,
    count_pairs,
    pair_names,
    pairs_of,
    sums_of,
)
from analysis.statistics.agreement.pairs.measures import (
    EVERYWHERE,
    Measure,
    Partition,
    Reasons,
    partitions,
)
from analysis.statistics.agreement.pairs.resampling import (
    Interval,
    analytic_interval,
    cluster_intervals,
)
from analysis.statistics.agreement.shown import (
    LETTERS,
    NEVER_WRONG_NOTE,
    agreement_shown,
    measure_head,
    measure_words,
)
from analysis.statistics.statistic import Statistic, shared
from analysis.statistics.study import Study, study_of
from analysis.translation import later, said, t, written

Cells = npt.NDArray[Any]

CONSTANT_SE = later("standard error and interval: a rater gave a single answer throughout")
CONSTANT_CORRECT_SE = later("standard error and interval: a rater was always right or always wrong")
ONE_ITEM_SE = later("standard error and interval: a single item")


def partition_rows(
    matrix: ReadingMatrix,
    pairs: Sequence[Pair],
    partition: Partition,
    options: Options,
    weights: Floats | None,
) -> dict[str, Cells]:
    """Estimate every measure for every pair in every scope of a partition.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    pairs : sequence of Pair
        The pairs.
    partition : Partition
        The scopes and their measures.
    options : Options
        Its alpha is used.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters), or None
        The resamples; None without clusters.

    Returns
    -------
    dict of str to numpy.ndarray, shape (n_pairs, n_scopes * n_measures)
        The table's columns but those that name the pair; measures of a scope stand together.
    """
    counts = count_pairs(matrix, pairs, partition.items, partition.cells, len(partition.names))
    sums = sums_of(counts)
    measures = partition.measures
    if weights is None:
        intervals = [analytic_interval(measure, counts, options.alpha) for measure in measures]
    else:
        intervals = cluster_intervals(
            matrix, measures, pairs, partition.members, weights, options.alpha
        )
    filled = [
        _measure_columns(measure, counts, sums, interval)
        for measure, interval in zip(measures, intervals, strict=True)
    ]
    n_scopes = len(partition.names)
    shape = (len(pairs), n_scopes * len(measures))
    columns = {name: np.stack([each[name] for each in filled], axis=-1) for name in filled[0]}
    return {
        "scope": np.broadcast_to(np.repeat(_texts(partition.names), len(measures)), shape),
        "measure": np.broadcast_to(
            np.tile(_texts([measure.name for measure in measures]), n_scopes), shape
        ),
        **{name: column.reshape(shape) for name, column in columns.items()},
    }


def _measure_columns(
    measure: Measure, counts: PairCounts, sums: Sums, interval: Interval
) -> dict[str, Cells]:
    """Return columns of shape (n_pairs, n_scopes)."""
    estimate, se, n = measure.estimate(sums), measure.standard_error(counts), measure.n(sums)
    undefined = np.isnan(estimate)
    # A rater who never varies leaves nothing to estimate the error from: 0 would claim certainty.
    no_spread = measure.constant(sums) & (measure.normal | (se == 0))
    single = n <= 1
    no_se = undefined | no_spread | single
    because: Reasons = interval.because.copy()
    because[single] = ONE_ITEM_SE
    because[no_spread] = CONSTANT_CORRECT_SE if measure.on_correctness else CONSTANT_SE
    because[undefined] = measure.reason(sums)[undefined]
    return {
        "n": n.astype(np.int64),
        "estimate": estimate,
        "se": np.where(no_se, np.nan, se),
        "ci_low": np.where(no_se, np.nan, interval.low),
        "ci_high": np.where(no_se, np.nan, interval.high),
        "method": f"{measure.method}; " + interval.method,
        "undefined_because": because,
    }


def _texts(texts: Sequence[str]) -> Cells:
    return np.array(texts, dtype=object)


def agreement_pairs(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the agreement of every two raters.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `AGREEMENT_PAIRS`; in order of condition, kind of pair, ids, scope (all,
        tasks, option sets) and measure.

    Notes
    -----
    Items that both raters answered count; for error consistency those of them with a reference
    standard, for `same_wrong` those that both got wrong. Standard errors are analytic throughout.
    Intervals are percentile intervals over resampled patients where clusters exist; else normal
    for the kappas and t with n - 1 degrees of freedom for the others, the upper limit cut at 1.
    A kappa of two constant raters is undefined; where one rater is constant it is 0 by
    construction, its standard error undefined, and so its interval.

    See Also
    --------
    analysis.statistics.agreement.pairs.measures,
    analysis.statistics.agreement.pairs.measures

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = agreement_pairs(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": list("ABAB"), "n_options": 2}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1"] * 4 + ["R2"] * 4,
    ...         "item_id": list("wxyz") * 2,
    ...         "answer": list("ABAA") + list("ABBB"),
    ...     }),
    ... ))
    >>> raw = table.loc[table["measure"] == "raw"]
    >>> raw[["rater_a", "rater_b", "n", "estimate"]].values.tolist()
    [['R1', 'R2', 4, 0.5]]
    """
    study = study_of(study, options)
    return _table(study, partitions(study.matrix))


def category_pairs(study: Study, category: str) -> pd.DataFrame:
    """Estimate the agreement of every two raters over the items of a category.

    Parameters
    ----------
    study : Study
        The checked tables.
    category : str
        One that some item has.

    Returns
    -------
    pandas.DataFrame
        As `agreement_pairs`, its scope being `category=NAME`.
    """
    members = study.matrix.members("category")[category]
    return _table(
        study,
        [
            Partition(
                order=0, names=(f"category={category}",), members=(members,), measures=EVERYWHERE
            )
        ],
    )


def _table(study: Study, parted: Iterable[Partition]) -> pd.DataFrame:
    matrix, pairs = study.matrix, pairs_of(study.matrix.columns)
    parts = [
        partition_rows(matrix, pairs, partition, study.options, study.weights)
        for partition in parted
    ]
    n_rows = sum(part["measure"].shape[1] for part in parts)
    table = pair_names(matrix.columns, pairs, n_rows)
    for name in AGREEMENT_PAIRS.header[len(table.columns) :]:
        table[name] = np.concatenate([part[name] for part in parts], axis=1).ravel()
        for part in parts:
            part.pop(name)  # the pairs of 200 raters are two million rows: one column at a time
    return table


MOST_IN_MATRIX = 12
MATRIX_MEASURES = ("kappa_letters", "brennan_prediger", "error_consistency", "raw")
PAIR_MEASURES = (*MATRIX_MEASURES, "same_wrong")


def matrix_table(results: Results) -> Iterator[ReportTable]:
    """Show the agreement of every two raters as a matrix, where it fits a page."""
    for place, condition in enumerate(conditions_of(results.tables["accuracy"]), start=1):
        for measure in MATRIX_MEASURES:
            yield from _matrix(results, condition, measure, place)


def _matrix(results: Results, condition: str, measure: str, place: int) -> Iterator[ReportTable]:
    names = rater_names(results.bundle)
    table = results.tables["agreement_pairs"]
    if table["condition"].eq(condition).sum() == 0:
        return
    readers, models = matrix_order(table, condition=condition)
    raters = readers + models
    if not 1 < len(raters) <= MOST_IN_MATRIX:
        return
    shown = table.loc[(table["scope"] == "all") & (table["measure"] == measure)]
    with_truth = beside_truth(
        results.tables["agreement_with_truth"], raters, measure, "all", condition
    )
    pairs = pd.concat([pairs_in_condition(shown, condition), with_truth])
    estimates = pair_estimates(agreement_shown(results, pairs))
    if len(with_truth):
        raters, names = [*raters, REFERENCE], {**names, REFERENCE: reference_name()}
    rows: list[TableRow] = [
        (
            (_numbered(named(names, rater), i + 1),),
            tuple(
                _cell(i - j, *estimates.get((rater, other), UNKNOWN))
                for j, other in enumerate(raters)
            ),
        )
        for i, rater in enumerate(raters)
    ]
    where = shown_condition(results, condition)
    title = t("Agreement of every two raters: {measure}", measure=measure_words(measure))
    yield report_table(
        name=f"matrix-{measure.replace('_', '-')}" + (f"-{place}" if condition else ""),
        title=t("{title}, {condition}", title=title, condition=where) if where else title,
        note=sentences(
            [
                t(
                    "Below the diagonal the estimate, above it the {percent} % interval;"
                    " readers first, in the order of the figures.",
                    percent=written(results.options.confidence_percent),
                ),
                t("Last the reference standard, over the cases that each rater answered.")
                if len(with_truth)
                else "",
                said(NEVER_WRONG_NOTE) if measure == "error_consistency" else "",
                said(LETTERS) if measure == "kappa_letters" else "",
            ]
        ),
        header=(t("Rater"), *(f"({i})" for i in range(1, len(raters) + 1))),
        rows=rows,
        in_paper=True,
    )


def _numbered(name: RaterName, number_: int) -> RaterName:
    return replace(name, label=f"({number_}) {name.label}")


def _cell(side: int, estimate: float, low: float, high: float) -> str:
    """Write the estimate below the diagonal, its interval above it."""
    if not side:
        return ""
    ends = (estimate,) if side > 0 else (low, high)
    return EMPTY if any(map(math.isnan, ends)) else _ends([rounded(end, 2) for end in ends])


def _ends(texts: Sequence[str]) -> str:
    return span(*texts) if len(texts) > 1 else texts[0]


def pairs_table(results: Results) -> Iterator[ReportTable]:
    """Show the agreement of every two raters over all items, with intervals."""
    pairs = results.tables["agreement_pairs"]
    if not len(pairs):
        return
    shown = pairs.loc[pairs["scope"] == "all"]
    ranks = {kind.value: rank for rank, kind in enumerate(PairKind)}
    shown = shown.sort_values("pair_kind", key=lambda kinds: kinds.map(ranks), kind="stable")
    key = ["rater_a", "rater_b", "condition"]
    total = len(shown.drop_duplicates(key))
    first = shown.drop_duplicates(key)[key].head(MOST_ROWS)
    shown = agreement_shown(results, shown.merge(first, on=key, how="inner"))
    names = rater_names(results.bundle)
    rows = [
        _pair_row(names, a, b, condition, by_measure)
        for (a, b, condition), by_measure in rows_by_measure(shown, key).items()
    ]
    yield report_table(
        name="agreement-pairs",
        title=t("Agreement of every two raters, with intervals"),
        note=t(
            "Over all cases that both answered: estimate and interval. Tasks, option sets,"
            " standard errors and the reasons for what is undefined are in the file."
        ),
        header=(t("Pair"), t("Condition"), "n", *(measure_head(m) for m in PAIR_MEASURES)),
        rows=rows,
        total=total,
        most_in_print=MANY_IN_PRINT,
    )


def _pair_row(
    names: Mapping[str, RaterName], a: str, b: str, condition: str, by_measure: Mapping[str, Row]
) -> TableRow:
    cells = [
        estimate_cell(*(float(by_measure[m][c]) for c in ("estimate", "ci_low", "ci_high")))
        if m in by_measure
        else EMPTY
        for m in PAIR_MEASURES
    ]
    n = whole(by_measure["raw"]["n"]) if "raw" in by_measure else EMPTY
    return (named(names, a), named(names, b)), (condition_cell(condition), n, *cells)


AGREEMENT_PAIRS = Statistic(
    name="agreement_pairs",
    meaning="Agreement of two raters on the items that both answered, by one measure.",
    columns=(
        *shared(
            "rater_a rater_b pair_kind condition scope measure"
            " n estimate se ci_low ci_high method undefined_because"
        ),
    ),
    compute=agreement_pairs,
    tables={70: matrix_table, 150: pairs_table},
)
