"""The readings as arrays of items by raters, and which columns are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.arrays import Bools, Codes, Floats, Ints
from analysis.bundle.model import LETTERS, Bundle, RaterKind, Status
from analysis.bundle.protocol import drops_excluded
from analysis.readings.clusters import cluster_codes

ITEM_GROUPINGS = ("task", "category", "subcategory", "option_set", "bank", "sex")
STATUS_CODES: Mapping[str, int] = {status.value: i for i, status in enumerate(Status)}
NO_LETTER = -1
# The columns that identify a reading, except for hidden repeats.
READING_KEY = ["rater_id", "item_id", "condition"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterColumn:
    """A rater under one condition, which is a column of the matrix."""

    rater_id: str
    kind: RaterKind
    condition: str


def column_order(column: RaterColumn) -> tuple[bool, str, str]:
    """Return the sort key of a column: readers first, then by id and condition."""
    return column.kind is RaterKind.MODEL, column.rater_id, column.condition


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadingMatrix:
    """The first reading of every rater, item and condition, as arrays of items by raters.

    Items are sorted by cluster and id, so that no result depends on the order of rows.

    Parameters
    ----------
    columns : tuple of RaterColumn
        The raters, readers first, one column for each condition in which the rater has readings.
    item_ids : numpy.ndarray of str, shape (n_items,)
        The items.
    answers : numpy.ndarray of int8, shape (n_items, n_columns)
        The answer, 0 for A, 1 for B and so on; -1 if the reading is not `answered`.
    statuses : numpy.ndarray of int8, shape (n_items, n_columns)
        Positions in `Status`; that of `absent` if there is no reading.
    left_out : numpy.ndarray of bool, shape (n_items, n_columns)
        Whether the protocol drops the reading from the primary analysis; it then has no answer.
    confidence : numpy.ndarray of float, shape (n_items, n_columns)
        The confidence stated with an answer; nan if there is none.
    truth : numpy.ndarray of int8, shape (n_items,)
        The reference standard, 0 for A and so on; -1 if the item has none.
    n_options : numpy.ndarray of int, shape (n_items,)
        Number of options offered; 0 if unknown.
    clusters : numpy.ndarray of int, shape (n_items,)
        The cluster of each item in ascending order: its patient, or its examination if the patient
        is unknown.
    groups : mapping of str to numpy.ndarray of str, shape (n_items,)
        Task, category, subcategory, option set, bank and patient's sex of the items; empty if
        unknown.
    """

    columns: tuple[RaterColumn, ...]
    item_ids: npt.NDArray[np.object_]
    answers: Codes
    statuses: Codes
    left_out: Bools
    confidence: Floats
    truth: Codes
    n_options: Ints
    clusters: Ints
    groups: Mapping[str, npt.NDArray[np.object_]]

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the items."""
        return int(self.clusters.max()) + 1

    @property
    def clustered(self) -> bool:
        """Whether any patient (or examination, if patients are unknown) has several items."""
        return self.n_clusters < len(self.clusters)

    @property
    def has_truth(self) -> Bools:
        """Whether each item has a reference standard, shape (n_items,)."""
        has_truth: Bools = self.truth != NO_LETTER
        return has_truth

    @property
    def presented(self) -> Bools:
        """Whether there is a reading that is not left out, shape (n_items, n_columns)."""
        presented: Bools = (self.statuses != STATUS_CODES[Status.ABSENT]) & ~self.left_out
        return presented

    @property
    def is_counted(self) -> Bools:
        """Whether an item counts for a rater, shape (n_items, n_columns).

        Items without a reference standard never count. For a reader, the items that were presented
        count; for a model all items count, so that it gains nothing by omitting difficult ones.
        """
        is_model = np.array([c.kind is RaterKind.MODEL for c in self.columns], dtype=np.bool_)
        is_counted: Bools = self.has_truth[:, None] & (self.presented | (is_model & ~self.left_out))
        return is_counted

    @property
    def correct(self) -> Bools:
        """Whether the answer equals the reference standard, shape (n_items, n_columns)."""
        correct: Bools = self.has_truth[:, None] & (self.answers == self.truth[:, None])
        return correct

    def members(self, grouping: str) -> dict[str, Ints]:
        """Return the positions of the items in each group of a grouping, in order of name."""
        codes, names = pd.factorize(self.groups[grouping], sort=True)
        order = np.argsort(codes, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(codes, minlength=len(names)))[:-1])
        return {str(name): part for name, part in zip(names, parts, strict=True) if name}


