"""Two groups of readers on the same items: `reader_groups.csv` and `reader_groups_gain.csv`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from analysis.bundle.model import Bundle
from analysis.figures.drawing.axes import RaterName, condition_name, rater_names
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    condition_cell,
    difference_cells,
    named,
    p_cell,
    report_table,
    whole,
    words,
)
from analysis.presentation.wording import Row, number, rows_of
from analysis.readings.item_groups import item_groups
from analysis.readings.shared_items import Shared, shared_by_panel
from analysis.results import Results
from analysis.statistics.claims import error_cells, value_cell
from analysis.statistics.merits import without_covariance
from analysis.statistics.mrmc.group_contrasts import (
    ACCURACY,
    MODEL,
    GroupContrast,
    between_groups,
    contrasts_of,
    gains_of,
)
from analysis.statistics.mrmc.obuchowski_rockette import (
    NEGATIVE_COVARIANCE,
    Claim,
    inference_cells,
    joined,
)
from analysis.statistics.statistic import Column, Method, Source, Statistic, shared
from analysis.statistics.study import Study, study_of
from analysis.translation import later, said, t

METHOD = (
    "Obuchowski-Rockette, readers random within groups, items shared; t, Satterthwaite degrees of"
    " freedom; covariances of percent correct"
)


def has_groups(study: Study) -> bool:
    """Return whether some two groups of readers can be compared."""
    return next(contrasts_of(study), None) is not None


def has_gains(study: Study) -> bool:
    """Return whether some two groups have readers who read under two conditions."""
    return next(gains_of(study), None) is not None


def reader_groups(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare groups of readers by level, site and arm, overall and by task.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `level`, `site` and `arm` of the readers.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `READER_GROUPS`; in order of factor, groups, condition, metric, model and
        task. Proportions 0 to 1, `difference` from -1 to 1.

    Notes
    -----
    The difference is group a minus group b, in order of name, on the items that all readers of
    both groups were given; fewer than 80 % of the items leave it undefined. `lead` is the model
    minus each reader; its difference is that of the accuracies with the sign reversed, for every
    model. Arms that have no condition in common are compared under their own conditions, and
    `condition` names both.

    See Also
    --------
    analysis.statistics.mrmc.group_contrasts.between_groups

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> readers, ids = ["R1", "R2", "R3", "R4"], list("pqrs")
    >>> table = reader_groups(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ids, "truth": "A"}),
    ...     pd.DataFrame({
    ...         "rater_id": np.repeat(readers, 4), "item_id": ids * 4,
    ...         "answer": list("AAAA" "AAAB" "AABB" "ABBB"),
    ...     }),
    ...     pd.DataFrame({"rater_id": readers, "rater_kind": "reader",
    ...                   "level": ["attending"] * 2 + ["resident"] * 2}),
    ... ))
    >>> table[["group_a", "group_b", "difference", "se", "df"]].round(3).values.tolist()
    [['attending', 'resident', 0.5, 0.204, 3.556]]
    """
    study = study_of(study, options)
    rows = [row for contrast in contrasts_of(study) for row in _rows(study, contrast)]
    return pd.DataFrame(rows, columns=READER_GROUPS.header)


