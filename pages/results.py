"""The results page: current findings, figures and cases of a study."""

from itertools import groupby
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import AnalysisError, Results
from analysis.figures.agreement import (
    REFERENCE,
    pairs_in_condition,
    reference_name,
    scope_text,
)
from analysis.figures.drawing.axes import condition_name, rater_names
from analysis.report.figures import ReportFigure, matrix_figure
from analysis.report.items import case_of
from analysis.statistics.accuracy.items import MODEL_WRONG
from analysis.statistics.agreement.pairs.matrices import (
    pairs_of_scope,
    reference_rows,
)
from analysis.statistics.agreement.pairs.measures import MEASURES
from analysis.translation import use_language
from study.base.errors import StudyError
from study.base.translation import language, later, t, tn, translated
from study.lifecycle.studies import accuracy_is_shown
from study.people.roles import Act
from ui.app.masthead import masthead
from ui.overview import case_films
from ui.overview.current_state import current_status
from ui.parts import actions
from ui.parts.links import links, report_links
from ui.parts.text import minute, plain
from ui.parts.theme import Tone, badge_html, grid, page_title, pick
from ui.results.background import WAIT_BEFORE_PROGRESS_S, Analysis, Job, current_request, job_of
from ui.results.report_parts import (
    SectionFigures,
    figure_links,
    overview,
    sections,
    sentences,
    without_accuracy,
)
from ui.results.tables import (
    agreement_html,
    case_card,
    compare_models,
    findings_html,
    headline_html,
    show_table,
)
from ui.server.access import guard
from ui.server.deployment import store

person = guard(Act.RESULTS)

FINDINGS, CASES, TABLES = later("Findings"), later("Cases"), later("Tables")
MODELS = later("Models side by side")
ALL_CASES = later("all cases")
MATRIX_MEASURES = tuple(name for name, measure in MEASURES.items() if measure.caption)
MAX_NAMES_LISTED = 12


def _show_status(result: dict[str, Any]) -> None:
    """Show the study's progress, and whose answers are simulated, in one line."""
    n_read = sum(row["n_read"] for row in result["readers"])
    n_assigned = sum(row["n_assigned"] for row in result["readers"])
    counts = {"n_read": n_read, "n_assigned": n_assigned}
    badges = []
    if n_read < n_assigned and result["state"] == "closed":
        badges.append(
            (
                t(
                    "The study was closed with {n_read} of {n_assigned} readings completed.",
                    **counts,
                ),
                Tone.INFO,
            )
        )
    elif n_read < n_assigned:
        badges.append(
            (t("Interim results: {n_read} of {n_assigned} readings received.", **counts), Tone.INFO)
        )
    raters = [(row["reader_id"], row["simulated"]) for row in result["readers"]]
    raters += [(row["model_id"], row["simulated"]) for row in result["models"]]
    simulated = [name for name, is_simulated in raters if is_simulated]
    if simulated:
        badges.append((_simulated_text(simulated, len(raters)), Tone.WARN))
    if badges:
        st.html(f'<p class="rr-badges">{"".join(badge_html(*badge) for badge in badges)}</p>')


def _simulated_text(simulated: list[str], n_raters: int) -> str:
    if len(simulated) <= MAX_NAMES_LISTED:
        return t("Simulated, not real data: {names}.", names=", ".join(simulated))
    return t("Simulated, not real data: {n} of {total} raters.", n=len(simulated), total=n_raters)


def _show_first_part(analysis: Analysis) -> None:
    """Show the first part of the report: verdicts, raters, their agreement and a figure."""
    left, right = st.columns([3, 2], gap="medium")
    left.html(headline_html(analysis.headline))
    with right:
        _show_figures(overview(analysis))


def _show_figures(section: SectionFigures) -> None:
    for condition, figures in groupby(section, key=lambda entry: entry.condition):
        if condition and len({entry.condition for entry in section}) > 1:
            st.subheader(plain(condition_name(condition)))
        for figure in figures:
            _show_chart(figure)
            st.caption(plain(figure.caption))
            figure_links(figure, {})


def _show_chart(figure: ReportFigure) -> None:
    st.markdown(f"**{plain(figure.title)}**")
    st.plotly_chart(
        figure.plotly(dark=st.context.theme.type == "dark"),
        theme=None,
        width="stretch" if figure.chart.stretches else "content",
        key=figure.name,
    )


def _show_agreement(results: Results, section: SectionFigures) -> None:
    """Show one large matrix with a selector of measures, then the other figures of agreement."""
    matrices = [figure for figure in section if figure.chart.square]
    if matrices:
        with st.container(key="matrix"):
            _show_matrix(results, sorted({figure.condition for figure in matrices}))
    _show_figures([figure for figure in section if not figure.chart.square])


