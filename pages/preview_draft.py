"""The preview of a draft: the reading page as the readers of the study would see it, unrecorded."""

import streamlit as st

from study.roles import Act
from ui import preview
from ui.access import guard
from ui.text import number

person = guard(Act.MAKE_STUDY)
preview.show(person, draft=number(str(st.query_params.get("draft", ""))))
