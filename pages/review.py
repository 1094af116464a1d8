"""An expert review's questions, one by one: the reading page over what waits for a reviewer."""

import streamlit as st

from study.people.roles import Act
from ui.app.menu import page_file
from ui.parts.text import number
from ui.reading.apart import REVIEW
from ui.server.access import guard

guard(Act.REVIEW)
wanted = number(str(st.query_params.get("review", "")))
if wanted < 0:
    st.switch_page(page_file("reviews.py"))
REVIEW.mount(wanted)
