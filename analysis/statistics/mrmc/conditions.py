"""Two conditions read by the same readers: the table `reader_conditions.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.arrays import Ints
from analysis.bundle.model import Bundle
from analysis.bundle.words import RaterKind
from analysis.options import Options
from analysis.readings.confidence import confidence_of
from analysis.readings.crossing import shared_by_conditions
from analysis.readings.matrix import ReadingMatrix, reading_matrix
from analysis.statistics.mrmc.claims import Claim, inference_cells, joined, never_surer
from analysis.statistics.mrmc.figures_of_merit import (
    FigureOfMerit,
    Figures,
    Metric,
    figures_of_merit,
)
from analysis.statistics.mrmc.inference import undefined
from analysis.statistics.mrmc.two_treatments import TwoTreatments, two_treatments

COLUMNS = (
    "condition_a",
    "condition_b",
    "metric",
    "claim",
    "n_readers",
    "n_items",
    "value_a",
    "value_b",
    "difference",
    "se",
    "df",
    "ci_low",
    "ci_high",
    "p",
    "method",
    "note",
    "undefined_because",
)
METHODS = {
    Claim.THESE_READERS: "Obuchowski-Rockette, two treatments, readers fixed; t, C - 1",
    Claim.READERS_LIKE_THESE: (
        "Obuchowski-Rockette, two treatments, readers random; t, Hillis degrees of freedom"
    ),
    Claim.THESE_ITEMS: "Obuchowski-Rockette, two treatments, readers random, items fixed; t, J - 1",
}
NOBODY = "no reader read under both conditions"
NEGATIVE_COVARIANCE = "negative Cov2 - Cov3 taken as 0"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contrast:
    """Two conditions and the columns of the readers who read under both."""

    condition_a: str
    condition_b: str
    a: Ints
    b: Ints

    @property
    def columns(self) -> Ints:
        """All of them."""
        return np.concatenate([self.a, self.b])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """A contrast under one metric."""

    contrast: Contrast
    figure: FigureOfMerit
    result: TwoTreatments


def reader_conditions(bundle: Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare every two conditions over the readers who read under both.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        Columns `condition_a, condition_b, metric, claim, n_readers, n_items, value_a, value_b,
        difference, se, df, ci_low, ci_high, p, method, note, undefined_because`; in order of
        conditions, metric and claim. Proportions 0 to 1.

    Notes
    -----
    The difference is a minus b, a coming first in order of name. `readers like these` is RRRC
    (readers and items random), `these readers` FRRC (readers fixed) of Obuchowski and Rockette's
    analysis with Hillis' degrees of freedom.

    See Also
    --------
    analysis.reader_conditions_items, analysis.statistics.mrmc.two_treatments

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> ids = list("abcd")
    >>> table = reader_conditions(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ids, "truth": list("AAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": np.repeat(["R1", "R2"], 8), "item_id": ids * 4,
    ...         "condition": np.tile(np.repeat(["aided", "unaided"], 4), 2),
    ...         "answer": list("AAAA" "ABBB" "AABA" "AABB"),
    ...     }),
    ... ))
    >>> table[["claim", "difference", "se", "df"]].round(3).values.tolist()
    [['these readers', 0.5, 0.204, 3.0], ['readers like these', 0.5, 0.289, 1.778]]
    """
    options = options or Options()
    matrix = reading_matrix(bundle)
    figures = figures_of_merit(matrix, bundle.items, confidence_of(options, bundle))
    return reader_conditions_table(matrix, options, figures)


