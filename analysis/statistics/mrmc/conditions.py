"""The same readers under two conditions: `reader_conditions.csv`, `reader_conditions_items.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Ints
from analysis.bundle.model import Bundle, RaterKind
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    TableRow,
    report_table,
    two_conditions,
    whole_number,
)
from analysis.presentation.wording import cell_number, join_sentences, rows_of
from analysis.readings.matrix import ReadingMatrix
from analysis.readings.shared_items import shared_by_conditions
from analysis.results import Results
from analysis.statistics.claims import (
    comparison_cells,
    comparison_header,
    displayed_claim,
    factor_of,
    narrower_notes,
)
from analysis.statistics.merits import FigureOfMerit, Metric
from analysis.statistics.mrmc.metrics import Metrics, accuracy_and_auc
from analysis.statistics.mrmc.obuchowski_rockette import (
    Claim,
    TwoTreatments,
    inference_cells,
    join_nonempty,
    method_of_claim,
    two_treatments,
    undefined_inference,
    wider_inference,
)
from analysis.statistics.statistic import Column, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t

METHODS = {
    Claim.THESE_READERS: "Obuchowski-Rockette, two treatments, readers fixed; t, C - 1",
    Claim.READERS_LIKE_THESE: (
        "Obuchowski-Rockette, two treatments, readers random; t, Hillis degrees of freedom"
    ),
    Claim.THESE_ITEMS: "Obuchowski-Rockette, two treatments, readers random, items fixed; t, J - 1",
}
NO_READER = later("no reader read under both conditions")
NEGATIVE_COVARIANCE = "negative Cov2 - Cov3 taken as 0"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contrast:
    """Two conditions, and the columns of the readers who read under both."""

    condition_a: str
    condition_b: str
    a: Ints
    b: Ints

    @property
    def columns(self) -> Ints:
        """The columns of both conditions."""
        return np.concatenate([self.a, self.b])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConditionComparison:
    """The comparison of two conditions under one metric."""

    contrast: Contrast
    figure: FigureOfMerit
    result: TwoTreatments


def reader_conditions(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare each pair of conditions over the readers who read under both.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `READER_CONDITIONS`; in order of conditions, metric and claim. Proportions
        are from 0 to 1.

    Notes
    -----
    The difference is a minus b, in order of name. In Obuchowski and Rockette's analysis with
    Hillis' degrees of freedom, `readers like these` is RRRC (readers and items random), and `these
    readers` is FRRC (readers fixed).

    See Also
    --------
    analysis.reader_conditions_items, analysis.statistics.mrmc.obuchowski_rockette

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
    return _claims_table(study_of(study, options), Claim.THESE_READERS, Claim.READERS_LIKE_THESE)


def reader_conditions_items(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare each pair of conditions on these items, with random readers and fixed items (RRFC).

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        Columns and order are those of `reader_conditions`; the claim is `these items`.

    Notes
    -----
    The test is a t test of the readers' differences with J - 1 degrees of freedom. It generalises
    to other readers on the same items but not to other items, and is therefore in a separate table.

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
    return _claims_table(study_of(study, options), Claim.THESE_ITEMS)


def _claims_table(study: Study, *claims: Claim) -> pd.DataFrame:
    rows = [
        row
        for contrast in contrasts_of(study.matrix)
        for row in _contrast_rows(study, contrast)
        if row["claim"] in claims
    ]
    return pd.DataFrame(rows, columns=READER_CONDITIONS.header)


def comparisons_of(study: Study) -> Iterator[ConditionComparison]:
    """Yield the comparison of each pair of conditions under every metric, in this order."""
    for contrast in contrasts_of(study.matrix):
        yield from comparisons_by_metric(study, contrast)


def comparisons_by_metric(
    study: Study,
    contrast: Contrast,
    is_member: Bools | None = None,
    metrics: Metrics = accuracy_and_auc,
) -> Iterator[ConditionComparison]:
    """Yield the comparison of two conditions under each metric, over `is_member` or all items.

    There is none if no reader read under both conditions.
    """
    if not len(contrast.a):
        return
    shared = shared_by_conditions(study.matrix, contrast.a, contrast.b, is_member)
    a, b = np.arange(2 * len(contrast.a)).reshape(2, -1)
    for figure in metrics(study, shared, contrast.columns, contrast.columns):
        result = two_treatments(figure.merits, a, b, study.options.alpha, items_df=figure.items_df)
        yield ConditionComparison(contrast=contrast, figure=figure, result=result)


def columns_of_readers(matrix: ReadingMatrix) -> dict[str, dict[str, int]]:
    """Return the readers' columns by condition and reader."""
    columns: dict[str, dict[str, int]] = {}
    for column_number, column in enumerate(matrix.columns):
        if column.kind is RaterKind.READER:
            columns.setdefault(column.condition, {})[column.rater_id] = column_number
    return columns


