"""The second factor of the signed-in person, and the deployment's setting for all staff."""

import secrets
from html import escape

import segno
import streamlit as st

from study.base.translation import t, tn
from study.people import second_factor
from study.people.second_factor import NewFactor, Policy
from study.people.signing_in import Person
from study.store import second_factors
from ui.parts import actions
from ui.parts.actions import Report
from ui.parts.theme import section as heading
from ui.server.access import acting
from ui.server.deployment import store

_NEW_FACTOR_KEY, _CODES_KEY = "new-second-factor", "recovery-codes"


def section(person: Person) -> None:
    """Show the state of the person's second factor, and the form to add or replace it."""
    with store().look() as look:
        policy = second_factor.policy(look)
        row = second_factors.of(look, person.id)
        n_left = second_factors.n_recovery_codes(look, person.id)
    if policy is Policy.NEVER:
        st.info(t("Second factors are switched off on this server."))
        return
    if codes := st.session_state.get(_CODES_KEY):
        _show_recovery_codes(codes)
        return
    if person.must_add_factor:
        st.warning(
            t("This server requires a second factor from staff. Add yours to continue working.")
        )
    if row is not None:
        st.success(
            tn(
                "You have a second factor. One recovery code is left.",
                "You have a second factor. {n} recovery codes are left.",
                n_left,
            )
        )
        if not st.toggle(t("Replace it, for example with a new phone"), key="replace-factor"):
            return
    _addition_form(person)


def _addition_form(person: Person) -> None:
    new: NewFactor = st.session_state.setdefault(
        _NEW_FACTOR_KEY, second_factor.new_factor(person.name)
    )
    st.markdown(
        t(
            "1. Open an authenticator app on your phone, and scan this code or enter the key.\n"
            "2. Enter the six digits that the app shows."
        )
    )
    uri = segno.make(new.uri, error="m").svg_data_uri(scale=5, border=4, light="white")
    st.html(f'<img src="{escape(uri)}" width="220" alt="{escape(t("QR code of the key below"))}">')
    st.code(" ".join(new.secret[at : at + 4] for at in range(0, len(new.secret), 4)), language=None)
    with st.form("add-second-factor", border=False):
        code = st.text_input(t("Six-digit code"), max_chars=10, autocomplete="one-time-code")

        def add() -> str:
            codes = second_factor.add(
                store(), person.id, new, code, entropy=secrets.token_bytes, acting=acting(person)
            )
            st.session_state[_CODES_KEY] = codes
            del st.session_state[_NEW_FACTOR_KEY]
            return t("Your second factor is active from the next sign-in.")

        actions.button(
            t("Add the second factor"), add, in_form=True, key="add-factor", type="primary"
        )


def _show_recovery_codes(codes: list[str]) -> None:
    st.markdown(
        t(
            "Keep these recovery codes in a safe place. Each replaces the phone once. They are "
            "shown until you hide them and cannot be shown again."
        )
    )
    st.code("\n".join(codes), language=None)

    def hide() -> Report:
        del st.session_state[_CODES_KEY]
        return Report(text=t("The recovery codes are hidden."))

    actions.button(t("Hide the recovery codes"), hide, key="hide-recovery-codes")


def policy_form(person: Person) -> None:
    """Show the form for the deployment's second-factor setting."""
    heading(
        t("Second factor"),
        t(
            "Staff who sign in with an access code can also enter a code of an authenticator app. "
            "Readers and single sign-on are not affected."
        ),
    )
    with store().look() as look:
        current = second_factor.policy(look)
    labels = {
        Policy.NEVER: t("Off"),
        Policy.OPTIONAL: t("Optional: asked of everyone who added one"),
        Policy.ALWAYS: t("Required: staff must add one to continue working"),
    }
    new = st.radio(
        t("Second factor for staff"),
        list(Policy),
        index=list(Policy).index(current),
        format_func=labels.__getitem__,
        key="second-factor-policy",
    )

    def save() -> str:
        second_factor.set_policy(store(), new or current, acting=acting(person))
        return t("Saved.")

    actions.button(t("Save"), save, key="save-second-factor-policy")