def _show_matrix(results: Results, conditions: list[str]) -> None:
    left, right = st.columns([3, 2], gap="medium")
    scope = right.selectbox(
        t("Cases"), _scopes(results), format_func=_scope_label, key="matrix-scope"
    )
    pairs = pairs_of_scope(results, scope)
    pairs = pairs.loc[pairs["measure"].isin(MATRIX_MEASURES) & pairs["estimate"].notna()]
    condition = conditions[0]
    if len(conditions) > 1:
        condition = right.selectbox(
            t("Condition"), conditions, format_func=condition_name, key="matrix-condition"
        )
    measures_defined = set(pairs["measure"])
    if (
        "kappa" in measures_defined
    ):  # the number is the same; no note is needed if all items have the same options
        measures_defined.remove("kappa_letters")
    measures = [name for name in MATRIX_MEASURES if name in measures_defined]
    if not measures:
        st.write(t("No two raters have a defined agreement here."))
        return
    measure = left.segmented_control(
        t("Measure of agreement"),
        measures,
        default=measures[0],
        required=True,
        format_func=lambda entry: translated(MEASURES[entry].title),
        key=f"matrix-measure-{'-'.join(measures)}",
    )
    has_truth = len(results.tables["agreement_with_truth"]) > 0  # not in a blinded analysis
    reference = has_truth and right.toggle(t("With reference standard"), key="matrix-reference")
    figure = matrix_figure(results, measure, scope=scope, condition=condition, reference=reference)
    if figure is None:
        st.write(t("No two raters have a defined agreement here."))
        return
    with left:
        _show_chart(figure)
    right.caption(plain(figure.caption))
    with right:
        selection = {"scope": scope, "condition": condition, "reference": "1" if reference else ""}
        figure_links(figure, selection)
        if not st.toggle(t("As a table")):
            return
        rows = pairs_in_condition(pairs.loc[pairs["measure"] == measure], condition)
        reference_pairs = reference_rows(results, measure, scope, condition) if reference else None
        grid(
            pd.concat([rows, reference_pairs]).replace(
                {"rater_b": {REFERENCE: reference_name().label}}
            ),
            column_order=["rater_a", "rater_b", "n", "estimate", "ci_low", "ci_high", "method"],
            column_config={
                "rater_a": t("First rater"),
                "rater_b": t("Second rater"),
                "estimate": st.column_config.NumberColumn(t("Estimate"), format="%.3f"),
                "ci_low": st.column_config.NumberColumn(t("Lower limit"), format="%.3f"),
                "ci_high": st.column_config.NumberColumn(t("Upper limit"), format="%.3f"),
                "method": t("Method"),
            },
        )


def _scopes(results: Results) -> list[str]:
    """Return the choices for filtering cases: all, tasks, categories and option sets."""
    pair_scopes = list(results.tables["agreement_pairs"]["scope"].unique())
    categories = sorted(set(results.bundle.items["category"]) - {""})
    column = sum(not scope.startswith("option_set=") for scope in pair_scopes)
    return [
        *pair_scopes[:column],
        *(f"category={category}" for category in categories),
        *pair_scopes[column:],
    ]


def _scope_label(scope: str) -> str:
    kinds = {"task": t("Task"), "category": t("Category"), "option_set": t("Options")}
    kind = kinds.get(scope.partition("=")[0])
    return f"{kind}: {scope_text(scope)}" if kind else scope_text(scope)


def _show_filtered_cases(results: Results) -> None:
    table = results.tables["item_difficulty"]
    kinds = [ALL_CASES, *sorted(note for note in table["note"].unique() if note)]
    left, right = st.columns(2)
    kind = left.selectbox(
        t("Show cases"), kinds, format_func=lambda entry: translated(entry).capitalize()
    )
    shown = table if kind == ALL_CASES else table.loc[table["note"] == kind]
    shown = _disagreements(results, shown, right).reset_index(drop=True)
    _show_cases(results, shown, f"cases-{kind}")


def _show_cases(results: Results, shown: pd.DataFrame, key: str) -> None:
    """Show a list of cases, and the images and answers of the selected case."""
    st.caption(t("Choose a row to see the images, the reference standard and each answer."))
    columns: dict[str, Any] = {
        "note": st.column_config.TextColumn(t("Who missed it"), width="large"),
        "n_readers_correct": t("Readers correct"),
        "n_readers": t("of"),
        "n_models_correct": t("Models correct"),
        "n_models": t("of") + " ",
        "task": t("Task"),
        "category": t("Category"),
        "item_id": t("Item"),
        "condition": t("Condition"),
    }
    order = list(columns)
    cases = list(shown[["item_id", "condition"]].itertuples(index=False, name=None))
    picked = pick(cases, shown, key=key, height=212, column_order=order, column_config=columns)
    if picked is None or person.study is None:
        return
    item_id, condition = picked
    films = case_films.addresses(store(), person.study, item_id)
    st.html(case_card(case_of(results.bundle, item_id, condition), films))


