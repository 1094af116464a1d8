"""Agreement generalised to other raters: the table `agreement_raters.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    condition_cell,
    estimate_of,
    report_table,
    row_label,
    whole_number,
)
from analysis.presentation.wording import cell_number, format_number, rows_of
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
from analysis.statistics.agreement.groups.coefficients import MEASURES_OF_EVERY_SCOPE, GroupMeasure
from analysis.statistics.agreement.groups.table import GROUP_WORDS
from analysis.statistics.statistic import Column, Method, Source, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import capitalise, t, translated

FEWEST_RATERS = 3
METHOD = "items: {items}; raters: jackknife; t, raters - 1"
NO_ERROR = "standard error and interval: undefined without one of the raters, or over the items"


def has_enough_raters(study: Study) -> bool:
    """Return whether any group has at least three raters."""
    return any(len(group.columns) >= FEWEST_RATERS for group in rater_groups(study.matrix.columns))


def agreement_raters(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the agreement of raters like these, with random raters and items.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `AGREEMENT_RATERS`, with a row for each row of `agreement_groups` whose scope
        is `all` and whose group has at least three raters. `estimate` is the same in both tables.

    Notes
    -----
    The variance is the sum of a variance over items and one over raters [1]_. The variance over
    items is Gwet's, or that over resampled patients if there are clusters. The variance over r
    raters is that of the jackknife, :math:`\frac{r - 1}{r} \sum_g (\kappa_{(g)} - \bar\kappa)^2`,
    where :math:`\kappa_{(g)}` omits rater g. The interval uses t with r - 1 degrees of freedom and
    is truncated at -1 and 1.

    References
    ----------
    .. [1] Gwet KL. Variance estimation of nominal-scale inter-rater reliability with random
       selection of raters. Psychometrika 2008;73:407-430. doi:10.1007/s11336-007-9054-8

    See Also
    --------
    analysis.agreement_groups
    """
    study = study_of(study, options)
    rows = [
        {"raters": group.raters.value, "condition": group.condition, **row}
        for group in rater_groups(study.matrix.columns)
        if len(group.columns) >= FEWEST_RATERS
        for row in _group_rows(study, group)
    ]
    return pd.DataFrame(rows, columns=AGREEMENT_RATERS.header)


def _group_rows(study: Study, group: RaterGroup) -> Iterator[dict[str, Any]]:
    matrix = study.matrix
    items = np.arange(len(matrix.truth))
    resamples = None if study.weights is None else resamples_of(matrix, items, study.weights)
    groups_without_one = [
        RaterGroup(
            raters=group.raters,
            condition=group.condition,
            columns=tuple(column for column in group.columns if column != jackknife_estimates),
        )
        for jackknife_estimates in group.columns
    ]
    by_correctness = []
    for codes in (letters_of(matrix, items), correctness_of(matrix, items)):
        [all_raters] = sum_answers(codes, matrix.n_options, [group], resamples)
        by_correctness.append(
            (all_raters, sum_answers(codes, matrix.n_options, groups_without_one, None))
        )
    for measure in MEASURES_OF_EVERY_SCOPE:
        all_raters, without_one = by_correctness[measure.on_correctness]
        yield _measure_row(measure, all_raters, without_one, study.options.alpha)


def _measure_row(
    measure: GroupMeasure, all_raters: SummedAnswers, without_one: list[SummedAnswers], alpha: float
) -> dict[str, Any]:
    ratings, sums = all_raters.ratings, all_raters.sums
    estimate, r = float(measure.estimate(sums)), len(without_one)
    jackknife_estimates = np.array([float(measure.estimate(part.sums)) for part in without_one])
    se_raters = float(np.sqrt((r - 1) * jackknife_estimates.var()))
    if all_raters.resampled is None:
        se_items, method = measure.standard_error(ratings, sums), "Gwet"
    else:
        resampled = measure.estimate(all_raters.resampled)
        defined = resampled[np.isfinite(resampled)]
        se_items = float(np.std(defined, ddof=1)) if len(defined) > 1 else np.nan
        method = "bootstrap over patients"
    se = float(np.hypot(se_items, se_raters))
    half_width = float(student.isf(alpha / 2, r - 1)) * se
    reason = "" if se > 0 else NO_ERROR
    if np.isnan(estimate):
        reason = measure.reason(ratings, sums)
    if reason:
        se_items = se_raters = se = np.nan
    return {
        "measure": measure.name,
        "n_raters": r,
        "n_items": int(ratings.times[measure.has_enough_answers(ratings)].sum()),
        "estimate": estimate,
        "se_items": se_items,
        "se_raters": se_raters,
        "se": se,
        "df": float(r - 1),
        "ci_low": max(estimate - half_width, -1.0) if not reason else np.nan,
        "ci_high": min(estimate + half_width, 1.0) if not reason else np.nan,
        "method": METHOD.format(items=method),
        "undefined_because": reason,
    }


def raters_table(results: Results) -> Iterator[ReportTable]:
    """Show the agreement generalised to raters like these."""
    yield report_table(
        name="agreement-raters",
        title=t("Agreement of raters like these"),
        note=t(
            "Raters and cases random: the interval applies to other raters of this kind on other"
            " cases. It is wide with few raters."
        ),
        header=(
            t("Raters"),
            t("Condition"),
            capitalise(t("measure")),
            t("Raters n"),
            t("Items"),
            t("Estimate"),
            t("SE, items"),
            t("SE, raters"),
        ),
        rows=[
            (
                (row_label(translated(GROUP_WORDS.get(str(row["raters"]), str(row["raters"])))),),
                (
                    condition_cell(str(row["condition"])),
                    measure_words(str(row["measure"])),
                    whole_number(cell_number(row, "n_raters")),
                    whole_number(cell_number(row, "n_items")),
                    estimate_of(row),
                    format_number(cell_number(row, "se_items"), 3),
                    format_number(cell_number(row, "se_raters"), 3),
                ),
            )
            for row in rows_of(results, "agreement_raters")
        ],
    )


AGREEMENT_RATERS = Statistic(
    name="agreement_raters",
    meaning="Agreement of a group of raters, with raters and items random.",
    columns=(
        Column("raters", "`readers`, `models` or `all`."),
        *shared_columns("condition measure"),
        Column("n_raters", "Raters.", "count"),
        *shared_columns("n_items estimate"),
        Column("se_items", "Standard error over items, raters fixed.", "that of the estimate"),
        Column("se_raters", "Standard error over raters, items fixed.", "that of the estimate"),
        *shared_columns("se df ci_low ci_high method undefined_because"),
    ),
    compute=agreement_raters,
    applies=has_enough_raters,
    methods={
        596: Method(
            "Agreement of raters like these",
            "Agreement is generalised to other raters by adding the jackknife variance over raters"
            " to the variance over cases [@gwet2008b].",
        )
    },
    sources=(
        Source(
            "agreement with random raters",
            "Gwet KL. Variance estimation of nominal-scale inter-rater reliability with random"
            " selection of raters. Psychometrika 2008;73:407-430.",
            "10.1007/s11336-007-9054-8",
        ),
    ),
    tables={55: raters_table},
)