def reader_conditions_items(bundle: Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare every two conditions on these very items: readers random, items fixed (RRFC).

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        Columns and order as `reader_conditions`; the claim is `these items`.

    Notes
    -----
    What is claimed is that other readers would differ alike on the same items: a t test of the
    readers' own differences, J - 1 degrees of freedom. It says nothing about other items, which is
    why it stands apart.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> ids = list("abcd")
    >>> table = reader_conditions_items(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ids, "truth": list("AAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": np.repeat(["R1", "R2"], 8), "item_id": ids * 4,
    ...         "condition": np.tile(np.repeat(["aided", "unaided"], 4), 2),
    ...         "answer": list("AAAA" "ABBB" "AABA" "AABB"),
    ...     }),
    ... ))
    >>> table[["claim", "difference", "se", "df"]].round(3).values.tolist()
    [['these items', 0.5, 0.25, 1.0]]
    """
    options = options or Options()
    matrix = reading_matrix(bundle)
    figures = figures_of_merit(matrix, bundle.items, confidence_of(options, bundle))
    return reader_conditions_items_table(matrix, options, figures)


def reader_conditions_table(
    matrix: ReadingMatrix, options: Options, figures: Figures
) -> pd.DataFrame:
    """Return the table of `reader_conditions` for figures of merit that are there already.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    options : Options
        Its alpha is used.
    figures : Figures
        The metrics.

    Returns
    -------
    pandas.DataFrame
        As `reader_conditions` says.
    """
    claims = (Claim.THESE_READERS, Claim.READERS_LIKE_THESE)
    return _table(matrix, options, figures, claims)


def reader_conditions_items_table(
    matrix: ReadingMatrix, options: Options, figures: Figures
) -> pd.DataFrame:
    """Return the table of `reader_conditions_items` for figures of merit that are there already.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    options : Options
        Its alpha is used.
    figures : Figures
        The metrics.

    Returns
    -------
    pandas.DataFrame
        As `reader_conditions_items` says.
    """
    return _table(matrix, options, figures, (Claim.THESE_ITEMS,))


def _table(
    matrix: ReadingMatrix,
    options: Options,
    figures: Figures,
    claims: Sequence[Claim],
) -> pd.DataFrame:
    rows = [
        row
        for contrast in contrasts_of(matrix)
        for row in _contrast_rows(matrix, contrast, options, figures)
        if row["claim"] in claims
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def comparisons_of(
    matrix: ReadingMatrix, options: Options, figures: Figures
) -> Iterator[Comparison]:
    """Yield every contrast under every metric that one of its readers takes part in.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    options : Options
        Its alpha is used.
    figures : Figures
        The metrics.

    Yields
    ------
    Comparison
        In order of conditions and metric.
    """
    for contrast in contrasts_of(matrix):
        yield from _compared(matrix, contrast, options, figures)


def _compared(
    matrix: ReadingMatrix, contrast: Contrast, options: Options, figures: Figures
) -> Iterator[Comparison]:
    if not len(contrast.a):
        return
    shared = shared_by_conditions(matrix, contrast.a, contrast.b)
    a, b = np.arange(2 * len(contrast.a)).reshape(2, -1)
    for figure in figures.over(shared, contrast.columns, contrast.columns):
        result = two_treatments(figure.merits, a, b, options.alpha, items_df=figure.items_df)
        yield Comparison(contrast=contrast, figure=figure, result=result)


def contrasts_of(matrix: ReadingMatrix) -> Iterator[Contrast]:
    """Yield every two conditions that readers read under, with those who did under both.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.

    Yields
    ------
    Contrast
        Conditions in order of name, readers in order of id; models take no part.
    """
    columns: dict[str, dict[str, int]] = {}
    for place, column in enumerate(matrix.columns):
        if column.kind is RaterKind.READER:
            columns.setdefault(column.condition, {})[column.rater_id] = place
    for a, b in combinations(sorted(columns), 2):
        readers = sorted(columns[a].keys() & columns[b].keys())
        yield Contrast(
            condition_a=a,
            condition_b=b,
            a=np.array([columns[a][reader] for reader in readers], dtype=np.int64),
            b=np.array([columns[b][reader] for reader in readers], dtype=np.int64),
        )


def _contrast_rows(
    matrix: ReadingMatrix, contrast: Contrast, options: Options, figures: Figures
) -> Iterator[dict[str, object]]:
    if not len(contrast.a):
        yield from _unread_by_anybody(contrast)
    for comparison in _compared(matrix, contrast, options, figures):
        yield from _rows(comparison)


def _unread_by_anybody(contrast: Contrast) -> Iterator[dict[str, object]]:
    for claim in METHODS:
        yield {
            "condition_a": contrast.condition_a,
            "condition_b": contrast.condition_b,
            "metric": Metric.ACCURACY.value,
            "n_readers": 0,
            "n_items": 0,
            **inference_cells(undefined(math.nan, NOBODY), claim, ""),
            "method": METHODS[claim],
            "note": "",
        }


def _rows(comparison: Comparison) -> Iterator[dict[str, object]]:
    contrast, figure, result = comparison.contrast, comparison.figure, comparison.result
    values = figure.merits.values.reshape(2, -1)
    notes = [
        *figure.notes,
        figure.backwards(values[0], f" under {contrast.condition_a}"),
        figure.backwards(values[1], f" under {contrast.condition_b}"),
    ]
    negative = NEGATIVE_COVARIANCE if result.cov_difference < 0 else ""
    random, narrower = never_surer(result.random_readers, result.fixed_readers)
    for claim, one, note in (
        (Claim.THESE_READERS, result.fixed_readers, [negative, *notes]),
        (Claim.READERS_LIKE_THESE, random, [narrower, negative, *notes]),
        (Claim.THESE_ITEMS, result.fixed_items, notes),
    ):
        yield {
            "condition_a": contrast.condition_a,
            "condition_b": contrast.condition_b,
            "metric": figure.metric.value,
            "n_readers": result.n_readers,
            "n_items": figure.n_items,
            "value_a": result.value_a,
            "value_b": result.value_b,
            **inference_cells(one, claim, figure.no_value),
            "method": f"{METHODS[claim]}; {figure.covariances}",
            "note": joined(note),
        }
