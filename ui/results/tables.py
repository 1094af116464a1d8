"""Text and tables of the results page: headline, findings, tables, compared models, a case.

Column names are translated to headings and numbers are rounded; the files have full precision.
"""

from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from analysis import Results
from analysis.bundle.model import RaterKind, Status
from analysis.figures.drawing.axes import rater_names
from analysis.report.findings.endpoint import VerdictLine
from analysis.report.formats.page import isolate_html
from analysis.report.headline import Headline
from analysis.report.items import Case, CaseAnswer
from analysis.report.tables import ReportTable, TableRow
from analysis.statistics.comparison.model_pairs import rows_of_pair
from analysis.statistics.comparison.pairs import items_only_one_answered_correctly
from study.base.translation import t, translated
from ui.overview.case_films import CASE_CSS, figure_html
from ui.parts.theme import grid

_HEADINGS = {
    "rater_id": "Rater",
    "ci_low": "CI from",
    "ci_high": "CI to",
    "cluster_ci_low": "Cluster CI from",
    "cluster_ci_high": "Cluster CI to",
    "ci_method": "CI method",
    "se": "SE",
    "auc": "AUC",
    "df": "Degrees of freedom",
    "by": "Grouped by",
    "rater_a": "First rater",
    "rater_b": "Second rater",
    "accuracy_a": "Accuracy, first",
    "accuracy_b": "Accuracy, second",
    "only_a_correct": "Only first correct",
    "only_b_correct": "Only second correct",
    "condition_a": "First condition",
    "condition_b": "Second condition",
    "value_a": "Value, first",
    "value_b": "Value, second",
    "pair_kind": "Pair",
    "item_id": "Case",
    "n_items": "n cases",
    "model_value": "Model",
    "model_id": "Model name",
    "reader_mean": "Mean of readers",
    "p_exact": "p (exact)",
    "p_mid": "p (mid-p)",
    "p_clustered": "p (clustered)",
    "p_adjusted": "p (adjusted)",
    "p_noninferior": "p (non-inferiority)",
    "p_noninferior_adjusted": "p (non-inferiority, adjusted)",
    "undefined_because": "Why there is no value",
}
"""Headings of columns whose names would be unclear after removing underscores."""
_SHARE_COLUMNS = ("accuracy", "accuracy_a", "accuracy_b")
_METRIC_COLUMNS = ("reader_mean", "model_value", "value_a", "value_b", "margin", "se")
"""Columns in the unit of the metric: a proportion for accuracy, otherwise a number."""
_DIFFERENCE_COLUMNS = ("difference", "ci_low", "ci_high", "cluster_ci_low", "cluster_ci_high")
_LOWER_CASE_SYMBOLS = ("n", "p")
"""Symbols of statistics that are not capitalised."""

_REPORT_HTML = '<div class="rr-report">{}</div>'
MAX_ROWS_SHOWN = 24
_percent_column = partial(st.column_config.NumberColumn, format="percent")


def show_table(frame: pd.DataFrame) -> None:
    """Show a table of the analysis in English, like the report, separately for each metric."""
    metrics = list(frame["metric"].unique()) if "metric" in frame else []
    if len(metrics) > 1:
        for metric in metrics:
            show_table(frame.loc[frame["metric"] == metric])
        return
    shares = {name for name in _SHARE_COLUMNS if name in frame}
    if metrics == ["accuracy"]:
        shares |= set(_METRIC_COLUMNS)
    if shares:
        shares |= set(_DIFFERENCE_COLUMNS)
    table = frame.dropna(axis="columns", how="all") if len(frame) else frame
    grid(
        table,
        height=560,
        column_config={
            name: _column_format(table[name], heading(name), is_share=name in shares)
            for name in map(str, table.columns)
        },
    )


