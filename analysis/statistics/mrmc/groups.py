"""Two groups of readers on the same items: `reader_groups.csv` and two similar tables."""

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
    rater_name,
    report_table,
    row_label,
    whole_number,
)
from analysis.presentation.wording import Row, cell_number, rows_of
from analysis.readings.item_groups import item_groups
from analysis.readings.shared_items import shared_by_panel
from analysis.results import Results
from analysis.statistics.accuracy.diagnostic import has_two_classes
from analysis.statistics.claims import comparison_cells, comparison_header
from analysis.statistics.merits import FigureOfMerit, Metric
from analysis.statistics.mrmc.group_contrasts import (
    LEAD_METRIC,
    MODEL_NOTE_PREFIX,
    GroupContrast,
    between_groups,
    contrasts_of,
    gain_contrasts,
)
from analysis.statistics.mrmc.metrics import Metrics, accuracy, all_but_accuracy, every_metric
from analysis.statistics.mrmc.obuchowski_rockette import (
    NEGATIVE_COVARIANCE,
    Claim,
    inference_cells,
    join_nonempty,
)
from analysis.statistics.statistic import Column, Method, Source, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t, translated

METHOD = (
    "Obuchowski-Rockette, readers random within groups, items shared; t, Satterthwaite degrees of"
    " freedom"
)


def has_groups(study: Study) -> bool:
    """Return whether any two groups of readers can be compared."""
    return next(contrasts_of(study), None) is not None


def has_group_metrics(study: Study) -> bool:
    """Return whether any two groups of readers can be compared by a metric other than accuracy."""
    has_ratings = study.figures_of_merit.ratings is not None and bool(
        study.figures_of_merit.ratings.rated.any()
    )
    return has_groups(study) and (has_ratings or has_two_classes(study))


def has_gains(study: Study) -> bool:
    """Return whether at least two groups have readers who read under two conditions."""
    return next(gain_contrasts(study), None) is not None


