"""The first part of the report: verdicts, a table of raters, and sentences about agreement."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pandas as pd

from analysis.bundle.model import PairKind, RaterKind
from analysis.bundle.protocol import shares_cases
from analysis.figures.agreement import pairs_in_condition
from analysis.figures.drawing.axes import condition_name, conditions_of, rater_names
from analysis.presentation.table import (
    EMPTY_CELL,
    ReportTable,
    TableRow,
    condition_cell,
    estimate_with_range,
    percent_cell,
    rater_name,
    report_table,
    row_label,
    whole_number,
)
from analysis.presentation.wording import (
    Row,
    case_count_range,
    cell_number,
    condition_phrase,
    format_number,
    format_range,
    has_several_conditions,
    headline_intervals,
    join_clauses,
    join_sentences,
    join_with_commas,
    rows_of,
)
from analysis.report.findings.endpoint import VerdictLine, verdict_lines
from analysis.report.findings.finding import MAX_CONDITIONS, confidence_percent
from analysis.results import Results
from analysis.statistics.claims import THESE_READERS, claim_words, narrower_notes
from analysis.statistics.verdicts import declared_plan
from analysis.translation import t, tn

# Number of rows that fit on page 1 of the PDF together with a figure.
MAX_PRINTED_RATERS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The first part of the report.

    Parameters
    ----------
    verdicts : list of VerdictLine
        A line for every declared endpoint, or a line stating that none was declared.
    raters : ReportTable
        The table of all raters.
    agreement : list of str
        A line for each condition; empty if no two raters have a defined agreement.
    """

    verdicts: list[VerdictLine]
    raters: ReportTable
    agreement: list[str]


def headline(results: Results) -> Headline:
    """Collect the first part of the report from the tables."""
    return Headline(
        verdicts=[
            replace(line, text=line.text.replace(" %", "\u00a0%"))
            for line in verdict_lines(results)
        ],
        raters=raters_table(results),
        agreement=agreement_lines(results),
    )


def raters_in_order(results: Results) -> pd.DataFrame:
    """Return a row for each rater and condition: readers before models, and the best first."""
    table = headline_intervals(results.tables["accuracy"])
    rows = table.loc[(table["by"] == "overall") & (table["group"] == "micro")]
    kinds = {kind.value: place for place, kind in enumerate(RaterKind)}
    return rows.assign(place=rows["rater_kind"].map(kinds)).sort_values(
        ["place", "condition", "accuracy"], ascending=[True, True, False], kind="stable"
    )


def raters_table(results: Results) -> ReportTable:
    """Return the table of the raters' accuracy, difference from readers, time, missing answers."""
    records = raters_in_order(results).to_dict("records")
    readers, models = (
        [{str(k): v for k, v in row.items()} for row in records if row["rater_kind"] == kind]
        for kind in RaterKind
    )
    confidence = confidence_percent(results)
    table = report_table(
        name="raters",
        title=t("All raters"),
        note=_note(results),
        file="tables/accuracy.csv",
        header=(
            t("Rater"),
            t("Condition"),
            "n",
            t("Accuracy,\u00a0% ({percent}\u00a0%\u00a0CI)", percent=confidence),
            t(
                "Difference\u00a0from readers,\u00a0points ({percent}\u00a0%\u00a0CI)",
                percent=confidence,
            ),
            t("Median time,\u00a0s"),
            t("Missing"),
        ),
        rows=[
            *(_rater_row(results, row) for row in readers),
            *_reader_mean_rows(results),
            *(_rater_row(results, row) for row in models),
        ],
        max_printed_rows=MAX_PRINTED_RATERS,
    )
    return table if has_several_conditions(results) else table.without_column(t("Condition"))


def declared_claim(results: Results) -> str:
    """Return the claim that differences of models refer to: the declared one, or these readers."""
    return declared_plan(results).claim or THESE_READERS


def _note(results: Results) -> str:
    models = narrower = ""
    claim = declared_claim(results)
    rows = rows_of(results, "reader_panel", metric="accuracy", claim=claim)
    if rows_of(results, "reader_panel", metric="accuracy"):
        models = t(
            "Difference: model minus the mean of the readers, for {readers}.",
            readers=claim_words(claim),
        )
        narrower = narrower_notes(rows)
    return join_sentences(
        [
            t("Readers first, each group in order of accuracy."),
            t("Intervals of accuracy: over patients.")
            if results.clustered
            else t("Intervals of accuracy: Wilson."),
            models,
            narrower,
            t("Missing: cases without an answer; for a reader, of the cases that were shown.")
            if shares_cases(results.bundle.protocol)
            else t("Missing: assigned cases without an answer."),
        ]
    )


def _rater_row(results: Results, row: Row) -> TableRow:
    rater, condition = str(row["rater_id"]), str(row["condition"])
    own_key = {"rater_id": rater, "condition": condition}
    time, missing_row = (
        _first_row(results, "times", by="overall", **own_key),
        _first_row(results, "missing", **own_key),
    )
    missing = cell_number(missing_row, "n_assigned") - cell_number(missing_row, "n_answered")
    if row["rater_kind"] == RaterKind.READER and shares_cases(results.bundle.protocol):
        missing -= cell_number(missing_row, "n_absent")
    cells = (
        condition_cell(condition),
        whole_number(cell_number(row, "n")),
        _percent_cell(row, "accuracy"),
        _difference_cell(results, row),
        format_number(cell_number(time, "median_ms") / 1000, 1),
        EMPTY_CELL if math.isnan(missing) else whole_number(missing),
    )
    return (rater_name(rater_names(results.bundle), rater),), cells


