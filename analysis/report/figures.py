"""Which figures the report shows, in which order, under which names, and each as it is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.bundle.model import RaterKind
from analysis.figures.accuracy import (
    accuracy_chart,
    leaderboard_chart,
    overview_chart,
    profile_chart,
    with_macro_if_other,
)
from analysis.figures.agreement import (
    MEASURE_TITLES,
    beside_truth,
    group_agreement_chart,
    kappa_matrix_chart,
    matrix_order,
    pairs_in_condition,
    scope_text,
    task_agreement_chart,
)
from analysis.figures.comparisons import between_chart, comparisons_chart, panel_chart
from analysis.figures.drawing.axes import (
    condition_name,
    conditions_of,
    in_condition,
    rater_names,
)
from analysis.figures.drawing.chart import Chart, csv
from analysis.figures.drawing.look import DARK, LIGHT
from analysis.figures.drawing.to_plotly import plotly_figure
from analysis.figures.robustness import (
    differences_chart,
    difficulty_chart,
    read_by_any,
    reliability_chart,
)
from analysis.presentation import captions
from analysis.presentation.wording import headline_intervals, number, rows_of
from analysis.registry import STATISTICS
from analysis.report.headline import raters_in_order
from analysis.results import Results
from analysis.statistics.accuracy.open_ended import HALF, STRICT
from analysis.statistics.agreement.pairs.table import category_pairs
from analysis.statistics.agreement.shown import agreement_shown
from analysis.statistics.claims import narrower_notes
from analysis.statistics.comparison.model_pairs import over_patients
from analysis.statistics.statistic import Figure
from analysis.statistics.study import Study
from analysis.statistics.verdicts import (
    FEWEST_PATIENTS,
    has_margin,
    origin_of_margin,
    patients_of_pair,
    patients_of_row,
    too_few,
)
from analysis.translation import later, said, t


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportFigure:
    """A figure with its place in the report.

    Parameters
    ----------
    name : str
        File name without suffix; the element's id has `figure-` before it.
    section : str
        `accuracy`, `leaderboard`, `robustness`, `tasks`, `comparison`, `agreement`, `time` or
        `items`.
    condition : str
        The readers' condition; empty when the bundle has none.
    title, caption : str
        As text.
    chart : Chart
        What it shows.
    """

    name: str
    section: str
    condition: str
    title: str
    caption: str
    chart: Chart

    @cached_property
    def figure(self) -> go.Figure:
        """The figure as plotly draws it on white."""
        return self.plotly()

    @cached_property
    def json(self) -> str:
        """The figure's data and layout for plotly.js."""
        text: str = self.figure.to_json()
        return text

    @cached_property
    def svg(self) -> bytes:
        """The figure as SVG, text as paths, the same bytes every time."""
        # Only who prints waits for matplotlib.
        from analysis.figures.drawing.to_print import svg

        return svg(self.chart)

    @cached_property
    def png(self) -> bytes:
        """The figure as PNG of 300 dots per inch, the same bytes every time."""
        from analysis.figures.drawing.to_print import png_of

        return png_of(self.svg)

    @property
    def square(self) -> bool:
        """Whether it is a matrix."""
        return self.chart.square

    def plotly(self, *, dark: bool = False) -> go.Figure:
        """Draw it for the screen."""
        return plotly_figure(self.chart, DARK if dark else LIGHT)

    def file(self, form: str, width_mm: float) -> bytes:
        """Draw it as `svg` or `png` at a width, or write its data as `csv`."""
        from analysis.figures.drawing.to_print import png, svg

        write = {"svg": svg, "png": png, "csv": csv}[form]
        return write(self.chart.at_width(width_mm))


MATRICES = tuple(captions.AGREEMENT_CAPTIONS)
OVERVIEW = "overview"
# Above this many raters the headline's matrix stands alone.
MOST_WITH_ALL_MATRICES = 60
MOST_PLACES = 6
PANEL_TITLES = {
    "accuracy": later("Models against the readers' mean, accuracy"),
    "auc": later("Models against the readers' mean, AUC"),
}
_CATEGORIES: WeakKeyDictionary[Results, dict[str, pd.DataFrame]] = WeakKeyDictionary()


