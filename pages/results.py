"""The results page: accuracy and agreement of readers and models, as the study stands."""

import streamlit as st

from analysis import AnalysisError, Results, figures
from study.errors import StudyError
from study.progress import status
from ui.access import guard
from ui.deployment import store
from ui.forms import sign_out_form
from ui.results import report, results

person = guard("coordinator")


def _standing() -> None:
    found = status(store(), person.study_name)
    n_read = sum(row["n_read"] for row in found["readers"])
    n_assigned = sum(row["n_assigned"] for row in found["readers"])
    if n_read < n_assigned:
        st.info(
            f"Interim: {n_read} of {n_assigned} readings are in. A case a reader has not read yet "
            "counts as wrong, once they have read any."
        )
    simulated = [row["reader_id"] for row in found["readers"] if row["simulated"]]
    simulated += [row["model_id"] for row in found["models"] if row["simulated"]]
    if simulated:
        st.warning(f"Simulated, not data: {', '.join(simulated)}.")


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
    names = figures.rater_names(found.bundle)
    table = found.tables["agreement_pairs"]
    measure = st.segmented_control(
        "Measure of agreement",
        options=list(figures.MEASURE_TITLES),
        format_func=lambda one: figures.MEASURE_TITLES[one],
        default="brennan_prediger",
        key="measure",
    )
    for condition in figures.conditions_of(found.tables["accuracy"]):
        st.subheader(f"Agreement of pairs{f', {condition}' if condition else ''}")
        st.plotly_chart(
            figures.kappa_matrix_figure(
                table, measure=measure or "brennan_prediger", condition=condition, names=names
            ),
            theme=None,
            width="content",
            key=f"kappa-{condition}",
        )
    with st.expander("Agreement as a table"):
        st.dataframe(table, hide_index=True)


def _missing(found: Results) -> None:
    st.subheader("Missing answers")
    st.dataframe(found.tables["missing"], hide_index=True)


st.title(f"Results: {person.study_name}")
try:
    _standing()
    analysed = results(store(), person.study_name)
except (StudyError, AnalysisError) as error:
    st.error(str(error))
else:
    _accuracy(analysed)
    _agreement(analysed)
    _missing(analysed)
    st.download_button(
        "Download the report",
        data=lambda: report(store(), person.study_name),
        file_name="report.html",
        mime="text/html",
        key="report",
        type="primary",
        on_click="ignore",
    )
sign_out_form()