def heading(name: str) -> str:
    """Return a column's name in words.

    >>> heading("rater_id"), heading("ci_low"), heading("median_ms"), heading("n_flagged")
    ('Rater', 'CI from', 'Median (ms)', 'n flagged')
    """
    if name in _HEADINGS:
        return _HEADINGS[name]
    words = f"{name.removesuffix('_ms')} (ms)" if name.endswith("_ms") else name
    words = words.replace("_", " ")
    return words if words.split()[0] in _LOWER_CASE_SYMBOLS else words[:1].upper() + words[1:]


def _column_format(values: "pd.Series[float]", label: str, *, is_share: bool) -> object:
    if not pd.api.types.is_float_dtype(values):
        return label
    if is_share:
        return st.column_config.NumberColumn(label, format="percent")
    if label.split()[0] == "p":
        return st.column_config.NumberColumn(label, format="%.2g")
    is_whole = label.endswith("(ms)") or (values.dropna() % 1 == 0).all()
    return st.column_config.NumberColumn(label, format="%.0f" if is_whole else "%.3f")


def headline_html(headline: Headline) -> str:
    """Return the verdicts, the raters and their agreement as HTML; all text is escaped."""
    rows = len(headline.raters.rows)
    tall = " rr-tall" if rows > MAX_ROWS_SHOWN else ""
    return _REPORT_HTML.format(
        "".join(map(_verdict_html, headline.verdicts))
        + f'<div class="rr-table{tall}" tabindex="0">{_html_table(headline.raters)}</div>'
        + agreement_html(headline)
        + f'<p class="rr-note">{isolate_html(headline.raters.remark)}</p>'
    )


def agreement_html(headline: Headline) -> str:
    """Return the lines about agreement as HTML."""
    return "".join(f'<p class="rr-line">{isolate_html(line)}</p>' for line in headline.agreement)


def findings_html(themes: list[tuple[str, list[str]]]) -> str:
    """Return the findings as HTML, by theme."""
    parts = (
        f"<dt>{escape(translated(theme))}</dt>"
        f"<dd>{''.join(f'<p>{isolate_html(text)}</p>' for text in texts)}</dd>"
        for theme, texts in themes
    )
    return _REPORT_HTML.format(f'<dl class="rr-findings">{"".join(parts)}</dl>')


def _verdict_html(line: VerdictLine) -> str:
    tone = " rr-shown" if line.shown else ""
    word = f"<strong>{escape(line.word)}:</strong> " if line.word else ""
    return f'<p class="rr-verdict{tone}">{word}{isolate_html(line.text)}</p>'


def _html_table(table: ReportTable) -> str:
    headings = "".join(
        f'<th scope="col" class="rr-{side}">{escape(heading_text)}</th>'
        for heading_text, side in zip(table.header, table.sides, strict=True)
    )
    body = "".join(_html_row(row, table.sides) for row in table.rows)
    return f"<table><thead><tr>{headings}</tr></thead><tbody>{body}</tbody></table>"


def _html_row(row: TableRow, sides: tuple[str, ...]) -> str:
    names, cells = row
    raters = f" {t('and')} ".join(f"<bdi>{escape(name.full)}</bdi>" for name in names)
    side_cells = "".join(
        f'<td class="rr-{side}">{escape(cell)}</td>'
        for cell, side in zip(cells, sides[1:], strict=True)
    )
    return f'<tr><th scope="row">{raters}</th>{side_cells}</tr>'