def report_figures(results: Results) -> list[ReportFigure]:
    """Draw the report's figures.

    For every condition, those whose tables are there and have something defined to show.
    """
    conditions = conditions_of(results.tables["accuracy"])
    return [
        *overview_figure(results),
        *(
            ReportFigure(
                name=_name(figure.name, number, condition),
                section=figure.section,
                condition=condition,
                title=figure.title,
                caption=figure.caption,
                chart=figure.chart,
            )
            for number, condition in enumerate(conditions, start=1)
            for figure in _figures(results, condition)
            if figure.chart is not None
        ),
    ]


def overview_figure(results: Results) -> list[ReportFigure]:
    """Draw the figure that the report begins with; none where no accuracy is defined."""
    rows = raters_in_order(results)
    means = {
        str(row["condition"]): number(row, "reader_mean")
        for row in rows_of(results, "reader_panel", metric="accuracy")
        if number(row, "n_readers") > 1 and not np.isnan(number(row, "reader_mean"))
    }
    chart = overview_chart(rows, means, names=rater_names(results.bundle))
    if chart is None:
        return []
    return [
        ReportFigure(
            name=OVERVIEW,
            section=OVERVIEW,
            condition="",
            title=t("Accuracy of every rater"),
            caption=captions.overview_caption(
                rows, results.options.confidence_percent, clustered=results.clustered
            ),
            chart=chart,
        )
    ]


def _figures(results: Results, condition: str) -> list[Figure]:
    """Return the figures of one condition in order of place."""
    parts = dict(PARTS)
    for statistic in STATISTICS:
        if results.has(statistic.name):
            parts |= statistic.figures
    return [figure for place in sorted(parts) for figure in parts[place](results, condition)]


def _accuracy(results: Results, condition: str) -> Iterator[Figure]:
    names = rater_names(results.bundle)
    table = headline_intervals(results.tables["accuracy"])
    percent = results.options.confidence_percent
    if not table["accuracy"].notna().any():
        return
    rows = in_condition(table, condition)
    drawn = with_macro_if_other(in_condition(table, condition))
    yield Figure(
        "accuracy",
        "accuracy",
        t("Accuracy with its interval, overall and by task"),
        captions.accuracy_caption(drawn, percent, clustered=results.clustered),
        accuracy_chart(table, condition=condition, names=names),
    )
    board = _table(results, "leaderboard")
    if board is not None:
        shown = in_condition(board, condition)
        shown = shown.loc[(shown["by"] == "overall") & shown["rank"].notna()]
        yield Figure(
            "leaderboard",
            "leaderboard",
            t("Ranks, and how certain they are"),
            captions.leaderboard_caption(with_macro_if_other(shown), percent) if len(shown) else "",
            leaderboard_chart(board, condition=condition, names=names),
        )
    yield Figure(
        "tasks",
        "task-profile",
        t("Accuracy by task: readers' range and every model"),
        captions.profile_caption(rows, percent, clustered=results.clustered),
        profile_chart(table, condition=condition, names=names),
    )


def _comparison(results: Results, condition: str) -> Iterator[Figure]:
    names = rater_names(results.bundle)
    percent = results.options.confidence_percent
    panel = _table(results, "reader_panel")
    for metric, title in PANEL_TITLES.items():
        if panel is None:
            break
        rows = panel.loc[(panel["metric"] == metric) & (panel["condition"] == condition)]
        records = rows_of(results, "reader_panel", metric=metric, condition=condition)
        few = _few(results, [patients_of_row(results, row) for row in records])
        if few or not has_margin(results, metric):
            rows = rows.assign(margin=np.nan, p_noninferior=np.nan)
        chart = panel_chart(rows, metric=metric, condition=condition, names=names)
        rows = rows.loc[rows["difference"].notna()]
        yield Figure(
            "comparison",
            f"panel-{metric}",
            said(title),
            captions.panel_caption(
                rows,
                percent,
                origin=origin_of_margin(results),
                narrower=narrower_notes(records),
                few=few,
            )
            if len(rows)
            else "",
            chart,
        )
    pairs = _table(results, "comparisons")
    if pairs is not None:
        rows = pairs.loc[(pairs["pair_kind"] == "reader-model") & (pairs["condition"] == condition)]
        rows = rows.loc[rows["difference"].notna()]
        alpha = results.options.alpha
        records = rows_of(results, "comparisons", pair_kind="reader-model", condition=condition)
        few = _few(results, [patients_of_pair(results, row) for row in records])
        yield Figure(
            "comparison",
            "model-against-reader",
            t("Every model against every reader"),
            captions.comparisons_caption(rows, percent, few) if len(rows) else "",
            comparisons_chart(pairs, condition=condition, alpha=alpha, names=names),
        )