def _first_row(results: Results, table: str, **filters: str) -> Row:
    return next(iter(rows_of(results, table, **filters)), {})


def _percent_cell(row: Row, column: str) -> str:
    ends = (100 * cell_number(row, name) for name in (column, "ci_low", "ci_high"))
    return estimate_with_range(*ends)


def _difference_cell(results: Results, row: Row) -> str:
    """Write a model's difference from the readers in its condition, or in each condition."""
    rows = rows_of(
        results,
        "reader_panel",
        model_id=str(row["rater_id"]),
        metric="accuracy",
        claim=declared_claim(results),
    )
    if len(rows) < 2:
        return _percent_cell(rows[0], "difference") if rows else EMPTY_CELL
    same_condition = [other for other in rows if other["condition"] == row["condition"]]
    if same_condition:
        return _percent_cell(same_condition[0], "difference")
    return join_clauses(
        [
            f"{condition_name(str(row['condition']))}: {_percent_cell(row, 'difference')}"
            for row in rows
        ]
    )


def _reader_mean_rows(results: Results) -> list[TableRow]:
    """Return a row with the mean of the readers for each condition."""
    means = {
        str(row["condition"]): row
        for row in rows_of(
            results, "reader_panel", metric="accuracy", claim=declared_claim(results)
        )
        if cell_number(row, "n_readers") > 1
    }
    return [
        (
            (
                row_label(
                    tn(
                        "Mean of the {n} reader",
                        "Mean of the {n} readers",
                        int(cell_number(row, "n_readers")),
                    )
                ),
            ),
            (
                condition_cell(condition),
                whole_number(cell_number(row, "n_items")),
                percent_cell(cell_number(row, "reader_mean")),
                EMPTY_CELL,
                EMPTY_CELL,
                EMPTY_CELL,
            ),
        )
        for condition, row in means.items()
    ]


def agreement_lines(results: Results) -> list[str]:
    """State the mean agreement within readers, within models and between them."""
    pairs = results.tables["agreement_pairs"]
    overall = pairs.loc[(pairs["scope"] == "all") & pairs["estimate"].notna()]
    kappa, corrected = (
        overall.loc[overall["measure"] == measure]
        for measure in ("kappa_letters", "brennan_prediger")
    )
    lines = []
    for condition in conditions_of(results.tables["accuracy"])[:MAX_CONDITIONS]:
        both = pairs_in_condition(kappa, condition), pairs_in_condition(corrected, condition)
        parts = [
            _agreement_phrase(kind, first, second)
            for kind in (PairKind.READERS, PairKind.MODELS, PairKind.MIXED)
            for first, second in [(_mean_text(both[0], kind), _mean_text(both[1], kind))]
            if (first, second) != (EMPTY_CELL, EMPTY_CELL)
        ]
        if parts:
            means = t(
                "Mean agreement{where} over {cases}, Cohen's kappa (Brennan-Prediger): {values}.",
                where=condition_phrase(results, condition),
                cases=case_count_range(pd.concat(both)["n"]),
                values=join_with_commas(parts),
            )
            lines.append(join_sentences([means, _group_agreement(results, condition)]))
    return lines


def _group_agreement(results: Results, condition: str) -> str:
    """State the agreement of all readers, of all models and between them, with intervals and n."""
    corrected = _group_values(results, condition, "brennan_prediger", "brennan_prediger")
    kappa = _group_values(results, condition, "conger_kappa_letters", "kappa_letters")
    return join_sentences(
        [
            corrected
            and t("Brennan-Prediger over all raters of a group: {groups}.", groups=corrected),
            kappa and t("Cohen's kappa for groups (Conger): {groups}.", groups=kappa),
        ]
    )


def _group_values(results: Results, condition: str, measure: str, of_pairs: str) -> str:
    groups = {
        row["raters"]: row
        for where in ("", condition)  # models may have no condition
        for row in rows_of(
            results, "agreement_groups", condition=where, scope="all", measure=measure
        )
    }
    mixed = _first_row(
        results, "agreement_between", condition=condition, scope="all", measure=of_pairs
    )
    of_mixed = {
        "estimate": mixed.get("readers_models"),
        "ci_low": mixed.get("readers_models_low"),
        "ci_high": mixed.get("readers_models_high"),
    }
    values = (
        (t("all readers"), groups.get("readers", {})),
        (t("all models"), groups.get("models", {})),
        (t("pairs of a reader and a model"), {**mixed, **of_mixed}),
    )
    return join_clauses(
        [
            t(
                "{who} {estimate}, {percent} % CI {interval}, n = {n}",
                who=rater,
                estimate=format_number(cell_number(row, "estimate"), 2),
                percent=confidence_percent(results),
                interval=format_range(
                    format_number(cell_number(row, "ci_low"), 2),
                    format_number(cell_number(row, "ci_high"), 2),
                ),
                n=int(cell_number(row, "n_items")),
            )
            for rater, row in values
            if not math.isnan(cell_number(row, "ci_low"))
        ]
    )


def _agreement_phrase(kind: PairKind, kappa: str, corrected: str) -> str:
    values = {"kappa": kappa, "corrected": corrected}
    if kind is PairKind.READERS:
        return t("{kappa} ({corrected}) within readers", **values)
    if kind is PairKind.MODELS:
        return t("{kappa} ({corrected}) within models", **values)
    return t("{kappa} ({corrected}) between readers and models", **values)


def _mean_text(pairs: pd.DataFrame, kind: PairKind) -> str:
    return format_number(float(pairs.loc[pairs["pair_kind"] == kind, "estimate"].mean()), 2)
