"""The questions in a bank: counts, filters, search, single questions, and striking them off."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from study.bank.managing import strike
from study.base.text import checked_reason
from study.base.translation import t, tn
from study.lifecycle.exposure import record_truth_shown, studies_reading
from study.people.roles import Act
from study.store import bank_contents, banks, teaching
from study.store.bank_contents import ListedItem
from study.store.banks import BankRow
from ui.app.masthead import masthead
from ui.banks.questions import FACETS, addresses, facets, filtered, question_card, value_counts
from ui.parts import actions
from ui.parts.actions import Question
from ui.parts.links import links
from ui.parts.text import number, plain
from ui.parts.theme import error_line, grid, grid_px, page_title, pick
from ui.server.access import acting, guard
from ui.server.deployment import store

person = guard(Act.MAKE_STUDY)
masthead(person)

QUESTIONS_PER_PAGE = 50


def _bank() -> BankRow | None:
    bank_number = number(str(st.query_params.get("bank", "")))
    with store().look() as look:
        return next((row for row in banks.listed(look) if row.id == bank_number), None)


def _facet_names() -> dict[str, str]:
    return {
        "split": t("Split"),
        "task": t("Task"),
        "category": t("Category"),
        "subcategory": t("Subcategory"),
        "view": t("View"),
        "sex": t("Sex"),
        "age": t("Age"),
        "bank": t("Question bank"),
    }


def _value_label(value: str) -> str:
    return value or t("(not given)")


def _matching_questions(bank: BankRow) -> pd.DataFrame:
    """Show the search fields and return the matching questions."""
    with st.spinner(t("Reading the bank ...")):
        frame = facets(store(), bank.id, bank.content_sha256)
    names = _facet_names()
    facets_present = [name for name in FACETS if frame[name].nunique() > 1]
    selection: dict[str, Sequence[str]] = {}
    if facets_present:
        for place, column in zip(facets_present, st.columns(len(facets_present)), strict=True):
            values = list(value_counts(frame, place).index)
            with column:
                selection[place] = st.multiselect(
                    names[place],
                    values,
                    format_func=_value_label,
                    placeholder=t("Any"),
                    key=f"explore-{place}",
                )
    search, only = st.columns([4, 1], vertical_alignment="bottom")
    text = search.text_input(
        t("Search in questions and IDs"), key="explore-text", max_chars=200
    ).strip()
    with store().look(sealed=True) as look:
        struck_items = bank_contents.struck_items(look, bank.id)
        matching_ids = bank_contents.search_items(look, bank.id, text) if text else None
    if struck_items and only.toggle(
        t("Struck off ({n})", n=len(struck_items)), key="explore-struck"
    ):
        frame = frame[frame.index.isin(struck_items)]
    result = filtered(frame, selection)
    return result if matching_ids is None else result[result.index.isin(matching_ids)]


def _show_counts(questions: pd.DataFrame) -> None:
    names = _facet_names()
    with st.expander(t("Counts"), expanded=False):
        by = st.segmented_control(
            t("Count by"),
            [facet for facet in FACETS if facet != "bank" or questions[facet].nunique() > 1],
            format_func=names.__getitem__,
            default="task",
            key="explore-by",
            required=True,
        )
        counts = value_counts(questions, by)
        grid(
            {
                names[by]: [_value_label(value) for value in counts.index],
                t("Questions"): list(counts),
                t("Share, %"): [round(100 * n / max(len(questions), 1), 1) for n in counts],
            },
            height=grid_px(counts, most_px=420),
        )


def _question_list(questions: pd.DataFrame, *, reading: bool) -> ListedItem | None:
    """Show the questions page by page and return the selected question."""
    pages = -(-len(questions) // QUESTIONS_PER_PAGE)
    at = st.pagination(pages, key=f"explore-page-{pages}") if pages > 1 else 1
    with store().look(sealed=True) as look:
        rows = bank_contents.listed(
            look, questions.index[(at - 1) * QUESTIONS_PER_PAGE : at * QUESTIONS_PER_PAGE]
        )
    return pick(
        rows,
        {
            t("ID"): [row.item_id for row in rows],
            t("Question"): [row.question for row in rows],
            t("Task"): [row.task for row in rows],
            t("Struck off"): [_reason_text(row, reading=reading) for row in rows],
        },
        key=f"explore-list-{len(questions)}-{at}",
        height=grid_px(rows, most_px=320),
    )


def _reason_text(item: ListedItem, *, reading: bool) -> str:
    """Return why an item is struck off, unless the reason may reveal its answer."""
    if item.struck is None:
        return ""
    return t("Reason hidden while cases are being read") if reading else item.struck


def _is_truth_wanted(bank: BankRow, *, reading: bool) -> bool:
    """Show the switch for the reference standard; the audit trail records each use."""
    revealed = st.session_state.setdefault("explore-truth-shown", set())
    show_truth = st.toggle(
        t("Show the reference standard"),
        key="explore-truth",
        disabled=reading,
        help=t(
            "Recorded in the audit trail. Not possible while cases from this bank are being read."
        ),
    )
    if not show_truth or reading:
        return False
    if bank.id not in revealed:
        record_truth_shown(store(), bank.name, acting=acting(person))
        revealed.add(bank.id)
    return True


def _show_question(bank: BankRow, item: ListedItem, *, reading: bool) -> None:
    truth, explanation = "", ""
    if _is_truth_wanted(bank, reading=reading):
        with store().look() as look:
            truth, explanation = teaching.truth(look, item.id)
    films = addresses(store(), bank.id, item.id)
    st.html(question_card(item, films, truth, explanation))
    _striking_form(bank, item, reading=reading)


def _striking_form(bank: BankRow, item: ListedItem, *, reading: bool) -> None:
    is_struck = item.struck is not None
    if is_struck:
        st.info(t("Struck off: {reason}", reason=plain(_reason_text(item, reading=reading))))
    below = st.container()
    with below, st.form(f"strike-{item.id}-{is_struck}", border=False):
        reason = st.text_input(t("Reason"), max_chars=500)
        actions.button(
            t("Take back") if is_struck else t("Strike off"),
            lambda: _strike(bank, item, checked_reason(reason), reinstate=is_struck),
            in_form=True,
            key=f"strike-{item.id}",
            below=below,
        )


def _strike(bank: BankRow, item: ListedItem, reason: str, *, reinstate: bool) -> Question:
    def do() -> str:
        strike(
            store(),
            bank.name,
            item.item_id,
            reason=reason,
            reinstate=reinstate,
            acting=acting(person),
        )
        return t("Taken back.") if reinstate else t("Struck off.")

    return Question(
        text=(
            t("Reinstate {item}? Studies can draw it again.", item=item.item_id)
            if reinstate
            else t(
                "Strike {item} off? No study draws it from now on; studies that have drawn it "
                "keep it.",
                item=item.item_id,
            )
        ),
        do=do,
    )


def _page(bank: BankRow) -> None:
    page_title(t("Questions of {bank}", bank=plain(bank.name)))
    with store().look() as look:
        reading = bool(studies_reading(look, bank.id))
    result = _matching_questions(bank)
    n = tn("{n} question", "{n} questions", len(result))
    st.markdown(f"**{n}** {t('of {total}', total=bank.n_items)}")
    _show_counts(result)
    item = _question_list(result, reading=reading)
    if item is None:
        st.caption(t("Select a row to see the question with its images."))
    else:
        _show_question(bank, item, reading=reading)


with error_line():
    bank = _bank()
    if bank is None:
        st.info(t("Choose a bank on the page of question banks."))
    else:
        _page(bank)
links("from_explore", {"banks": t("Back to the question banks")})
