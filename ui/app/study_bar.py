"""The bar of the current study: a menu of studies, its pages, and a link to the next step."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html import escape

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from study.base.translation import t, translated
from study.people import signing_in
from study.people.roles import Role, role_title
from study.people.signing_in import Membership, Person, memberships
from study.store import people, progress
from study.store.studies import study_row
from ui.app.menu import ARCHIVE, OVERVIEW, PEOPLE, RESULTS, SET_UP, Entry
from ui.parts.text import plain
from ui.parts.theme import arrow, error_line
from ui.results.background import preload_analysis
from ui.server.access import STUDY_SHOWN_KEY, token_of
from ui.server.deployment import store


def enter_study(person: Person, membership: Membership) -> bool:
    """Switch this sign-in to another role of the person; return whether it succeeded."""
    token = token_of(st.context.cookies)
    if not token:
        return False
    signing_in.select_role(
        store(),
        token,
        grant=membership.grant,
        study=membership.study,
        now=datetime.now(UTC),
        place=person.place,
    )
    st.session_state[STUDY_SHOWN_KEY] = membership.study
    return True


Pages = Mapping[Entry, StreamlitPage]


def study_bar(person: Person, pages: Pages, shown: StreamlitPage) -> None:
    """Show the pages of the person's study, if any, with the current page marked."""
    if person.study is None:
        return
    with st.container(key="study-bar", horizontal=True, vertical_alignment="center", gap="xxsmall"):
        _study_picker(person)
        for entry, page in pages.items():
            if page is shown:
                title = escape(translated(entry.title))
                st.html(f'<span aria-current="page">{title}</span>', width="content")
            else:
                st.page_link(page, label=translated(entry.title))
        _link_to_next_step(person, pages, shown)
    if RESULTS in pages:
        preload_analysis()


def _study_picker(person: Person) -> None:
    """Show the study's name, or a list if the person has several studies."""
    if not (person.several or person.deployment):
        st.markdown(f"**{plain(person.study_name)}**")
        return
    # The keys are constant, because a study's state may change while the list is shown.
    own_memberships = {
        (membership.study, membership.role): membership
        for membership in memberships(store(), person)
        if membership.study is not None
    }
    current = (person.study, person.role)
    chosen = st.selectbox(
        t("Study"),
        own_memberships,
        index=list(own_memberships).index(current) if current in own_memberships else None,
        format_func=lambda membership: _study_title(
            own_memberships[membership], own_memberships.values()
        ),
        label_visibility="collapsed",
        key=f"study-picker-{person.study}-{person.role}",
        width=300,
    )
    if chosen not in (None, current):
        with error_line():
            enter_study(person, own_memberships[chosen])
            st.rerun()


def _study_title(membership: Membership, memberships: Iterable[Membership]) -> str:
    is_ambiguous = sum(other.study == membership.study for other in memberships) > 1
    if is_ambiguous or membership.role is Role.READER:
        return f"{membership.study_name} ({role_title(membership.role)})"
    return membership.study_name


def _link_to_next_step(person: Person, pages: Pages, shown: StreamlitPage) -> None:
    """Link to the page of the study's next step, unless it is the current page."""
    entry, label = _next_step(person)
    page = pages.get(entry)
    if page is not None and page is not shown:
        with st.container(key="next-step", width="content"):
            st.page_link(page, label=label, icon=arrow(forward=True), icon_position="right")


def _next_step(person: Person) -> tuple[Entry, str]:
    with store().look() as look:
        study = study_row(look, person.study_name)
        if study.state == "closed":
            return RESULTS, t("Next: see the results")
        if study.state == "open":
            if progress.is_completely_read(look, study.id):
                return ARCHIVE, t("Next: close the study")
            return OVERVIEW, t("Next: follow the readings")
        if people.readers(look, study.id):
            return SET_UP, t("Next: open the study")
        return PEOPLE, t("Next: invite readers")
