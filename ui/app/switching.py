"""Goes on in another study of the person signed in."""

from datetime import UTC, datetime

import streamlit as st

from study.people import signing_in
from study.people.signing_in import Membership, Person
from ui.server.access import SHOWN, token_of
from ui.server.deployment import store


def enter_study(person: Person, membership: Membership) -> bool:
    """Let this sign-in go on in another role of its person; return whether it could."""
    token = token_of(st.context.cookies)
    if not token:
        return False
    signing_in.choose(
        store(),
        token,
        grant=membership.grant,
        study=membership.study,
        now=datetime.now(UTC),
        place=person.place,
    )
    st.session_state[SHOWN] = membership.study
    return True
