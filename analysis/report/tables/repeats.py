"""Readers against themselves, and what lies behind each kappa: prevalence and bias."""

from __future__ import annotations

import math

from analysis.figures.drawing.names import rater_names
from analysis.report.tables.agreement import MEASURE_WORDS
from analysis.report.tables.table import (
    EMPTY,
    MOST_ROWS,
    ReportTable,
    TableRow,
    estimate_cell,
    estimate_with_range,
    named,
    percent_cell,
    report_table,
)
from analysis.report.wording.numbers import rounded
from analysis.report.wording.rows import Row, number, rows_of
from analysis.results import Results
from analysis.statistics.accuracy.calibration import AUC, BRIER, BY_CHANCE, ECE, OVERCONFIDENCE
from analysis.statistics.accuracy.model_runs import MEAN, RAW, VARIANCE
from analysis.statistics.agreement.pairs.pairing import PairKind

_DIFFERENCE = ("difference", "ci_low", "ci_high")
_SURENESS = {
    BRIER: "Brier score",
    ECE: "Calibration error",
    BY_CHANCE: "By chance",
    AUC: "AUC",
    OVERCONFIDENCE: "Overconfidence",
}
OF_INDICES = {"error_consistency": "error consistency", "kappa": "kappa"}


def repeats_overview(results: Results) -> list[ReportTable]:
    """Show how each rater agrees with his or her own second reading."""
    names = rater_names(results.bundle)
    rows: list[TableRow] = [
        (
            (named(names, str(row["rater_id"])),),
            (
                str(row["condition"]) or EMPTY,
                MEASURE_WORDS.get(str(row["measure"]), str(row["measure"])),
                f"{int(number(row, 'n')):,}",
                _estimate(row),
            ),
        )
        for row in rows_of(results, "intra_reader")
    ]
    return [
        report_table(
            name="intra-reader",
            title="Agreement with oneself: first and second reading",
            note="Over the cases that were read twice; estimate and interval.",
            file="tables/intra_reader.csv",
            header=("Rater", "Condition", "Measure", "n", "Estimate and CI"),
            rows=rows,
        )
    ]


def runs_overview(results: Results) -> list[ReportTable]:
    """Show how a model's runs agree, what its input changes, and what its confidence is worth."""
    names = rater_names(results.bundle)
    of_runs: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows_of(results, "model_runs"):
        key = (str(row["model_id"]), str(row["condition"]))
        of_runs.setdefault(key, {})[str(row["measure"])] = row
    runs: list[TableRow] = [
        (
            (named(names, model),),
            (
                f"{int(number(found[RAW], 'n_runs')):,}",
                f"{int(number(found[MEAN], 'n_items')):,}",
                _estimate(found[RAW]),
                percent_cell(number(found[MEAN], "estimate")),
                percent_cell(math.sqrt(number(found[VARIANCE], "estimate"))),
            ),
        )
        for (model, _), found in of_runs.items()
    ]
    shown: list[TableRow] = [
        (
            (named(names, str(row["model_id"])),),
            (
                str(row["condition_b"]),
                f"{int(number(row, 'n')):,}",
                percent_cell(number(row, "accuracy_a")),
                percent_cell(number(row, "accuracy_b")),
                estimate_with_range(*(100 * number(row, c) for c in _DIFFERENCE)),
            ),
        )
        for row in rows_of(results, "model_conditions")
    ]
    return [
        report_table(
            name="model-runs",
            title="Models beside themselves: runs",
            note="Over the cases that every run has. The standard deviation is what the chance of"
            " one run adds to its accuracy.",
            file="tables/model_runs.csv",
            header=("Model", "Runs", "n", "Agreement and CI", "Mean accuracy", "SD of a run"),
            rows=runs,
        ),
        report_table(
            name="model-conditions",
            title="Models beside themselves: what they were shown",
            note="Accuracy as the readers saw the cases, less that under the condition.",
            file="tables/model_conditions.csv",
            header=("Model", "Shown", "n", "As readers", "So", "Difference and CI"),
            rows=shown,
        ),
        _calibration(results),
    ]


def _calibration(results: Results) -> ReportTable:
    names = rater_names(results.bundle)
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows_of(results, "model_calibration"):
        key = (str(row["model_id"]), str(row["condition"]))
        found.setdefault(key, {})[str(row["measure"])] = row
    return report_table(
        name="model-calibration",
        title="Models beside themselves: confidence",
        note="Over the answers with a confidence. Brier score and calibration error (ten bins) are"
        " 0 at best; by chance is the error of a calibrated model with as many answers; the AUC is"
        " the chance that a correct answer has the higher confidence than an incorrect one;"
        " overconfidence is mean confidence less accuracy.",
        file="tables/model_calibration.csv",
        header=("Model", "n", *_SURENESS.values()),
        rows=[
            (
                (named(names, model),),
                (
                    f"{int(number(of_model[BRIER], 'n')):,}",
                    *(_estimate(of_model[measure]) for measure in _SURENESS),
                ),
            )
            for (model, _), of_model in found.items()
        ],
    )


def indices_overview(results: Results) -> list[ReportTable]:
    """Show prevalence and bias indices beside each kappa: all items, and sets of two options."""
    ranks = {kind.value: rank for rank, kind in enumerate(PairKind)}
    rows = [row for row in rows_of(results, "agreement_indices") if _is_shown(row)]
    rows.sort(key=lambda row: (ranks[row["pair_kind"]], str(row["scope"]) != "all"))
    kappas = _kappas(results, {str(row["scope"]) for row in rows[:MOST_ROWS]})
    return [
        report_table(
            name="agreement-indices",
            title="Prevalence and bias behind each kappa",
            note="Prevalence: how unequal the two categories are, from 0 to 1; bias: the"
            " difference between the two raters' shares. A kappa is low where prevalence is"
            " unequal, however often the raters agree (Byrt, Bishop and Carlin 1993). Tasks are in"
            " the file.",
            file="tables/agreement_indices.csv",
            header=("Pair", "Condition", "Items", "Measure", "n", "Kappa", "Prevalence", "Bias"),
            rows=[_index_row(results, row, kappas) for row in rows[:MOST_ROWS]],
            total=len(rows),
        )
    ]


def _is_shown(row: Row) -> bool:
    return str(row["scope"]) == "all" or str(row["measure"]) == "kappa"


def _key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[c]) for c in ("rater_a", "rater_b", "condition", "scope", "measure"))


def _kappas(results: Results, scopes: set[str]) -> dict[tuple[str, ...], Row]:
    return {
        _key(row): row
        for scope in sorted(scopes)
        for measure in OF_INDICES
        for row in rows_of(results, "agreement_pairs", scope=scope, measure=measure)
    }


def _index_row(results: Results, row: Row, kappas: dict[tuple[str, ...], Row]) -> TableRow:
    names = rater_names(results.bundle)
    cells = (
        str(row["condition"]) or EMPTY,
        str(row["scope"]).removeprefix("option_set="),
        OF_INDICES.get(str(row["measure"]), str(row["measure"])),
        f"{int(number(row, 'n')):,}",
        _estimate(kappas.get(_key(row), {})),
        *(rounded(number(row, f"{one}_index"), 2) for one in ("prevalence", "bias")),
    )
    return (named(names, str(row["rater_a"])), named(names, str(row["rater_b"]))), cells


def _estimate(row: Row) -> str:
    if not row:
        return EMPTY
    estimate, low, high = (number(row, column) for column in ("estimate", "ci_low", "ci_high"))
    return estimate_cell(estimate, low, math.nan if math.isnan(low) else high)
