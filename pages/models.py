"""The models page: predictions handed in, kept, withdrawn; never how right they are."""

import streamlit as st

from study.errors import StudyError
from study.progress import status
from study.roles import Act
from study.withdrawals import withdrawn
from study.words import t
from ui.access import guard
from ui.deployment import store
from ui.look import page_title
from ui.masthead import masthead
from ui.model_list import show_models, show_withdrawn, withdrawal_answer
from ui.model_upload import model_form
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
        show_models(store(), person.study_name, found["models"], found["n_cases"])
    withdrawal_answer(person.study_name, person.by)
    gone = withdrawn(store(), person.study_name)
    if gone:
        show_withdrawn(gone)
except StudyError as error:
    st.error(plain(str(error)))
