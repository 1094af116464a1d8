"""The leaderboard page: readers and models of one study or several, best first."""

from urllib.parse import urlencode

import streamlit as st

from study.base.translation import t
from study.people.roles import Act
from ui.app.masthead import masthead
from ui.parts.links import links
from ui.parts.theme import error_line, page_title
from ui.results.leaderboard import FILE, leaderboard, visible_studies
from ui.server.access import guard
from ui.server.deployment import store

person = guard(Act.RESULTS)


def _show_leaderboard() -> None:
    studies_seen = visible_studies(store(), person)
    if not studies_seen:
        st.info(t("The leaderboard shows accuracy, and so only studies that are closed."))
        return
    chosen = studies_seen
    if len(studies_seen) > 1:
        chosen = st.multiselect(
            t("Studies"), studies_seen, default=studies_seen[:1], key="leaderboard-studies"
        )
    if not chosen:
        st.write(t("Choose at least one study."))
        return
    with st.spinner(t("Ranking readers and models ...")):
        html, _ = leaderboard(store(), person, chosen)
    st.html(f'<div class="rr-report">{html}</div>')
    if len(chosen) > 1:
        st.caption(t("Studies have different cases: compare raters within a study."))
    query = urlencode({"study": chosen}, doseq=True)
    links("leaderboard", {f"export/{FILE}?{query}": t("Web page and tables (ZIP)")}, download=True)


masthead(person)
page_title(
    t("Leaderboard"),
    t(
        "Accuracy of readers and models, best first. Brackets after a rank give the range of "
        "ranks the data allow. Vertical lines mark the readers."
    ),
)
with error_line():
    _show_leaderboard()
