"""Models beside themselves and beside each other: runs, input, confidence, places, versions."""

from __future__ import annotations

import math
from collections.abc import Iterable

from analysis.figures.drawing.axes import condition_name, rater_names
from analysis.presentation.table import (
    EMPTY,
    MOST_ROWS,
    ReportTable,
    TableRow,
    condition_cell,
    estimate_of,
    estimate_with_range,
    named,
    percent_cell,
    report_table,
    whole,
)
from analysis.presentation.wording import Row, number, rows_by, rows_of
from analysis.results import Results
from analysis.statistics.accuracy.calibration import AUC, BRIER, BY_CHANCE, ECE, OVERCONFIDENCE
from analysis.statistics.accuracy.model_runs import MEAN, RAW, VARIANCE
from analysis.translation import later, said, t

_SURENESS = {
    BRIER: later("Brier score"),
    ECE: later("Calibration error"),
    BY_CHANCE: later("By chance"),
    AUC: "AUC",
    OVERCONFIDENCE: later("Overconfidence"),
}
_MOST_PLACES = 6


def runs_overview(results: Results) -> list[ReportTable]:
    """Show how a model's runs agree, what its input changes, and what its confidence is worth."""
    names = rater_names(results.bundle)
    of_runs = rows_by(results, "model_runs", ("model_id", "condition"), of="measure")
    runs: list[TableRow] = [
        (
            (named(names, model),),
            (
                whole(number(found[RAW], "n_runs")),
                whole(number(found[MEAN], "n_items")),
                estimate_of(found[RAW]),
                percent_cell(number(found[MEAN], "estimate")),
                percent_cell(math.sqrt(number(found[VARIANCE], "estimate"))),
            ),
        )
        for (model, _), found in of_runs.items()
    ]
    return [
        report_table(
            name="model-runs",
            title=t("Models beside themselves: runs"),
            note=t(
                "Over the cases that every run has. The standard deviation is what the chance of"
                " one run adds to its accuracy."
            ),
            file="tables/model_runs.csv",
            header=(
                t("Model"),
                t("Runs"),
                "n",
                t("Agreement and CI"),
                t("Mean accuracy"),
                t("SD of a run"),
            ),
            rows=runs,
        ),
        _shown(results),
        _calibration(results),
    ]


def _shown(results: Results) -> ReportTable:
    names = rater_names(results.bundle)
    rows = rows_of(results, "model_conditions")
    return report_table(
        name="model-conditions",
        title=t("Models beside themselves: what they were shown"),
        note=t(
            "Accuracy as the readers saw the cases, less that under the condition, overall and by"
            " task. Same answer: of the cases answered both times, the share with the same answer."
        ),
        file="tables/model_conditions.csv",
        header=(
            t("Model"),
            t("Shown"),
            t("Cases"),
            "n",
            t("As readers"),
            t("So"),
            t("Difference and CI"),
            t("Same answer"),
        ),
        rows=[
            (
                (named(names, str(row["model_id"])),),
                (
                    condition_name(str(row["condition_b"])),
                    _group(row),
                    whole(number(row, "n")),
                    percent_cell(number(row, "accuracy_a")),
                    percent_cell(number(row, "accuracy_b")),
                    _difference(row),
                    _percent(row, ("same_answer", "same_low", "same_high")),
                ),
            )
            for row in rows[:MOST_ROWS]
        ],
        total=len(rows),
    )


def side_by_side_overview(results: Results) -> list[ReportTable]:
    """Show every two models beside each other, overall and by task."""
    names = rater_names(results.bundle)
    rows = rows_of(results, "model_pairs")
    return [
        report_table(
            name="model-pairs",
            title=t("Models side by side"),
            note=t(
                "Difference: first minus second, in points. Only one correct: cases that only the"
                " first, and only the second, answered correctly; of two versions of a model, what"
                " became worse and what became better."
            ),
            file="tables/model_pairs.csv",
            header=(
                t("Models"),
                t("Condition"),
                t("Cases"),
                "n",
                t("First %"),
                t("Second %"),
                t("Difference and CI"),
                t("Only first correct"),
                t("Only second correct"),
            ),
            rows=[
                (
                    tuple(named(names, str(row[side])) for side in ("rater_a", "rater_b")),
                    (
                        condition_cell(str(row["condition"])),
                        _group(row),
                        whole(number(row, "n")),
                        percent_cell(number(row, "accuracy_a")),
                        percent_cell(number(row, "accuracy_b")),
                        _difference(row),
                        whole(number(row, "only_a_correct")),
                        whole(number(row, "only_b_correct")),
                    ),
                )
                for row in rows[:MOST_ROWS]
            ],
            total=len(rows),
        )
    ]


def positions_overview(results: Results) -> list[ReportTable]:
    """Show whether raters prefer a place among the options."""
    names = rater_names(results.bundle)
    rows = [row for row in rows_of(results, "option_positions") if _is_early(row)]
    by_rater: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        key = (str(row["rater_id"]), str(row["condition"]))
        by_rater.setdefault(key, {})[int(number(row, "place"))] = row
    places = sorted({int(number(row, "place")) for row in rows})
    return [
        report_table(
            name="option-positions",
            title=t("Place of the option chosen"),
            note=t(
                "How much more often each place among the options, as shown, was chosen than it"
                " was correct: points of the answers, with CI. Above 0 where a rater prefers the"
                " place. Accuracy by place is in the file."
            ),
            file="tables/option_positions.csv",
            header=(t("Rater"), t("Condition"), *(t("Option {n}", n=place) for place in places)),
            rows=[
                (
                    (named(names, rater),),
                    (condition_cell(condition), *(_at(of_rater.get(place)) for place in places)),
                )
                for (rater, condition), of_rater in by_rater.items()
            ],
        )
    ]


def _is_early(row: Row) -> bool:
    return number(row, "place") <= _MOST_PLACES


def _at(row: Row | None) -> str:
    return _percent(row, ("difference", "ci_low", "ci_high")) if row else EMPTY


def _group(row: Row) -> str:
    return t("all") if str(row["by"]) == "overall" else str(row["group"])


def _difference(row: Row) -> str:
    """Write a paired difference with the interval over patients where there is one."""
    clustered = not math.isnan(number(row, "cluster_ci_low"))
    limits = ("cluster_ci_low", "cluster_ci_high") if clustered else ("ci_low", "ci_high")
    return _percent(row, ("difference", *limits))


def _percent(row: Row, columns: Iterable[str]) -> str:
    return estimate_with_range(*(100 * number(row, column) for column in columns))


def _calibration(results: Results) -> ReportTable:
    names = rater_names(results.bundle)
    found = rows_by(results, "model_calibration", ("model_id", "condition"), of="measure")
    return report_table(
        name="model-calibration",
        title=t("Models beside themselves: confidence"),
        note=t(
            "Over the answers with a confidence. Brier score and calibration error (ten bins) are"
            " 0 at best; by chance is the error of a calibrated model with as many answers; the AUC"
            " is"
            " the chance that a correct answer has the higher confidence than an incorrect one;"
            " overconfidence is mean confidence less accuracy."
        ),
        file="tables/model_calibration.csv",
        header=(t("Model"), "n", *map(said, _SURENESS.values())),
        rows=[
            (
                (named(names, model),),
                (
                    whole(number(of_model[BRIER], "n")),
                    *(estimate_of(of_model[measure]) for measure in _SURENESS),
                ),
            )
            for (model, _), of_model in found.items()
        ],
    )
