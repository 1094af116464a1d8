"""The launcher: one ASGI application with the Streamlit script and our HTTP routes."""

import streamlit as st

from ui.app.middleware import DOCUMENT, HEADERS
from ui.app.routes import routes
from ui.server.request_log import request_log_middleware
from ui.server.schedule import lifespan

ROUTES = routes()

app = st.App(
    "ui/app/router.py",
    routes=ROUTES,
    middleware=[request_log_middleware(ROUTES), HEADERS, DOCUMENT],
    lifespan=lifespan,
)
