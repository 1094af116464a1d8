"""Agreement within groups of raters: the table `agreement_groups.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.stats import t as student

from analysis.arrays import Floats, Ints
from analysis.bundle.model import Bundle
from analysis.figures.agreement import group_agreement_chart, task_agreement_chart
from analysis.options import Options
from analysis.presentation.captions import case_range, interval_methods, number_range
from analysis.presentation.table import (
    ReportTable,
    TableRow,
    condition_cell,
    range_cell,
    report_table,
    row_label,
    whole_number,
)
from analysis.presentation.wording import cell_number, format_number, join_sentences, rows_of
from analysis.readings.clusters import (
    PERCENTILE_METHOD,
    WIDENED_METHOD,
    is_widened,
    percentile_limits,
    reason_too_few,
)
from analysis.readings.matrix import ReadingMatrix
from analysis.results import Results
from analysis.statistics.agreement.display import measure_words
from analysis.statistics.agreement.groups.answers import (
    RaterGroup,
    SummedAnswers,
    correctness_of,
    letters_of,
    rater_groups,
    resamples_of,
    sum_answers,
)
from analysis.statistics.agreement.groups.coefficients import (
    MEASURES_OF_EVERY_SCOPE,
    MEASURES_OF_OPTION_SETS,
    GroupMeasure,
)
from analysis.statistics.agreement.pairs.measures import CHANCE_TOLERANCE, partitions
from analysis.statistics.agreement.pairs.measures import (
    MEASURES_OF_OPTION_SETS as PAIR_MEASURES_OF_OPTION_SETS,
)
from analysis.statistics.agreement.pairs.resampling import FEW_RESAMPLES, T_INTERVAL
from analysis.statistics.agreement.pairs.table import (
    NO_SE_EQUAL_SCORES,
    NO_SE_ONE_ANSWER,
    NO_SE_ONE_ITEM,
)
from analysis.statistics.statistic import Column, Figure, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import capitalise, later, localised, t, translated

Row = dict[str, object]


def agreement_groups(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the agreement among all readers, among all models, and among all raters.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `AGREEMENT_GROUPS`; in order of condition, group, scope (all, tasks, option
        sets) and measure.

    Notes
    -----
    `n_raters` is the number of raters in the group who answered, `n_items` the number of items with
    at least one answer (two for Krippendorff's alpha). Missing answers are omitted by item.
    Standard errors are Gwet's. With clusters, intervals are percentile intervals over resampled
    patients; otherwise they use t with `n_items` - 1 degrees of freedom, with the upper limit
    truncated at 1.

    See Also
    --------
    analysis.statistics.agreement.groups.coefficients

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = agreement_groups(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": list("ABAB"), "n_options": 2}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1"] * 4 + ["R2"] * 4 + ["R3"] * 4,
    ...         "item_id": list("wxyz") * 3,
    ...         "answer": list("ABAA") + list("ABBB") + list("ABAB"),
    ...     }),
    ... ))
    >>> readers = table.loc[table["raters"] == "readers"].set_index("measure")
    >>> readers["estimate"].round(3).to_dict()  # doctest: +NORMALIZE_WHITESPACE
    {'brennan_prediger': 0.333, 'error_consistency': -0.2, 'fleiss_kappa_letters': 0.333,
     'conger_kappa_letters': 0.385, 'krippendorff_alpha_letters': 0.389, 'ac1_letters': 0.333}
    """
    study = study_of(study, options)
    matrix, options, weights = study.matrix, study.options, study.weights
    groups = rater_groups(matrix.columns)
    by_group: list[list[Row]] = [[] for _ in groups]
    for partition in partitions(matrix):
        has_option_sets = partition.measures is PAIR_MEASURES_OF_OPTION_SETS
        measures = MEASURES_OF_OPTION_SETS if has_option_sets else MEASURES_OF_EVERY_SCOPE
        for name, items in zip(partition.names, partition.members, strict=True):
            scope = _scope_rows(matrix, items, groups, measures, options.alpha, weights)
            for rows, group, group_rows in zip(by_group, groups, scope, strict=True):
                key = {
                    "raters": group.raters.value,
                    "condition": group.condition,
                    "scope": name,
                }
                rows.extend(key | row for row in group_rows)
    return pd.DataFrame([row for rows in by_group for row in rows], columns=AGREEMENT_GROUPS.header)


