"""Agreement: of groups, among readers against with models, of every two raters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from analysis.figures.drawing.names import RaterName, conditions_of, rater_names
from analysis.figures.group_agreement import scope_text
from analysis.figures.kappa_matrix import (
    ENDS,
    REFERENCE,
    REFERENCE_NAME,
    UNKNOWN,
    beside_truth,
    matrix_order,
    pair_estimates,
    pairs_in_condition,
)
from analysis.report.tables.table import (
    EMPTY,
    MANY_IN_PRINT,
    MOST_ROWS,
    ReportTable,
    TableRow,
    estimate_cell,
    named,
    range_cell,
    report_table,
    words,
)
from analysis.report.wording.numbers import rounded
from analysis.report.wording.rows import Row, number, rows_of, shown_condition
from analysis.results import Results
from analysis.statistics.agreement.pairs.pairing import PairKind

MOST_IN_MATRIX = 12
LETTERS = (
    " Letters are canonical, those of the question bank; permuting the options of the questions"
    " changes this kappa."
)
NEVER_WRONG = " Error consistency with the reference standard is undefined: it is never wrong."
MATRIX_MEASURES = ("kappa_letters", "brennan_prediger", "error_consistency", "raw")
PAIR_MEASURES = (*MATRIX_MEASURES, "same_wrong")
TRUTH_NOTE = "Over the cases that each rater answered: estimate and interval." + LETTERS
TRUTH_MEASURES = ("kappa_letters", "brennan_prediger", "raw")
MEASURE_WORDS = {
    "kappa_letters": "Cohen's kappa",
    "brennan_prediger": "Brennan-Prediger",
    "error_consistency": "error consistency",
    "raw": "raw agreement",
    "same_wrong": "same wrong option",
    "fleiss_kappa_letters": "Fleiss' kappa on letters",
    "conger_kappa_letters": "Conger's kappa on letters",
    "krippendorff_alpha_letters": "Krippendorff's alpha on letters",
    "ac1_letters": "AC1 on letters",
    "fleiss_kappa": "Fleiss' kappa",
    "conger_kappa": "Conger's kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
    "ac1": "AC1",
}


def groups_overview(results: Results) -> list[ReportTable]:
    """Show the agreement of all readers, all models, and all together, over all items."""
    rows: list[TableRow] = [
        (
            (words(str(row["raters"])),),
            (
                str(row["condition"]) or EMPTY,
                MEASURE_WORDS.get(row["measure"], str(row["measure"])),
                f"{int(number(row, 'n_raters'))}",
                f"{int(number(row, 'n_items')):,}",
                _estimate(row),
                range_cell(number(row, "ci_low"), number(row, "ci_high"), factor=1, decimals=2),
            ),
        )
        for row in rows_of(results, "agreement_groups", scope="all")
    ]
    return [
        report_table(
            name="agreement-groups",
            title="Agreement of groups of raters",
            note="Over all cases. Measures on letters depend on how the options are lettered and"
            " are given for comparison with published work. Tasks and option sets are in the file.",
            file="tables/agreement_groups.csv",
            header=("Raters", "Condition", "Measure", "Raters n", "Items", "Estimate", "CI"),
            rows=rows,
            in_paper=True,
        )
    ]


def between_overview(results: Results) -> list[ReportTable]:
    """Show agreement among readers beside that of readers with models."""
    rows: list[TableRow] = [
        (
            (words(MEASURE_WORDS.get(row["measure"], str(row["measure"]))),),
            (
                str(row["condition"]) or EMPTY,
                f"{int(number(row, 'n_items')):,}",
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
            title="Agreement among readers, and of readers with models",
            note="Means over pairs, all cases. Difference: readers with models minus among"
            " readers.",
            file="tables/agreement_between.csv",
            header=(
                "Measure",
                "Condition",
                "Items",
                "Among readers",
                "Readers with models",
                "Among models",
                "Difference",
                "CI",
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
    found = pair_estimates(pd.concat([pairs_in_condition(shown, condition), beside]))
    if len(beside):
        raters, names = [*raters, REFERENCE], {**names, REFERENCE: REFERENCE_NAME}
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
    confidence = results.options.confidence_percent
    return [
        report_table(
            name=f"matrix-{measure.replace('_', '-')}" + (f"-{place}" if condition else ""),
            title=f"Agreement of every two raters: {MEASURE_WORDS[measure]}"
            + (f", {where}" if where else ""),
            note=f"Below the diagonal the estimate, above it the {confidence} % interval; readers"
            " first, in the order of the figures."
            + (
                " Last the reference standard, over the cases that each rater answered."
                if len(beside)
                else ""
            )
            + (NEVER_WRONG if measure == "error_consistency" else "")
            + (LETTERS if measure == "kappa_letters" else ""),
            file="tables/agreement_pairs.csv",
            header=("Rater", *(f"({i})" for i in range(1, len(raters) + 1))),
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
            title="Agreement with the reference standard",
            note=TRUTH_NOTE + NEVER_WRONG,
            file="tables/agreement_with_truth.csv",
            header=("Rater", "Condition", "n", *map(_capital, TRUTH_MEASURES)),
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
            title="Agreement with the reference standard by task and category",
            note=TRUTH_NOTE,
            file="tables/agreement_with_truth.csv",
            header=("Rater", "Condition", "Cases", "n", *map(_capital, TRUTH_MEASURES)),
            rows=_truth_rows(results, groups, named_scopes=True),
            most_in_print=MANY_IN_PRINT,
        )
    ]


def _truth_rows(
    results: Results, part: pd.DataFrame, *, named_scopes: bool = False
) -> list[TableRow]:
    names = rater_names(results.bundle)
    rows: list[TableRow] = []
    for (rater, condition, scope), found in part.groupby(
        ["rater_id", "condition", "scope"], sort=False
    ):
        by_measure = {str(row["measure"]): row for row in found.to_dict("records")}
        cells = [
            estimate_cell(*(float(by_measure[m][end]) for end in ENDS)) for m in TRUTH_MEASURES
        ]
        where = (scope_text(str(scope)),) if named_scopes else ()
        n = f"{by_measure['raw']['n']:,}"
        rows.append(((named(names, str(rater)),), (str(condition) or EMPTY, *where, n, *cells)))
    return rows


def _numbered(name: RaterName, number_: int) -> RaterName:
    return replace(name, label=f"({number_}) {name.label}")


def _cell(side: int, estimate: float, low: float, high: float) -> str:
    """Write the estimate below the diagonal, its interval above it."""
    if not side:
        return ""
    ends = (estimate,) if side > 0 else (low, high)
    return EMPTY if any(map(math.isnan, ends)) else " to ".join(rounded(end, 2) for end in ends)


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
    shown = shown.merge(first, on=key, how="inner")
    names = rater_names(results.bundle)
    rows = [
        _pair_row(names, str(a), str(b), str(condition), part)
        for (a, b, condition), part in shown.groupby(key, sort=False)
    ]
    return [
        report_table(
            name="agreement-pairs",
            title="Agreement of every two raters, with intervals",
            note="Over all cases that both answered: estimate and interval. Tasks, option sets,"
            " standard errors and the reasons for what is undefined are in the file.",
            file="tables/agreement_pairs.csv",
            header=("Pair", "Condition", "n", *(_capital(m) for m in PAIR_MEASURES)),
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
    n = f"{by_measure['raw']['n']:,}" if "raw" in by_measure else EMPTY
    return (named(names, a), named(names, b)), (condition or EMPTY, n, *cells)


def _estimate(row: Row) -> str:
    estimate = number(row, "estimate")
    return "undefined" if math.isnan(estimate) else rounded(estimate, 2)


def _capital(measure: str) -> str:
    text = MEASURE_WORDS[measure]
    return text[0].upper() + text[1:]
