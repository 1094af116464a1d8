"""Single sign-on through Streamlit's login: the providers, and the result of a sign-on."""

import logging
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime

import streamlit as st
from streamlit.errors import StreamlitAuthError

from study.base.errors import BadInput
from study.base.translation import t
from study.people import group_roles, single_sign_on
from study.people.group_roles import GroupRole
from study.people.signing_in import SignInRefused
from ui.parts.forms import ticket_form
from ui.parts.text import plain
from ui.server.access import place_of, refusal_text
from ui.server.deployment import store

_log = logging.getLogger("reading_room.sign_on")

_REQUIRED_KEY = "server_metadata_url"


def providers() -> list[str]:
    """Return the names of the configured providers; ``default`` for a provider without a name.

    They are configured in Streamlit's ``secrets.toml`` under ``[auth]``, see docs/sign-on.md.
    """
    if not st.secrets.load_if_toml_exists():
        return []
    section = st.secrets.get("auth") or {}
    names = ["default"] if _REQUIRED_KEY in section else []
    section_names = (key for key, value in section.items() if isinstance(value, Mapping))
    return names + [
        key for key in section_names if _REQUIRED_KEY in section[key] and key != "default"
    ]


def show_sign_on(*, refused: bool, signed_out: bool) -> None:
    """Show the providers' buttons, and sign a person in after a successful sign-on.

    Parameters
    ----------
    refused
        Whether the sign-in was just refused; it is then not repeated automatically.
    signed_out
        Whether the person just signed out here; the provider's session is then ended, too.
    """
    names = providers()
    if not names:
        return
    claims = dict(st.user.to_dict())
    if claims.get("is_logged_in"):
        if signed_out:
            st.logout()
            st.stop()
        if not refused:
            _exchange_for_ticket(claims)
    for name in names:
        _button(name)


def _button(name: str) -> None:
    shown = t("your institution") if name == "default" else plain(name)
    label = t("Sign in with {provider}", provider=shown)
    if not st.button(label, key=f"sign-on-{name}", width="stretch"):
        return
    try:
        st.login(None if name == "default" else name)
    except StreamlitAuthError as error:
        _log.error("secrets.toml: %s", " ".join(str(error).split()))
        st.error(refusal_text("settings"))


def _roles_of_groups(issuer: str, claims: Mapping[str, object]) -> dict[GroupRole, str] | None:
    """Return the roles of an account's groups, or None if the provider has no section `roles`."""
    try:
        rule_sets = group_roles.read_rules(st.secrets.get("roles") or {})
    except BadInput as error:
        _log.error("secrets.toml: %s", error)
        raise SignInRefused("settings", "The settings of single sign-on are invalid.") from error
    return next((rules.roles_for(claims) for rules in rule_sets if rules.issuer == issuer), None)


def _exchange_for_ticket(claims: Mapping[str, object]) -> None:
    now = datetime.now(UTC)
    identity = single_sign_on.read_identity(claims)
    if identity is None or not single_sign_on.is_fresh(identity, now):
        return
    try:
        ticket = single_sign_on.issue_ticket(
            store(),
            identity,
            entropy=secrets.token_bytes,
            now=now,
            place=place_of(st.context.ip_address or ""),
            granted=_roles_of_groups(identity.issuer, claims),
        )
    except SignInRefused as error:
        st.error(refusal_text(error.why))
        if st.button(t("Sign out of this account"), key="sign-on-leave"):
            st.logout()
        return
    ticket_form(ticket)
    st.stop()
