"""Items asked without options: `open_ended.csv`, and the gap to multiple choice: `open_gap.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.arrays import Floats, Ints
from analysis.bundle.model import Bundle
from analysis.figures.drawing.axes import rater_names, rows_in_condition
from analysis.figures.robustness import differences_chart, task_panels
from analysis.options import Options
from analysis.presentation.captions import case_range, interval_methods
from analysis.presentation.table import (
    ReportTable,
    condition_cell,
    percent_cell,
    percent_with_range,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import cell_number, join_sentences, rows_by
from analysis.readings.clusters import (
    PERCENTILE_METHOD,
    WIDENED_METHOD,
    is_widened,
    percentile_limits,
    ratio,
    reason_too_few,
    sums_by_cluster,
)
from analysis.readings.open_answers import ANSWER, counted_answers
from analysis.results import Results
from analysis.statistics.accuracy.accuracy import FEW_RESAMPLES, WILSON
from analysis.statistics.accuracy.means import mean_over_items, wilson_interval
from analysis.statistics.comparison.paired_tests import tango_interval
from analysis.statistics.statistic import Column, Figure, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, localised, t, translated

CORRECT, PARTLY, INCORRECT, SCORE = "correct", "partly_correct", "incorrect", "score"
CREDIT_OF_MEASURE = {CORRECT: 1.0, PARTLY: 0.5, INCORRECT: 0.0}
STRICT, HALF_CREDIT = "strict", "half credit"
TANGO = later("Tango's score interval")
SE_AND_INTERVAL = "standard error and interval"
NO_VARIATION = later("interval: every item has the same value")
NONE_SCORED = later("none of these answers is scored")
NO_ITEM_BOTH_WAYS = later("no scored item was asked both ways")


def has_open_answers(study: Study) -> bool:
    """Return whether there are free-text answers."""
    return len(study.bundle.open_answers) > 0


def open_ended(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Estimate the correctness of each rater's free-text answers and explanations.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables, with answers in words and their scores.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `OPEN_ENDED`; overall and by task, four rows each: the shares `correct`
        (strict accuracy), `partly_correct` and `incorrect`, and `score`, the mean with 1 for
        correct, 0.5 for partly correct and 0 for incorrect answers.

    Notes
    -----
    `n` is the number of scored and of missing answers. Missing answers are incorrect; `n_missing`
    is their number. Answers without a score are counted in `n_unscored` and excluded from all
    estimates. Intervals are percentiles over resampled patients if any patient has several items;
    otherwise they are Wilson's for the shares, and use t over items for `score`.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = open_ended(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("xy"), "truth": "A"}),
    ...     pd.DataFrame({"rater_id": "R1", "item_id": list("xy"), "answer": list("AA")}),
    ...     open_answers=pd.DataFrame({"answer_id": list("ab"), "kind": "answer", "rater_id": "R1",
    ...                                "item_id": list("xy"), "words": ["effusion", ""]}),
    ...     open_scores=pd.DataFrame({"answer_id": "a", "scorer": ["S1", "S2"], "turn": [1, 2],
    ...                               "score": "partly correct"}),
    ... ))
    >>> for row in table[["measure", "n", "n_missing", "estimate"]].values.tolist():
    ...     print(*row)
    correct 2 1 0.0
    partly_correct 2 1 0.5
    incorrect 2 1 0.5
    score 2 1 0.25
    """
    study = study_of(study, options)
    scores = counted_answers(study.bundle, study.matrix)
    rows = [
        {**key, "by": by, "group": group, **row}
        for key, answers in _answers_by_rater(scores)
        for by, group, items in _item_groups(study)
        for row in _measure_rows(study, answers.loc[answers["item"].isin(items)])
    ]
    return pd.DataFrame(rows, columns=OPEN_ENDED.header)


