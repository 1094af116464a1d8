"""Times of the same readers under two conditions: the table `time_conditions.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.arrays import Floats
from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    p_cell,
    report_table,
    two_conditions,
    whole_number,
)
from analysis.presentation.wording import (
    Row,
    cell_number,
    format_number,
    format_range,
    join_sentences,
    rows_of,
)
from analysis.results import Results
from analysis.statistics.claims import displayed_claim, narrower_notes
from analysis.statistics.merits import mean_of_own_items
from analysis.statistics.mrmc.conditions import Contrast, contrasts_of
from analysis.statistics.mrmc.obuchowski_rockette import (
    NEGATIVE_COVARIANCE,
    Claim,
    Inference,
    join_nonempty,
    method_of_claim,
    single_treatment,
    wider_inference,
)
from analysis.statistics.statistic import Column, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t, translated

READING, SECOND_PART, TOTAL = "reading", "second part", "total"
NO_PAIR = "a reader has no item with a time under both conditions"
METHODS = {
    Claim.THESE_READERS: "Obuchowski-Rockette of log time ratios, readers fixed; t, C - 1",
    Claim.READERS_LIKE_THESE: (
        "Obuchowski-Rockette of log time ratios, readers random; t, Hillis degrees of freedom"
    ),
}


def has_two_times(study: Study) -> bool:
    """Return whether any reader has times for the same item under two conditions."""
    times = _log_times(study)
    return any(
        bool((np.isfinite(times[:, contrast.a]) & np.isfinite(times[:, contrast.b])).any())
        for contrast in contrasts_of(study.matrix)
        if len(contrast.a)
    )


def time_conditions(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare reading times between each pair of conditions, paired by reader and item.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables, with `response_ms`.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `TIME_CONDITIONS`; in order of conditions, measure and claim. `ratio` is the
        time under condition a divided by that under condition b.

    Notes
    -----
    A pair is a reader's two measured times for an item, both above 0. With :math:`d_j` the mean of
    ln(a / b) over reader j's pairs, `ratio` is :math:`\exp(\bar d)`. Claims are those of
    `single_treatment`, with linearised covariances of the means over patients. In sequential
    reading, the aided time begins when the model's answer is shown: `second part` compares only
    this time with the unaided time, `total` compares the sum of both times with the unaided time.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = time_conditions(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["p", "q", "r"], "truth": "A"}),
    ...     pd.DataFrame({
    ...         "rater_id": "R1", "item_id": ["p", "q", "r"] * 2, "answer": "A",
    ...         "condition": ["aided"] * 3 + ["unaided"] * 3,
    ...         "response_ms": [500, 900, 1000, 1000, 1000, 1000],
    ...     }),
    ... ))
    >>> table[["measure", "claim", "n_pairs", "ratio"]].round(3).values.tolist()[0]
    ['reading', 'these readers', 3, 0.766]
    """
    study = study_of(study, options)
    times = _log_times(study)
    rows = [
        row
        for contrast in contrasts_of(study.matrix)
        if len(contrast.a)
        for measure, first, second in _comparisons(study, contrast, times)
        for row in _claim_rows(study, contrast, measure, (first, second))
    ]
    return pd.DataFrame(rows, columns=TIME_CONDITIONS.header)


def _log_times(study: Study) -> Floats:
    """Return the logarithm of each time in ms, shape (n_items, n_columns); nan without a time."""
    times, matrix = study.circumstances, study.matrix
    logs = np.full(matrix.answers.shape, np.nan)
    is_positive = times.response_ms > 0
    logs[times.item[is_positive], times.column[is_positive]] = np.log(
        times.response_ms[is_positive]
    )
    return logs


def _comparisons(
    study: Study, contrast: Contrast, times: Floats
) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield the name of each comparison, and the log times under both conditions."""
    a, b = times[:, contrast.a], times[:, contrast.b]
    if not _is_sequential(study, contrast):
        yield READING, a, b
        return
    yield SECOND_PART, a, b
    yield TOTAL, np.log(np.exp(a) + np.exp(b)), b


def _is_sequential(study: Study, contrast: Contrast) -> bool:
    """Return whether the first condition is the second part of sequential reading."""
    readings = study.bundle.readings
    stages = readings.loc[readings["stage"].astype(str) == "2", "condition"].unique()
    return set(stages) == {contrast.condition_a} and contrast.condition_b == "unaided"


def _claim_rows(
    study: Study, contrast: Contrast, measure: str, times: tuple[Floats, Floats]
) -> Iterator[dict[str, Any]]:
    first, second = times
    is_pair = np.isfinite(first) & np.isfinite(second)
    items = is_pair.any(axis=1)
    clusters = study.matrix.clusters[items]
    ratios = np.where(is_pair, first - second, 0.0)[items]
    merits = mean_of_own_items(ratios, is_pair[items], clusters, NO_PAIR)
    df = float(max(len(np.unique(clusters)) - 1, 1))
    result = single_treatment(merits, study.options.alpha, items_df=df)
    random, narrower = wider_inference(result.random_readers, result.fixed_readers)
    negative = NEGATIVE_COVARIANCE if result.cov2 < 0 else ""
    for claim, inference, note in (
        (Claim.THESE_READERS, result.fixed_readers, negative),
        (Claim.READERS_LIKE_THESE, random, join_nonempty([narrower, negative])),
    ):
        yield {
            "condition_a": contrast.condition_a,
            "condition_b": contrast.condition_b,
            "measure": measure,
            "claim": claim.value,
            "n_readers": len(contrast.a),
            "n_items": int(items.sum()),
            "n_pairs": int(is_pair.sum()),
            "time_a_ms": _mean_time(first, is_pair),
            "time_b_ms": _mean_time(second, is_pair),
            **_ratio_cells(inference),
            "method": method_of_claim(METHODS, claim, narrower),
            "note": note,
        }


def _mean_time(times: Floats, is_pair: Any) -> float:
    """Return the geometric mean, over readers, of each reader's geometric mean time."""
    means = [
        np.mean(times[is_pair[:, j], j]) for j in range(is_pair.shape[1]) if is_pair[:, j].any()
    ]
    return float(np.exp(np.mean(means))) if means else math.nan


