"""The forms of the people's page: invite one reader, invite a list, give a role."""

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from study.base.errors import BadFile
from study.base.text import decoded
from study.base.translation import t
from study.people.invitations import Invitation, parse_invitations
from study.people.persons import Newcomer
from study.people.roles import Role
from ui.app.masthead import role_word
from ui.parts.links import links
from ui.parts.look import error_line
from ui.parts.uploads import upload
from ui.people import acts as people_acts
from ui.people.acts import Scope, key

_MOST_MB = 1


def invite_one(scope: Scope, days: int) -> None:
    """Show the form that invites one reader."""
    with st.form(key("invite-one")):
        top = st.container()
        first, second, third, fourth = st.columns(4)
        reader_id = first.text_input(
            t("Reader ID"),
            key=key("reader-id"),
            placeholder="R1",
            help=t("The reader's permanent ID in this study. Do not use their name."),
        )
        level = second.text_input(t("Level"), key=key("level"), placeholder="resident")
        years = third.text_input(t("Years"), key=key("years"))
        site = fourth.text_input(t("Site"), key=key("site"))
        name, email = _named("reader")
        if st.form_submit_button(t("Invite"), type="primary"):
            invitation = Invitation(
                reader_id=reader_id.strip(),
                level=level.strip(),
                years=years.strip(),
                site=site.strip(),
                name=name.strip(),
                email=email.strip(),
            )
            with top:
                people_acts.invite(scope, [invitation], days)


def invite_list(scope: Scope, days: int) -> None:
    """Show the form that invites a list of readers, pasted or from a file."""
    with st.form(key("invite-list")):
        top = st.container()
        st.caption(
            t(
                "A header row and one row per reader: reader_id and, optionally, level, years, "
                "site, name, email; separated by commas, semicolons or tabs, as copied from a "
                "spreadsheet."
            )
        )
        links("list_example", {"example/readers.csv": t("Example file (CSV)")}, download=True)
        pasted = st.text_area(
            t("Paste the list"), key=key("list"), placeholder="reader_id,level\nR1,resident"
        )
        file = upload(
            t("or choose readers.csv"), types=["csv"], key=key("list-file"), most_mb=_MOST_MB
        )
        if st.form_submit_button(t("Invite all"), type="primary"):
            with top, error_line():
                text = _text_of(file) if file else pasted
                invitations = parse_invitations(text, source=t("The list"))
                people_acts.invite(scope, invitations, days)


def _text_of(file: UploadedFile) -> str:
    if file.size > _MOST_MB * 1_000_000:
        raise BadFile(t("This file is too large for a list of readers."))
    return decoded(file.getvalue(), source=file.name)


def give_role(scope: Scope, roles: tuple[Role, ...], days: int) -> None:
    """Show the form that gives one of some roles, those that whoever acts may give."""
    offered = [role for role in roles if scope.may(role)]
    if not offered:
        return
    with st.form(key("give-role")):
        top = st.container()
        first, second = st.columns(2)
        handle = first.text_input(
            t("Short name"),
            key=key("handle"),
            help=t(
                "Recorded permanently in the audit trail: use initials or a job title, not a full "
                "name."
            ),
        )
        role = second.selectbox(t("Role"), offered, format_func=role_word, key=key("role"))
        name, email = _named("staff")
        if st.form_submit_button(t("Assign role"), type="primary"):
            newcomer = Newcomer(handle=handle.strip(), role=role, name=name, email=email)
            with top:
                people_acts.give_role(scope, newcomer, days)


def _named(whose: str) -> tuple[str, str]:
    first, second = st.columns(2)
    name = first.text_input(
        t("Name (optional)"),
        key=key(f"{whose}-name"),
        help=t("Stored separately from the study, never exported, erased on request."),
    )
    email = second.text_input(
        t("Email (optional)"),
        key=key(f"{whose}-email"),
        help=t(
            "Stored with the name; used to recognise people who sign in through their institution."
        ),
    )
    return name, email
