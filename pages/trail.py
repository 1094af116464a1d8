"""The trail: who did what on the study, when, from where and why; and whether it all holds."""

import streamlit as st

from study.errors import StudyError
from study.roles import Act
from study.words import t
from ui import trail
from ui.access import guard
from ui.masthead import masthead
from ui.text import plain

person = guard(Act.TRAIL)

masthead(person)
st.title(t("Trail of {study}", study=plain(person.study_name)))
try:
    trail.verifying(person.study_name)
    trail.section(person.study_name)
except StudyError as error:
    st.error(plain(str(error)))
