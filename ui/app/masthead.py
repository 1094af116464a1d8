"""The top of every staff page: the signed-in person, and the button to sign out."""

import streamlit as st

from study.base.translation import t
from study.people import second_factor
from study.people.roles import Act, role_title
from study.people.second_factor import Policy
from study.people.signing_in import Person
from ui import viewer
from ui.overview.trail import warn_of_lost_records
from ui.parts.theme import page_file, show_lost_connection
from ui.server.access import refusal_text
from ui.server.deployment import store
from ui.server.new_codes import new_codes

_HTML = page_file(__file__, "masthead.html")

_CSS = page_file(__file__, "masthead.css")

_JS = page_file(__file__, "masthead.js")


def masthead(person: Person) -> None:
    """Show who is signed in, with a button to sign out."""
    bar = st.components.v2.component("masthead", html=_HTML, css=_CSS, js=_JS)
    bar(
        key="masthead",
        data={
            "who": _name_and_role(person),
            "factor": t("Second factor") if _may_add_factor(person) else "",
            "leave": t("Sign out"),
            "alone": t(
                "This computer has not been used for nearly two hours. You will be signed out in "
                "five minutes."
            ),
            "stay": t("Stay signed in"),
            "ask": _before_leaving(),
            "modules_url": viewer.modules_url(),
            "link": t(
                "This link is for a different person. Sign out first, then open it again. Anyone "
                "who runs a study cannot read in it."
            ),
        },
    )
    show_lost_connection()
    warn_of_lost_records(person)
    refused = refusal_text(str(st.query_params.get("refused", "")))
    if refused:
        st.error(refused)


def _before_leaving() -> str:
    """Return the question asked before signing out while new codes are shown, else nothing."""
    if not new_codes().studies_with_codes:
        return ""
    return t("New access codes are not hidden yet. They are lost when you sign out. Sign out now?")


def _may_add_factor(person: Person) -> bool:
    with store().look() as look:
        return person.may(Act.ACCOUNT) and second_factor.policy(look) is not Policy.NEVER


def _name_and_role(person: Person) -> str:
    role = person.role if person.study is not None else person.deployment
    if role is None:
        return t("{name}: choose a study", name=person.name)
    return t("{name}, {role}", name=person.name, role=role_title(role))
