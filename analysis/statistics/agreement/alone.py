"""Agreement of a rater with themselves and the truth: `intra_reader`, `agreement_with_truth`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.arrays import Floats
from analysis.bundle.model import Bundle, PairKind
from analysis.options import Options
from analysis.readings.matrix import UNIT, ReadingMatrix, reading_matrix
from analysis.statistics.agreement.pairs.counts import Pair, Sums, pair_names
from analysis.statistics.agreement.pairs.measures import (
    AC1,
    BOTH_CONSTANT,
    BRENNAN_PREDIGER,
    ERROR_CONSISTENCY,
    KAPPA,
    KAPPA_LETTERS,
    NO_ITEM,
    NO_JUDGED,
    RAW,
    Measure,
    Partition,
    Reasons,
    partitions,
)
from analysis.statistics.agreement.pairs.table import (
    CONSTANT_CORRECT_SE,
    CONSTANT_SE,
    partition_rows,
)
from analysis.statistics.study import COLUMNS, Study, study_of
from analysis.translation import later

MEASURES = (RAW, BRENNAN_PREDIGER, ERROR_CONSISTENCY, KAPPA_LETTERS)
FIRST, SECOND = ("first reading of ", "second reading of ")
# What the pairs' reasons mean where both raters are one.
REWORDED = {
    NO_ITEM: "no item was answered twice",
    NO_JUDGED: "no item with a reference standard was answered twice",
    "each rater gave a single answer throughout": "each time a single answer was given throughout",
    "each rater was always right or always wrong": "each time every answer was right, or wrong",
    CONSTANT_SE: "standard error and interval: one time a single answer was given throughout",
    CONSTANT_CORRECT_SE: "standard error and interval: one time every answer was right, or wrong",
}


def intra_reader(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Estimate how far raters agree with themselves on the items they were given twice.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `repeat` tells a rater's readings of one item apart.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        Columns `rater_id, condition, measure, n, estimate, se, ci_low, ci_high, method,
        undefined_because`; one row a measure for each rater and condition with a hidden repeat,
        readers first.

    Notes
    -----
    First against second reading (the two smallest `repeat`), over the items answered both times.
    Measures, standard errors and intervals are those of `agreement_pairs`.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = intra_reader(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": list("ABAB"), "n_options": 2}),
    ...     pd.DataFrame({
    ...         "rater_id": "R1", "item_id": list("wxyz") * 2, "answer": list("ABAA" "ABBA"),
    ...         "repeat": [0] * 4 + [1] * 4,
    ...     }),
    ... ))
    >>> table[["rater_id", "measure", "n", "estimate"]].values.tolist()[:2]
    [['R1', 'raw', 4, 0.75], ['R1', 'brennan_prediger', 4, 0.5]]
    """
    study = study_of(study, options)
    bundle, matrix, options, weights = study.bundle, study.matrix, study.options, study.weights
    twice = _first_and_second(bundle.readings)
    if not len(twice):
        return pd.DataFrame(columns=COLUMNS["intra_reader"])
    readings = twice.assign(rater_id=twice["time"] + twice["rater_id"])
    raters = pd.concat(
        [
            bundle.raters.assign(rater_id=time + bundle.raters["rater_id"])
            for time in (FIRST, SECOND)
        ]
    )
    again = reading_matrix(
        Bundle(
            items=bundle.items,
            raters=raters,
            readings=readings.drop(columns="time"),
            protocol=bundle.protocol,
        )
    )
    pairs, names = _pairs(matrix, again)
    every = np.arange(len(again.truth))
    partition = Partition(order=0, names=("all",), members=(every,), measures=MEASURES)
    columns = partition_rows(again, pairs, partition, options, weights)
    rows = pair_names(again.columns, pairs, len(MEASURES)).assign(
        rater_id=np.repeat(np.array(names, dtype=object), len(MEASURES)),
        **{name: cells.ravel() for name, cells in columns.items()},
    )
    rows["undefined_because"] = rows["undefined_because"].replace(REWORDED)
    return rows[COLUMNS["intra_reader"]]


