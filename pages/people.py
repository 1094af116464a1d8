"""The people of a study: readers and others, their roles, their codes, their names."""

import streamlit as st

from study.base.translation import t
from study.lifecycle import exposure
from study.people.roles import Act, Role
from ui.app.masthead import masthead
from ui.app.menu import page_file
from ui.parts.text import plain
from ui.parts.theme import error_line, page_title, section
from ui.people import handout
from ui.people.members import (
    Scope,
    expiry_choice,
    give_role,
    invite_list,
    invite_one,
    members_of,
    rows,
)
from ui.server.access import guard
from ui.server.deployment import store
from ui.wizard.setting_up import set_up_of

person = guard(Act.PEOPLE)


def _body() -> None:
    scope = Scope(person=person, study=person.study_name)
    members = members_of(scope)
    readers = [one for one in members if one.role is Role.READER]
    others = [one for one in members if one.role is not Role.READER]
    with st.columns([1, 3])[0]:
        days = expiry_choice("expiry")
    section(t("Readers"))
    for sentence in exposure.acquaintances(store(), person.study_name):
        st.warning(plain(sentence))
    if readers:
        rows(scope, readers, days, name="readers")
    else:
        st.write(t("No readers have been invited yet. Invite the first reader below."))
    state = set_up_of(person.study_name).row.state
    if readers and state == "drawn":
        _onwards()
    if state == "closed":
        st.caption(t("The study is closed: no more readers can be invited."))
    else:
        _invite(scope, days)
    section(t("Study team and statisticians"))
    if others:
        rows(scope, others, days, name="others")
    else:
        st.write(t("Only the administrators of this server."))
    with st.expander(t("Assign a role in this study")):
        st.caption(t("Anyone with a role here can never read in this study."))
        roles = (Role.STATISTICIAN, Role.COORDINATOR, Role.ADMINISTRATOR)
        give_role(scope, roles, days)


def _invite(scope: Scope, days: int) -> None:
    one, several = st.tabs([t("Invite a reader"), t("Invite several readers")])
    with one:
        invite_one(scope, days)
    with several:
        invite_list(scope, days)


def _onwards() -> None:
    """Lead on to the opening; a link would load the page anew, and the codes shown were gone."""
    if st.button(t("Next: open the study"), key="to-opening", type="primary"):
        st.switch_page(page_file("set_up.py"))


masthead(person)
page_title(t("People"))
handout.show(person.study_name)
with error_line():
    _body()
