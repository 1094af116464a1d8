"""Scoring of a closed study's open-ended answers: start it, follow it and close it."""

import streamlit as st

from study.base.translation import later, t, tn, translated
from study.lifecycle import judging, scoring
from study.people.roles import Act
from study.store import judgements
from study.store.judgements import ANSWER, EXPLANATION, SCORING, JudgingRow
from study.store.studies import study_row
from ui.app.masthead import masthead
from ui.parts import actions
from ui.parts.links import links
from ui.parts.theme import error_line, page_title, section, state_badge
from ui.people import handout
from ui.people.judging import (
    choose_judges,
    close_button,
    judge_section,
    pause_reason,
    progress_table,
)
from ui.server.access import acting, guard
from ui.server.deployment import store

person = guard(Act.CLOSE)
_TITLES = {ANSWER: later("Answers in words"), EXPLANATION: later("Explanations")}


def _show_scoring(row: JudgingRow) -> None:
    with store().look() as look:
        answers = judging.everything_judged(look, row)
        scorers, paused = judgements.judges(look, row), pause_reason(look, row)
    state_badge("closed" if row.ended_at_utc else "open")
    if paused:
        st.info(paused)
    n_settled = sum(case.result is not None for case in answers)
    n_answers = sum(len(case.answers) for case in answers)
    st.write(t("{n} of {total} different answers settled.", n=n_settled, total=len(answers)))
    if n_answers > len(answers):
        st.caption(t("{n} answers in all: identical answers are scored once.", n=n_answers))
    progress_table(row, answers, scorers)
    if row.ended_at_utc:
        actions.show_last_report(f"close-{row.id}")
        st.caption(
            t("The scores are in the exported study, by code and not by name, and in Results.")
        )
        return
    close_button(
        person,
        row,
        t("Close the scoring"),
        question=t(
            "Close the scoring? Nobody can score any more; answers that are not settled keep no "
            "score."
        ),
        closed=t("The scoring is closed."),
    )


def _new_scoring_form(kind: str, n_answers: int) -> None:
    with st.form(f"new-scoring-{kind}", border=False):
        st.write(tn("{n} answer to score.", "{n} answers to score.", n_answers))
        chosen = choose_judges(
            person,
            t("Scorers"),
            key=f"scorers-{kind}",
            help=t("Two scorers score each answer without seeing each other's score."),
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

        def start() -> str:
            scoring.open_scoring(
                store(),
                person.study_name,
                kind=kind,
                scorers=chosen,
                sample=scoring.Sample(n_items=n, seed=seed),
                acting=acting(person),
            )
            return t("The scoring has started.")

        actions.button(
            t("Start the scoring"), start, in_form=True, key=f"start-{kind}", type="primary"
        )


def _page() -> None:
    with store().look() as look:
        study = study_row(look, person.study_name)
        n_answers = scoring.count_answers_to_score(look, study.id)
        result = {row.kind: row for row in judgements.scorings_of_study(look, study.id)}
        own_judgings = [
            row for row in judgements.judgings_of_person(look, person.id) if row.table == SCORING
        ]
    if study.state != "closed":
        st.info(t("Close the study first: scorers see the correct answers."))
        return
    if not any(n_answers.values()):
        st.info(t("There are no answers in words to score."))
        return
    for kind, n in n_answers.items():
        if n:
            section(translated(_TITLES[kind]))
            if kind in result:
                actions.show_last_report(f"start-{kind}")
                _show_scoring(result[kind])
            else:
                _new_scoring_form(kind, n)
    if person.may(Act.MAKE_STUDY):
        with st.expander(t("Scorers and their access codes")):
            judge_section(person)
    if own_judgings:
        links("to_scores", {"reviews": t("Go to your own scoring")})


masthead(person)
page_title(
    t("Scoring"),
    t(
        "Have answers in words scored by people who do not see whose they are. Two score each "
        "answer; where they differ, a third decides."
    ),
)
with handout.page(""), error_line():
    _page()
links("from_scoring", {"archive": t("Back to Close and export")})