def open_gap(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Estimate a rater's difference in accuracy with and without options, on the same items.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables, with answers in words and their scores.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `OPEN_GAP`; overall and by task, for every condition with options, a row with
        the `scoring` `strict` (only correct answers count) and one with `half credit` (partly
        correct answers count half).

    Notes
    -----
    `difference` is `multiple_choice` minus `open_ended`, paired, over the items that were asked
    with and without options and whose free-text answer is scored; missing answers are incorrect.
    Intervals are percentiles over resampled patients if any patient has several items; otherwise
    they are Tango's score interval for `strict`, and use t over items for `half credit`.
    """
    study = study_of(study, options)
    scores = counted_answers(study.bundle, study.matrix)
    rows = [
        {**key, "by": by, "group": group, **row}
        for key, answers, column in _answers_both_ways(study, scores)
        for by, group, items in _item_groups(study)
        for row in _gap_rows(study, answers.loc[answers["item"].isin(items)], column)
    ]
    return pd.DataFrame(rows, columns=OPEN_GAP.header)


def _answers_by_rater(scores: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    keys = ["rater_id", "rater_kind", "kind", "condition"]
    for key, answers in scores.groupby(keys, sort=False):
        yield dict(zip(keys, map(str, key), strict=True)), answers


def _item_groups(study: Study) -> Iterator[tuple[str, str, Ints]]:
    yield "overall", "micro", np.arange(len(study.matrix.truth))
    for name, items in study.matrix.members("task").items():
        yield "task", name, items


def _measure_rows(study: Study, answers: pd.DataFrame) -> Iterator[dict[str, Any]]:
    if not len(answers):
        return
    scored = answers.loc[answers["value"].notna()]
    value, clusters = scored["value"].to_numpy(), study.matrix.clusters[scored["item"]]
    counts = {
        "n": len(scored),
        "n_missing": int(scored["missing"].sum()),
        "n_unscored": len(answers) - len(scored),
    }
    alpha, n = study.options.alpha, np.array(float(len(scored)))
    for measure, level in CREDIT_OF_MEASURE.items():
        has_level = (value == level).astype(float)
        low, high = wilson_interval(has_level.sum(), n, alpha)
        wilson = {"ci_low": float(low), "ci_high": float(high), "method": WILSON}
        yield {
            "measure": measure,
            **counts,
            **_mean_with_interval(study, has_level, clusters, wilson),
        }
    yield {"measure": SCORE, **counts, **_mean_with_interval(study, value, clusters)}


def _answers_both_ways(
    study: Study, scores: pd.DataFrame
) -> Iterator[tuple[dict[str, str], pd.DataFrame, int]]:
    """Yield the rater, the free-text answers, and the column of readings with options."""
    for key, answers in _answers_by_rater(scores.loc[scores["kind"] == ANSWER]):
        for column, reads in enumerate(study.matrix.columns):
            if reads.rater_id == key["rater_id"] and reads.condition != key["condition"]:
                names = {"condition": reads.condition, "open_condition": key["condition"]}
                yield {**key, **names}, answers, column


def _gap_rows(study: Study, answers: pd.DataFrame, column: int) -> Iterator[dict[str, Any]]:
    matrix = study.matrix
    own_answers = answers.loc[matrix.is_counted[answers["item"], column]]
    if not len(answers):
        return
    scored = own_answers.loc[own_answers["value"].notna()]
    items, value = scored["item"].to_numpy(), scored["value"].to_numpy()
    is_choice_correct = matrix.correct[items, column].astype(float)
    for scoring, open_score in ((STRICT, (value == 1).astype(float)), (HALF_CREDIT, value)):
        only_choice, only_open = (
            (is_choice_correct > open_score).sum(),
            (is_choice_correct < open_score).sum(),
        )
        tango = None
        if scoring == STRICT:
            first, second, n = (np.array(float(k)) for k in (only_choice, only_open, len(scored)))
            low, high = tango_interval(first, second, n, study.options.alpha)
            tango = {"ci_low": float(low), "ci_high": float(high), "method": TANGO}
        cells = _mean_with_interval(
            study,
            is_choice_correct - open_score,
            matrix.clusters[items],
            tango,
            NO_ITEM_BOTH_WAYS,
            -1.0,
        )
        yield {
            "scoring": scoring,
            "n": len(scored),
            "n_unscored": len(own_answers) - len(scored),
            "multiple_choice": is_choice_correct.mean() if len(scored) else np.nan,
            "open_ended": open_score.mean() if len(scored) else np.nan,
            "difference": cells.pop("estimate"),
            **cells,
        }


def _mean_with_interval(
    study: Study,
    values: Floats,
    clusters: Ints,
    analytic: dict[str, Any] | None = None,
    no_items_reason: str = NONE_SCORED,
    lowest: float = 0.0,
) -> dict[str, Any]:
    """Return a mean with its interval, over patients if they have several items.

    If every patient has one item, the interval is `analytic`, or t over items if that is None.
    """
    if study.weights is None or not len(values):
        item_numbers = np.arange(len(values))
        limits = (lowest, 1.0)
        cells = mean_over_items(
            values,
            item_numbers,
            study.options.alpha,
            no_items_reason=no_items_reason,
            limits=limits,
        )
        cells.pop("se")
        if analytic is not None and len(values):
            return cells | analytic | {"undefined_because": ""}
        reason = cells["undefined_because"].replace(SE_AND_INTERVAL, "interval")
        return cells | {"undefined_because": reason}
    order = np.argsort(clusters, kind="stable")
    pairs = np.stack([values, np.ones(len(values))], axis=1)[order]
    sums, present = sums_by_cluster(pairs, clusters[order])
    resampled_sums = sums.T @ study.weights[:, present].T
    n_patients = np.array(len(present))
    low, high, _ = percentile_limits(
        ratio(resampled_sums[0], resampled_sums[1]), study.options.alpha, n_patients
    )
    few = reason_too_few(len(present), clustered=True)
    reason = f"interval: {few}" if few else FEW_RESAMPLES if np.isnan(low) else ""
    if not reason and np.ptp(values) == 0:  # all resamples are equal
        reason = NO_VARIATION
    return {
        "estimate": float(values.mean()),
        "ci_low": np.nan if reason else float(low),
        "ci_high": np.nan if reason else float(high),
        "method": WIDENED_METHOD if is_widened(n_patients) else PERCENTILE_METHOD,
        "undefined_because": reason,
    }


KIND_WORDS = {"answer": later("Answers"), "explanation": later("Explanations")}


def open_ended_table(results: Results) -> Iterator[ReportTable]:
    """Show the scores of free-text answers."""
    names = rater_names(results.bundle)
    keys = ("rater_id", "kind", "condition", "by", "group")
    groups = rows_by(results, "open_ended", keys, of="measure")
    yield report_table(
        name="open-ended",
        title=t("Answers without options"),
        note=t(
            "Scored by people who did not know whose words they read. Not answered: incorrect."
            " Not scored: excluded. Mean score: partly correct counts half. Percent."
        ),
        header=(
            t("Rater"),
            t("Condition"),
            t("Kind"),
            t("Cases"),
            "n",
            t("Not answered"),
            t("Not scored"),
            t("Correct (CI)"),
            t("Partly"),
            t("Incorrect"),
            t("Mean score (CI)"),
        ),
        rows=[
            (
                (rater_name(names, rater),),
                (
                    condition_cell(condition),
                    translated(KIND_WORDS[kind]),
                    t("All") if by == "overall" else group,
                    *(
                        whole_number(cell_number(measures[CORRECT], column))
                        for column in ("n", "n_missing", "n_unscored")
                    ),
                    percent_with_range(measures[CORRECT], "estimate"),
                    percent_cell(cell_number(measures[PARTLY], "estimate")),
                    percent_cell(cell_number(measures[INCORRECT], "estimate")),
                    percent_with_range(measures[SCORE], "estimate"),
                ),
            )
            for (rater, kind, condition, by, group), measures in groups.items()
        ],
    )


def open_gap_table(results: Results) -> Iterator[ReportTable]:
    """Show the accuracy that raters lose without options."""
    names = rater_names(results.bundle)
    keys = ("rater_id", "condition", "open_condition", "by", "group")
    groups = rows_by(results, "open_gap", keys, of="scoring")
    yield report_table(
        name="open-gap",
        title=t("Multiple choice minus open-ended"),
        note=join_sentences(
            [
                t(
                    "Paired, on the cases asked both ways. Strict: only correct counts. Half"
                    " credit: partly correct counts half. Percent and percentage points."
                ),
                t("CI: over patients.")
                if results.clustered
                else t("CI: Tango (strict), t (half credit)."),
            ]
        ),
        header=(
            t("Rater"),
            t("Condition"),
            t("Cases"),
            "n",
            t("Multiple choice"),
            t("Open-ended"),
            t("Gap, strict (CI)"),
            t("Gap, half credit (CI)"),
        ),
        rows=[
            (
                (rater_name(names, rater),),
                (
                    condition_cell(condition),
                    t("All") if by == "overall" else group,
                    f"{int(cell_number(scorings[STRICT], 'n')):,}",
                    percent_cell(cell_number(scorings[STRICT], "multiple_choice")),
                    percent_cell(cell_number(scorings[STRICT], "open_ended")),
                    percent_with_range(scorings[STRICT], "difference"),
                    percent_with_range(scorings[HALF_CREDIT], "difference"),
                ),
            )
            for (rater, condition, _, by, group), scorings in groups.items()
        ],
    )


OPEN_ENDED = Statistic(
    name="open_ended",
    meaning="Scores of a rater's answers in words, by one measure.",
    columns=(
        *shared_columns("rater_id rater_kind"),
        Column("kind", "`answer` or `explanation`."),
        *shared_columns("condition by group measure"),
        Column("n", "Scored items.", "count"),
        Column("n_missing", "Items without an answer, which count as incorrect.", "count"),
        Column("n_unscored", "Answers without a score, which do not count.", "count"),
        *shared_columns("estimate ci_low ci_high method undefined_because"),
    ),
    compute=open_ended,
    applies=has_open_answers,
    methods={
        200: Method(
            "Answers without options",
            "Cases were also answered in words, without options. Scorers who did not know whose"
            " words they read judged them as correct, partly correct or incorrect: two blind to"
            " each other, and a third where they differed; the score is the one that two of"
            " them gave, and partly correct where all three differ. Identical answers were judged"
            " once. Missing answers are incorrect; answers without a score"
            " are counted separately and excluded. Partly correct counts half in the mean"
            " score and nothing in strict accuracy.",
        )
    },
    tables={110: open_ended_table},
)


def open_gap_figures(results: Results, condition: str) -> Iterator[Figure]:
    """Show multiple choice minus open-ended for every rater, in a figure for each scoring."""
    gaps = results.tables["open_gap"]
    table = gaps.assign(panel=task_panels(gaps))
    percent = results.options.confidence_percent
    for scoring in (STRICT, HALF_CREDIT):
        rows = rows_in_condition(table.loc[table["scoring"] == scoring], condition)
        yield Figure(
            "robustness",
            f"open-gap-{scoring.replace(' ', '-')}",
            t("Multiple choice minus open-ended, strict")
            if scoring == STRICT
            else t("Multiple choice minus open-ended, half credit"),
            _open_gap_caption(rows, scoring, percent) if len(rows) else "",
            differences_chart(
                rows, axis_title=t("Difference, points"), names=rater_names(results.bundle)
            ),
        )


def _open_gap_caption(rows: pd.DataFrame, scoring: str, percent: str) -> str:
    """Describe the figure of multiple choice minus open-ended."""
    values = {
        "cases": case_range(rows["n"]),
        "percent": localised(percent),
        "methods": interval_methods(rows),
    }
    if scoring == "strict":
        return t(
            "Accuracy on multiple choice minus that without options on the same cases, where partly"
            " correct counts as incorrect, {cases}, with {percent} % intervals ({methods}).",
            **values,
        )
    return t(
        "Accuracy on multiple choice minus that without options on the same cases, where partly"
        " correct counts half, {cases}, with {percent} % intervals ({methods}).",
        **values,
    )


def open_gap_methods(results: Results) -> str:
    """Describe the intervals of the difference."""
    intervals = (
        "intervals over patients."
        if results.clustered
        else "Tango's score interval [@tango1998] for strict accuracy and t for the mean score."
    )
    return (
        "Multiple choice minus open-ended is paired, on the cases asked both ways, with"
        f" {intervals}"
    )


OPEN_GAP = Statistic(
    name="open_gap",
    meaning="A rater's accuracy with options minus that without, on the same items.",
    columns=(
        *shared_columns("rater_id rater_kind condition"),
        Column("open_condition", "Condition of the answers in words."),
        *shared_columns("by group"),
        Column("scoring", "`strict` or `half credit` for partly correct answers."),
        *shared_columns("n"),
        Column("n_unscored", "Answers without a score, which do not count.", "count"),
        Column("multiple_choice", "Accuracy with options.", "proportion"),
        Column("open_ended", "Accuracy, or mean score, without options.", "proportion"),
        Column("difference", "Accuracy with options minus that without.", "proportion"),
        *shared_columns("ci_low ci_high method undefined_because"),
    ),
    compute=open_gap,
    applies=has_open_answers,
    methods={210: Method("Answers without options", open_gap_methods)},
    tables={112: open_gap_table},
    figures={120: open_gap_figures},
)