def reading_matrix(bundle: Bundle, *, count_excluded: bool = False) -> ReadingMatrix:
    """Arrange a bundle's readings as arrays.

    Parameters
    ----------
    bundle : Bundle
        The checked tables. Excluded readings are dropped if the protocol drops them from the
        primary analysis.
    count_excluded : bool, default False
        Whether excluded readings count, regardless of what the protocol states.

    Returns
    -------
    ReadingMatrix
        The matrix of first readings; later hidden repeats are not included.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> matrix = reading_matrix(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1", "q2"], "truth": ["A", ""]}),
    ...     pd.DataFrame({"rater_id": "R1", "item_id": ["q1", "q2"], "answer": ["A", "C"]}),
    ... ))
    >>> matrix.answers.tolist(), matrix.truth.tolist(), matrix.correct.tolist()
    ([[0], [2]], [0, -1], [[True], [False]])
    """
    clusters = cluster_codes(bundle.items)
    order = np.lexsort((bundle.items["item_id"].to_numpy(dtype=str), clusters))
    items = bundle.items.iloc[order]
    columns = _columns(bundle)
    item_ids = items["item_id"].to_numpy(dtype=object)
    answers, statuses, excluded, confidence = _reading_arrays(bundle, item_ids, columns)
    left_out = excluded & (drops_excluded(bundle.protocol) and not count_excluded)
    return ReadingMatrix(
        columns=columns,
        item_ids=item_ids,
        answers=np.where(left_out, np.int8(NO_LETTER), answers),
        statuses=statuses,
        left_out=left_out,
        confidence=np.where(left_out, np.nan, confidence),
        truth=_letter_codes(items["truth"]),
        n_options=items["n_options"].to_numpy(dtype=np.int64),
        clusters=clusters[order],
        groups={name: items[name].to_numpy(dtype=object) for name in ITEM_GROUPINGS},
    )


def first_readings(readings: pd.DataFrame) -> pd.DataFrame:
    """Return the reading with the smallest `repeat` for every rater, item and condition.

    Examples
    --------
    >>> first_readings(pd.DataFrame({
    ...     "rater_id": "R1", "item_id": ["q1", "q1", "q2"], "condition": "",
    ...     "repeat": [2, 1, 1], "answer": list("ABC"),
    ... }))["answer"].tolist()
    ['B', 'C']
    """
    return readings.sort_values("repeat", kind="stable").drop_duplicates(READING_KEY)


def cells_of(
    readings: pd.DataFrame, item_ids: npt.NDArray[np.object_], columns: Sequence[RaterColumn]
) -> tuple[Ints, Ints]:
    """Return the positions of readings in a matrix.

    Parameters
    ----------
    readings : pandas.DataFrame
        The columns `rater_id`, `item_id` and `condition` of n_readings rows.
    item_ids : numpy.ndarray of str, shape (n_items,)
        The matrix's items.
    columns : sequence of RaterColumn
        The matrix's columns.

    Returns
    -------
    item, column : numpy.ndarray of int, shape (n_readings,)
        Positions in the matrix.

    Examples
    --------
    >>> readings = pd.DataFrame({"rater_id": ["R1"], "item_id": ["q2"], "condition": [""]})
    >>> columns = [RaterColumn(rater_id="R1", kind=RaterKind.READER, condition="")]
    >>> item, column = cells_of(readings, np.array(["q1", "q2"], dtype=object), columns)
    >>> item.tolist(), column.tolist()
    ([1], [0])
    """
    item = pd.Index(item_ids).get_indexer(pd.Index(readings["item_id"], dtype=object))
    units = pd.MultiIndex.from_tuples([(c.rater_id, c.condition) for c in columns])
    column = units.get_indexer(pd.MultiIndex.from_frame(readings[["rater_id", "condition"]]))
    return item.astype(np.int64), column.astype(np.int64)


