"""The people of a study, with their roles, access codes and names."""

import streamlit as st

from study.base.translation import t
from study.lifecycle import exposure
from study.people.persons import Member
from study.people.roles import Act, Role, staff_roles
from ui.app.masthead import masthead
from ui.app.menu import page_file
from ui.parts import actions
from ui.parts.text import plain
from ui.parts.theme import error_line, page_title, section
from ui.people import handout
from ui.people.members import (
    Scope,
    expiry_choice,
    invitation_form,
    invitation_list_form,
    member_rows,
    members_of,
    role_form,
)
from ui.server.access import guard
from ui.server.deployment import store
from ui.wizard.setting_up import set_up_of

person = guard(Act.PEOPLE)


def _body() -> None:
    scope = Scope(person=person, study=person.study_name)
    members = members_of(scope)
    readers = [member for member in members if member.role is Role.READER]
    others = [member for member in members if member.role is not Role.READER]
    with st.columns([1, 3])[0]:
        days = expiry_choice("expiry")
    section(t("Readers"))
    with st.container():  # tabs below a growing element would return to the first tab
        state = _show_readers(scope, readers, days)
    if state == "closed":
        st.caption(t("The study is closed: no more readers can be invited."))
    else:
        _invitation_tabs(scope, days)
    section(t("Study team and statisticians"))
    with st.container():
        if others:
            member_rows(scope, others, days, name="others")
        else:
            st.write(t("Only the administrators of this server."))
    with st.expander(t("Assign a role in this study")):
        st.caption(t("Anyone with a role here can never read in this study."))
        role_form(scope, staff_roles(scope.study), days)


def _show_readers(scope: Scope, readers: list[Member], days: int) -> str:
    """Show the readers and return the study's state."""
    for sentence in exposure.exposed_reader_warnings(store(), person.study_name):
        st.warning(plain(sentence))
    if readers:
        member_rows(scope, readers, days, name="readers")
    else:
        st.write(t("No readers have been invited yet. Invite the first reader below."))
    state = set_up_of(person.study_name).row.state
    if readers and state == "drawn":
        _link_to_opening()
    return state


def _invitation_tabs(scope: Scope, days: int) -> None:
    entry, several = st.tabs([t("Invite a reader"), t("Invite several readers")])
    with entry:
        invitation_form(scope, days)
    with several:
        invitation_list_form(scope, days)


def _link_to_opening() -> None:
    """Show a button to the opening of the study."""
    actions.view_button(
        t("Next: open the study"),
        lambda: st.switch_page(page_file("set_up.py")),
        key="to-opening",
        type="primary",
    )


masthead(person)
page_title(t("People"))
with handout.page(person.study_name), error_line():
    _body()
