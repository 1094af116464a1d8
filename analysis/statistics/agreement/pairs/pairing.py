"""Which raters are compared with which, and under what condition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.bundle.model import RaterKind
from analysis.readings.crossing import models_of_every_condition
from analysis.readings.matrix import Reads


class PairKind(StrEnum):
    """The kinds of the two raters."""

    READERS = "reader-reader"
    MIXED = "reader-model"
    MODELS = "model-model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two columns of the reading matrix, a reader first, else in order of id."""

    a: int
    b: int
    kind: PairKind
    condition: str


def pairs_of(columns: Sequence[Reads]) -> tuple[Pair, ...]:
    """List the pairs of raters that are compared.

    Parameters
    ----------
    columns : sequence of Reads
        The matrix's columns: readers first, each kind in order of id and condition.

    Returns
    -------
    tuple of Pair
        In order of condition, kind and ids.

    Notes
    -----
    Two raters are compared under the same condition. A model that has answered under one condition
    only is compared with the readers of every condition, the condition being the reader's; a model
    with several is compared with the readers of the same names.

    Examples
    --------
    >>> reader, model = RaterKind.READER, RaterKind.MODEL
    >>> columns = [
    ...     Reads(rater_id="R1", kind=reader, condition="aided"),
    ...     Reads(rater_id="R1", kind=reader, condition="unaided"),
    ...     Reads(rater_id="M1", kind=model, condition=""),
    ... ]
    >>> [(pair.a, pair.b, pair.condition) for pair in pairs_of(columns)]
    [(0, 2, 'aided'), (1, 2, 'unaided')]
    """
    ranks = {kind: rank for rank, kind in enumerate(PairKind)}
    return tuple(
        sorted(
            _candidates(columns),
            key=lambda p: (
                p.condition,
                ranks[p.kind],
                columns[p.a].rater_id,
                columns[p.b].rater_id,
            ),
        )
    )


def pair_names(columns: Sequence[Reads], pairs: Sequence[Pair], times: int = 1) -> pd.DataFrame:
    """Name pairs as the tables do.

    Parameters
    ----------
    columns : sequence of Reads
        The matrix's columns.
    pairs : sequence of Pair
        The pairs.
    times : int, default 1
        Rows a pair, one below the other.

    Returns
    -------
    pandas.DataFrame
        Columns `rater_a, rater_b, pair_kind, condition`.

    Examples
    --------
    >>> columns = [Reads(rater_id=r, kind=RaterKind.READER, condition="") for r in ("R1", "R2")]
    >>> pair_names(columns, pairs_of(columns)).values.tolist()
    [['R1', 'R2', 'reader-reader', '']]
    """
    names = {
        "rater_a": [columns[pair.a].rater_id for pair in pairs],
        "rater_b": [columns[pair.b].rater_id for pair in pairs],
        "pair_kind": [pair.kind.value for pair in pairs],
        "condition": [pair.condition for pair in pairs],
    }
    repeated = {key: np.repeat(np.array(each, dtype=object), times) for key, each in names.items()}
    return pd.DataFrame(repeated, dtype=object)


def _candidates(columns: Sequence[Reads]) -> Iterator[Pair]:
    single = models_of_every_condition(columns)
    for (i, a), (j, b) in combinations(enumerate(columns), 2):
        if a.rater_id == b.rater_id:
            continue
        kind = _kind(a, b)
        everywhere = kind is PairKind.MIXED and b.rater_id in single
        if a.condition == b.condition or everywhere:
            yield Pair(a=i, b=j, kind=kind, condition=a.condition)


def _kind(a: Reads, b: Reads) -> PairKind:
    if a.kind is b.kind:
        return PairKind.READERS if a.kind is RaterKind.READER else PairKind.MODELS
    return PairKind.MIXED
