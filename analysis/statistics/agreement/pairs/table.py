"""Agreement of each pair of raters: the table `agreement_pairs.csv`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.arrays import Floats
from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.readings.matrix import ReadingMatrix
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
    MEASURES_OF_EVERY_SCOPE,
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
from analysis.statistics.study import Study, study_of
from analysis.translation import later

ColumnValues = npt.NDArray[Any]

NO_SE_ONE_ANSWER = later("standard error and interval: a rater gave a single answer throughout")
NO_SE_EQUAL_SCORES = later("standard error and interval: a rater was always right or always wrong")
NO_SE_ONE_ITEM = later("standard error and interval: a single item")


def partition_rows(
    matrix: ReadingMatrix,
    pairs: Sequence[Pair],
    partition: Partition,
    options: Options,
    weights: Floats | None,
) -> dict[str, ColumnValues]:
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
        The table's columns, except those that name the pair; measures of a scope are adjacent.
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
    columns_by_measure = [
        _measure_columns(measure, counts, sums, interval)
        for measure, interval in zip(measures, intervals, strict=True)
    ]
    n_scopes = len(partition.names)
    shape = (len(pairs), n_scopes * len(measures))
    columns = {
        name: np.stack([each[name] for each in columns_by_measure], axis=-1)
        for name in columns_by_measure[0]
    }
    return {
        "scope": np.broadcast_to(np.repeat(_object_array(partition.names), len(measures)), shape),
        "measure": np.broadcast_to(
            np.tile(_object_array([measure.name for measure in measures]), n_scopes), shape
        ),
        **{name: column.reshape(shape) for name, column in columns.items()},
    }


def _measure_columns(
    measure: Measure, counts: PairCounts, sums: Sums, interval: Interval
) -> dict[str, ColumnValues]:
    """Return columns of shape (n_pairs, n_scopes)."""
    estimate, se, n = measure.estimate(sums), measure.standard_error(counts), measure.n(sums)
    is_undefined = np.isnan(estimate)
    # The standard error cannot be estimated for a constant rater; 0 would suggest certainty.
    has_constant_rater = measure.is_rater_constant(sums) & (measure.has_normal_interval | (se == 0))
    is_single_item = n <= 1
    has_no_se = is_undefined | has_constant_rater | is_single_item
    reason: Reasons = interval.reason.copy()
    reason[is_single_item] = NO_SE_ONE_ITEM
    reason[has_constant_rater] = NO_SE_EQUAL_SCORES if measure.on_correctness else NO_SE_ONE_ANSWER
    reason[is_undefined] = measure.reason(sums)[is_undefined]
    return {
        "n": n.astype(np.int64),
        "estimate": estimate,
        "se": np.where(has_no_se, np.nan, se),
        "ci_low": np.where(has_no_se, np.nan, interval.low),
        "ci_high": np.where(has_no_se, np.nan, interval.high),
        "method": f"{measure.method}; " + interval.method,
        "undefined_because": reason,
    }


def _object_array(texts: Sequence[str]) -> ColumnValues:
    return np.array(texts, dtype=object)


def agreement_pairs(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the agreement of each pair of raters.

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
    All items that both raters answered are counted; for error consistency only those with a
    reference standard, for `same_wrong` only those that both answered incorrectly. Standard errors
    are analytic. With clusters, intervals are percentile intervals over resampled patients.
    Otherwise they are normal for the kappas, and use t with n - 1 degrees of freedom for the other
    measures, with the upper limit truncated at 1. A kappa of two constant raters is undefined. With
    one constant rater it is 0 by construction, and its standard error and interval are undefined.

    See Also
    --------
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
    return _table_of_partitions(study, partitions(study.matrix))


def category_pairs(study: Study, category: str) -> pd.DataFrame:
    """Estimate the agreement of each pair of raters over the items of a category.

    Parameters
    ----------
    study : Study
        The checked tables.
    category : str
        A category of the items.

    Returns
    -------
    pandas.DataFrame
        The columns of `agreement_pairs`, with the scope `category=NAME`.
    """
    members = study.matrix.members("category")[category]
    return _table_of_partitions(
        study,
        [
            Partition(
                order=0,
                names=(f"category={category}",),
                members=(members,),
                measures=MEASURES_OF_EVERY_SCOPE,
            )
        ],
    )


def _table_of_partitions(study: Study, scope_partitions: Iterable[Partition]) -> pd.DataFrame:
    matrix, pairs = study.matrix, pairs_of(study.matrix.columns)
    parts = [
        partition_rows(matrix, pairs, partition, study.options, study.weights)
        for partition in scope_partitions
    ]
    n_rows = sum(part["measure"].shape[1] for part in parts)
    table = pair_names(matrix.columns, pairs, n_rows)
    for name in list(parts[0]):
        table[name] = np.concatenate([part[name] for part in parts], axis=1).ravel()
        for part in parts:
            part.pop(name)  # frees memory: the pairs of 200 raters are two million rows
    return table
