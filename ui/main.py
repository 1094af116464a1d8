"""The router: who is signed in decides which pages there are, and one of them runs."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402 (the path above comes first)
from streamlit.navigation.page import StreamlitPage  # noqa: E402

from study.errors import StudyError  # noqa: E402
from ui import access  # noqa: E402
from ui.deployment import store  # noqa: E402

_PAGES = {
    "reader": [("read.py", "Read", "read")],
    "coordinator": [
        ("overview.py", "Overview", "overview"),
        ("results.py", "Results", "results"),
    ],
    "": [("sign_in.py", "Sign in", "sign-in-page")],
}
# Streamlit leaves six rem above a page's title; the menu needs less.
_DESK_CSS = "<style>.stMainBlockContainer { padding-top: 4rem; }</style>"


def run() -> None:
    """Show the pages of whoever is signed in, and run the one asked for."""
    st.set_page_config(page_title="Reading Room", page_icon="🩻", layout="wide")
    try:
        store()
        person = access.signed_in(st.context.cookies)
    except StudyError as error:
        st.error(str(error))
        st.stop()
    role = person.role if person else ""
    mine = [
        st.Page(ROOT / "pages" / file, title=title, url_path=path, default=index == 0)
        for index, (file, title, path) in enumerate(_PAGES[role])
    ]
    if len(mine) > 1:
        st.html(_DESK_CSS)
    pages = [*mine, *_elsewhere(role, mine[0])]
    st.navigation(pages, position="top" if len(mine) > 1 else "hidden").run()


def _elsewhere(role: str, home: StreamlitPage) -> list[StreamlitPage]:
    """Return hidden pages at the other roles' addresses, each of which leads home.

    Whoever reloads a page of theirs after being signed out finds the sign-in form, not an error.
    """
    return [
        st.Page(lambda: st.switch_page(home), title=home.title, url_path=path, visibility="hidden")
        for other, pages in _PAGES.items()
        if other != role
        for _, _, path in pages
    ]


run()
