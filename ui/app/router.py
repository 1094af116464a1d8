"""The router: selects the pages of the signed-in person and runs the requested page."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402 (the path above comes first)
from streamlit.navigation.page import StreamlitPage  # noqa: E402

from study.base.translation import set_language, t, translated  # noqa: E402
from study.base.version import version  # noqa: E402
from study.people.signing_in import Person  # noqa: E402
from ui.app.menu import Entry, every_page, home_of, pages_of  # noqa: E402
from ui.app.study_bar import study_bar  # noqa: E402
from ui.parts import actions, theme  # noqa: E402
from ui.parts.unavailable import stop_on_error  # noqa: E402
from ui.server import access  # noqa: E402
from ui.server.deployment import in_time, store  # noqa: E402


def run() -> None:
    """Set up the pages of the signed-in person and run the requested page."""
    st.set_page_config(page_title="Reading Room", page_icon="🩻", layout="wide")
    with stop_on_error():
        set_language(access.wanted_language(st.context.headers))
        person = in_time(partial(_signed_in, st.context.cookies))
    entries, home = pages_of(person), home_of(person)
    pages = {
        entry: st.Page(
            ROOT / "pages" / entry.file,
            title=translated(entry.title),
            url_path=entry.path,
            default=entry is home,
            visibility="hidden" if entry.hidden or entry.of_study else "visible",
        )
        for entry in entries
    }
    reads = person is not None and person.reader is not None  # readers have only the reading page
    everything = [*pages.values(), *_other_pages(entries, pages[home])]
    menu = [entry for entry in entries if not entry.hidden and not entry.of_study]
    page = st.navigation(everything, position="top" if menu and not reads else "hidden")
    if page not in [built for entry, built in pages.items() if entry.is_bare]:
        theme.apply_styles()
        of_study = [
            built for entry, built in pages.items() if entry.of_study or entry.shows_study_bar
        ]
        if person is not None and not reads and page in of_study:
            study_bar(
                person, {entry: built for entry, built in pages.items() if entry.of_study}, page
            )
    if page in pages.values():
        with actions.page((page.url_path, person.study if person else None)), stop_on_error():
            page.run()
        if person is not None and not reads:
            st.caption(t("Reading Room {version}", version=version()))
    else:
        page.run()


def _signed_in(cookies: Mapping[str, str]) -> Person | None:
    """Return the person whom the cookies identify; raise an error if the store is missing."""
    store()
    return access.signed_in(cookies)


def _other_pages(own_pages: list[Entry], home: StreamlitPage) -> list[StreamlitPage]:
    """Return hidden pages for all other addresses; each redirects to the person's first page.

    Reloading such a page after being signed out shows the sign-in form, not an error.
    """
    return [
        st.Page(
            lambda: st.switch_page(home), title=home.title, url_path=page.path, visibility="hidden"
        )
        for page in every_page()
        if page not in own_pages
    ]


run()
