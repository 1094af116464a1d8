"""The launcher: one ASGI application with the Streamlit script and our HTTP routes."""

import streamlit as st

from ui.app.middleware import DOCUMENT, HEADERS
from ui.app.routes import routes
from ui.server.request_log import observed
from ui.server.schedule import lifespan

ROUTES = routes()

app = st.App(
    "ui/app/router.py",
    routes=ROUTES,
    middleware=[observed(ROUTES), HEADERS, DOCUMENT],
    lifespan=lifespan,
)
