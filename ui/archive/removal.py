"""Removal of closed studies and of predictions of withdrawn models, with their certificates."""

import streamlit as st

from study.base.text import LONGEST_REASON
from study.base.translation import t
from study.exchange import removing
from study.exchange.removing import Certificate
from study.people.signing_in import Person
from ui.parts import actions
from ui.parts.text import plain
from ui.server.access import acting
from ui.server.deployment import store


def section(person: Person) -> None:
    """Show the subjects that can be removed, the form to remove them, and earlier certificates."""
    st.caption(
        t(
            "A closed study can be removed once its bundle has been exported; the predictions of a "
            "withdrawn model can be removed at any time. The rows are overwritten in the database. "
            "The audit trail keeps counts and hashes, and a certificate lists the backups that "
            "still contain the data."
        )
    )
    closed, withdrawn = removing.removable(store())
    choices = {t("Study {study}", study=name): (name, "") for name in closed}
    choices |= {
        t("Model {model} of study {study}", model=model, study=name): (name, model)
        for name, model in withdrawn
    }
    if choices:
        _removal_form(person, choices)
    else:
        actions.show_last_report("remove-data")
        st.write(t("There is no closed study and no withdrawn model."))
    for certificate in reversed(removing.certificates(store())):
        with st.expander(plain(f"{certificate.at_utc[:10]} {certificate.what}")):
            st.code(certificate.text, language=None, wrap_lines=True)


def _removal_form(person: Person, choices: dict[str, tuple[str, str]]) -> None:
    with st.form("remove-data-form", border=True):
        chosen = st.selectbox(t("Remove"), list(choices), key="data-to-remove")
        reason = st.text_input(
            t("Reason, kept in the audit trail"), max_chars=LONGEST_REASON, key="removal-reason"
        )
        typed = st.text_input(
            t("To confirm, type the name of the study or model"), key="removal-name"
        )

        def remove() -> str:
            _remove(person, *choices[chosen], typed=typed, reason=reason)
            return t("Removed. The certificate is listed below.")

        actions.button(t("Remove permanently"), remove, in_form=True, key="remove-data")


def _remove(person: Person, study: str, model: str, *, typed: str, reason: str) -> Certificate:
    if not model:
        return removing.remove_study(
            store(), study, typed=typed, reason=reason, acting=acting(person)
        )
    return removing.remove_model(
        store(), study=study, model_id=model, typed=typed, reason=reason, acting=acting(person)
    )
