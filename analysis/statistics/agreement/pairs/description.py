"""Report of the agreement of each pair of raters: its tables, matrices, captions and methods."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from analysis.bundle.model import PairKind
from analysis.figures.agreement import (
    REFERENCE,
    UNDEFINED_INTERVAL,
    matrix_order,
    pair_estimates,
    pairs_in_condition,
    reference_name,
    truth_pairs,
)
from analysis.figures.drawing.axes import RaterName, conditions_of, rater_names
from analysis.presentation.table import (
    EMPTY_CELL,
    MAX_PRINTED_ROWS_IMPORTANT,
    MAX_ROWS,
    ReportTable,
    TableRow,
    condition_cell,
    estimate_cell,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import (
    Row,
    format_number,
    format_range,
    join_sentences,
    rows_by_measure,
    shown_condition,
)
from analysis.results import Results
from analysis.statistics.agreement.display import (
    LETTERS_NOTE,
    NEVER_WRONG_NOTE,
    displayed_agreement,
    measure_heading,
    measure_words,
)
from analysis.statistics.agreement.pairs.matrices import matrix_figures
from analysis.statistics.agreement.pairs.table import agreement_pairs
from analysis.statistics.statistic import Method, Statistic, shared_columns
from analysis.translation import localised, t, translated

MOST_IN_MATRIX = 12
MATRIX_MEASURES = ("kappa_letters", "brennan_prediger", "error_consistency", "raw")
PAIR_MEASURES = (*MATRIX_MEASURES, "same_wrong")


def matrix_table(results: Results) -> Iterator[ReportTable]:
    """Show the agreement of each pair of raters as a matrix if it fits on a page."""
    for condition_number, condition in enumerate(
        conditions_of(results.tables["accuracy"]), start=1
    ):
        for measure in MATRIX_MEASURES:
            yield from _condition_matrix(results, condition, measure, condition_number)


def _condition_matrix(
    results: Results, condition: str, measure: str, condition_number: int
) -> Iterator[ReportTable]:
    names = rater_names(results.bundle)
    table = results.tables["agreement_pairs"]
    if table["condition"].eq(condition).sum() == 0:
        return
    readers, models = matrix_order(table, condition=condition)
    raters = readers + models
    if not 1 < len(raters) <= MOST_IN_MATRIX:
        return
    displayed = table.loc[(table["scope"] == "all") & (table["measure"] == measure)]
    with_truth = truth_pairs(
        results.tables["agreement_with_truth"], raters, measure, "all", condition
    )
    pairs = pd.concat([pairs_in_condition(displayed, condition), with_truth])
    estimates = pair_estimates(displayed_agreement(results, pairs))
    if len(with_truth):
        raters, names = [*raters, REFERENCE], {**names, REFERENCE: reference_name()}
    rows: list[TableRow] = [
        (
            (_numbered_name(rater_name(names, rater), i + 1),),
            tuple(
                _matrix_cell(i - j, *estimates.get((rater, other), UNDEFINED_INTERVAL))
                for j, other in enumerate(raters)
            ),
        )
        for i, rater in enumerate(raters)
    ]
    condition_words = shown_condition(results, condition)
    title = t("Agreement of each pair of raters: {measure}", measure=measure_words(measure))
    yield report_table(
        name=f"matrix-{measure.replace('_', '-')}" + (f"-{condition_number}" if condition else ""),
        title=t("{title}, {condition}", title=title, condition=condition_words)
        if condition_words
        else title,
        note=join_sentences(
            [
                t(
                    "Below the diagonal the estimate, above it the {percent} % interval;"
                    " readers first, in the order of the figures.",
                    percent=localised(results.options.confidence_percent),
                ),
                t(
                    "The last row and column are the reference standard, over the cases that each"
                    " rater answered."
                )
                if len(with_truth)
                else "",
                translated(NEVER_WRONG_NOTE) if measure == "error_consistency" else "",
                translated(LETTERS_NOTE) if measure == "kappa_letters" else "",
            ]
        ),
        header=(t("Rater"), *(f"({i})" for i in range(1, len(raters) + 1))),
        rows=rows,
        in_paper=True,
    )


def _numbered_name(name: RaterName, position: int) -> RaterName:
    return replace(name, label=f"({position}) {name.label}")


def _matrix_cell(side: int, estimate: float, low: float, high: float) -> str:
    """Format the estimate below the diagonal, and its interval above the diagonal."""
    if not side:
        return ""
    ends = (estimate,) if side > 0 else (low, high)
    return (
        EMPTY_CELL
        if any(map(math.isnan, ends))
        else _number_or_range([format_number(end, 2) for end in ends])
    )


def _number_or_range(texts: Sequence[str]) -> str:
    return format_range(*texts) if len(texts) > 1 else texts[0]


def pairs_table(results: Results) -> Iterator[ReportTable]:
    """Show the agreement of each pair of raters over all items, with intervals."""
    pairs = results.tables["agreement_pairs"]
    if not len(pairs):
        return
    displayed = pairs.loc[pairs["scope"] == "all"]
    ranks = {kind.value: rank for rank, kind in enumerate(PairKind)}
    displayed = displayed.sort_values(
        "pair_kind", key=lambda kinds: kinds.map(ranks), kind="stable"
    )
    key = ["rater_a", "rater_b", "condition"]
    total = len(displayed.drop_duplicates(key))
    shown_pairs = displayed.drop_duplicates(key)[key].head(MAX_ROWS)
    displayed = displayed_agreement(results, displayed.merge(shown_pairs, on=key, how="inner"))
    names = rater_names(results.bundle)
    rows = [
        _pair_row(names, a, b, condition, by_measure)
        for (a, b, condition), by_measure in rows_by_measure(displayed, key).items()
    ]
    yield report_table(
        name="agreement-pairs",
        title=t("Agreement of each pair of raters, with intervals"),
        note=t(
            "Over all cases that both answered: estimate and interval. Tasks, option sets,"
            " standard errors and the reasons for what is undefined are in the file."
        ),
        header=(t("Pair"), t("Condition"), "n", *(measure_heading(m) for m in PAIR_MEASURES)),
        rows=rows,
        total=total,
        max_printed_rows=MAX_PRINTED_ROWS_IMPORTANT,
    )


def _pair_row(
    names: Mapping[str, RaterName], a: str, b: str, condition: str, by_measure: Mapping[str, Row]
) -> TableRow:
    cells = [
        estimate_cell(*(float(by_measure[m][c]) for c in ("estimate", "ci_low", "ci_high")))
        if m in by_measure
        else EMPTY_CELL
        for m in PAIR_MEASURES
    ]
    n = whole_number(by_measure["raw"]["n"]) if "raw" in by_measure else EMPTY_CELL
    return (rater_name(names, a), rater_name(names, b)), (condition_cell(condition), n, *cells)


AGREEMENT_PAIRS = Statistic(
    name="agreement_pairs",
    meaning="Agreement of two raters on the items that both answered, by one measure.",
    columns=(
        *shared_columns(
            "rater_a rater_b pair_kind condition scope measure"
            " n estimate se ci_low ci_high method undefined_because"
        ),
    ),
    compute=agreement_pairs,
    methods={
        300: Method(
            "Agreement",
            "Agreement of two raters is computed over the cases that both answered. Its chance"
            " correction is the Brennan-Prediger coefficient, whose chance agreement is the mean of"
            " 1/k over these cases, k being the options offered [@brennan1981]. Error consistency"
            " is Cohen's kappa on correct and incorrect [@geirhos2020]. The share of same wrong"
            " answers is taken over the cases that both got wrong. Cohen's kappa on letters"
            " [@cohen1960] is given for comparison with published work only: option letters are"
            " arbitrary, and relabelling them changes it. Standard errors of kappas follow Fleiss,"
            " Cohen and Everitt [@fleiss1969]; those of the other measures divide by n − 1"
            " [@gwet2008a].",
        )
    },
    tables={70: matrix_table, 150: pairs_table},
    figures={60: matrix_figures},
)
