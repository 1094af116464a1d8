"""Goes on in another study of the person signed in, as after it was drawn."""

from datetime import UTC, datetime

import streamlit as st

from study.people import signing_in
from study.people.signing_in import Person
from ui.server.access import SHOWN, token_of
from ui.server.deployment import store


def enter_study(person: Person, study: str) -> bool:
    """Let this sign-in go on in a study of its person; return whether it could."""
    token = token_of(st.context.cookies)
    mine = [one for one in signing_in.memberships(store(), person) if one.study_name == study]
    if not token or not mine:
        return False
    signing_in.choose(
        store(),
        token,
        grant=mine[0].grant,
        study=mine[0].study,
        now=datetime.now(UTC),
        place=person.place,
    )
    st.session_state[SHOWN] = mine[0].study
    return True