def reader_groups_gain(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare groups of readers by how far their accuracy differs between two conditions.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `READER_GROUPS_GAIN`. `value_a` and `value_b` are the mean gains of the
        groups: accuracy under condition a minus accuracy under condition b. `difference` is their
        difference, the interaction of group and condition.

    Notes
    -----
    As `reader_groups`, over the readers who read under both conditions, on the items that all of
    them were given under both.
    """
    study = study_of(study, options)
    rows = [row for contrast in gains_of(study) for row in _rows(study, contrast)]
    return pd.DataFrame(rows, columns=READER_GROUPS_GAIN.header)


def _rows(study: Study, contrast: GroupContrast) -> Iterator[dict[str, object]]:
    """Yield the row of all items, and that of each task."""
    matrix = study.matrix
    for by, group, positions in item_groups(matrix, ("task",)):
        among = np.isin(np.arange(len(matrix.truth)), positions)
        if by == "overall" or (matrix.assigned & among).any():
            shared = shared_by_panel(matrix, contrast.columns, among)
            yield {**contrast.names, "by": by, "group": group, **_cells(study, contrast, shared)}


def _cells(study: Study, contrast: GroupContrast, shared: Shared) -> dict[str, object]:
    n_a, n_b = len(contrast.a), len(contrast.b)
    merits = contrast.merits(study.matrix, shared.items)
    if shared.because:
        merits = without_covariance(np.full(n_a + n_b, np.nan), shared.because)
    groups = between_groups(merits, np.arange(n_a), n_a + np.arange(n_b), study.options.alpha)
    negative = NEGATIVE_COVARIANCE if groups.cov_difference < 0 else ""
    return {
        "n_readers_a": n_a,
        "n_readers_b": n_b,
        "n_items": int(shared.items.sum()),
        "value_a": groups.value_a,
        "value_b": groups.value_b,
        **inference_cells(groups.inference, Claim.READERS_LIKE_THESE, shared.because),
        "method": METHOD + (" over patients" if study.matrix.clustered else ""),
        "note": joined([contrast.note, negative, shared.note]),
    }


_GROUPS = (
    Column("factor", "What divides the readers: `level`, `site` or `arm`."),
    Column("group_a", "First group, in order of name."),
    Column("group_b", "Second group."),
)
_VALUES = (
    Column("n_readers_a", "Readers of the first group.", "count"),
    Column("n_readers_b", "Readers of the second group.", "count"),
    *shared("n_items"),
    Column("value_a", "Mean of the readers of the first group.", "that of the metric"),
    Column("value_b", "Mean of the readers of the second group.", "that of the metric"),
    *shared("difference se df ci_low ci_high p method note undefined_because"),
)
_BY = (Column("by", "Grouping of the items: `overall` or `task`."), *shared("group"))


def groups_table(results: Results) -> Iterator[ReportTable]:
    """Show the groups of readers over all items."""
    names = rater_names(results.bundle)
    rows = [
        (condition_cell(str(row["condition"])), _metric(row, names), row)
        for row in rows_of(results, "reader_groups", by="overall")
    ]
    yield _table(
        "reader-groups",
        t("Groups of readers"),
        t(
            "Difference: first minus second group, on the cases that all of them were given;"
            " readers random within groups. Lead: the model minus the reader. The file has the"
            " same by task."
        ),
        rows,
    )


def gains_table(results: Results) -> Iterator[ReportTable]:
    """Show how the effect of a condition differs between groups of readers, over all items."""
    rows = [
        (condition_name(f"{row['condition_a']} - {row['condition_b']}"), t("Gain, points"), row)
        for row in rows_of(results, "reader_groups_gain", by="overall")
    ]
    yield _table(
        "reader-groups-gain",
        t("Groups of readers: effect of the condition"),
        t(
            "Gain: accuracy of the same readers under the first condition minus that under the"
            " second. Difference: first minus second group. The file has the same by task."
        ),
        rows,
    )


FACTOR_NAMES = {"level": later("level"), "site": later("site"), "arm": later("arm")}


def _table(name: str, title: str, note: str, rows: list[tuple[str, str, Row]]) -> ReportTable:
    return report_table(
        name=name,
        title=title,
        note=note,
        header=(
            t("Groups"),
            t("Factor"),
            t("Condition"),
            t("Metric"),
            t("Readers"),
            t("Items"),
            t("First"),
            t("Second"),
            t("Difference"),
            t("CI"),
            "SE",
            "df",
            "p",
        ),
        rows=[
            (
                (words(str(row["group_a"])), words(str(row["group_b"]))),
                (
                    said(FACTOR_NAMES[str(row["factor"])]),
                    condition,
                    metric,
                    f"{whole(number(row, 'n_readers_a'))} / {whole(number(row, 'n_readers_b'))}",
                    whole(number(row, "n_items")),
                    value_cell(number(row, "value_a"), 100),
                    value_cell(number(row, "value_b"), 100),
                    *difference_cells(row, 100),
                    *error_cells(row, 100),
                    p_cell(number(row, "p")),
                ),
            )
            for condition, metric, row in rows
        ],
        in_paper=True,
    )


def _metric(row: Row, names: Mapping[str, RaterName]) -> str:
    if row["metric"] == ACCURACY:
        return t("accuracy, %")
    model = str(row["note"]).partition("; ")[0].removeprefix(MODEL)
    return t("lead of {model}, points", model=named(names, model).full)


READER_GROUPS = Statistic(
    name="reader_groups",
    meaning="Two groups of readers on the same items, readers random within groups.",
    columns=(
        *_GROUPS,
        Column("condition", "Condition; of arms without a common one, both: `A - B`."),
        Column("metric", "`accuracy`, or `lead`: the model that `note` names minus the reader."),
        *_BY,
        *_VALUES,
    ),
    compute=reader_groups,
    applies=has_groups,
    methods={
        590: Method(
            "Groups of readers",
            "Groups of readers were compared on the same cases by the method of Obuchowski and"
            " Rockette [@obuchowski1995; @hillis2014] with readers random within groups, cases"
            " shared, and Satterthwaite's degrees of freedom [@satterthwaite1946].",
        )
    },
    sources=(
        Source(
            "degrees of freedom of a sum of mean squares",
            "Satterthwaite FE. An approximate distribution of estimates of variance components."
            " Biometrics Bull 1946;2:110-114.",
            "10.2307/3002019",
        ),
    ),
    tables={132: groups_table},
)

READER_GROUPS_GAIN = Statistic(
    name="reader_groups_gain",
    meaning="Two groups of readers by the difference of their accuracy between two conditions.",
    columns=(*_GROUPS, *shared("condition_a condition_b"), *shared("metric"), *_BY, *_VALUES),
    compute=reader_groups_gain,
    applies=has_gains,
    tables={134: gains_table},
)
