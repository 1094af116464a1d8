"""Matrices of the agreement of each pair of raters, with their captions."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import pandas as pd

from analysis.figures.agreement import (
    kappa_matrix_chart,
    matrix_order,
    pairs_in_condition,
    scope_text,
    truth_pairs,
)
from analysis.figures.drawing.axes import rater_names
from analysis.presentation.captions import interval_methods, number_range
from analysis.presentation.wording import join_sentences
from analysis.results import Results
from analysis.statistics.agreement.display import displayed_agreement
from analysis.statistics.agreement.pairs.measures import (
    BRENNAN_PREDIGER,
    ERROR_CONSISTENCY,
    KAPPA_LETTERS,
    MEASURES,
    RAW,
)
from analysis.statistics.agreement.pairs.table import category_pairs
from analysis.statistics.statistic import Figure
from analysis.statistics.study import Study
from analysis.translation import localised, t, tn, translate_pieces, translated

MATRIX_MEASURES = tuple(m.name for m in (KAPPA_LETTERS, BRENNAN_PREDIGER, ERROR_CONSISTENCY, RAW))
# Above this number of raters the report shows only the headline's matrix.
MOST_WITH_ALL_MATRICES = 60
_PAIRS_BY_CATEGORY: WeakKeyDictionary[Results, dict[str, pd.DataFrame]] = WeakKeyDictionary()


def matrix_figures(results: Results, condition: str) -> Iterator[Figure]:
    """Show the agreement of each pair of raters in a matrix for each measure."""
    has_many_raters = len(results.bundle.raters) > MOST_WITH_ALL_MATRICES
    for measure in MATRIX_MEASURES[:1] if has_many_raters else MATRIX_MEASURES:
        figure = matrix_figure(results, measure, condition=condition, reference=True)
        if figure is not None:
            yield figure


def matrix_figure(
    results: Results,
    measure: str,
    *,
    scope: str = "all",
    condition: str = "",
    reference: bool = False,
) -> Figure | None:
    """Draw a matrix of agreement, optionally with the reference standard as an additional rater.

    The result is None if no pair has a defined agreement.
    """
    pairs = pairs_of_scope(results, scope)
    rows = pairs_in_condition(pairs.loc[pairs["measure"] == measure], condition)
    if not rows["estimate"].notna().any() or not (pairs["condition"] == condition).any():
        return None
    truth = reference_rows(results, measure, scope, condition) if reference else None
    return Figure(
        section="agreement",
        name=measure,
        title=_matrix_title(measure, scope),
        caption=matrix_caption(rows, measure, results.options.confidence_percent, truth),
        chart=kappa_matrix_chart(
            pairs,
            measure=measure,
            condition=condition,
            scope=scope,
            names=rater_names(results.bundle),
            model_pairs=truth,
        ),
    )


def _matrix_title(measure: str, scope: str) -> str:
    title = translated(MEASURES[measure].title)
    if scope == "all":
        return title
    return t("{measure}, {cases}", measure=title, cases=scope_text(scope))


def reference_rows(
    results: Results, measure: str, scope: str, condition: str
) -> pd.DataFrame | None:
    """Return each rater's agreement with the reference standard, as rows of pairs for a matrix.

    The result is None if no item has a reference standard.
    """
    if not results.has("agreement_with_truth"):
        return None
    pairs = pairs_of_scope(results, scope)
    readers, models = matrix_order(pairs, condition=condition, scope=scope)
    truth = results.tables["agreement_with_truth"]
    rows = truth_pairs(truth, readers + models, measure, scope, condition)
    return displayed_agreement(results, rows)


def pairs_of_scope(results: Results, scope: str) -> pd.DataFrame:
    """Return the agreement of pairs over the items of a scope.

    Agreement within a category is computed here: `agreement_pairs` has no categories, because it
    is long enough without them if there are hundreds of raters.
    """
    if not scope.startswith("category="):
        pairs = results.tables["agreement_pairs"]
        return displayed_agreement(results, pairs.loc[pairs["scope"] == scope])
    computed = _PAIRS_BY_CATEGORY.setdefault(results, {})
    if scope not in computed:
        study = Study(results.bundle, results.options)
        pairs = category_pairs(study, scope.removeprefix("category="))
        computed[scope] = displayed_agreement(results, pairs)
    return computed[scope]


def matrix_caption(
    rows: pd.DataFrame, measure: str, percent: str, truth: pd.DataFrame | None = None
) -> str:
    """Describe a matrix; `rows` are its pairs, `truth` those with the reference standard."""
    return join_sentences(
        [
            translated(MEASURES[measure].caption),
            t(
                "Below the diagonal the estimate, above it the {percent} % interval ({methods});"
                " readers first.",
                percent=localised(percent),
                methods=interval_methods(rows),
            ),
            t(
                "{pairs} over the cases that both answered, n = {n}.",
                pairs=tn("{n} pair of raters", "{n} pairs of raters", len(rows)),
                n=number_range(rows["n"]),
            ),
            _undefined_sentence(rows),
            "" if truth is None else _truth_caption(truth, measure),
        ]
    )


def _undefined_sentence(rows: pd.DataFrame) -> str:
    """Return a sentence on why pairs have no interval, with the number of pairs per reason."""
    reasons = rows.loc[rows["ci_low"].isna(), "undefined_because"]
    if reasons.empty:
        return ""
    counts = reasons.map(lambda reason: reason.split(": ")[-1]).value_counts()
    parts = [
        t("{reason} ({n})", reason=translate_pieces(str(reason)), n=str(n))
        for reason, n in sorted(counts.items())
    ]
    return t("A dash marks an undefined value: {reasons}.", reasons=t("; ").join(parts))


def _truth_caption(rows: pd.DataFrame, measure: str) -> str:
    """Describe the row and column of the reference standard in a matrix."""
    if measure == "error_consistency":
        return t("It is undefined against the reference standard, which is never wrong.")
    if rows.empty:
        return ""
    if measure == "raw":
        return t(
            "The last row and column are each rater against the reference standard, over the cases"
            " the rater answered, n = {n}: the accuracy among these.",
            n=number_range(rows["n"]),
        )
    return t(
        "The last row and column are each rater against the reference standard, over the cases"
        " the rater answered, n = {n}.",
        n=number_range(rows["n"]),
    )
