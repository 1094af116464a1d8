"""Which figures the report shows, in which order, under which names."""

from __future__ import annotations

import re
from dataclasses import dataclass

import plotly.graph_objects as go

from analysis.bundle.words import RaterKind
from analysis.figures import (
    MEASURE_TITLES,
    accuracy_figure,
    conditions_of,
    kappa_matrix_figure,
    rater_names,
)
from analysis.results import Results

MATRICES = ("brennan_prediger", "error_consistency", "kappa_letters", "raw")
CAPTIONS = {
    "brennan_prediger": "Agreement beyond guessing among the options offered (chance: the mean of"
    " 1/k). Relabelling the options does not change it.",
    "error_consistency": "Cohen's kappa on correct and incorrect: whether two raters fail on the"
    " same items more often than their accuracies alone would have it.",
    "kappa_letters": "For comparison with published matrices only. Letters are arbitrary labels:"
    " permuting the options of the questions changes this number.",
    "raw": "Share of items with the same answer, not corrected for chance.",
}


CLUSTERED = (
    " Some patients have several items, which these intervals do not know; those over patients"
    " stand in the table below."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportFigure:
    """A figure with its place in the report.

    Parameters
    ----------
    name : str
        File name without suffix; the element's id has `figure-` before it.
    section : str
        `accuracy` or `agreement`.
    condition : str
        The readers' condition; empty when the bundle has none.
    title, caption : str
        As text.
    figure : plotly.graph_objects.Figure
        The figure.
    """

    name: str
    section: str
    condition: str
    title: str
    caption: str
    figure: go.Figure


def report_figures(results: Results) -> list[ReportFigure]:
    """Draw the report's figures.

    Parameters
    ----------
    results : Results
        The run.

    Returns
    -------
    list of ReportFigure
        Accuracy where some item has a reference standard; matrices where there are two raters.
    """
    accuracy = results.tables["accuracy"]
    figures: list[ReportFigure] = []
    names = rater_names(results.bundle)
    for number, condition in enumerate(conditions_of(accuracy), start=1):
        if accuracy["accuracy"].notna().any():
            figures.append(
                ReportFigure(
                    name=_name("accuracy", number, condition),
                    section="accuracy",
                    condition=condition,
                    title="Accuracy with its interval, overall and by task",
                    caption=_accuracy_caption(results),
                    figure=accuracy_figure(accuracy, condition=condition, names=names),
                )
            )
        figures += _matrices(results, number, condition)
    return figures


def _matrices(results: Results, number: int, condition: str) -> list[ReportFigure]:
    pairs = results.tables["agreement_pairs"]
    kinds = pairs.loc[pairs["condition"] == condition, "pair_kind"]
    if not len(kinds):
        return []
    names = rater_names(results.bundle)
    shown = pairs.loc[pairs["scope"] == "all"]
    defined = {
        measure: shown.loc[shown["measure"] == measure, "estimate"].notna().any()
        for measure in MATRICES
    }
    return [
        ReportFigure(
            name=_name(measure, number, condition),
            section="agreement",
            condition=condition,
            title=MEASURE_TITLES[measure],
            caption=CAPTIONS[measure],
            figure=kappa_matrix_figure(pairs, measure=measure, condition=condition, names=names),
        )
        for measure in MATRICES
        if defined[measure]
    ]


def _accuracy_caption(results: Results) -> str:
    kinds = set(results.tables["accuracy"]["rater_kind"])
    who = {RaterKind.READER: "circles are readers", RaterKind.MODEL: "diamonds are models"}
    shapes = " and ".join(who[kind] for kind in RaterKind if kind in kinds)
    return (
        f"Percent correct of the assigned items; {shapes}. Lines are {_percent(results)} % Wilson"
        " intervals (macro: MOVER). An item that was not answered counts as wrong. Overlap of two"
        " intervals is no test of a difference: raters answered the same items."
        + (CLUSTERED if results.clustered else "")
    )


def _percent(results: Results) -> str:
    return results.options.confidence_percent


def _name(what: str, number: int, condition: str) -> str:
    """Conditions are free text, so the number tells files apart where the words cannot."""
    plain = re.sub(r"[^a-z0-9]+", "-", condition.lower()).strip("-")[:30]
    tail = f"-{number}-{plain}".rstrip("-") if condition else ""
    return f"{what.replace('_', '-')}{tail}"
