"""A reader's score card: their answers and the reference standard, after the study is closed."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from study.base.errors import NotAllowed, StudyError
from study.base.translation import is_right_to_left, t
from study.people.roles import Act
from study.reading.desk import receipt_of
from study.reading.score_card import ScoreCard, ScoredCase, reading_record, score_card
from ui.app.masthead import masthead
from ui.parts import actions, theme
from ui.parts.links import links
from ui.parts.text import plain
from ui.reading.rooms import link_to_teaching
from ui.reading.score_card import (
    RECORD_PATH,
    RECORD_PDF_PATH,
    case_html,
    comparison_table,
    rank_text,
    summary_text,
    task_rows,
    verdict_text,
)
from ui.server.access import guard
from ui.server.deployment import store

person = guard(Act.READ)

ONLY_WRONG_KEY, MISSED_BY_FEW_KEY, CASE_KEY = "card-only-wrong", "card-only-others", "card-at"


def _move(step: int, n: int) -> None:
    st.session_state[CASE_KEY] = max(0, min(n - 1, int(st.session_state.get(CASE_KEY) or 0) + step))


def _return_to_first() -> None:
    st.session_state[CASE_KEY] = 0


def _label(case: ScoredCase) -> str:
    return t("Case {n}: {verdict}", n=case.position, verdict=verdict_text(case))


# A fragment, so that paging does not compute the card again.
@st.fragment
def _show_cases(card: ScoreCard) -> None:
    guard(Act.READ)
    wrong = [case for case in card.cases if case.correct is False]
    back_column, choose, next_column, switch = st.columns(
        [2, 7, 2, 5], vertical_alignment="bottom", gap="small"
    )
    only = switch.toggle(
        t("Only cases that do not match ({n})", n=len(wrong)),
        key=ONLY_WRONG_KEY,
        on_change=_return_to_first,
        disabled=not wrong,
    )
    cases: Sequence[ScoredCase] = wrong if only and wrong else card.cases
    worth_another_look = [case for case in wrong if case.worth_another_look]
    if worth_another_look and switch.toggle(
        t("Only those most other readers got right ({n})", n=len(worth_another_look)),
        key=MISSED_BY_FEW_KEY,
        on_change=_return_to_first,
    ):
        cases = worth_another_look
    _move(0, len(cases))
    at = choose.selectbox(
        t("Case"), range(len(cases)), format_func=lambda entry: _label(cases[entry]), key=CASE_KEY
    )
    keys = ("Right", "Left") if is_right_to_left() else ("Left", "Right")
    for column, label, step, key, disabled in (
        (back_column, t("Previous"), -1, keys[0], at == 0),
        (next_column, t("Next"), 1, keys[1], at == len(cases) - 1),
    ):
        actions.view_button(
            label,
            partial(_move, step, len(cases)),
            key=f"card{step}",
            place=column,
            before_page=True,
            shortcut=key,
            disabled=disabled,
            width="stretch",
        )
    st.html(case_html(cases[at], cases[at + 1] if at + 1 < len(cases) else None))


def _show_card() -> None:
    card = score_card(store(), person)
    theme.page_title(t("Your score card"), f"{summary_text(card)} {rank_text(card)}")
    if card.comparison:
        with st.expander(t("You, other readers and models"), expanded=True, key="card-others"):
            head, rows = comparison_table(card.comparison)
            theme.table(head, rows, caption=t("Cases that match the reference standard"))
    if card.cases:
        _show_cases(card)
    if card.by_task and not card.comparison:
        with st.expander(t("By task"), key="card-tasks"):
            theme.table([t("Task"), t("Match")], task_rows(card), caption=t("Matches by task"))


def _show_receipt() -> None:
    """Show the receipt again, because the reader may have lost it."""
    result = receipt_of(store(), person)
    if result:
        st.caption(t("Your receipt, with which your answers can be checked for changes:"))
        st.code(result, language=None)


def _record_link() -> None:
    """Show a link to the record of reading, if there is one."""
    try:
        reading_record(store(), person)
    except StudyError:
        return
    links(
        "record",
        {
            RECORD_PATH: t("Reading record to print or keep"),
            RECORD_PDF_PATH: t("Reading record (PDF)"),
        },
    )


masthead(person)
try:
    _show_card()
except NotAllowed:
    st.title(t("Thank you"))
    st.write(
        t(
            "The study {study} is closed. There is nothing more for you to do.",
            study=plain(person.study_name),
        )
    )
except StudyError as error:
    st.info(plain(str(error)))
_show_receipt()
_record_link()
link_to_teaching()
