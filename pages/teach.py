"""A round of teaching cases: the reading page with cases of a teaching bank."""

import streamlit as st

from study.people.roles import Act
from ui.app.menu import page_file
from ui.parts.text import number
from ui.reading.rooms import TEACHING
from ui.server.access import guard

guard(Act.CHOOSE)
bank, round_number = (number(str(st.query_params.get(name, ""))) for name in ("bank", "round"))
if bank < 0 or round_number < 0:
    st.switch_page(page_file("teaching.py"))
TEACHING.mount(bank, round_number)
