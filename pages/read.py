"""The reading page, which only mounts the reading component."""

from pathlib import Path

import streamlit as st

from study.people.roles import Act
from study.reading.score_card import is_closed
from ui import viewer
from ui.server.access import guard
from ui.server.deployment import store

person = guard(Act.READ)
if is_closed(store(), person):
    st.switch_page(Path(__file__).with_name("score_card.py"))
viewer.mount(desk_url="desk", modules_url=viewer.modules_url(), sign_out_url="sign-out")
