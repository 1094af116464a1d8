"""The trail: who did what on the study, when, from where and why; and whether it all holds."""

import streamlit as st

from study.base.translation import t
from study.people.roles import Act
from ui.app.masthead import masthead
from ui.overview import trail
from ui.parts.look import error_line
from ui.parts.text import plain
from ui.server.access import guard

person = guard(Act.TRAIL)

masthead(person)
st.title(t("Trail of {study}", study=plain(person.study_name)))
with error_line():
    trail.verifying(person.study_name)
    trail.section(person.study_name)
