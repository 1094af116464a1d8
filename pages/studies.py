"""The studies in which a person has a role; the start page if no study is selected."""

import streamlit as st

from study.base.translation import t, tn
from study.lifecycle import drafts
from study.people.roles import Act, role_title
from study.people.signing_in import Choice, choices
from study.store import banks, judgements
from study.store.judgements import REVIEW
from ui.app.masthead import masthead
from ui.app.menu import page_file
from ui.parts import actions
from ui.parts.forms import choose_form
from ui.parts.links import links
from ui.parts.text import plain
from ui.parts.theme import error_line, page_title, section, state_badge
from ui.server.access import guard
from ui.server.deployment import store
from ui.wizard.draft import draft_list

person = guard(Act.CHOOSE)


def _choice_text(choice: Choice) -> str:
    if choice.n_assigned:
        return t("{n} of {total} read", n=choice.n_read, total=choice.n_assigned)
    if choice.n_readers is not None:
        return tn("{n} reader", "{n} readers", choice.n_readers)
    return ""


def _show_studies() -> None:
    result = choices(store(), person)
    if not result:
        _explain_empty_list()
        return
    with st.container(key="rows-studies"):
        for choice in result:
            _study_row(choice)


def _study_row(choice: Choice) -> None:
    membership = choice.membership
    name, role, state, text, enter = st.columns(
        [3, 1.5, 1.5, 1.5, 0.9], vertical_alignment="center"
    )
    with name:
        choose_form(membership, by_name=True)
        if choice.here:
            st.caption(t("current"))
    role.markdown(role_title(membership.role))
    with state:
        state_badge(membership.state)
    text.markdown(plain(_choice_text(choice)))
    with enter:
        choose_form(membership)


def _explain_empty_list() -> None:
    if not person.may(Act.MAKE_STUDY):
        st.write(t("You do not have a role in any study here yet."))
        return
    with store().look() as look:
        bank_names = banks.names(look)
    if bank_names:
        st.write(t("There are no studies here yet. Start by drafting one."))
        links("to_new", {"new-study": t("Draft a study")})
    else:
        st.write(t("There are no studies here yet. First, import a bank of questions and images."))
        links("to_banks", {"banks": t("Import a bank")})


def _link_to_reviews() -> None:
    with store().look() as look:
        tables = {row.table for row in judgements.judgings_of_person(look, person.id)}
    if tables and person.may(Act.REVIEW):
        links("to_reviews", {"reviews": t("Expert review") if REVIEW in tables else t("Scoring")})


def _show_drafts() -> None:
    draft_rows = drafts.list_drafts(store())
    if draft_rows:
        section(t("Drafts"), t("Studies whose sample has not been drawn yet."))
        draft_list(person, draft_rows, _open_draft)


def _open_draft(number: int) -> None:
    st.switch_page(page_file("new_study.py"), query_params={"draft": str(number)})


masthead(person)
title, new = st.columns([4, 1], vertical_alignment="bottom")
with title:
    page_title(t("Studies"))
if person.may(Act.MAKE_STUDY):
    actions.view_button(
        t("New study"),
        lambda: st.switch_page(page_file("new_study.py")),
        key="new-study",
        place=new,
        icon=":material/add:",
        type="primary",
        width="stretch",
    )
with error_line():
    _show_studies()
    if person.may(Act.MAKE_STUDY):
        _show_drafts()
    _link_to_reviews()
