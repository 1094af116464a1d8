"""How much sites and banks differ: the table `heterogeneity.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from analysis.arrays import Floats, Ints
from analysis.bundle.model import Bundle, RaterKind
from analysis.figures.drawing.axes import RaterName, rater_names
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    condition_cell,
    percent_cell,
    percent_with_range,
    range_cell,
    rater_name,
    report_table,
    row_label,
    whole_number,
)
from analysis.presentation.wording import Row, cell_number, rows_of
from analysis.readings.shared_items import shared_by_panel
from analysis.results import Results
from analysis.statistics.merits import differences, percent_correct
from analysis.statistics.mrmc.conditions import columns_of_readers
from analysis.statistics.mrmc.obuchowski_rockette import single_treatment
from analysis.statistics.mrmc.panel import panels_of
from analysis.statistics.statistic import Column, Method, Source, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import t

SITE, BANK = "site", "bank"
NO_VARIATION = "no variation within the groups to compare with"
NO_PREDICTION = "prediction interval: fewer than 3 groups"
METHOD = "random effects (Paule-Mandel), Hartung-Knapp interval; groups vary by {units}"


def has_heterogeneity(study: Study) -> bool:
    """Return whether readers of two sites, or items of two banks, can be compared."""
    return next(_groupings(study), None) is not None


def heterogeneity(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate how much accuracy differs between sites of readers and between banks of items.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `site` of the readers, `bank` of the items.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `HETEROGENEITY`; a row per factor, condition and, for banks, model.

    Notes
    -----
    The groups' means are combined with random effects by statsmodels' `combine_effects`
    (Paule-Mandel), with the interval of Hartung and Knapp [1]_ and the prediction interval
    :math:`\hat\mu \pm t_{k - 2} \sqrt{\tau^2 + SE^2}` for another group [2]_.

    All sites read the same items, so the items are fixed: the variance of a site's mean is the
    pooled variance of readers within sites, divided by the site's number of readers. Banks have
    different items, so the readers are fixed: the variance is that of `single_treatment` over the
    bank's items, where a negative covariance between readers is taken as 0. Only items that all
    readers were given are included; if they are fewer than 80 % of the items, the row is undefined.

    References
    ----------
    .. [1] IntHout J, Ioannidis JPA, Borm GF. The Hartung-Knapp-Sidik-Jonkman method for random
       effects meta-analysis is straightforward and considerably outperforms the standard
       DerSimonian-Laird method. BMC Med Res Methodol 2014;14:25. doi:10.1186/1471-2288-14-25
    .. [2] Higgins JPT, Thompson SG, Spiegelhalter DJ. A re-evaluation of random-effects
       meta-analysis. J R Stat Soc A 2009;172:137-159. doi:10.1111/j.1467-985X.2008.00552.x
    """
    study = study_of(study, options)
    rows = [
        {**names, **_combined_cells(means, variances, reason, study.options.alpha)}
        for names, means, variances, reason in _groupings(study)
    ]
    return pd.DataFrame(rows, columns=HETEROGENEITY.header)


Grouping = tuple[dict[str, Any], Floats, Floats, str]


def _groupings(study: Study) -> Iterator[Grouping]:
    """Yield the naming cells, the groups' means and variances, and why these are undefined."""
    models: dict[str, dict[str, int]] = {}
    for panel in panels_of(study.matrix):
        models.setdefault(panel.condition, {})[panel.model_id] = panel.model
    for condition, columns in sorted(columns_of_readers(study.matrix).items()):
        yield from _site_groupings(study, condition, columns)
        readers = np.array([*columns.values()])
        for model_id, model in {"": -1, **models.get(condition, {})}.items():
            yield from _bank_groupings(study, condition, readers, (model_id, model))


