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
    EMPTY,
    ReportTable,
    TableRow,
    condition_cell,
    estimate_with_range,
    named,
    percent_cell,
    report_table,
    whole_number,
    words,
)
from analysis.presentation.wording import (
    Row,
    cases_between,
    clauses,
    condition_phrase,
    has_several,
    headline_intervals,
    in_a_row,
    number,
    rounded,
    rows_of,
    sentences,
    span,
)
from analysis.report.findings.endpoint import VerdictLine, verdict_lines
from analysis.report.findings.finding import MOST_CONDITIONS, confidence_percent
from analysis.results import Results
from analysis.statistics.claims import THESE_READERS, claim_words, narrower_notes
from analysis.statistics.verdicts import declared_plan
from analysis.translation import t, tn

# Number of rows that fit on page 1 of the PDF together with a figure.
MOST_RATERS_IN_PRINT = 40


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
            *(_rater(results, row) for row in readers),
            *_means(results),
            *(_rater(results, row) for row in models),
        ],
        most_in_print=MOST_RATERS_IN_PRINT,
    )
    return table if has_several(results) else table.without_column(t("Condition"))


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
    return sentences(
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


def _rater(results: Results, row: Row) -> TableRow:
    rater, condition = str(row["rater_id"]), str(row["condition"])
    own_key = {"rater_id": rater, "condition": condition}
    time, missing_row = (
        _first(results, "times", by="overall", **own_key),
        _first(results, "missing", **own_key),
    )
    missing = number(missing_row, "n_assigned") - number(missing_row, "n_answered")
    if row["rater_kind"] == RaterKind.READER and shares_cases(results.bundle.protocol):
        missing -= number(missing_row, "n_absent")
    cells = (
        condition_cell(condition),
        whole_number(number(row, "n")),
        _percent(row, "accuracy"),
        _difference(results, row),
        rounded(number(time, "median_ms") / 1000, 1),
        EMPTY if math.isnan(missing) else whole_number(missing),
    )
    return (named(rater_names(results.bundle), rater),), cells


def _first(results: Results, table: str, **filters: str) -> Row:
    return next(iter(rows_of(results, table, **filters)), {})


def _percent(row: Row, column: str) -> str:
    ends = (100 * number(row, name) for name in (column, "ci_low", "ci_high"))
    return estimate_with_range(*ends)


def _difference(results: Results, row: Row) -> str:
    """Write a model's difference from the readers in its condition, or in each condition."""
    rows = rows_of(
        results,
        "reader_panel",
        model_id=str(row["rater_id"]),
        metric="accuracy",
        claim=declared_claim(results),
    )
    if len(rows) < 2:
        return _percent(rows[0], "difference") if rows else EMPTY
    same_condition = [other for other in rows if other["condition"] == row["condition"]]
    if same_condition:
        return _percent(same_condition[0], "difference")
    return clauses(
        [f"{condition_name(str(row['condition']))}: {_percent(row, 'difference')}" for row in rows]
    )


def _means(results: Results) -> list[TableRow]:
    """Return a row with the mean of the readers for each condition."""
    means = {
        str(row["condition"]): row
        for row in rows_of(
            results, "reader_panel", metric="accuracy", claim=declared_claim(results)
        )
        if number(row, "n_readers") > 1
    }
    return [
        (
            (
                words(
                    tn(
                        "Mean of the {n} reader",
                        "Mean of the {n} readers",
                        int(number(row, "n_readers")),
                    )
                ),
            ),
            (
                condition_cell(condition),
                whole_number(number(row, "n_items")),
                percent_cell(number(row, "reader_mean")),
                EMPTY,
                EMPTY,
                EMPTY,
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
    for condition in conditions_of(results.tables["accuracy"])[:MOST_CONDITIONS]:
        both = pairs_in_condition(kappa, condition), pairs_in_condition(corrected, condition)
        parts = [
            _agreement(kind, first, second)
            for kind in (PairKind.READERS, PairKind.MODELS, PairKind.MIXED)
            for first, second in [(_mean(both[0], kind), _mean(both[1], kind))]
            if (first, second) != (EMPTY, EMPTY)
        ]
        if parts:
            means = t(
                "Mean agreement{where} over {cases}, Cohen's kappa (Brennan-Prediger): {values}.",
                where=condition_phrase(results, condition),
                cases=cases_between(pd.concat(both)["n"]),
                values=in_a_row(parts),
            )
            lines.append(sentences([means, _of_groups(results, condition)]))
    return lines


def _of_groups(results: Results, condition: str) -> str:
    """State the agreement of all readers, of all models and between them, with intervals and n."""
    corrected = _groups(results, condition, "brennan_prediger", "brennan_prediger")
    kappa = _groups(results, condition, "conger_kappa_letters", "kappa_letters")
    return sentences(
        [
            corrected
            and t("Brennan-Prediger over all raters of a group: {groups}.", groups=corrected),
            kappa and t("Cohen's kappa for groups (Conger): {groups}.", groups=kappa),
        ]
    )


def _groups(results: Results, condition: str, measure: str, of_pairs: str) -> str:
    groups = {
        row["raters"]: row
        for where in ("", condition)  # models may have no condition
        for row in rows_of(
            results, "agreement_groups", condition=where, scope="all", measure=measure
        )
    }
    mixed = _first(results, "agreement_between", condition=condition, scope="all", measure=of_pairs)
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
    return clauses(
        [
            t(
                "{who} {estimate}, {percent} % CI {interval}, n = {n}",
                who=rater,
                estimate=rounded(number(row, "estimate"), 2),
                percent=confidence_percent(results),
                interval=span(
                    rounded(number(row, "ci_low"), 2), rounded(number(row, "ci_high"), 2)
                ),
                n=int(number(row, "n_items")),
            )
            for rater, row in values
            if not math.isnan(number(row, "ci_low"))
        ]
    )


def _agreement(kind: PairKind, kappa: str, corrected: str) -> str:
    values = {"kappa": kappa, "corrected": corrected}
    if kind is PairKind.READERS:
        return t("{kappa} ({corrected}) within readers", **values)
    if kind is PairKind.MODELS:
        return t("{kappa} ({corrected}) within models", **values)
    return t("{kappa} ({corrected}) between readers and models", **values)


def _mean(pairs: pd.DataFrame, kind: PairKind) -> str:
    return rounded(float(pairs.loc[pairs["pair_kind"] == kind, "estimate"].mean()), 2)
