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
    whole_number,
    words,
)
from analysis.presentation.wording import number, rounded, rows_of
from analysis.results import Results
from analysis.statistics.agreement.groups.answers import (
    Answered,
    RaterGroup,
    answered,
    correctness_of,
    draws_of,
    groups_of,
    letters_of,
)
from analysis.statistics.agreement.groups.coefficients import MEASURES_OF_EVERY_SCOPE, GroupMeasure
from analysis.statistics.agreement.groups.table import GROUP_WORDS
from analysis.statistics.agreement.shown import measure_words
from analysis.statistics.statistic import Column, Method, Source, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import capitalised, t, translated

FEWEST_RATERS = 3
METHOD = "items: {items}; raters: jackknife; t, raters - 1"
NO_ERROR = "standard error and interval: undefined without one of the raters, or over the items"


def has_raters(study: Study) -> bool:
    """Return whether some group has three raters or more."""
    return any(len(group.columns) >= FEWEST_RATERS for group in groups_of(study.matrix.columns))


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
        The columns of `AGREEMENT_RATERS`; the rows of `agreement_groups` with scope `all` of
        groups with three raters or more. `estimate` is the same.

    Notes
    -----
    The variance is the sum of that over items and that over raters [1]_. Over items it is Gwet's,
    or the variance over resampled patients if clusters exist. Over r raters it is the
    jackknife's, :math:`\frac{r - 1}{r} \sum_g (\kappa_{(g)} - \bar\kappa)^2`, where
    :math:`\kappa_{(g)}` leaves out rater g. The interval is t with r - 1 degrees of freedom, cut at
    -1 and 1.

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
        for group in groups_of(study.matrix.columns)
        if len(group.columns) >= FEWEST_RATERS
        for row in _rows(study, group)
    ]
    return pd.DataFrame(rows, columns=AGREEMENT_RATERS.header)


def _rows(study: Study, group: RaterGroup) -> Iterator[dict[str, Any]]:
    matrix = study.matrix
    items = np.arange(len(matrix.truth))
    draws = None if study.weights is None else draws_of(matrix, items, study.weights)
    jackknife_values = [
        RaterGroup(
            raters=group.raters,
            condition=group.condition,
            columns=tuple(column for column in group.columns if column != left_out),
        )
        for left_out in group.columns
    ]
    parts = []
    for codes in (letters_of(matrix, items), correctness_of(matrix, items)):
        [complete] = answered(codes, matrix.n_options, [group], draws)
        parts.append((complete, answered(codes, matrix.n_options, jackknife_values, None)))
    for measure in MEASURES_OF_EVERY_SCOPE:
        complete, others = parts[measure.on_correctness]
        yield _row(measure, complete, others, study.options.alpha)


def _row(
    measure: GroupMeasure, complete: Answered, others: list[Answered], alpha: float
) -> dict[str, Any]:
    ratings, sums = complete.ratings, complete.sums
    estimate, r = float(measure.estimate(sums)), len(others)
    left_out = np.array([float(measure.estimate(part.sums)) for part in others])
    se_raters = float(np.sqrt((r - 1) * left_out.var()))
    if complete.resampled is None:
        se_items, method = measure.standard_error(ratings, sums), "Gwet"
    else:
        resampled = measure.estimate(complete.resampled)
        defined = resampled[np.isfinite(resampled)]
        se_items = float(np.std(defined, ddof=1)) if len(defined) > 1 else np.nan
        method = "bootstrap over patients"
    se = float(np.hypot(se_items, se_raters))
    reach = float(student.isf(alpha / 2, r - 1)) * se
    reason = "" if se > 0 else NO_ERROR
    if np.isnan(estimate):
        reason = measure.reason(ratings, sums)
    if reason:
        se_items = se_raters = se = np.nan
    return {
        "measure": measure.name,
        "n_raters": r,
        "n_items": int(ratings.times[measure.counted(ratings)].sum()),
        "estimate": estimate,
        "se_items": se_items,
        "se_raters": se_raters,
        "se": se,
        "df": float(r - 1),
        "ci_low": max(estimate - reach, -1.0) if not reason else np.nan,
        "ci_high": min(estimate + reach, 1.0) if not reason else np.nan,
        "method": METHOD.format(items=method),
        "undefined_because": reason,
    }


def raters_table(results: Results) -> Iterator[ReportTable]:
    """Show the agreement generalised to readers like these."""
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
            capitalised(t("measure")),
            t("Raters n"),
            t("Items"),
            t("Estimate"),
            t("SE, items"),
            t("SE, raters"),
        ),
        rows=[
            (
                (words(translated(GROUP_WORDS.get(str(row["raters"]), str(row["raters"])))),),
                (
                    condition_cell(str(row["condition"])),
                    measure_words(str(row["measure"])),
                    whole_number(number(row, "n_raters")),
                    whole_number(number(row, "n_items")),
                    estimate_of(row),
                    rounded(number(row, "se_items"), 3),
                    rounded(number(row, "se_raters"), 3),
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
    applies=has_raters,
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