def _ratio_cells(inference: Inference) -> dict[str, Any]:
    low, high = (
        math.exp(limit) if limit < LARGEST_LOG else math.inf
        for limit in (inference.ci_low, inference.ci_high)
    )
    reason = inference.undefined_because
    is_defined = not math.isnan(inference.estimate)
    return {
        "ratio": math.exp(inference.estimate),
        "ci_low": low if is_defined else math.nan,
        "ci_high": high if is_defined else math.nan,
        "df": inference.df,
        "p": inference.p,
        "undefined_because": f"interval and p: {reason}" if reason and is_defined else reason,
    }


LARGEST_LOG = 700.0
"""The largest logarithm whose exponential is a finite number."""


MEASURE_WORDS = {
    READING: later("time of a case"),
    SECOND_PART: later("second part alone"),
    TOTAL: later("both parts together"),
}


def time_conditions_table(results: Results) -> Iterator[ReportTable]:
    """Show the ratio of reading times under two conditions."""
    rows = rows_of(results, "time_conditions")
    yield report_table(
        name="time-conditions",
        title=t("Reading times under two conditions"),
        note=join_sentences(
            [
                t(
                    "Ratio: time under the first condition over that under the second, of the same"
                    " reader and case (geometric means). Below 1: less time under the first."
                ),
                narrower_notes(rows),
            ]
        ),
        header=(
            t("Conditions"),
            t("Time"),
            t("Claim"),
            t("Readers"),
            t("Pairs"),
            t("First, s"),
            t("Second, s"),
            t("Ratio"),
            t("CI"),
            "p",
        ),
        rows=[
            (
                two_conditions(row),
                _row_cells(row),
            )
            for row in rows
        ],
        in_paper=True,
    )


def _row_cells(row: Row) -> tuple[str, ...]:
    low, high = cell_number(row, "ci_low"), cell_number(row, "ci_high")
    return (
        translated(MEASURE_WORDS[str(row["measure"])]),
        displayed_claim(row),
        whole_number(cell_number(row, "n_readers")),
        whole_number(cell_number(row, "n_pairs")),
        format_number(cell_number(row, "time_a_ms") / 1000, 1),
        format_number(cell_number(row, "time_b_ms") / 1000, 1),
        format_number(cell_number(row, "ratio"), 2),
        "–" if math.isnan(low) else format_range(format_number(low, 2), format_number(high, 2)),
        p_cell(cell_number(row, "p")),
    )


TIME_CONDITIONS = Statistic(
    name="time_conditions",
    meaning="Reading times of the same readers and items under two conditions, under one claim.",
    columns=(
        *shared_columns("condition_a condition_b"),
        Column(
            "measure", "`reading`; in sequential reading `second part` (alone) and `total` (both)."
        ),
        *shared_columns("claim n_readers n_items"),
        Column("n_pairs", "Pairs of reader and item with times under both conditions.", "count"),
        Column("time_a_ms", "Geometric mean time under the first condition.", "ms"),
        Column("time_b_ms", "Geometric mean time under the second condition.", "ms"),
        Column("ratio", "First time divided by the second.", "ratio"),
        Column("ci_low", "Lower limit of the interval of `ratio`.", "ratio"),
        Column("ci_high", "Upper limit of the interval of `ratio`.", "ratio"),
        *shared_columns("df p method note undefined_because"),
    ),
    compute=time_conditions,
    applies=has_two_times,
    methods={
        612: Method(
            "Models of readings and times",
            "Times under two conditions are compared as ratios of the same reader and case, with"
            " readers fixed and readers random, by the method of Obuchowski and Rockette"
            " [@obuchowski1995; @hillis2007].",
        )
    },
    tables={225: time_conditions_table},
)