def _disagreements(results: Results, shown: pd.DataFrame, column: DeltaGenerator) -> pd.DataFrame:
    """Return the cases on which a selected model differs from all readers."""
    table = results.tables["model_disagreements"]
    names = rater_names(results.bundle)

    def words(pair: tuple[str, str]) -> str:
        if not pair[0]:
            return ""
        model = names[pair[0]].full
        if pair[1] == MODEL_WRONG:
            return t("All readers correct, {model} incorrect", model=model)
        return t("{model} correct, all readers incorrect", model=model)

    pairs = table[["model_id", "kind"]].drop_duplicates().itertuples(index=False, name=None)
    model, kind = column.selectbox(
        t("Where a model and all readers differ"),
        [("", ""), *pairs],
        format_func=words,
        key="parted",
    )
    chosen = table.loc[(table["model_id"] == model) & (table["kind"] == kind)]
    return shown.merge(chosen[["item_id", "condition"]]) if model else shown


def _table_viewer(results: Results) -> None:
    name = st.selectbox(
        t("Table"), list(results.tables), format_func=lambda entry: entry.replace("_", " ")
    )
    show_table(results.tables[name])


def _show_blinded_results(analysis: Analysis) -> None:
    """Show the results of a blinded analysis, which has no reference standard."""
    drawn = sections(analysis)
    part = _selected_part([FINDINGS, *drawn])
    if part == FINDINGS:
        for html in (
            agreement_html(analysis.headline),
            findings_html(without_accuracy(sentences(analysis))),
        ):
            if html:  # there are no readings yet
                st.html(html)
    else:
        _show_part(analysis.results, drawn[part])


def _show_full_results(analysis: Analysis) -> None:
    """Show all results."""
    drawn = sections(analysis)
    model_comparison = [MODELS] if len(analysis.results.tables["model_pairs"]) else []
    part = _selected_part([FINDINGS, *drawn, *model_comparison, CASES, TABLES])
    if part == FINDINGS:
        _show_first_part(analysis)
        st.html(findings_html(sentences(analysis)))
    elif part == MODELS:
        _show_cases(analysis.results, *compare_models(analysis.results))
    elif part == CASES:
        _show_filtered_cases(analysis.results)
    elif part == TABLES:
        _table_viewer(analysis.results)
    else:
        _show_part(analysis.results, drawn[part])


def _selected_part(parts: list[str]) -> str:
    return st.segmented_control(
        t("Part"),
        parts,
        default=FINDINGS,
        required=True,
        format_func=translated,
        label_visibility="collapsed",
        key="part",
    )


def _show_part(results: Results, section: SectionFigures) -> None:
    if any(figure.section == "agreement" for figure in section):
        _show_agreement(results, section)
    else:
        _show_figures(section)


@st.fragment(run_every=0.5)
def _show_progress() -> None:
    guard(Act.RESULTS)
    job = job_of(store(), person.study_name)
    if job.is_done():
        st.rerun()
    st.progress(job.share, _time_left_text(job.remaining_s))


def _time_left_text(seconds: float | None) -> str:
    if seconds is None:
        return t("Analysing the study ...")
    if seconds < 60:
        return t("Analysing the study: less than a minute left.")
    n = round(seconds / 60)
    return tn(
        "Analysing the study: about {n} minute left.",
        "Analysing the study: about {n} minutes left.",
        n,
    )


def _offer_update(job: Job) -> None:
    """Report that the study has changed since the analysis, and offer an update."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(
            badge_html(
                t("As of {time}. The study has moved on since.", time=minute(job.begun_at_utc)),
                Tone.INFO,
            ),
            width="content",
        )
        actions.view_button(
            t("Update"), lambda: job_of(store(), person.study_name, refresh=True), key="update"
        )


def _body() -> None:
    current_store, study = store(), person.study_name
    result = current_status(current_store, study)
    if not any(row["n_read"] for row in result["readers"]) and not result["models"]:
        st.write(
            t(
                "No case has been read and no model has been added yet: there are no results "
                "to show."
            )
        )
        return
    shown = accuracy_is_shown(current_store, study)
    if shown:
        with head:
            report_links()
            links("to_leaderboard", {"leaderboard": t("Leaderboard")})
        _show_status(result)
    else:
        st.info(
            t(
                "Accuracy is shown once the study is closed: until then no one, including "
                "coordinators, can see who is correct. Agreement between raters and reading times "
                "are available now."
            )
        )
    job = job_of(current_store, study)
    if not job.is_done(WAIT_BEFORE_PROGRESS_S):
        _show_progress()
        return
    if job.request != current_request(current_store, study):
        _offer_update(job)
    (_show_full_results if shown else _show_blinded_results)(job.analysis())


masthead(person)
head = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
with head:
    page_title(t("Results"))
try:
    with use_language(language()):
        _body()
except (StudyError, AnalysisError) as error:
    st.error(plain(str(error)))
