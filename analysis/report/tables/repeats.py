"""Readers against themselves, and what lies behind each kappa: prevalence and bias."""

from __future__ import annotations

from analysis.figures.drawing.names import rater_names
from analysis.report.tables.agreement import measure_words
from analysis.report.tables.table import (
    EMPTY,
    MOST_ROWS,
    ReportTable,
    TableRow,
    estimate_of,
    named,
    report_table,
    whole,
)
from analysis.report.wording.numbers import rounded
from analysis.report.wording.rows import Row, number, rows_of
from analysis.results import Results
from analysis.statistics.agreement.pairs.pairing import PairKind
from analysis.translation import capital, later, said, t

OF_INDICES = {"error_consistency": later("error consistency"), "kappa": later("kappa")}


def repeats_overview(results: Results) -> list[ReportTable]:
    """Show how each rater agrees with his or her own second reading."""
    names = rater_names(results.bundle)
    rows: list[TableRow] = [
        (
            (named(names, str(row["rater_id"])),),
            (
                str(row["condition"]) or EMPTY,
                measure_words(str(row["measure"])),
                whole(number(row, "n")),
                estimate_of(row),
            ),
        )
        for row in rows_of(results, "intra_reader")
    ]
    return [
        report_table(
            name="intra-reader",
            title=t("Agreement with oneself: first and second reading"),
            note=t("Over the cases that were read twice; estimate and interval."),
            file="tables/intra_reader.csv",
            header=(t("Rater"), t("Condition"), capital(t("measure")), "n", t("Estimate and CI")),
            rows=rows,
        )
    ]


def indices_overview(results: Results) -> list[ReportTable]:
    """Show prevalence and bias indices beside each kappa: all items, and sets of two options."""
    ranks = {kind.value: rank for rank, kind in enumerate(PairKind)}
    rows = [row for row in rows_of(results, "agreement_indices") if _is_shown(row)]
    rows.sort(key=lambda row: (ranks[row["pair_kind"]], str(row["scope"]) != "all"))
    kappas = _kappas(results, {str(row["scope"]) for row in rows[:MOST_ROWS]})
    return [
        report_table(
            name="agreement-indices",
            title=t("Prevalence and bias behind each kappa"),
            note=t(
                "Prevalence: how unequal the two categories are, from 0 to 1; bias: the"
                " difference between the two raters' shares. A kappa is low where prevalence is"
                " unequal, however often the raters agree (Byrt, Bishop and Carlin 1993). Tasks are"
                " in"
                " the file."
            ),
            file="tables/agreement_indices.csv",
            header=(
                t("Pair"),
                t("Condition"),
                t("Items"),
                capital(t("measure")),
                "n",
                t("Kappa"),
                t("Prevalence"),
                t("Bias"),
            ),
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
        said(str(row["scope"]).removeprefix("option_set=")),
        said(OF_INDICES.get(str(row["measure"]), str(row["measure"]))),
        whole(number(row, "n")),
        estimate_of(kappas.get(_key(row), {})),
        *(rounded(number(row, f"{one}_index"), 2) for one in ("prevalence", "bias")),
    )
    return (named(names, str(row["rater_a"])), named(names, str(row["rater_b"]))), cells