def _few(results: Results, patients: list[int]) -> str:
    """Return why the least of some numbers of patients allows no verdict; empty where it does."""
    return too_few(results, min(patients, default=FEWEST_PATIENTS))


def _agreement(results: Results, condition: str) -> Iterator[Figure]:
    percent = results.options.confidence_percent
    yield from _matrices(results, condition)
    groups, between = _table(results, "agreement_groups"), _table(results, "agreement_between")
    if groups is not None:
        rows = groups.loc[(groups["condition"] == condition) & groups["estimate"].notna()]
        overall = rows.loc[rows["scope"] == "all"]
        yield Figure(
            "agreement",
            "group-agreement",
            t("Agreement of readers, of models and of all raters"),
            captions.groups_caption(overall, percent) if len(overall) else "",
            group_agreement_chart(groups, condition=condition),
        )
        mixed = between if between is not None else groups.iloc[:0].assign(readers_models=0.0)
        mixed = mixed.loc[mixed["condition"] == condition]
        yield Figure(
            "agreement",
            "agreement-by-task",
            t("Agreement by task"),
            captions.task_agreement_caption(rows, mixed, percent) if len(rows) else "",
            task_agreement_chart(groups, mixed, condition=condition),
        )
    if between is not None:
        rows = between.loc[
            (between["measure"] == "brennan_prediger")
            & (between["condition"] == condition)
            & between["difference"].notna()
        ]
        yield Figure(
            "agreement",
            "readers-and-models",
            t("Agreement among readers, and of readers with models"),
            captions.between_caption(rows, percent) if len(rows) else "",
            between_chart(between, condition=condition),
        )


def _matrices(results: Results, condition: str) -> Iterator[Figure]:
    many = len(results.bundle.raters) > MOST_WITH_ALL_MATRICES
    for measure in MATRICES[:1] if many else MATRICES:
        figure = matrix_figure(results, measure, condition=condition, reference=True)
        if figure is not None:
            yield Figure("agreement", measure, figure.title, figure.caption, figure.chart)


def matrix_figure(
    results: Results,
    measure: str,
    *,
    scope: str = "all",
    condition: str = "",
    reference: bool = False,
) -> ReportFigure | None:
    """Draw one matrix of agreement, on demand with the reference standard as a further row.

    None where no pair has a defined agreement.
    """
    pairs = pairs_of_scope(results, scope)
    rows = pairs_in_condition(pairs.loc[pairs["measure"] == measure], condition)
    if not rows["estimate"].notna().any() or not (pairs["condition"] == condition).any():
        return None
    beside = reference_rows(results, measure, scope, condition) if reference else None
    return ReportFigure(
        name=measure,
        section="agreement",
        condition=condition,
        title=_matrix_title(measure, scope),
        caption=captions.matrix_caption(rows, measure, results.options.confidence_percent, beside),
        chart=kappa_matrix_chart(
            pairs,
            measure=measure,
            condition=condition,
            scope=scope,
            names=rater_names(results.bundle),
            model_pairs=beside,
        ),
    )


def _matrix_title(measure: str, scope: str) -> str:
    title = said(MEASURE_TITLES[measure])
    if scope == "all":
        return title
    return t("{measure}, {cases}", measure=title, cases=scope_text(scope))


def reference_rows(
    results: Results, measure: str, scope: str, condition: str
) -> pd.DataFrame | None:
    """Return the row of the reference standard in a matrix, as pairs with one more rater.

    None where no item has a reference standard.
    """
    truth = _table(results, "agreement_with_truth")
    if truth is None:
        return None
    pairs = pairs_of_scope(results, scope)
    readers, models = matrix_order(pairs, condition=condition, scope=scope)
    beside = beside_truth(truth, readers + models, measure, scope, condition)
    return agreement_shown(results, beside)


def pairs_of_scope(results: Results, scope: str) -> pd.DataFrame:
    """Return the agreement of pairs over some items, which for a category is worked out here.

    The table of pairs has no categories: of hundreds of raters it is long enough without.
    """
    if not scope.startswith("category="):
        pairs = results.tables["agreement_pairs"]
        return agreement_shown(results, pairs.loc[pairs["scope"] == scope])
    kept = _CATEGORIES.setdefault(results, {})
    if scope not in kept:
        study = Study(results.bundle, results.options)
        pairs = category_pairs(study, scope.removeprefix("category="))
        kept[scope] = agreement_shown(results, pairs)
    return kept[scope]


