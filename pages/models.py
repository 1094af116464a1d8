"""The models page: exam papers, uploads of predictions and withdrawals, without any accuracy."""

import streamlit as st

from study.base.translation import t
from study.models.models import models_of, withdrawn_models
from study.people.roles import Act
from ui.app.masthead import masthead
from ui.overview.model_upload import model_form
from ui.overview.models import (
    WITHDRAW,
    card_form,
    exam_paper,
    show_models,
    show_outputs,
    show_withdrawn,
)
from ui.parts import actions
from ui.parts.theme import error_line, page_title
from ui.server.access import guard
from ui.server.deployment import store

person = guard(Act.MODELS)

masthead(person)
page_title(
    t("Models"),
    t(
        "A model joins the study as a rater: predictions for the study's cases are kept; "
        "everything else in the file is ignored. Accepted are the submission JSON of the ReXVQA "
        "leaderboard, results of VLMEvalKit, lm-eval, lmms-eval, Inspect and MedEvalKit, batch "
        "output of OpenAI, Anthropic and Gemini. Any other table needs two columns, one with the "
        "case ID and one with the answer; you name them once the file has been read."
    ),
)
with error_line():
    with st.container():
        model_form(person)
    result, n_cases = models_of(store(), person.study_name)
    with st.container():
        if result:
            show_models(person, result, n_cases)
            show_outputs(person, result)
            card_form(person, result)
        else:
            actions.show_last_report(WITHDRAW)
    exam_paper(person)
    withdrawn = withdrawn_models(store(), person.study_name)
    if withdrawn:
        show_withdrawn(withdrawn)