def _columns(bundle: Bundle) -> tuple[RaterColumn, ...]:
    kinds = dict(zip(bundle.raters["rater_id"], bundle.raters["rater_kind"], strict=True))
    pairs_seen = bundle.readings[["rater_id", "condition"]].drop_duplicates()
    columns = [
        RaterColumn(rater_id=rater, kind=RaterKind(kinds[rater]), condition=condition)
        for rater, condition in zip(pairs_seen["rater_id"], pairs_seen["condition"], strict=True)
    ]
    return tuple(sorted(columns, key=column_order))


def _reading_arrays(
    bundle: Bundle, item_ids: npt.NDArray[np.object_], columns: tuple[RaterColumn, ...]
) -> tuple[Codes, Codes, Bools, Floats]:
    readings = first_readings(bundle.readings)
    cells = cells_of(readings, item_ids, columns)
    shape = (len(item_ids), len(columns))
    answers = np.full(shape, NO_LETTER, dtype=np.int8)
    statuses = np.full(shape, STATUS_CODES[Status.ABSENT], dtype=np.int8)
    answered = (readings["status"] == Status.ANSWERED).to_numpy()
    answers[cells] = np.where(answered, _letter_codes(readings["answer"]), NO_LETTER)
    statuses[cells] = readings["status"].map(STATUS_CODES).to_numpy(dtype=np.int8)
    excluded = np.zeros(shape, dtype=np.bool_)
    excluded[cells] = (readings["excluded"] != "").to_numpy()
    confidence = np.full(shape, np.nan)
    ratings = pd.to_numeric(readings["confidence"].str.strip(), errors="coerce").to_numpy(
        dtype=float
    )
    confidence[cells] = np.where(answered, ratings, np.nan)
    return answers, statuses, excluded, confidence


def _letter_codes(letters: pd.Series[str]) -> Codes:
    positions = {letter: i for i, letter in enumerate(LETTERS)}
    return np.array([positions.get(letter, NO_LETTER) for letter in letters], dtype=np.int8)


def models_of_every_condition(columns: Sequence[RaterColumn]) -> frozenset[str]:
    """Return the models with a single condition, which are compared with the readers in all.

    Examples
    --------
    >>> model = RaterKind.MODEL
    >>> sorted(models_of_every_condition([
    ...     RaterColumn(rater_id="M1", kind=model, condition=""),
    ...     RaterColumn(rater_id="M2", kind=model, condition="aided"),
    ...     RaterColumn(rater_id="M2", kind=model, condition="unaided"),
    ... ]))
    ['M1']
    """
    models = Counter(column.rater_id for column in columns if column.kind is RaterKind.MODEL)
    return frozenset(model for model, n in models.items() if n == 1)


def columns_by_condition(columns: Sequence[RaterColumn]) -> dict[str, list[int]]:
    """Return the columns that are compared in each condition.

    Parameters
    ----------
    columns : sequence of RaterColumn
        The matrix's columns.

    Returns
    -------
    dict of str to list of int
        The columns of each condition in the order of the matrix; conditions in order of name.

    Notes
    -----
    A model with a single condition is compared with the readers in every condition, as it is in
    pairs of raters. If there are no readers, every model belongs to its own condition.

    Examples
    --------
    >>> reader, model = RaterKind.READER, RaterKind.MODEL
    >>> columns_by_condition([
    ...     RaterColumn(rater_id="R1", kind=reader, condition="aided"),
    ...     RaterColumn(rater_id="R1", kind=reader, condition="unaided"),
    ...     RaterColumn(rater_id="M1", kind=model, condition=""),
    ... ])
    {'aided': [0, 2], 'unaided': [1, 2]}
    """
    readers = any(column.kind is RaterKind.READER for column in columns)
    unconditioned = models_of_every_condition(columns) if readers else frozenset()
    names = sorted({c.condition for c in columns if c.rater_id not in unconditioned})
    return {
        name: [
            i for i, c in enumerate(columns) if c.condition == name or c.rater_id in unconditioned
        ]
        for name in names
    }