def _site_groupings(study: Study, condition: str, columns: dict[str, int]) -> Iterator[Grouping]:
    raters = study.bundle.raters
    readers = raters[(raters["rater_kind"] == RaterKind.READER) & (raters["site"] != "")]
    groups = [
        np.array([columns[reader] for reader in ids if reader in columns], dtype=np.int64)
        for _, ids in readers.groupby("site")["rater_id"]
    ]
    groups = [group for group in groups if len(group)]
    if len(groups) < 2:
        return
    matrix = study.matrix
    all_readers = np.concatenate(groups)
    items = shared_by_panel(matrix, all_readers)
    correct = matrix.correct[items.items][:, all_readers]
    n = np.array([len(group) for group in groups])
    merits = percent_correct(correct, matrix.clusters[items.items])
    values = np.split(merits.values, np.cumsum(n)[:-1])
    within_df = int((n - 1).sum())
    within_variance = sum(float(((v - v.mean()) ** 2).sum()) for v in values) / max(within_df, 1)
    names = _grouping_cells(SITE, condition, "", len(groups), int(items.items.sum()), items.note)
    yield names, np.array([v.mean() for v in values]), within_variance / n, items.reason


def _bank_groupings(
    study: Study, condition: str, readers: Ints, model: tuple[str, int]
) -> Iterator[Grouping]:
    matrix, (model_id, column) = study.matrix, model
    banks = matrix.members("bank")
    if len(banks) < 2:
        return
    columns = np.append(readers, column) if model_id else readers
    items = shared_by_panel(matrix, columns)
    means, variances = [], []
    for positions in banks.values():
        bank_items = positions[items.items[positions]]
        merits = percent_correct(
            matrix.correct[bank_items][:, columns], matrix.clusters[bank_items]
        )
        if model_id:
            reader_positions = np.arange(len(readers))
            merits = differences(merits, np.full(len(readers), len(readers)), reader_positions)
        means.append(merits.values.mean())
        variances.append(single_treatment(merits).fixed_readers.se ** 2)
    names = _grouping_cells(
        BANK, condition, model_id, len(banks), int(items.items.sum()), items.note
    )
    yield names, np.array(means), np.array(variances), items.reason


def _grouping_cells(
    factor: str, condition: str, model_id: str, n_groups: int, n_items: int, note: str
) -> dict[str, Any]:
    return {
        "factor": factor,
        "condition": condition,
        "metric": "lead" if model_id else "accuracy",
        "model_id": model_id,
        "n_groups": n_groups,
        "n_items": n_items,
        "method": METHOD.format(units="readers" if factor == SITE else "items"),
        "note": note,
    }


_ESTIMATE_COLUMNS = (
    "estimate",
    "se",
    "ci_low",
    "ci_high",
    "prediction_low",
    "prediction_high",
    "tau",
)


def _combined_cells(means: Floats, variances: Floats, reason: str, alpha: float) -> dict[str, Any]:
    """Return the cells of a random-effects combination."""
    reason = reason or ("" if (variances > 0).all() else NO_VARIATION)
    if reason:
        empty = dict.fromkeys((*_ESTIMATE_COLUMNS, "i_squared", "q", "p"), math.nan)
        return {**empty, "undefined_because": reason}
    # Imported here, because only runs with several sites or banks need it.
    from statsmodels.stats.meta_analysis import CombineResults, combine_effects

    with np.errstate(divide="ignore"):  # equal means have no heterogeneity, and i2 is -inf
        result: CombineResults = combine_effects(means, variances, method_re="iterated")
    k, mean = len(means), float(result.mean_effect_re)
    se = float(result.sd_eff_w_re_hksj)
    tau_squared = max(float(result.tau2), 0.0)
    half_width = float(student.isf(alpha / 2, k - 1)) * se
    prediction_half_width = math.nan
    if k > 2:
        prediction_half_width = float(student.isf(alpha / 2, k - 2)) * math.sqrt(
            tau_squared + se**2
        )
    test = result.test_homogeneity()
    return {
        "estimate": mean,
        "se": se,
        "ci_low": max(mean - half_width, -1.0),
        "ci_high": min(mean + half_width, 1.0),
        "prediction_low": max(mean - prediction_half_width, -1.0) if k > 2 else math.nan,
        "prediction_high": min(mean + prediction_half_width, 1.0) if k > 2 else math.nan,
        "tau": math.sqrt(tau_squared),
        "i_squared": max(float(result.i2), 0.0),
        "q": float(test.statistic),
        "p": float(test.pvalue),
        "undefined_because": "" if k > 2 else NO_PREDICTION,
    }


