"""The reading page with the cases that a reviewer or scorer has not judged yet."""

import streamlit as st

from study.people.roles import Act
from ui.app.menu import page_file
from ui.parts.text import number
from ui.reading.rooms import REVIEW, SCORING
from ui.server.access import guard

guard(Act.REVIEW)
room = SCORING if SCORING.key_names[0] in st.query_params else REVIEW
wanted = number(str(st.query_params.get(room.key_names[0], "")))
if wanted < 0:
    st.switch_page(page_file("reviews.py"))
room.mount(wanted)
