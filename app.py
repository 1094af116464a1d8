"""The launcher: one ASGI application, which is the Streamlit script plus our own HTTP routes."""

import streamlit as st

from ui.deployment import lifespan
from ui.headers import HEADERS
from ui.home import HOME
from ui.routes import routes

app = st.App("ui/main.py", routes=routes(), middleware=[HEADERS, HOME], lifespan=lifespan)