def heterogeneity_table(results: Results) -> Iterator[ReportTable]:
    """Show how much sites and banks differ."""
    names = rater_names(results.bundle)
    yield report_table(
        name="heterogeneity",
        title=t("Differences between sites and banks"),
        note=t(
            "Random-effects mean, and the interval in which the value of another site or bank is"
            " expected. Tau: standard deviation between the groups, in percentage points."
        ),
        header=(
            t("Groups"),
            t("Condition"),
            t("n"),
            t("Items"),
            t("Mean, %"),
            t("Another group"),
            t("Tau"),
            t("I², %"),
        ),
        rows=[
            (_row_labels(row, names), _row_cells(row)) for row in rows_of(results, "heterogeneity")
        ],
    )


def _row_labels(row: Row, names: dict[str, RaterName]) -> tuple[RaterName, ...]:
    if row["factor"] == SITE:
        return (row_label(t("Sites: readers")),)
    if not row["model_id"]:
        return (row_label(t("Banks: readers")),)
    return row_label(t("Banks: lead of the model")), rater_name(names, str(row["model_id"]))


def _row_cells(row: Row) -> tuple[str, ...]:
    return (
        condition_cell(str(row["condition"])),
        whole_number(cell_number(row, "n_groups")),
        whole_number(cell_number(row, "n_items")),
        percent_with_range(row, "estimate"),
        range_cell(cell_number(row, "prediction_low"), cell_number(row, "prediction_high")),
        percent_cell(cell_number(row, "tau")),
        percent_cell(cell_number(row, "i_squared")),
    )


HETEROGENEITY = Statistic(
    name="heterogeneity",
    meaning="How much sites of readers or banks of items differ.",
    columns=(
        Column("factor", "Groups: `site` of the readers or `bank` of the items."),
        *shared_columns("condition"),
        Column("metric", "`accuracy` of the readers, or `lead`: model minus mean of the readers."),
        Column("model_id", "Model of a lead; empty for accuracy."),
        Column("n_groups", "Sites or banks.", "count"),
        *shared_columns("n_items"),
        Column("estimate", "Random-effects mean of the groups.", "proportion"),
        *shared_columns("se ci_low ci_high"),
        Column("prediction_low", "Lower limit for another group.", "proportion"),
        Column("prediction_high", "Upper limit for another group.", "proportion"),
        Column("tau", "Standard deviation between the groups.", "proportion"),
        Column("i_squared", "Share of the variation that lies between groups.", "proportion"),
        Column("q", "Cochran's Q.", "number"),
        Column("p", "P-value of Q for the hypothesis that all groups are equal.", "probability"),
        *shared_columns("method note undefined_because"),
    ),
    compute=heterogeneity,
    applies=has_heterogeneity,
    methods={
        592: Method(
            "Groups of readers",
            "Differences between sites and between banks are described by random effects"
            " [@inthout2014] with a prediction interval for another site or bank [@higgins2009].",
        )
    },
    sources=(
        Source(
            "interval of a random-effects mean",
            "IntHout J, Ioannidis JPA, Borm GF. The Hartung-Knapp-Sidik-Jonkman method for random"
            " effects meta-analysis is straightforward and considerably outperforms the standard"
            " DerSimonian-Laird method. BMC Med Res Methodol 2014;14:25.",
            "10.1186/1471-2288-14-25",
        ),
        Source(
            "prediction interval of random effects",
            "Higgins JPT, Thompson SG, Spiegelhalter DJ. A re-evaluation of random-effects"
            " meta-analysis. J R Stat Soc A 2009;172:137-159.",
            "10.1111/j.1467-985X.2008.00552.x",
        ),
    ),
    tables={136: heterogeneity_table},
)