def reader_groups(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare groups of readers by level, site, arm and experience, overall and by task.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `level`, `site`, `arm` and `years` of the readers.
    options : Options, optional
        Its alpha is used; `years_limit` divides readers by experience.

    Returns
    -------
    pandas.DataFrame
        The columns of `READER_GROUPS`; in order of factor, groups, condition, metric, model and
        task. Proportions are from 0 to 1, `difference` from -1 to 1.

    Notes
    -----
    The difference is group a minus group b, in order of name, on the items that all readers of
    both groups were given; if these are fewer than 80 % of the items, it is undefined. `lead` is
    the model minus each reader; for every model, its difference is that of the accuracies with the
    opposite sign. Arms without a common condition are compared under their own conditions, and
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
    rows = [
        row for contrast in contrasts_of(study) for row in _contrast_rows(study, contrast, accuracy)
    ]
    return pd.DataFrame(rows, columns=READER_GROUPS.header)


def reader_groups_metrics(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare groups of readers by AUC, sensitivity and specificity, overall and by task.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used; `positive` names the positive options, `confidence` its meaning.

    Returns
    -------
    pandas.DataFrame
        The columns of `READER_GROUPS`; in order of factor, groups, condition, group of items and
        metric. Proportions and areas are from 0 to 1.

    Notes
    -----
    The rows are computed as in `reader_groups`, with the covariances of the metric. There is no row
    for the lead of a model in these metrics, because it differs between groups by the same amount
    with the opposite sign.
    """
    study = study_of(study, options)
    rows = [
        row
        for contrast in contrasts_of(study)
        if contrast.names.get("metric") != LEAD_METRIC
        for row in _contrast_rows(study, contrast, all_but_accuracy)
    ]
    return pd.DataFrame(rows, columns=READER_GROUPS.header)


def reader_groups_gain(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare groups of readers by the difference of a metric between two conditions.

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
        groups: the metric under condition a minus that under condition b. `difference` is the
        difference between these gains, the interaction of group and condition. Metrics are accuracy
        and, if the items allow them, AUC, sensitivity and specificity.

    Notes
    -----
    The rows are computed as in `reader_groups`, over the readers who read under both conditions, on
    the items that all of them were given under both.
    """
    study = study_of(study, options)
    rows = [
        row
        for contrast in gain_contrasts(study)
        for row in _contrast_rows(study, contrast, every_metric)
    ]
    return pd.DataFrame(rows, columns=READER_GROUPS_GAIN.header)


def _contrast_rows(
    study: Study, contrast: GroupContrast, metrics: Metrics
) -> Iterator[dict[str, object]]:
    """Yield a row for each metric, over all items and over those of each task."""
    matrix = study.matrix
    for by, group, positions in item_groups(matrix, ("task",)):
        is_member = np.isin(np.arange(len(matrix.truth)), positions)
        if by == "overall" or (matrix.has_truth & is_member).any():
            shared = shared_by_panel(matrix, contrast.columns, is_member)
            for figure in contrast.figures_of_merit(study, shared, metrics):
                key = {"metric": figure.metric.value, **contrast.names, "by": by, "group": group}
                yield {**key, **contrast_cells(study, contrast, figure)}


def contrast_cells(
    study: Study, contrast: GroupContrast, figure: FigureOfMerit
) -> dict[str, object]:
    """Return the cells that compare two groups; the values of group a come first in `figure`."""
    n_a, n_b = len(contrast.a), len(contrast.b)
    a, b = np.arange(n_a), n_a + np.arange(n_b)
    groups = between_groups(figure.merits, a, b, study.options.alpha)
    negative = NEGATIVE_COVARIANCE if groups.cov_difference < 0 else ""
    return {
        "n_readers_a": n_a,
        "n_readers_b": n_b,
        "n_items": figure.n_items,
        "value_a": groups.value_a,
        "value_b": groups.value_b,
        **inference_cells(groups.inference, Claim.READERS_LIKE_THESE, figure.no_value),
        "method": f"{METHOD}; {figure.covariances}",
        "note": join_nonempty([contrast.note, negative, *figure.notes]),
    }


_GROUP_COLUMNS = (
    Column("factor", "What divides the readers: `level`, `site`, `arm` or `years`."),
    Column("group_a", "First group, in order of name."),
    Column("group_b", "Second group."),
)
_VALUE_COLUMNS = (
    Column("n_readers_a", "Readers of the first group.", "count"),
    Column("n_readers_b", "Readers of the second group.", "count"),
    *shared_columns("n_items"),
    Column("value_a", "Mean of the readers of the first group.", "that of the metric"),
    Column("value_b", "Mean of the readers of the second group.", "that of the metric"),
    *shared_columns("difference se df ci_low ci_high p method note undefined_because"),
)
_GROUPING_COLUMNS = (
    Column("by", "Grouping of the items: `overall` or `task`."),
    *shared_columns("group"),
)


def groups_table(results: Results) -> Iterator[ReportTable]:
    """Show the groups of readers over all items."""
    names = rater_names(results.bundle)
    rows = [
        (condition_cell(str(row["condition"])), _metric_words(row, names), row)
        for table in ("reader_groups", "reader_groups_metrics")
        for row in rows_of(results, table, by="overall")
    ]
    yield _groups_report_table(
        "reader-groups",
        t("Groups of readers"),
        t(
            "Difference: first minus second group, on the cases that all of them were given;"
            " readers random within groups. Lead: the model minus the reader. Results by task"
            " are in the file."
        ),
        rows,
    )


def gains_table(results: Results) -> Iterator[ReportTable]:
    """Show how the effect of a condition differs between groups of readers, over all items."""
    rows = [
        (
            condition_name(f"{row['condition_a']} - {row['condition_b']}"),
            translated(GAIN_WORDS[str(row["metric"])]),
            row,
        )
        for row in rows_of(results, "reader_groups_gain", by="overall")
    ]
    yield _groups_report_table(
        "reader-groups-gain",
        t("Groups of readers: effect of the condition"),
        t(
            "Gain: the metric of the same readers under the first condition minus that under the"
            " second. Difference: first minus second group. Results by task are in the file."
        ),
        rows,
    )


FACTOR_NAMES = {
    "level": later("level"),
    "site": later("site"),
    "arm": later("arm"),
    "years": later("years of experience"),
}
METRIC_WORDS = {
    Metric.ACCURACY.value: later("accuracy, %"),
    Metric.AUC.value: "AUC",
    Metric.SENSITIVITY.value: later("sensitivity, %"),
    Metric.SPECIFICITY.value: later("specificity, %"),
}
GAIN_WORDS = {
    Metric.ACCURACY.value: later("gain in accuracy, points"),
    Metric.AUC.value: later("gain in AUC"),
    Metric.SENSITIVITY.value: later("gain in sensitivity, points"),
    Metric.SPECIFICITY.value: later("gain in specificity, points"),
}


def _groups_report_table(
    name: str, title: str, note: str, rows: list[tuple[str, str, Row]]
) -> ReportTable:
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
            *comparison_header(t("First"), t("Second")),
        ),
        rows=[
            (
                (row_label(str(row["group_a"])), row_label(str(row["group_b"]))),
                (
                    translated(FACTOR_NAMES[str(row["factor"])]),
                    condition,
                    metric,
                    " / ".join(
                        whole_number(cell_number(row, f"n_readers_{group}")) for group in "ab"
                    ),
                    whole_number(cell_number(row, "n_items")),
                    *comparison_cells(row),
                ),
            )
            for condition, metric, row in rows
        ],
        in_paper=True,
    )


def _metric_words(row: Row, names: Mapping[str, RaterName]) -> str:
    if row["metric"] != LEAD_METRIC:
        return translated(METRIC_WORDS[str(row["metric"])])
    model = str(row["note"]).partition("; ")[0].removeprefix(MODEL_NOTE_PREFIX)
    return t("lead of {model}, points", model=rater_name(names, model).full)


READER_GROUPS = Statistic(
    name="reader_groups",
    meaning="Two groups of readers on the same items, readers random within groups.",
    columns=(
        *_GROUP_COLUMNS,
        Column("condition", "Condition; for arms without a common one, both: `A - B`."),
        Column("metric", "`accuracy`, or `lead`: the model that `note` names minus the reader."),
        *_GROUPING_COLUMNS,
        *_VALUE_COLUMNS,
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

_METRIC_COLUMN = Column("metric", "`accuracy`, `auc`, `sensitivity` or `specificity`.")

READER_GROUPS_METRICS = Statistic(
    name="reader_groups_metrics",
    meaning="Two groups of readers on the same items by AUC, sensitivity or specificity.",
    columns=tuple(
        Column("metric", "`auc`, `sensitivity` or `specificity`.") if c.name == "metric" else c
        for c in READER_GROUPS.columns
    ),
    compute=reader_groups_metrics,
    applies=has_group_metrics,
)

READER_GROUPS_GAIN = Statistic(
    name="reader_groups_gain",
    meaning="Two groups of readers by the difference of a metric between two conditions.",
    columns=(
        *_GROUP_COLUMNS,
        *shared_columns("condition_a condition_b"),
        _METRIC_COLUMN,
        *_GROUPING_COLUMNS,
        *_VALUE_COLUMNS,
    ),
    compute=reader_groups_gain,
    applies=has_gains,
    tables={134: gains_table},
)
