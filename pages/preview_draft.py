"""The preview of a draft: the reading page as readers would see it, without recording."""

import streamlit as st

from study.people.roles import Act
from ui.parts.text import number
from ui.reading import rooms
from ui.server.access import guard

person = guard(Act.MAKE_STUDY)
rooms.show_preview(person, draft=number(str(st.query_params.get("draft", ""))))