def compare_models(results: Results) -> tuple[pd.DataFrame, str]:
    """Compare two selected models; return the cases on which they differ, and a key.

    For two versions of a model, these cases are the improvements and the deteriorations.
    """
    table, names = results.tables["model_pairs"], rater_names(results.bundle)
    models = sorted({*table["rater_a"], *table["rater_b"]})
    left, right = st.columns(2)
    first = left.selectbox(t("First model"), models, format_func=lambda side: names[side].full)
    others = [model for model in models if model != first]
    second = right.selectbox(t("Second model"), others, format_func=lambda side: names[side].full)
    _show_by_task(rows_of_pair(table, first, second))
    differing_cases = items_only_one_answered_correctly(results.bundle, first, second)
    n = differing_cases["correct"].value_counts()
    choice = st.segmented_control(
        t("Cases only one of them got right"),
        [first, second],
        default=first,
        required=True,
        format_func=lambda side: t(
            "Only {model} correct: {n}", model=names[side].full, n=int(n.get(side, 0))
        ),
        key=f"only-{first}-{second}",
    )
    cases, difficulty = (
        differing_cases.loc[differing_cases["correct"] == choice],
        results.tables["item_difficulty"],
    )
    has_both = set(cases["condition"]) <= set(difficulty["condition"])
    keys = ["item_id", "condition"] if has_both else ["item_id"]
    return (
        difficulty.merge(cases[keys]).drop_duplicates(keys, ignore_index=True),
        f"side-{first}-{second}-{choice}",
    )


def _show_by_task(rows: pd.DataFrame) -> None:
    if rows.empty:
        st.write(t("These two models answered no case under the same condition."))
        return
    columns: dict[str, Any] = {
        "group": st.column_config.TextColumn(t("Cases"), width="medium"),
        "condition": t("Condition"),
        "n": "n",
        "accuracy_a": _percent_column(t("First model")),
        "accuracy_b": _percent_column(t("Second model")),
        "difference": _percent_column(t("Difference")),
        "ci_low": _percent_column(t("Lower limit")),
        "ci_high": _percent_column(t("Upper limit")),
        "only_a_correct": t("Only first correct"),
        "only_b_correct": t("Only second correct"),
    }
    if not rows["condition"].any():
        del columns["condition"]
    grid(
        rows.assign(group=rows["group"].where(rows["by"] == "task", t("All cases"))),
        column_order=list(columns),
        column_config=columns,
    )


def case_card(case: Case, films: Sequence[tuple[str, str]]) -> str:
    """Return a case as HTML; all external text is escaped.

    Parameters
    ----------
    case
        The question and its answers.
    films
        Label and address of each film, in the order of the views.
    """
    films_html = "".join(figure_html(label, address) for label, address in films)
    mark_html = f" <span class=mark>{escape(t('reference standard'))}</span>"
    options = "".join(
        f'<li class="{"reference" if option.is_reference else ""}">'
        f"<strong>{escape(option.letter)}</strong> <bdi>{escape(option.text)}</bdi>"
        f"{mark_html if option.is_reference else ''}"
        f"{_names_html([answer for answer in case.answers if answer.letter == option.letter])}</li>"
        for option in case.options
    )
    return (
        f'{CASE_CSS}<div class="case"><div class="films">{films_html}</div>'
        f"<div><h4><bdi>{escape(case.question)}</bdi></h4><ol>{options}{_unanswered_html(case)}</ol></div>"
        "</div>"
    )


def _unanswered_html(case: Case) -> str:
    missing = [answer for answer in case.answers if not answer.letter]
    return f"<li>{escape(t('No answer'))}{_names_html(missing)}</li>" if missing else ""


def _names_html(answers: Sequence[CaseAnswer]) -> str:
    if not answers:
        return ""
    chips = "".join(
        f'<span class="{"reader" if answer.kind is RaterKind.READER else "model"}">'
        f"<bdi>{escape(answer.name.full)}</bdi>{_status_text(answer)}</span>"
        for answer in answers
    )
    return f'<div class="who">{chips}</div>'


def _status_text(answer: CaseAnswer) -> str:
    reason = {
        Status.SKIPPED: t("skipped"),
        Status.TIMED_OUT: t("timed out"),
        Status.UNPARSED: t("unparsed"),
        Status.REFUSED: t("refused"),
        Status.ABSENT: t("absent"),
    }
    return f": {escape(reason[answer.status])}" if answer.status in reason else ""
