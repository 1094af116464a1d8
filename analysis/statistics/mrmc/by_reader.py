"""Two conditions within groups of readers and for each reader: `reader_conditions_readers.csv`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.bundle.model import Bundle
from analysis.figures.drawing.axes import RaterName, rater_names
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    p_cell,
    rater_name,
    report_table,
    two_conditions,
    whole_number,
)
from analysis.presentation.wording import Row, cell_number, join_sentences, rows_of
from analysis.results import Results
from analysis.statistics.claims import (
    comparison_cells,
    comparison_header,
    displayed_claim,
    narrower_notes,
)
from analysis.statistics.mrmc import conditions
from analysis.statistics.mrmc.by_group import READER_CONDITIONS_BY, adjust_over_groups
from analysis.statistics.mrmc.group_contrasts import readers_by_group
from analysis.statistics.mrmc.groups import FACTOR_NAMES, METRIC_WORDS
from analysis.statistics.mrmc.metrics import every_metric
from analysis.statistics.mrmc.obuchowski_rockette import Claim
from analysis.statistics.statistic import Column, Method, Statistic, columns_like
from analysis.statistics.study import Study, study_of
from analysis.translation import t, translated

READER = "reader"


def has_condition_readers(study: Study) -> bool:
    """Return whether any reader read under two conditions."""
    return next(_contrasts_of_readers(study), None) is not None


def reader_conditions_readers(
    study: Study | Bundle, options: Options | None = None
) -> pd.DataFrame:
    """Compare each pair of conditions within each group of readers, and for each reader.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `level`, `site`, `arm` and `years` of the readers.
    options : Options, optional
        Its alpha is used; `years_limit` divides readers by experience.

    Returns
    -------
    pandas.DataFrame
        The columns of `READER_CONDITIONS_READERS`; in order of conditions, grouping, group, metric
        and claim. Proportions and areas are from 0 to 1.

    Notes
    -----
    The rows are computed as in `reader_conditions` and `reader_conditions_items`, from the readers
    of the group only, for accuracy, AUC, sensitivity and specificity. For a single reader there is
    only the claim `these readers`: the difference of paired values, with its error over items.
    `p_adjusted` is adjusted by Holm's method over the groups of a grouping, or over the readers.

    See Also
    --------
    analysis.reader_conditions
    """
    study = study_of(study, options)
    rows = [
        {
            "condition_a": contrast.condition_a,
            "condition_b": contrast.condition_b,
            "by": by,
            "group": "" if by == READER else group,
            "rater_id": group if by == READER else "",
            **row,
        }
        for by, group, contrast in _contrasts_of_readers(study)
        for comparison in conditions.comparisons_by_metric(study, contrast, metrics=every_metric)
        for row in conditions.claims_of(comparison)
        if by != READER or row["claim"] == Claim.THESE_READERS
    ]
    names = ("condition_a", "condition_b")
    return adjust_over_groups(rows, names, READER_CONDITIONS_READERS)


def _contrasts_of_readers(study: Study) -> Iterator[tuple[str, str, conditions.Contrast]]:
    """Yield each pair of conditions for each group of readers, then for each reader.

    A grouping with a single group is omitted.
    """
    matrix = study.matrix
    groups = {by: groups for by, groups in readers_by_group(study) if len(groups) > 1}
    for contrast in conditions.contrasts_of(matrix):
        readers = [matrix.columns[column].rater_id for column in contrast.a]
        single_readers = {reader: frozenset([reader]) for reader in readers}
        for by, members in {**groups, READER: single_readers}.items():
            for group, group_readers in members.items():
                is_in_group = np.array(
                    [reader in group_readers for reader in readers], dtype=np.bool_
                )
                if is_in_group.any():
                    yield (
                        by,
                        group,
                        replace(contrast, a=contrast.a[is_in_group], b=contrast.b[is_in_group]),
                    )


def condition_readers_table(results: Results) -> Iterator[ReportTable]:
    """Show two conditions within groups of readers and for each reader."""
    names = rater_names(results.bundle)
    rows = [
        row
        for row in rows_of(results, "reader_conditions_readers")
        if row["claim"] != Claim.THESE_ITEMS
    ]
    yield report_table(
        name="reader-conditions-readers",
        title=t("Readers under two conditions, by group of readers and by reader"),
        note=join_sentences(
            [
                t("Difference: first minus second condition, the same readers and cases."),
                t("Adjusted p: for the groups, or for the readers (Holm)."),
                narrower_notes(rows),
            ]
        ),
        header=(
            t("Conditions"),
            t("Readers"),
            t("Group"),
            t("Metric"),
            t("Claim"),
            t("n"),
            t("Items"),
            *comparison_header(t("First"), t("Second")),
            t("Adjusted p"),
        ),
        rows=[
            (
                two_conditions(row),
                (
                    t("reader")
                    if row["by"] == READER
                    else translated(FACTOR_NAMES[str(row["by"])]),
                    _group_cell(row, names),
                    translated(METRIC_WORDS[str(row["metric"])]),
                    displayed_claim(row),
                    whole_number(cell_number(row, "n_readers")),
                    whole_number(cell_number(row, "n_items")),
                    *comparison_cells(row),
                    p_cell(cell_number(row, "p_adjusted")),
                ),
            )
            for row in rows
        ],
    )


def _group_cell(row: Row, names: Mapping[str, RaterName]) -> str:
    return rater_name(names, str(row["rater_id"])).full if row["rater_id"] else str(row["group"])


_REDEFINED_COLUMNS = (
    Column("by", "Grouping of the readers: `level`, `site`, `arm`, `years` or `reader`."),
    Column("group", "The group; empty for a single reader."),
    Column("metric", "`accuracy`, `auc`, `sensitivity` or `specificity`."),
    Column("claim", "`these readers`, `readers like these` or `these items`."),
)

READER_CONDITIONS_READERS = Statistic(
    name="reader_conditions_readers",
    meaning="Readers of a group, or one reader, under two conditions, under one claim.",
    columns=columns_like(
        READER_CONDITIONS_BY.columns,
        redefined=_REDEFINED_COLUMNS,
        after={"group": (Column("rater_id", "The reader; empty for a group."),)},
    ),
    compute=reader_conditions_readers,
    applies=has_condition_readers,
    methods={
        582: Method(
            "Groups of readers",
            "Two conditions are also compared within each group of readers and for each reader,"
            " with p-values adjusted over the groups or readers by Holm's method [@holm1979].",
        )
    },
    tables={138: condition_readers_table},
)