def _scope_rows(
    matrix: ReadingMatrix,
    items: Ints,
    groups: Sequence[RaterGroup],
    measures: Sequence[GroupMeasure],
    alpha: float,
    weights: Floats | None,
) -> Iterator[list[Row]]:
    """Yield the rows of each group, without the columns for group and scope."""
    resamples = None if weights is None else resamples_of(matrix, items, weights)
    options, clusters = matrix.n_options[items], matrix.clusters[items]
    letters = sum_answers(letters_of(matrix, items), options, groups, resamples)
    by_correctness_of_group = letters
    if any(measure.on_correctness for measure in measures):
        by_correctness_of_group = sum_answers(
            correctness_of(matrix, items), options, groups, resamples
        )
    for by_letter, by_correctness in zip(letters, by_correctness_of_group, strict=True):
        yield [
            _row(measure, by_correctness if measure.on_correctness else by_letter, clusters, alpha)
            for measure in measures
        ]


def _row(measure: GroupMeasure, summed: SummedAnswers, clusters: Ints, alpha: float) -> Row:
    ratings, sums = summed.ratings, summed.sums
    has_enough = measure.has_enough_answers(ratings)
    n = int(ratings.times[has_enough].sum())
    estimate = float(measure.estimate(sums))
    se = measure.standard_error(ratings, sums)
    reason = _no_error_reason(measure, summed, estimate, se, n)
    low = high = np.nan
    n_clusters = np.array(len(np.unique(clusters[has_enough[ratings.kinds]])))
    if reason:
        se = np.nan
    elif summed.resampled is None:
        half_width = float(student.isf(alpha / 2, n - 1)) * se
        low, high = estimate - half_width, min(estimate + half_width, 1.0)
    else:
        resampled = measure.estimate(summed.resampled)
        low, high, _ = (float(limit) for limit in percentile_limits(resampled, alpha, n_clusters))
        few = reason_too_few(int(n_clusters), clustered=True)
        reason = f"interval: {few}" if few else FEW_RESAMPLES if np.isnan(low) else ""
    interval = WIDENED_METHOD if is_widened(n_clusters) else PERCENTILE_METHOD
    if summed.resampled is None:
        interval = T_INTERVAL
    return {
        "measure": measure.name,
        "n_raters": int(sums.raters.n),
        "n_items": n,
        "estimate": estimate,
        "se": se,
        "ci_low": low,
        "ci_high": high,
        "method": f"{measure.method}; {interval}",
        "undefined_because": reason,
    }


def _no_error_reason(
    measure: GroupMeasure, summed: SummedAnswers, estimate: float, se: float, n: int
) -> str:
    """Return why there is no standard error; empty if there is one."""
    if np.isnan(estimate):
        return measure.reason(summed.ratings, summed.sums)
    if n < 2:
        return NO_SE_ONE_ITEM
    # The standard error cannot be estimated for constant raters; 0 would suggest certainty.
    if summed.sums.raters.varying < 2 and se <= CHANCE_TOLERANCE:
        return NO_SE_EQUAL_SCORES if measure.on_correctness else NO_SE_ONE_ANSWER
    return ""


def groups_table(results: Results) -> Iterator[ReportTable]:
    """Show the agreement of all readers, of all models, and of all raters, over all items."""
    rows: list[TableRow] = [
        (
            (row_label(translated(GROUP_WORDS.get(str(row["raters"]), str(row["raters"])))),),
            (
                condition_cell(str(row["condition"])),
                measure_words(str(row["measure"])),
                str(int(cell_number(row, "n_raters"))),
                whole_number(cell_number(row, "n_items")),
                _estimate_text(row),
                range_cell(
                    cell_number(row, "ci_low"), cell_number(row, "ci_high"), factor=1, decimals=2
                ),
            ),
        )
        for row in rows_of(results, "agreement_groups", scope="all")
    ]
    yield report_table(
        name="agreement-groups",
        title=t("Agreement of groups of raters"),
        note=t(
            "Over all cases. Measures on letters depend on how the options are lettered; they"
            " are included for comparison with published work. Tasks and option sets are in the"
            " file."
        ),
        header=(
            t("Raters"),
            t("Condition"),
            capitalise(t("measure")),
            t("Raters n"),
            t("Items"),
            t("Estimate"),
            t("CI"),
        ),
        rows=rows,
        in_paper=True,
    )


