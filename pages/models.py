"""The models page: predictions handed in, and what was kept of them; never how right they are."""

import streamlit as st

from study.errors import StudyError
from study.progress import status
from study.roles import Act
from study.words import t
from ui.access import guard
from ui.deployment import store
from ui.look import page_title, section
from ui.masthead import masthead
from ui.model_upload import model_form, model_table
from ui.text import plain

person = guard(Act.MODELS)

masthead(person)
page_title(
    t("Models"),
    t(
        "A model joins the study as a rater: its predictions for the drawn cases are kept, what "
        "else the file holds is left out. They are read as the submission JSON of the ReXVQA "
        "leaderboard, JSON lines, or CSV with an item_id and an answer."
    ),
)
try:
    model_form(store(), person.study_name, person.by)
    found = status(store(), person.study_name)
    if found["models"]:
        section(t("Models of the study"))
        st.dataframe(model_table(found["models"], found["n_cases"]), hide_index=True, key="models")
except StudyError as error:
    st.error(plain(str(error)))
