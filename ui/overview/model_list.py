"""The models of a study: what was kept of each, withdrawing one, and those that were withdrawn."""

import pandas as pd
import streamlit as st

from study.base.text import LONGEST_REASON, checked_reason
from study.base.translation import t
from study.models.models import FIELDS, Withdrawn, cards, describe_model, withdraw_model
from study.people.signing_in import Person
from study.store.models import ModelRow
from ui.parts.confirming import answer, ask
from ui.parts.look import error_line, grid, section
from ui.parts.text import instant, plain
from ui.server.access import acting
from ui.server.deployment import store

_KEY = "model-withdrawal"


def show_models(study: str, found: list[ModelRow], n: int) -> None:
    """Show a study's models of so many cases, and the form that withdraws one of them."""
    section(t("Models of the study"))
    grid(model_table(found, n), key="models")
    with st.expander(t("Withdraw a model")), st.form("withdraw-model", clear_on_submit=True):
        st.markdown(
            t(
                "A withdrawn model is left out of every table, figure and bundle. Its predictions "
                "remain in the database; the audit trail records who withdrew it, when and why."
            )
        )
        name = st.selectbox(t("Model"), [row.model_id for row in found], key="withdraw-name")
        reason = st.text_area(t("Reason"), max_chars=LONGEST_REASON, key="withdraw-reason")
        asked = st.form_submit_button(t("Withdraw this model"), key="withdraw-now")
    if asked:
        with error_line():
            _ask(study, name, checked_reason(reason))


def card_form(person: Person, found: list[ModelRow]) -> None:
    """Show the card of one of a study's models, to be written."""
    with st.expander(t("Model card")):
        st.markdown(
            t("What a reader of the leaderboard should know about the model. All of it is public.")
        )
        name = st.selectbox(t("Model"), [row.model_id for row in found], key="card-name")
        card = cards(store(), person.study_name).get(name, {})
        with st.form("model-card", border=False):
            places = st.columns(2) * len(FIELDS)
            written = {
                field: place.text_input(
                    label,
                    card.get(field, ""),
                    max_chars=LONGEST_REASON,
                    key=f"card-{name}-{field}",
                )
                for (field, label), place in zip(_labels().items(), places, strict=False)
            }
            asked = st.form_submit_button(t("Save the card"), key="card-save")
        if asked:
            with error_line():
                describe_model(
                    store(), study=person.study_name, model_id=name, card=written, **acting(person)
                )
                st.success(t("The card of {model} is saved.", model=plain(name)))


def _labels() -> dict[str, str]:
    labels = (
        t("Name on the leaderboard"),
        t("Developed by"),
        t("Web address"),
        t("Date asked"),
        t("Licence"),
        t("Trained on these data?"),
        t("Prompt"),
        t("Hardware"),
        t("Cost"),
    )
    return dict(zip(FIELDS, labels, strict=True))


def withdrawal_answer(person: Person) -> None:
    """Show the question whether a model is to be withdrawn, or what came of the last one."""
    answer(_KEY, acting(person), about=person.study_name)


def show_withdrawn(found: list[Withdrawn]) -> None:
    """Show the models that were withdrawn, each with the event that tells of it."""
    section(t("Withdrawn"))
    grid(
        pd.DataFrame(
            {
                t("Model"): [one.model_id for one in found],
                t("Version"): [one.model_version for one in found],
                t("Predictions"): [one.n_predicted for one in found],
                t("When (UTC)"): [instant(one.at_utc) for one in found],
                t("By"): [one.actor for one in found],
                t("Reason"): [one.reason for one in found],
                t("After closing"): [t("yes") if one.after_closing else "" for one in found],
                t("Audit trail event"): [one.event for one in found],
            }
        ),
        key="withdrawn-models",
    )


def model_table(found: list[ModelRow], n_cases: int) -> pd.DataFrame:
    """Return a study's models with what was kept of each; nothing of right or wrong."""
    return pd.DataFrame(
        {
            t("Model"): [
                t("{model} (simulated)", model=row.model_id) if row.simulated else row.model_id
                for row in found
            ],
            t("Version"): [row.model_version for row in found],
            t("Cases"): [n_cases for _ in found],
            t("Runs"): [row.n_runs for row in found],
            t("Answered"): [row.n_answered for row in found],
            t("Unparsed"): [row.n_unparsed for row in found],
            t("Refused"): [row.n_refused for row in found],
            t("Left empty"): [row.n_skipped for row in found],
            t("Absent"): [n_cases - row.n_predicted for row in found],
        }
    )


def _ask(study: str, name: str, reason: str) -> None:
    ask(
        _KEY,
        about=study,
        question=t("Withdraw {model}? Reason: {reason}", model=name, reason=reason),
        do=lambda acting: withdraw_model(
            store(), study=study, model_id=name, reason=reason, **acting
        ),
        done=t("{model} was withdrawn.", model=name),
    )
