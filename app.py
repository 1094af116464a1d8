"""The launcher: one ASGI application, which is the Streamlit script plus our own HTTP routes."""

import streamlit as st

from ui.app.document import DOCUMENT
from ui.app.routes import routes
from ui.server.deployment import lifespan
from ui.server.headers import HEADERS

app = st.App(
    "ui/app/router.py",
    routes=routes(),
    middleware=[HEADERS, DOCUMENT],
    lifespan=lifespan,
)
