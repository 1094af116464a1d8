"""What somebody judges, one by one: the reading page over what waits in a review or a scoring."""

import streamlit as st

from study.people.roles import Act
from ui.app.menu import page_file
from ui.parts.text import number
from ui.reading.apart import REVIEW, SCORING
from ui.server.access import guard

guard(Act.REVIEW)
for room in (REVIEW, SCORING):
    wanted = number(str(st.query_params.get(room.key[0], "")))
    if wanted >= 0:
        room.mount(wanted)
        st.stop()
st.switch_page(page_file("reviews.py"))
