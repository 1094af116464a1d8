"""Parts shared by the pages that open, monitor and close reviews and scorings."""

from collections.abc import Sequence

import streamlit as st

from study.base.translation import t
from study.lifecycle import judging
from study.lifecycle.judging import Judged
from study.people.roles import Act, Role
from study.people.signing_in import Person
from study.store import Transaction
from study.store.judgements import REVIEW, JudgeRow, JudgingRow
from ui.parts import actions
from ui.parts.actions import Question
from ui.parts.theme import table
from ui.people.members import Scope, member_rows, members_of, role_form
from ui.server.access import acting
from ui.server.deployment import store

_CODE_VALIDITY_DAYS = 90


def judge_section(person: Person) -> None:
    """Show the reviewers of this server, their codes, and the form that adds one."""
    scope = Scope(person=person, study="")
    reviewers = [member for member in members_of(scope) if member.role is Role.REVIEWER]
    with st.container():
        if reviewers:
            member_rows(scope, reviewers, _CODE_VALIDITY_DAYS, name="judges")
    role_form(scope, (Role.REVIEWER,), _CODE_VALIDITY_DAYS)


def choose_judges(person: Person, label: str, *, help: str, key: str | None = None) -> list[int]:
    """Show a field for choosing judges; return the numbers of those chosen."""
    members = members_of(Scope(person=person, study=""))
    candidates = {member.person: member.who for member in members if not member.revoked}
    if len(candidates) < judging.N_FIRST_JUDGES:
        st.info(
            t("Two people are needed. First add them on this page with their access codes.")
            if person.may(Act.MAKE_STUDY)
            else t("Two people are needed. Ask an administrator of this server to add reviewers.")
        )
    return st.multiselect(
        label,
        list(candidates),
        format_func=candidates.__getitem__,
        placeholder="",
        key=key,
        help=help,
    )


def pause_reason(look: Transaction, row: JudgingRow) -> str:
    """Return why an open review or scoring is paused; empty if it is not."""
    return "" if row.ended_at_utc else judging.refusal(look, row)


def progress_table(
    row: JudgingRow, everything: Sequence[Judged], people: Sequence[JudgeRow]
) -> None:
    """Show how many cases each judge has judged and, until closing, how many remain."""
    review = row.kind == REVIEW
    headings = [t("Reviewer")] if review else [t("Scorer"), t("Code")]
    progress_rows = [
        (
            *([judge.handle] if review else [judge.handle, judge.code]),
            sum(judge.position in case.verdicts for case in everything),
            *(
                ()
                if row.ended_at_utc
                else [sum(judge.position in case.waits_for for case in everything)]
            ),
        )
        for judge in people
    ]
    table(
        [*headings, t("Judged"), *(() if row.ended_at_utc else [t("Waiting")])],
        progress_rows,
        caption=t("Progress of each reviewer") if review else t("Progress of each scorer"),
    )


def close_button(
    person: Person, row: JudgingRow, label: str, *, question: str, closed: str
) -> None:
    """Show the button that closes a review or scoring after a confirmation."""

    def close() -> str:
        judging.close(store(), row.table, row.id, acting=acting(person))
        return closed

    actions.button(label, lambda: Question(text=question, do=close), key=f"close-{row.id}")