def _robustness(results: Results, condition: str) -> Iterator[Figure]:
    names = rater_names(results.bundle)
    percent = results.options.confidence_percent
    shown = _table(results, "model_conditions")
    if shown is not None:
        shown = _of_models(shown, condition, "condition_a")
        for place, name in enumerate(sorted(shown["condition_b"].unique()), start=1):
            rows = over_patients(shown.loc[shown["condition_b"] == name])
            rows = rows.assign(panel=_groups(rows))
            yield Figure(
                "robustness",
                _name("input", place, name),
                t("Models under another condition: {condition}", condition=condition_name(name)),
                captions.input_caption(rows, name, percent),
                differences_chart(rows, axis_title=t("Accuracy lost, points"), names=names),
            )
    places = _table(results, "option_positions")
    if places is not None:
        rows = in_condition(places, condition)
        rows = rows.loc[rows["place"] <= MOST_PLACES]
        rows = rows.assign(panel=rows["place"].map(lambda place: t("Option {n}", n=int(place))))
        yield Figure(
            "robustness",
            "option-places",
            t("Place of the option chosen"),
            captions.places_caption(rows, percent) if len(rows) else "",
            differences_chart(rows, axis_title=t("Chosen minus correct, points"), names=names),
        )
    sure = _table(results, "model_reliability")
    if sure is not None:
        rows = _of_models(sure, condition, "condition")
        yield Figure(
            "robustness",
            "reliability",
            t("Calibration of models"),
            captions.reliability_caption(rows, percent) if len(rows) else "",
            reliability_chart(rows, names=names),
        )
    gaps = _table(results, "open_gap")
    if gaps is not None:
        rows = gaps.assign(panel=_groups(gaps))
        for scoring in (STRICT, HALF):
            of = in_condition(rows.loc[rows["scoring"] == scoring], condition)
            yield Figure(
                "robustness",
                f"open-gap-{scoring.replace(' ', '-')}",
                t("Multiple choice minus open-ended, strict")
                if scoring == STRICT
                else t("Multiple choice minus open-ended, half credit"),
                captions.open_gap_caption(of, scoring, percent) if len(of) else "",
                differences_chart(of, axis_title=t("Difference, points"), names=names),
            )
    banks = _table(results, "banks")
    if banks is not None:
        pairs = in_condition(banks, condition).groupby(["bank", "other_bank"], sort=False)
        for place, ((bank, other), rows) in enumerate(pairs, start=1):
            rows = rows.assign(panel=_groups(rows), n=rows["n"] + rows["n_other"])
            yield Figure(
                "robustness",
                f"banks-{place}",
                t(
                    "Difference between banks: {bank} minus {other_bank}",
                    bank=bank,
                    other_bank=other,
                ),
                captions.banks_caption(rows, percent),
                differences_chart(rows, axis_title=t("Difference, points"), names=names),
            )


def _of_models(table: pd.DataFrame, condition: str, column: str) -> pd.DataFrame:
    """Return the rows of models that stand beside the readers of a condition."""
    rows = table.assign(
        rater_id=table["model_id"], rater_kind=RaterKind.MODEL.value, condition=table[column]
    )
    return in_condition(rows, condition)


def _groups(rows: pd.DataFrame) -> pd.Series[str]:
    return rows["group"].where(rows["by"] == "task", t("All cases"))


def _items(results: Results, condition: str) -> Iterator[Figure]:
    items = _table(results, "item_difficulty")
    if items is None:
        return
    rows = read_by_any(items, condition)
    if len(rows):
        yield Figure(
            "items",
            "item-difficulty",
            t("Hard cases, for readers and for models"),
            captions.difficulty_caption(rows),
            difficulty_chart(items, condition=condition),
        )


def _table(results: Results, name: str) -> pd.DataFrame | None:
    table = results.tables.get(name)
    return None if table is None or table.empty else table


def _name(what: str, number: int, condition: str) -> str:
    """Conditions are free text, so the number tells files apart where the words cannot."""
    plain = re.sub(r"[^a-z0-9]+", "-", condition.lower()).strip("-")[:30]
    tail = f"-{number}-{plain}".rstrip("-") if condition else ""
    return f"{what.replace('_', '-')}{tail}"


PARTS = {10: _accuracy, 40: _comparison, 60: _agreement, 90: _robustness, 150: _items}
