"""The results page: accuracy and agreement of readers and models, as the study stands."""

from typing import Any

import streamlit as st

from analysis import AnalysisError, Results, figures
from analysis.report.figures import CAPTIONS
from study.errors import StudyError
from study.progress import status
from ui.access import guard
from ui.deployment import store
from ui.forms import report_link, sign_out_form
from ui.results import results
from ui.text import plain

person = guard("coordinator")


def _standing(found: dict[str, Any]) -> None:
    n_read = sum(row["n_read"] for row in found["readers"])
    n_assigned = sum(row["n_assigned"] for row in found["readers"])
    if n_read < n_assigned:
        st.info(
            f"Interim: {n_read} of {n_assigned} readings are in. For a reader who has begun, "
            "every case not read yet counts as wrong: an unfinished accuracy means nothing."
        )
    simulated = [row["reader_id"] for row in found["readers"] if row["simulated"]]
    simulated += [row["model_id"] for row in found["models"] if row["simulated"]]
    if simulated:
        st.warning(f"Simulated, not data: {plain(', '.join(simulated))}.")


def _accuracy(found: Results) -> None:
    names = figures.rater_names(found.bundle)
    table = found.tables["accuracy"]
    for condition in figures.conditions_of(table):
        st.subheader(f"Accuracy{f', {condition}' if condition else ''}")
        st.plotly_chart(
            figures.accuracy_figure(table, condition=condition, names=names),
            theme=None,
            key=f"accuracy-{condition}",
        )
    with st.expander("Accuracy as a table"):
        st.dataframe(table, hide_index=True)


def _agreement(found: Results) -> None:
    table = found.tables["agreement_pairs"]
    if table.empty:
        st.subheader("Agreement of pairs")
        st.write("Agreement needs two raters who answered the same items.")
        return
    names = figures.rater_names(found.bundle)
    measure = st.segmented_control(
        "Measure of agreement",
        options=list(CAPTIONS),
        format_func=lambda one: figures.MEASURE_TITLES[one],
        default="brennan_prediger",
        required=True,
        key="measure",
    )
    st.caption(CAPTIONS[measure])
    for condition in figures.conditions_of(found.tables["accuracy"]):
        st.subheader(f"Agreement of pairs{f', {condition}' if condition else ''}")
        st.plotly_chart(
            figures.kappa_matrix_figure(table, measure=measure, condition=condition, names=names),
            theme=None,
            width="content",
            key=f"kappa-{condition}",
        )
    with st.expander("Agreement as a table"):
        st.dataframe(table, hide_index=True)


def _missing(found: Results) -> None:
    st.subheader("Missing answers")
    st.dataframe(found.tables["missing"], hide_index=True)


def _body() -> None:
    found = status(store(), person.study_name)
    if not any(row["n_read"] for row in found["readers"]) and not found["models"]:
        st.write("Nobody has read a case yet, and no model was added: there is nothing to show.")
        return
    _standing(found)
    analysed = results(store(), person.study_name)
    _accuracy(analysed)
    _agreement(analysed)
    _missing(analysed)
    report_link()


st.title(plain(f"Results: {person.study_name}"))
try:
    _body()
except (StudyError, AnalysisError) as error:
    st.error(plain(str(error)))
sign_out_form()
