"""A new study: existing drafts, and the steps in which a draft is written and drawn."""

import streamlit as st

from study.base.errors import StudyError
from study.base.translation import t
from study.lifecycle import drafts
from study.people.roles import STUDY_PERMISSIONS, Act
from study.people.signing_in import memberships
from study.store import banks
from ui.app.masthead import masthead
from ui.app.menu import page_file
from ui.app.study_bar import enter_study
from ui.parts import actions
from ui.parts.actions import Report
from ui.parts.forms import required
from ui.parts.links import links
from ui.parts.text import number, plain
from ui.parts.theme import error_line
from ui.server.access import acting, guard
from ui.server.deployment import store
from ui.wizard.draft import WorkingDraft, draft_list, forget, working_draft
from ui.wizard.frame import wizard

person = guard(Act.MAKE_STUDY)
masthead(person)

NO_STUDY = ""


def _open(number: int) -> None:
    st.query_params.from_dict({"draft": str(number)})
    st.rerun()


def _studies_to_begin_from() -> list[str]:
    """Return the studies whose protocol the person may see, newest first."""
    return [
        membership.study_name
        for membership in memberships(store(), person)
        if membership.study is not None and Act.SET_UP in STUDY_PERMISSIONS[membership.role]
    ]


def _start_form(names: list[str]) -> None:
    st.subheader(t("Start a study"), anchor=False)
    with st.form("begin", border=True):
        left, middle, right = st.columns([2, 2, 2])
        name = left.text_input(
            t("Study name"), value=drafts.unused_name(store(), t("New study")), max_chars=100
        )
        bank = middle.selectbox(t("Question bank"), names)
        protocol_sources = [NO_STUDY, *_studies_to_begin_from()]
        source_study = right.selectbox(
            t("Copy the protocol of"),
            protocol_sources,
            format_func=lambda entry: entry or t("None (new protocol)"),
        )

        def begin() -> Report:
            number = drafts.begin(
                store(),
                name=required(t("Study name"), name),
                maker=person.id,
                bank=bank,
                values=drafts.rules_of(store(), source_study) if source_study else None,
                acting=acting(person),
            )
            return Report(
                text=t("The draft {name} was started.", name=name.strip()),
                then=lambda: _open(number),
            )

        actions.button(
            t("Start"),
            begin,
            in_form=True,
            key="begin-draft",
            type="primary",
            icon=":material/add:",
        )


def _show_drafts() -> None:
    draft_rows = drafts.list_drafts(store())
    if draft_rows:
        st.subheader(t("Drafts"), anchor=False)
        draft_list(person, draft_rows, _open)


def _show_start() -> None:
    st.title(t("New study"), anchor=False)
    st.write(
        t(
            "You draft a study in six short steps, each explaining what your choices mean. "
            "Nothing is fixed until you draw the sample."
        )
    )
    with store().look() as look:
        names = banks.names(look)
    if not names:
        st.info(t("There is no question bank yet. Import one first, then come back."))
        links("to_banks", {"banks": t("Import a bank")})
        return
    _start_form(names)
    _show_drafts()


def _draw(working: WorkingDraft) -> Report:
    study, _ = drafts.draw(
        store(),
        working.id,
        seen_saved_at_utc=working.seen_saved_at_utc,
        maker=person.id,
        acting=acting(person),
    )
    forget(working.id)
    own_studies = [
        membership for membership in memberships(store(), person) if membership.study_name == study
    ]
    entered = bool(own_studies) and enter_study(person, own_studies[0])

    def leave() -> None:
        st.session_state["drawn"] = entered
        st.query_params.clear()
        st.rerun()  # the next run builds the menu of this study

    words = t("The sample has been drawn.")
    return Report(
        text=words if entered else f"{words} {t('Choose the study to continue.')}", then=leave
    )


def _page() -> None:
    if st.session_state.pop("drawn", False):
        st.switch_page(page_file("set_up.py"))
    draft_name = str(st.query_params.get("draft", ""))
    if not draft_name.isdecimal():
        _show_start()
        return
    try:
        working = working_draft(number(draft_name))
    except StudyError as error:
        st.info(plain(str(error)))
        links("to_drafts", {"new-study": t("Back to drafts")})
        return
    st.title(plain(working.name or t("New study")), anchor=False)
    wizard(working, lambda: _draw(working))


with error_line():
    _page()