def _first_and_second(readings: pd.DataFrame) -> pd.DataFrame:
    """Return the readings of items read more than once, with which `time` it was."""
    ordered = readings.sort_values([*UNIT, "repeat"], kind="stable")
    place = ordered.groupby(UNIT, sort=False).cumcount()
    size = ordered.groupby(UNIT, sort=False)["item_id"].transform("size")
    twice = ordered.loc[(size > 1) & (place < 2)]
    return twice.assign(time=np.where(place.loc[twice.index] == 0, FIRST, SECOND))


def _pairs(matrix: ReadingMatrix, again: ReadingMatrix) -> tuple[list[Pair], list[str]]:
    """Pair each rater's two times; pairs and their raters in the order of the first readings."""
    places = {(column.rater_id, column.condition): i for i, column in enumerate(again.columns)}
    pairs, names = [], []
    for column in matrix.columns:
        first = places.get((FIRST + column.rater_id, column.condition))
        if first is not None:
            second = places[SECOND + column.rater_id, column.condition]
            pairs.append(Pair(a=first, b=second, kind=PairKind.READERS, condition=column.condition))
            names.append(column.rater_id)
    return pairs, names


NEVER_WRONG = "error consistency: the reference standard is never wrong"
# Reasons for two raters, in words for a rater and the reference standard.
REASONS = {
    NO_ITEM: later("no item with a reference standard was answered"),
    BOTH_CONSTANT: later(
        "the rater and the reference standard each have a single answer throughout"
    ),
    CONSTANT_SE: "standard error and interval: the rater or the reference standard has a single"
    " answer throughout",
}


def _undefined(sums: Sums) -> Floats:
    return np.full(sums.agree.shape, np.nan)


def _never_wrong(sums: Sums) -> Reasons:
    return np.full(sums.agree.shape, NEVER_WRONG, dtype=object)


EVERYWHERE = (
    RAW,
    KAPPA_LETTERS,
    BRENNAN_PREDIGER,
    replace(ERROR_CONSISTENCY, estimate=_undefined, reason=_never_wrong),
)
SCOPES: Mapping[str, tuple[Measure, ...]] = {
    "all": EVERYWHERE,
    "task": EVERYWHERE,
    "category": EVERYWHERE,
    "option_set": (*EVERYWHERE, KAPPA, AC1),
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
        Columns `rater_id, rater_kind, condition, scope, measure, n, estimate, se, ci_low, ci_high,
        method, undefined_because`; in order of kind (readers first), id, condition, scope (all,
        tasks, categories, option sets) and measure. No row where no item has a reference standard.

    Notes
    -----
    The reference standard is taken as one more rater, and each pair with it is estimated as
    `agreement_pairs` estimates two raters, with the same intervals. Items with a reference standard
    that the rater answered count: raw agreement is the accuracy among these, while
    `accuracy.csv` counts what was not answered as wrong. Error consistency is undefined against
    what is never wrong.

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
    if not matrix.assigned.any():
        return pd.DataFrame(
            {name: pd.Series(dtype=object) for name in COLUMNS["agreement_with_truth"]}
        )
    with_truth = replace(matrix, answers=np.column_stack([matrix.answers, matrix.truth]))
    pairs = [
        Pair(a=place, b=len(columns), kind=PairKind.MIXED, condition=column.condition)
        for place, column in enumerate(columns)
    ]
    parts = [
        partition_rows(with_truth, pairs, partition, study.options, study.weights)
        for partition in partitions(with_truth, SCOPES)
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
    for name in COLUMNS["agreement_with_truth"][len(table.columns) :]:
        table[name] = np.concatenate([part[name] for part in parts], axis=1).ravel()
    return table.assign(undefined_because=table["undefined_because"].replace(REASONS))
