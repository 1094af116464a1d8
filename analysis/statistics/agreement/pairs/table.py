"""Agreement of every two raters, from counts to rows: `agreement_pairs`, `agreement_indices`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.arrays import Floats, Ints
from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.readings.clusters import ratio
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.agreement.pairs.counts import (
    Pair,
    PairCounts,
    Sums,
    correctness_tables,
    count_pairs,
    pair_names,
    pairs_of,
    sums_of,
)
from analysis.statistics.agreement.pairs.measures import (
    ERROR_CONSISTENCY,
    EVERYWHERE,
    KAPPA,
    NO_ITEM,
    NO_JUDGED,
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
from analysis.statistics.study import COLUMNS, Study, study_of
from analysis.translation import later

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
        Columns `rater_a, rater_b, pair_kind, condition, scope, measure, n, estimate, se, ci_low,
        ci_high, method, undefined_because`; in order of condition, kind of pair, ids, scope (all,
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
    for name in COLUMNS["agreement_pairs"][len(table.columns) :]:
        table[name] = np.concatenate([part[name] for part in parts], axis=1).ravel()
        for part in parts:
            part.pop(name)  # the pairs of 200 raters are two million rows: one column at a time
    return table


def agreement_indices(study: Study | Bundle) -> pd.DataFrame:
    r"""Give the prevalence and the bias index of every kappa with two categories.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.

    Returns
    -------
    pandas.DataFrame
        Columns `rater_a, rater_b, pair_kind, condition, scope, measure, n, prevalence_index,
        bias_index, undefined_because`; in the order of `agreement_pairs`. Error consistency in all
        scopes, kappa in option sets whose items all offer two options.

    Notes
    -----
    With a and d the shares of items that both put into the first category and into the second, b
    those that only the first rater put into the first category, and c those that only the second
    did, the prevalence index is :math:`a - d` and the bias index :math:`b - c` [1]_, both from -1
    to 1. The first category is `correct` for error consistency, option A for kappa. Far from 0, the
    prevalence index says that kappa is low for its observed agreement, the bias index that the two
    raters use the categories unequally.

    References
    ----------
    .. [1] Byrt T, Bishop J, Carlin JB. Bias, prevalence and kappa. J Clin Epidemiol
       1993;46:423-429. doi:10.1016/0895-4356(93)90018-V

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = agreement_indices(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": list("ABAB")}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1"] * 4 + ["R2"] * 4,
    ...         "item_id": list("wxyz") * 2,
    ...         "answer": list("ABAB") + list("ABBB"),
    ...     }),
    ... ))
    >>> table[["n", "prevalence_index", "bias_index"]].values.tolist()
    [[4.0, 0.75, 0.25]]
    """
    study = study_of(study, None)
    matrix = study.matrix
    pairs = pairs_of(matrix.columns)
    names = pair_names(matrix.columns, pairs).assign(pair=np.arange(len(pairs)))
    tables = [
        part.assign(partition=partition.order)
        for partition in partitions(matrix)
        for part in _partition_rows(matrix, pairs, partition, names)
    ]
    table = pd.concat(tables, ignore_index=True)
    table = table.sort_values(["pair", "partition", "scope_order", "measure_order"])
    return table.reset_index(drop=True)[COLUMNS["agreement_indices"]]


def _partition_rows(
    matrix: ReadingMatrix, pairs: Sequence[Pair], partition: Partition, names: pd.DataFrame
) -> Iterator[pd.DataFrame]:
    counts = count_pairs(matrix, pairs, partition.items, partition.cells, len(partition.names))
    of_letters = np.array([_two_options(matrix, items) for items in partition.members], dtype=bool)
    every = np.ones(len(partition.names), dtype=bool)
    cases = [(0, ERROR_CONSISTENCY.name, NO_JUDGED, correctness_tables(counts), every)]
    if KAPPA in partition.measures and of_letters.any():
        cases.append((1, KAPPA.name, NO_ITEM, _letter_tables(counts), of_letters))
    for order, measure, reason, tables, wanted in cases:
        chosen = np.flatnonzero(wanted)
        rows = names.loc[names.index.repeat(len(chosen))].reset_index(drop=True)
        rows["scope_order"] = np.tile(chosen, len(names))
        rows["scope"] = np.array(partition.names, dtype=object)[rows["scope_order"]]
        flat = tables[:, chosen].reshape(-1, 2, 2)
        n = flat.sum(axis=(-2, -1))
        yield rows.assign(
            measure=measure,
            measure_order=order,
            n=n.astype(np.int64),
            prevalence_index=ratio(flat[:, 0, 0] - flat[:, 1, 1], n),
            bias_index=ratio(flat[:, 0, 1] - flat[:, 1, 0], n),
            undefined_because=np.where(n == 0, reason, ""),
        )


def _letter_tables(counts: PairCounts) -> Floats:
    """Return the counts of the first two letters; fewer letters seen leave empty cells."""
    tables = np.zeros((*counts.letters.shape[:2], 2, 2))
    seen = min(counts.letters.shape[-1], 2)
    tables[..., :seen, :seen] = counts.letters[..., :seen, :seen]
    return tables


def _two_options(matrix: ReadingMatrix, items: Ints) -> bool:
    return bool((matrix.n_options[items] == 2).all())
