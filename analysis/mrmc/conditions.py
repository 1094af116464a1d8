"""Two conditions read by the same readers: the table `reader_conditions.csv`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.arrays import Ints
from analysis.bundle.model import Bundle
from analysis.bundle.words import RaterKind
from analysis.confidence import confidence_of
from analysis.matrix import ReadingMatrix, reading_matrix
from analysis.mrmc.claims import Claim, below, inference_cells, joined
from analysis.mrmc.figures_of_merit import FigureOfMerit, figures_of_merit
from analysis.mrmc.two_treatments import TwoTreatments, two_treatments
from analysis.options import Options

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
    Claim.THESE_READERS: "Obuchowski-Rockette, two treatments, readers fixed; normal",
    Claim.READERS_LIKE_THESE: (
        "Obuchowski-Rockette, two treatments, readers random; t, Hillis degrees of freedom"
    ),
    Claim.THESE_ITEMS: "Obuchowski-Rockette, two treatments, readers random, items fixed; t, J - 1",
}
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
    analysis.reader_conditions_items, analysis.mrmc.two_treatments

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
    [['these readers', 0.5, 0.204, nan], ['readers like these', 0.5, 0.289, 1.778]]
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
    matrix: ReadingMatrix, options: Options, figures: Sequence[FigureOfMerit]
) -> pd.DataFrame:
    """Return the table of `reader_conditions` for figures of merit that are there already.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    options : Options
        Its alpha is used.
    figures : sequence of FigureOfMerit
        The metrics.

    Returns
    -------
    pandas.DataFrame
        As `reader_conditions` says.
    """
    claims = (Claim.THESE_READERS, Claim.READERS_LIKE_THESE)
    return _table(matrix, options, figures, claims)


def reader_conditions_items_table(
    matrix: ReadingMatrix, options: Options, figures: Sequence[FigureOfMerit]
) -> pd.DataFrame:
    """Return the table of `reader_conditions_items` for figures of merit that are there already.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    options : Options
        Its alpha is used.
    figures : sequence of FigureOfMerit
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
    figures: Sequence[FigureOfMerit],
    claims: Sequence[Claim],
) -> pd.DataFrame:
    rows = [
        row
        for comparison in comparisons_of(matrix, options, figures)
        for row in _rows(comparison)
        if row["claim"] in claims
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def comparisons_of(
    matrix: ReadingMatrix, options: Options, figures: Sequence[FigureOfMerit]
) -> Iterator[Comparison]:
    """Yield every contrast under every metric that one of its readers takes part in.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    options : Options
        Its alpha is used.
    figures : sequence of FigureOfMerit
        The metrics.

    Yields
    ------
    Comparison
        In order of conditions and metric.
    """
    for contrast in contrasts_of(matrix):
        for figure in figures:
            if figure.measured[contrast.columns].any():
                result = two_treatments(figure.merits, contrast.a, contrast.b, options.alpha)
                yield Comparison(contrast=contrast, figure=figure, result=result)


def contrasts_of(matrix: ReadingMatrix) -> Iterator[Contrast]:
    """Yield every two conditions that some reader read under both.

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
        if readers:
            yield Contrast(
                condition_a=a,
                condition_b=b,
                a=np.array([columns[a][reader] for reader in readers]),
                b=np.array([columns[b][reader] for reader in readers]),
            )


def _rows(comparison: Comparison) -> Iterator[dict[str, object]]:
    contrast, figure, result = comparison.contrast, comparison.figure, comparison.result
    no_value = figure.reason(contrast.columns)
    notes = figure.note(contrast.columns)
    shared = {
        "condition_a": contrast.condition_a,
        "condition_b": contrast.condition_b,
        "metric": figure.metric.value,
        "n_readers": result.n_readers,
        "n_items": figure.n_items,
        "value_a": result.value_a,
        "value_b": result.value_b,
    }
    fixed, random = result.fixed_readers, result.random_readers
    negative = NEGATIVE_COVARIANCE if result.cov_difference < 0 else ""
    for claim, one, note in (
        (Claim.THESE_READERS, fixed, joined([negative, *notes])),
        (Claim.READERS_LIKE_THESE, random, joined([below(random, fixed), negative, *notes])),
        (Claim.THESE_ITEMS, result.fixed_items, joined(notes)),
    ):
        yield {
            **shared,
            **inference_cells(one, claim, no_value),
            "method": f"{METHODS[claim]}; {figure.covariances}",
            "note": note,
        }