def contrasts_of(matrix: ReadingMatrix) -> Iterator[Contrast]:
    """Yield each pair of the readers' conditions, with the readers who read under both.

    Yields
    ------
    Contrast
        Conditions in order of name, and readers in order of id.
    """
    columns = columns_of_readers(matrix)
    for a, b in combinations(sorted(columns), 2):
        readers = sorted(columns[a].keys() & columns[b].keys())
        yield Contrast(
            condition_a=a,
            condition_b=b,
            a=np.array([columns[a][reader] for reader in readers], dtype=np.int64),
            b=np.array([columns[b][reader] for reader in readers], dtype=np.int64),
        )


def _contrast_rows(study: Study, contrast: Contrast) -> Iterator[dict[str, object]]:
    conditions = {"condition_a": contrast.condition_a, "condition_b": contrast.condition_b}
    if not len(contrast.a):
        for claim, method in METHODS.items():
            yield {
                **conditions,
                "metric": Metric.ACCURACY.value,
                "n_readers": 0,
                "n_items": 0,
                **inference_cells(undefined_inference(math.nan, NO_READER), claim, ""),
                "method": method,
                "note": "",
            }
    for comparison in comparisons_by_metric(study, contrast):
        for row in claims_of(comparison):
            yield {**conditions, **row}


def claims_of(comparison: ConditionComparison) -> Iterator[dict[str, object]]:
    """Yield the cells of the claims about two conditions under one metric."""
    contrast, figure, result = comparison.contrast, comparison.figure, comparison.result
    values = figure.merits.values.reshape(2, -1)
    notes = [
        *figure.notes,
        figure.reversed_note(values[0], f" under {contrast.condition_a}"),
        figure.reversed_note(values[1], f" under {contrast.condition_b}"),
    ]
    negative = NEGATIVE_COVARIANCE if result.cov_difference < 0 else ""
    random, narrower = wider_inference(result.random_readers, result.fixed_readers)
    for claim, inference, note in (
        (Claim.THESE_READERS, result.fixed_readers, [negative, *notes]),
        (Claim.READERS_LIKE_THESE, random, [narrower, negative, *notes]),
        (Claim.THESE_ITEMS, result.fixed_items, notes),
    ):
        yield {
            "metric": figure.metric.value,
            "n_readers": result.n_readers,
            "n_items": figure.n_items,
            "value_a": result.value_a,
            "value_b": result.value_b,
            **inference_cells(inference, claim, figure.no_value),
            "method": f"{method_of_claim(METHODS, claim, narrower)}; {figure.covariances}",
            "note": join_nonempty(note),
        }


_CONDITION_COLUMNS = (
    *shared_columns("condition_a condition_b metric claim n_readers n_items"),
    Column("value_a", "Mean of the readers under the first condition.", "that of the metric"),
    Column("value_b", "Mean of the readers under the second condition.", "that of the metric"),
    *shared_columns("difference se df ci_low ci_high p method note undefined_because"),
)


READER_CONDITIONS_ITEMS = Statistic(
    name="reader_conditions_items",
    meaning="Readers under two conditions; the claim is about these items and readers like these.",
    columns=_CONDITION_COLUMNS,
    compute=reader_conditions_items,
)


def conditions_table(results: Results) -> Iterator[ReportTable]:
    """Show the comparison of two conditions."""
    rows: list[TableRow] = []
    comparisons = rows_of(results, "reader_conditions")
    for row in comparisons:
        factor = factor_of(row)
        cells = (
            t("accuracy, %") if factor == 100 else "AUC",
            displayed_claim(row),
            str(int(cell_number(row, "n_readers"))),
            whole_number(cell_number(row, "n_items")),
            *comparison_cells(row),
        )
        rows.append(
            (
                two_conditions(row),
                cells,
            )
        )
    yield report_table(
        name="reader-conditions",
        title=t("Readers under two conditions"),
        note=join_sentences(
            [
                t("Difference: first minus second condition, the same readers and cases."),
                narrower_notes(comparisons),
            ]
        ),
        header=(
            t("Conditions"),
            t("Metric"),
            t("Claim"),
            t("Readers"),
            t("Items"),
            *comparison_header(t("First"), t("Second")),
        ),
        rows=rows,
        in_paper=True,
    )


def conditions_methods(results: Results) -> str:
    """Describe the comparison of two conditions."""
    if not results.has("reader_panel"):
        return ""
    return (
        "Two conditions are compared on the same readers and cases by the two-treatment form"
        " of the same method."
    )


READER_CONDITIONS = Statistic(
    name="reader_conditions",
    meaning="Readers under two conditions, on the same items, under one claim.",
    columns=_CONDITION_COLUMNS,
    compute=reader_conditions,
    methods={401: Method("Models against the panel of readers", conditions_methods)},
    tables={130: conditions_table},
)
