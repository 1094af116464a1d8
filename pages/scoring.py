"""Scoring of a closed study's answers in words: given to scorers here, followed, and closed."""

import streamlit as st

from study.base.translation import later, said, t, tn
from study.lifecycle import scoring
from study.people.roles import Act, Role
from study.store import judgements
from study.store.judgements import ANSWER, EXPLANATION, ScoringRow
from study.store.studies import study_row
from ui.app.masthead import masthead
from ui.parts.forms import ask, confirm
from ui.parts.links import links
from ui.parts.theme import error_line, page_title, section, state_badge, table
from ui.people import handout
from ui.people.members import Scope, give_role, members_of
from ui.server.access import acting, guard
from ui.server.deployment import store

person = guard(Act.CLOSE)
_CODE_DAYS = 90
_TITLES = {ANSWER: later("Answers in words"), EXPLANATION: later("Explanations")}


def _scoring(row: ScoringRow) -> None:
    with store().look() as look:
        words = scoring.words_of(look, row.id)
        scorers = judgements.scorers(look, row.id)
        why_not = "" if row.ended_at_utc else scoring.refusal(look, row)
    state_badge("closed" if row.ended_at_utc else "open")
    if why_not:
        st.info(why_not)
    n_settled = sum(one.result is not None for one in words)
    n_answers = sum(len(one.answers) for one in words)
    st.write(t("{n} of {total} different answers settled.", n=n_settled, total=len(words)))
    if n_answers > len(words):
        st.caption(t("{n} answers in all: those that say the same are scored once.", n=n_answers))
    table(
        [t("Scorer"), t("Code"), t("Judged"), t("Waiting")],
        [
            (
                one.handle,
                one.code,
                sum(one.position in each.given for each in words),
                sum(one.position in each.waits_for for each in words),
            )
            for one in scorers
        ],
        caption=t("How far each scorer is"),
    )
    if row.ended_at_utc:
        st.caption(
            t("The scores are in the exported study, by code and not by name, and in Results.")
        )
    elif st.button(t("Close the scoring"), key=f"close-{row.id}"):
        ask(
            f"ending-{row.id}",
            about=row.id,
            question=t(
                "Close the scoring? Nobody can score any more; answers that are not settled "
                "keep no score."
            ),
            do=lambda acting: scoring.close_scoring(store(), row.id, **acting),
            done=t("The scoring is closed."),
        )
    confirm(f"ending-{row.id}", acting(person), about=row.id)


def _new(kind: str, n_answers: int) -> None:
    known = {
        one.person: one.who for one in members_of(Scope(person=person, study="")) if not one.revoked
    }
    with st.form(f"new-scoring-{kind}", border=False):
        top = st.container()
        st.write(tn("{n} answer to score.", "{n} answers to score.", n_answers))
        chosen = st.multiselect(
            t("Scorers"),
            list(known),
            format_func=known.__getitem__,
            placeholder="",
            key=f"scorers-{kind}",
            help=t("Two score each answer without seeing each other's score."),
        )
        n_column, seed_column = st.columns(2)
        n = n_column.number_input(
            t("Questions, drawn at random"),
            1,
            value=None,
            key=f"n-{kind}",
            help=t("Leave empty to score the answers to every question."),
        )
        seed = seed_column.number_input(t("Random seed"), 0, 2**31, 1, key=f"seed-{kind}")
        sent = st.form_submit_button(t("Start the scoring"), type="primary")
    if sent:
        with top, error_line():
            scoring.open_scoring(
                store(),
                person.study_name,
                kind=kind,
                scorers=chosen,
                n_items=n,
                seed=seed,
                **acting(person),
            )
            st.rerun()


def _page() -> None:
    handout.show("")
    with store().look() as look:
        study = study_row(look, person.study_name)
        n_answers = scoring.to_be_scored(look, study.id)
        found = {row.kind: row for row in judgements.scorings_of_study(look, study.id)}
        mine = judgements.scorings_of_person(look, person.id)
    if study.state != "closed":
        st.info(t("Close the study first: scorers see the correct answers."))
        return
    if not any(n_answers.values()):
        st.info(t("There are no answers in words to score."))
        return
    for kind, n in n_answers.items():
        if n:
            section(said(_TITLES[kind]))
            if kind in found:
                _scoring(found[kind])
            else:
                _new(kind, n)
    if person.may(Act.MAKE_STUDY):
        with st.expander(t("Add a scorer")):
            scope = Scope(person=person, study="")
            give_role(scope, (Role.REVIEWER,), _CODE_DAYS)
    if mine:
        links("to_scores", {"reviews": t("Go to your own scoring")})


masthead(person)
page_title(
    t("Scoring"),
    t(
        "Have answers in words scored by people who are not told whose they are. Two score each "
        "answer; where they differ, a third decides."
    ),
)
with error_line():
    _page()
links("from_scoring", {"archive": t("Back to Close and export")})
