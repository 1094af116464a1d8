"""The preview of a draft: the reading page as the readers of the study would see it, unrecorded."""

import streamlit as st

from study.people.roles import Act
from ui.parts.text import number
from ui.reading import preview
from ui.server.access import guard

person = guard(Act.MAKE_STUDY)
preview.show(person, draft=number(str(st.query_params.get("draft", ""))))
