"""The launcher: one ASGI application, which is the Streamlit script plus our own HTTP routes."""

import streamlit as st

from ui.app.middleware import DOCUMENT, HEADERS
from ui.app.routes import routes
from ui.server.schedule import lifespan

app = st.App(
    "ui/app/router.py",
    routes=routes(),
    middleware=[HEADERS, DOCUMENT],
    lifespan=lifespan,
)
