"""Agreement: of groups, every two raters, readers with themselves, and what lies behind a kappa."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from analysis.bundle.model import PairKind
from analysis.figures.agreement import (
    ENDS,
    REFERENCE,
    UNKNOWN,
    beside_truth,
    matrix_order,
    pair_estimates,
    pairs_in_condition,
    reference_name,
    scope_text,
)
from analysis.figures.drawing.axes import RaterName, conditions_of, rater_names
from analysis.presentation.captions import GROUPS
from analysis.presentation.table import (
    EMPTY,
    MANY_IN_PRINT,
    MOST_ROWS,
    ReportTable,
    TableRow,
    condition_cell,
    estimate_cell,
    estimate_of,
    named,
    range_cell,
    report_table,
    whole,
    words,
)
from analysis.presentation.wording import (
    Row,
    number,
    records,
    rounded,
    rows_of,
    sentences,
    shown_condition,
    span,
)
from analysis.results import Results
from analysis.statistics.agreement.shown import agreement_shown
from analysis.translation import capital, later, said, t, written

MOST_IN_MATRIX = 12
LETTERS = later(
    "Letters are canonical, those of the question bank; permuting the options of the questions"
    " changes this kappa."
)
NEVER_WRONG = later(
    "Error consistency with the reference standard is undefined: it is never wrong."
)
MATRIX_MEASURES = ("kappa_letters", "brennan_prediger", "error_consistency", "raw")
PAIR_MEASURES = (*MATRIX_MEASURES, "same_wrong")
TRUTH_NOTE = later("Over the cases that each rater answered: estimate and interval.")
TRUTH_MEASURES = ("kappa_letters", "brennan_prediger", "raw")
MEASURE_WORDS = {
    "kappa_letters": later("Cohen's kappa"),
    "brennan_prediger": later("Brennan-Prediger"),
    "error_consistency": later("error consistency"),
    "raw": later("raw agreement"),
    "same_wrong": later("same wrong option"),
    "fleiss_kappa_letters": later("Fleiss' kappa on letters"),
    "conger_kappa_letters": later("Conger's kappa on letters"),
    "krippendorff_alpha_letters": later("Krippendorff's alpha on letters"),
    "ac1_letters": later("AC1 on letters"),
    "fleiss_kappa": later("Fleiss' kappa"),
    "conger_kappa": later("Conger's kappa"),
    "krippendorff_alpha": later("Krippendorff's alpha"),
    "ac1": later("AC1"),
}


def groups_overview(results: Results) -> list[ReportTable]:
    """Show the agreement of all readers, all models, and all together, over all items."""
    rows: list[TableRow] = [
        (
            (words(said(GROUPS.get(str(row["raters"]), str(row["raters"])))),),
            (
                condition_cell(str(row["condition"])),
                measure_words(str(row["measure"])),
                str(int(number(row, "n_raters"))),
                whole(number(row, "n_items")),
                _estimate(row),
                range_cell(number(row, "ci_low"), number(row, "ci_high"), factor=1, decimals=2),
            ),
        )
        for row in rows_of(results, "agreement_groups", scope="all")
    ]
    return [
        report_table(
            name="agreement-groups",
            title=t("Agreement of groups of raters"),
            note=t(
                "Over all cases. Measures on letters depend on how the options are lettered and"
                " are given for comparison with published work. Tasks and option sets are in the"
                " file."
            ),
            file="tables/agreement_groups.csv",
            header=(
                t("Raters"),
                t("Condition"),
                capital(t("measure")),
                t("Raters n"),
                t("Items"),
                t("Estimate"),
                t("CI"),
            ),
            rows=rows,
            in_paper=True,
        )
    ]


def between_overview(results: Results) -> list[ReportTable]:
    """Show agreement among readers beside that of readers with models."""
    rows: list[TableRow] = [
        (
            (words(measure_words(str(row["measure"]))),),
            (
                condition_cell(str(row["condition"])),
                whole(number(row, "n_items")),
                *(
                    rounded(number(row, column), 2)
                    for column in ("among_readers", "readers_models", "among_models", "difference")
                ),
                range_cell(number(row, "ci_low"), number(row, "ci_high"), factor=1, decimals=2),
            ),
        )
        for row in rows_of(results, "agreement_between", scope="all")
    ]
    return [
        report_table(
            name="agreement-between",
            title=t("Agreement among readers, and of readers with models"),
            note=t(
                "Means over pairs, all cases. Difference: readers with models minus among readers."
            ),
            file="tables/agreement_between.csv",
            header=(
                capital(t("measure")),
                t("Condition"),
                t("Items"),
                t("Among readers"),
                t("Readers with models"),
                t("Among models"),
                t("Difference"),
                t("CI"),
            ),
            rows=rows,
            in_paper=True,
        )
    ]


def matrix_overview(results: Results) -> list[ReportTable]:
    """Show the agreement of every two raters as a matrix, where it fits a page."""
    return [
        table
        for number_, condition in enumerate(conditions_of(results.tables["accuracy"]), start=1)
        for measure in MATRIX_MEASURES
        for table in _matrix(results, condition, measure, number_)
    ]


def _matrix(results: Results, condition: str, measure: str, place: int) -> list[ReportTable]:
    names = rater_names(results.bundle)
    table = results.tables["agreement_pairs"]
    if table["condition"].eq(condition).sum() == 0:
        return []
    readers, models = matrix_order(table, condition=condition)
    raters = readers + models
    if not 1 < len(raters) <= MOST_IN_MATRIX:
        return []
    shown = table.loc[(table["scope"] == "all") & (table["measure"] == measure)]
    beside = beside_truth(results.tables["agreement_with_truth"], raters, measure, "all", condition)
    pairs = pd.concat([pairs_in_condition(shown, condition), beside])
    found = pair_estimates(agreement_shown(results, pairs))
    if len(beside):
        raters, names = [*raters, REFERENCE], {**names, REFERENCE: reference_name()}
    rows: list[TableRow] = [
        (
            (_numbered(named(names, rater), i + 1),),
            tuple(
                _cell(i - j, *found.get((rater, other), UNKNOWN)) for j, other in enumerate(raters)
            ),
        )
        for i, rater in enumerate(raters)
    ]
    where = shown_condition(results, condition)
    title = t("Agreement of every two raters: {measure}", measure=measure_words(measure))
    return [
        report_table(
            name=f"matrix-{measure.replace('_', '-')}" + (f"-{place}" if condition else ""),
            title=t("{title}, {condition}", title=title, condition=where) if where else title,
            note=sentences(
                [
                    t(
                        "Below the diagonal the estimate, above it the {percent} % interval;"
                        " readers first, in the order of the figures.",
                        percent=written(results.options.confidence_percent),
                    ),
                    t("Last the reference standard, over the cases that each rater answered.")
                    if len(beside)
                    else "",
                    said(NEVER_WRONG) if measure == "error_consistency" else "",
                    said(LETTERS) if measure == "kappa_letters" else "",
                ]
            ),
            file="tables/agreement_pairs.csv",
            header=(t("Rater"), *(f"({i})" for i in range(1, len(raters) + 1))),
            rows=rows,
            in_paper=True,
        )
    ]


def truth_overview(results: Results) -> list[ReportTable]:
    """Show the agreement of each rater with the reference standard over all items."""
    table = results.tables["agreement_with_truth"]
    return [
        report_table(
            name="truth",
            title=t("Agreement with the reference standard"),
            note=sentences([said(TRUTH_NOTE), said(LETTERS), said(NEVER_WRONG)]),
            file="tables/agreement_with_truth.csv",
            header=(t("Rater"), t("Condition"), "n", *map(_capital, TRUTH_MEASURES)),
            rows=_truth_rows(results, table.loc[table["scope"] == "all"]),
            in_paper=True,
        )
    ]


def truth_groups_overview(results: Results) -> list[ReportTable]:
    """Show the agreement of each rater with the reference standard by task and category."""
    table = results.tables["agreement_with_truth"]
    groups = table.loc[table["scope"].str.startswith(("task=", "category="))]
    return [
        report_table(
            name="truth-by-group",
            title=t("Agreement with the reference standard by task and category"),
            note=sentences([said(TRUTH_NOTE), said(LETTERS)]),
            file="tables/agreement_with_truth.csv",
            header=(t("Rater"), t("Condition"), t("Cases"), "n", *map(_capital, TRUTH_MEASURES)),
            rows=_truth_rows(results, groups, named_scopes=True),
            most_in_print=MANY_IN_PRINT,
        )
    ]


def _truth_rows(
    results: Results, part: pd.DataFrame, *, named_scopes: bool = False
) -> list[TableRow]:
    names = rater_names(results.bundle)
    rows: list[TableRow] = []
    for (rater, condition, scope), found in agreement_shown(results, part).groupby(
        ["rater_id", "condition", "scope"], sort=False
    ):
        by_measure = {str(row["measure"]): row for row in found.to_dict("records")}
        cells = [
            estimate_cell(*(float(by_measure[m][end]) for end in ENDS)) for m in TRUTH_MEASURES
        ]
        where = (scope_text(str(scope)),) if named_scopes else ()
        n = whole(by_measure["raw"]["n"])
        rows.append(
            ((named(names, str(rater)),), (condition_cell(str(condition)), *where, n, *cells))
        )
    return rows


def _numbered(name: RaterName, number_: int) -> RaterName:
    return replace(name, label=f"({number_}) {name.label}")


def _cell(side: int, estimate: float, low: float, high: float) -> str:
    """Write the estimate below the diagonal, its interval above it."""
    if not side:
        return ""
    ends = (estimate,) if side > 0 else (low, high)
    return EMPTY if any(map(math.isnan, ends)) else _ends([rounded(end, 2) for end in ends])


def _ends(texts: Sequence[str]) -> str:
    return span(*texts) if len(texts) > 1 else texts[0]


def pairs_overview(results: Results) -> list[ReportTable]:
    """Show the agreement of every two raters over all items, with intervals."""
    pairs = results.tables["agreement_pairs"]
    if not len(pairs):
        return []
    shown = pairs.loc[pairs["scope"] == "all"]
    ranks = {kind.value: rank for rank, kind in enumerate(PairKind)}
    shown = shown.sort_values("pair_kind", key=lambda kinds: kinds.map(ranks), kind="stable")
    key = ["rater_a", "rater_b", "condition"]
    total = len(shown.drop_duplicates(key))
    first = shown.drop_duplicates(key)[key].head(MOST_ROWS)
    shown = agreement_shown(results, shown.merge(first, on=key, how="inner"))
    names = rater_names(results.bundle)
    rows = [
        _pair_row(names, str(a), str(b), str(condition), part)
        for (a, b, condition), part in shown.groupby(key, sort=False)
    ]
    return [
        report_table(
            name="agreement-pairs",
            title=t("Agreement of every two raters, with intervals"),
            note=t(
                "Over all cases that both answered: estimate and interval. Tasks, option sets,"
                " standard errors and the reasons for what is undefined are in the file."
            ),
            file="tables/agreement_pairs.csv",
            header=(t("Pair"), t("Condition"), "n", *(_capital(m) for m in PAIR_MEASURES)),
            rows=rows,
            total=total,
            most_in_print=MANY_IN_PRINT,
        )
    ]


def _pair_row(
    names: Mapping[str, RaterName], a: str, b: str, condition: str, part: pd.DataFrame
) -> TableRow:
    by_measure = {row["measure"]: row for row in part.to_dict("records")}
    cells = [
        estimate_cell(*(float(by_measure[m][c]) for c in ("estimate", "ci_low", "ci_high")))
        if m in by_measure
        else EMPTY
        for m in PAIR_MEASURES
    ]
    n = whole(by_measure["raw"]["n"]) if "raw" in by_measure else EMPTY
    return (named(names, a), named(names, b)), (condition_cell(str(condition)), n, *cells)


def _estimate(row: Row) -> str:
    estimate = number(row, "estimate")
    return t("undefined") if math.isnan(estimate) else rounded(estimate, 2)


def measure_words(measure: str) -> str:
    """Return a measure's name within a sentence."""
    return said(MEASURE_WORDS.get(measure, measure))


def _capital(measure: str) -> str:
    return capital(measure_words(measure))


OF_INDICES = {"error_consistency": later("error consistency"), "kappa": later("kappa")}


def repeats_overview(results: Results) -> list[ReportTable]:
    """Show how each rater agrees with his or her own second reading."""
    names = rater_names(results.bundle)
    repeated = results.tables.get("intra_reader")
    if repeated is None or not len(repeated):
        return []
    rows: list[TableRow] = [
        (
            (named(names, str(row["rater_id"])),),
            (
                condition_cell(str(row["condition"])),
                measure_words(str(row["measure"])),
                whole(number(row, "n")),
                estimate_of(row),
            ),
        )
        for row in records(agreement_shown(results, repeated))
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
        condition_cell(str(row["condition"])),
        said(str(row["scope"]).removeprefix("option_set=")),
        said(OF_INDICES.get(str(row["measure"]), str(row["measure"]))),
        whole(number(row, "n")),
        estimate_of(kappas.get(_key(row), {})),
        *(rounded(number(row, f"{one}_index"), 2) for one in ("prevalence", "bias")),
    )
    return (named(names, str(row["rater_a"])), named(names, str(row["rater_b"]))), cells