def _estimate_text(row: Row) -> str:
    estimate = cell_number(row, "estimate")
    return t("undefined") if math.isnan(estimate) else format_number(estimate, 2)


def groups_figures(results: Results, condition: str) -> Iterator[Figure]:
    """Show the agreement of readers, of models and of all raters, over all cases and by task."""
    groups, percent = results.tables["agreement_groups"], results.options.confidence_percent
    rows = groups.loc[(groups["condition"] == condition) & groups["estimate"].notna()]
    overall = rows.loc[rows["scope"] == "all"]
    yield Figure(
        "agreement",
        "group-agreement",
        t("Agreement of readers, of models and of all raters"),
        _groups_caption(overall, percent) if len(overall) else "",
        group_agreement_chart(groups, condition=condition),
    )
    mixed = groups.iloc[:0].assign(readers_models=0.0)
    if results.has("agreement_between"):
        mixed = results.tables["agreement_between"]
    mixed = mixed.loc[mixed["condition"] == condition]
    yield Figure(
        "agreement",
        "agreement-by-task",
        t("Agreement by task"),
        _by_task_caption(rows, mixed, percent) if len(rows) else "",
        task_agreement_chart(groups, mixed, condition=condition),
    )


def _groups_caption(rows: pd.DataFrame, percent: str) -> str:
    """Describe the figure of the agreement of groups."""
    sizes = t(", ").join(
        f"{translated(GROUP_WORDS.get(str(group), str(group)))} {number_range(part['n_raters'])}"
        for group, part in rows.groupby("raters", sort=False)
    )
    return join_sentences(
        [
            t(
                "Agreement of several raters at once over {cases} ({sizes}), with {percent} %"
                " intervals ({methods}).",
                cases=case_range(rows["n_items"]),
                sizes=sizes,
                percent=localised(percent),
                methods=interval_methods(rows),
            ),
            t("Measures on letters change when options are permuted; the first two do not."),
        ]
    )


GROUP_WORDS = {"readers": later("readers"), "models": later("models"), "all": later("all")}
"""The words for groups of raters, by their names in the table."""


def _by_task_caption(rows: pd.DataFrame, between: pd.DataFrame, percent: str) -> str:
    """Describe the figure of the agreement by task."""
    mixed = (
        t(
            "The hollow squares, readers with models, are means over the pairs; their distance from"
            " the readers' agreement has an interval of its own."
        )
        if len(between)
        else ""
    )
    return join_sentences(
        [
            t(
                "Agreement within readers and within models, {cases}, with {percent} % intervals"
                " ({methods}).",
                cases=case_range(rows["n_items"]),
                percent=localised(percent),
                methods=interval_methods(rows),
            ),
            mixed,
        ]
    )


AGREEMENT_GROUPS = Statistic(
    name="agreement_groups",
    meaning="Agreement of all readers, all models or all raters, by one measure.",
    columns=(
        Column("raters", "Group: `readers`, `models` or `all`."),
        *shared_columns("condition scope measure"),
        Column("n_raters", "Raters in the group with an answer.", "count"),
        *shared_columns("n_items estimate se ci_low ci_high method undefined_because"),
    ),
    compute=agreement_groups,
    methods={
        320: Method(
            "Agreement",
            "Agreement of all readers, of all models and of all raters is given by the"
            " generalised Brennan-Prediger coefficient and Fleiss' kappa on correct and incorrect"
            " [@fleiss1971]; within cases that share their options also by Fleiss' and"
            " Conger's kappa [@conger1980], Krippendorff's alpha [@hayes2007] and AC1 [@gwet2008a],"
            " with standard errors by Gwet [@gwet2021].",
        )
    },
    tables={50: groups_table},
    figures={70: groups_figures},
)
