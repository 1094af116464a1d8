"""The set-up of a study: its protocol, the steps from draw to opening, and amendments."""

from functools import partial
from urllib.parse import urlencode

import streamlit as st

from study.base.errors import BadInput, BadProtocol
from study.base.text import LONGEST_REASON
from study.base.translation import t, tn
from study.exchange.protocol_deposit import may_deposit
from study.lifecycle import amendments, drafts, exposure, studies
from study.people.roles import Act
from ui.app.masthead import masthead
from ui.app.menu import page_file
from ui.overview.trail import show_head_recipient
from ui.parts import actions
from ui.parts.actions import Report
from ui.parts.links import links
from ui.parts.protocol_words import in_page_words
from ui.parts.text import minute, plain
from ui.parts.theme import error_line, page_title
from ui.server.access import acting, guard
from ui.server.deployment import store
from ui.wizard.frame import STYLES, show_workload
from ui.wizard.groups import preview_links
from ui.wizard.protocol_view import consent_view, protocol_view
from ui.wizard.setting_up import (
    SetUp,
    amendment_form,
    amendment_list,
    open_study,
    set_up_of,
    show_drawn_cases,
)

person = guard(Act.SET_UP)
masthead(person)


def _completed_steps(set_up: SetUp) -> None:
    """Show the completed steps of the study."""
    n = set_up.n_readers
    places = [
        (t("Drawn"), minute(set_up.row.drawn_at_utc), True),
        (t("Readers invited"), str(n) if n else t("none yet"), n > 0),
        (t("Open"), minute(set_up.row.opened_at_utc), set_up.row.state != "drawn"),
        (t("Closed"), minute(set_up.row.closed_at_utc), set_up.row.state == "closed"),
    ]
    for column, (title, when, is_done) in zip(st.columns(4), places, strict=True):
        with column, st.container(border=True):
            icon = ":material/check_circle:" if is_done else ":material/radio_button_unchecked:"
            st.markdown(f"{icon} **{title}**")
            st.caption(plain(when) if when else t("not yet"))


def _is_ready(set_up: SetUp) -> bool:
    return set_up.row.state == "drawn" and bool(set_up.n_readers)


def _before_opening(set_up: SetUp, invite: str) -> None:
    """Show the pages to use between the draw and the opening.

    Links would reload the page and lose the new access codes of this window.
    """
    next_pages = {"people.py": invite}
    if set_up.protocol.is_aided:
        next_pages["models.py"] = t("Add the model")
    with st.container(horizontal=True):
        for name, label in next_pages.items():
            actions.view_button(label, partial(st.switch_page, page_file(name)), key=f"to-{name}")
    links("preview", preview_links("preview", set_up.protocol))


def _opening_section(set_up: SetUp) -> None:
    for sentence in exposure.opening_warnings(store(), set_up.row.name):
        st.warning(plain(sentence))
    if not _is_ready(set_up):
        st.subheader(t("Next: invite readers"), anchor=False)
        st.write(t("No readers have been invited yet. A study needs at least one reader to open."))
        _before_opening(set_up, t("Invite readers"))
        return
    st.subheader(t("Next: open the study"), anchor=False)
    if obstacle := studies.opening_obstacle(store(), set_up.row.name):
        st.error(plain(in_page_words(obstacle)))
    st.write(
        tn(
            "{n} reader has been invited. Opening the study assigns their cases and lets them "
            "sign in.",
            "{n} readers have been invited. Opening the study assigns their cases and lets them "
            "sign in.",
            set_up.n_readers,
        )
    )
    _before_opening(set_up, t("Invite more readers"))
    consent_view(set_up.protocol)
    st.caption(t("Hash of the protocol, the bank and the drawn cases:"))
    st.code(set_up.row.protocol_sha256, language=None)
    is_confirmed = st.checkbox(
        t(
            "I have read the protocol and the consent text. From now on every change is an "
            "amendment with a reason."
        ),
        key="sure",
    )
    witness = st.text_input(
        t("Who keeps the proof of integrity? (email, optional)"),
        help=t(
            "Someone outside the study, such as its statistician. They receive one line when the "
            "study opens, every day and when it closes; anyone can use it to check the study "
            "later. It contains nothing about the answers."
        ),
        key="head-witness",
        max_chars=200,
    )

    def open_it() -> str:
        if not is_confirmed:
            raise BadInput(t("Tick “I have read the protocol and the consent text” first."))
        open_study(person, witness)
        return t("The study is open: its readers can sign in.")

    actions.button(t("Open the study"), open_it, key="open", type="primary", icon=":material/lock:")


def _deposit_form() -> None:
    """Offer the protocol for a deposit on OSF or Zenodo, until a case has been read."""
    if not (person.may(Act.EXPORT) and may_deposit(store(), person.study_name)):
        return
    with st.expander(t("Deposit the protocol on OSF or Zenodo")):
        st.write(
            t(
                "The deposit proves later that the protocol was not changed after reading began. "
                "It contains the protocol, its hash, the latest hash of the audit trail, and the "
                "metadata in the formats of both services. It does not name the drawn cases."
            )
        )
        names = st.text_area(
            t("Authors (one per line, as Family, Given)"), key="deposit-authors", max_chars=2_000
        )
        authors = [("author", name.strip()) for name in names.splitlines() if name.strip()]
        if authors:
            address = f"export/deposit.zip?{urlencode(authors)}"
            links("deposit", {address: t("Download the deposit")}, download=True)
        else:
            st.caption(t("Name at least one author to download the deposit."))


def _return_form() -> None:
    with st.expander(t("Return to draft")):
        st.write(
            t(
                "The protocol becomes a draft again, to be changed and drawn again. Readers and "
                "models added so far are not part of the new study, and their access codes for "
                "this one stop working. The audit trail records the reason."
            )
        )
        reason = st.text_input(t("Reason"), key="return-reason", max_chars=LONGEST_REASON)
        actions.button(
            t("Return the study to a draft"), lambda: _return_study(reason), key="return-to-draft"
        )


def _return_study(reason: str) -> Report:
    study = person.study_name
    draft = drafts.return_to_draft(
        store(), study=study, reason=reason, maker=person.id, acting=acting(person)
    )
    query = {"draft": str(draft)}
    return Report(
        text=t(
            "The study {study} was returned to the draft {name}.",
            study=study,
            name=drafts.find(store(), draft).name,
        ),
        then=lambda: st.switch_page(page_file("new_study.py"), query_params=query),
    )


def _discard_form() -> None:
    with st.expander(t("Discard this sample")):
        st.write(
            t(
                "The study is permanently hidden, its access codes stop working, and the audit "
                "trail records the reason."
            )
        )
        reason = st.text_input(t("Reason"), key="discard-reason", max_chars=LONGEST_REASON)
        actions.button(t("Discard the study"), lambda: _discard_study(reason), key="discard")


def _discard_study(reason: str) -> Report:
    study = person.study_name
    studies.discard(store(), study=study, reason=reason, acting=acting(person))
    return Report(text=t("The study {study} was discarded.", study=study), then=st.rerun)


def _link_to_next_page(state: str) -> None:
    if state == "open":
        st.subheader(t("Next: follow progress, then close the study"), anchor=False)
        links("onwards", {"./": t("Follow progress"), "archive": t("Close the study")})
    else:
        st.subheader(t("Next: results and export"), anchor=False)
        links("onwards", {"results": t("View results"), "archive": t("Export the files")})


def _show_locked_protocol(set_up: SetUp) -> None:
    actions.show_last_report("open")
    _link_to_next_page(set_up.row.state)
    st.subheader(t("The protocol is locked"), anchor=False)
    st.caption(t("Hash of the protocol at opening, the bank and the drawn cases:"))
    st.code(set_up.row.protocol_sha256, language=None)
    st.write(
        tn("Amended {n} time.", "Amended {n} times.", len(set_up.amendments))
        if set_up.amendments
        else t("Not amended.")
    )
    amendment_list(set_up.amendments)
    show_head_recipient(set_up.row.name)
    if set_up.row.state != "open":
        return
    with st.expander(t("Amend the protocol")):
        st.caption(
            t(
                "Only settings that do not affect cases already answered can be changed. Changes "
                "apply from now on; the locked protocol keeps its hash."
            )
        )
        changes, reason = amendment_form(set_up.protocol, len(set_up.amendments))

        def amend() -> str:
            try:
                amendments.amend(
                    store(),
                    study=person.study_name,
                    changes=changes,
                    reason=reason,
                    acting=acting(person),
                )
            except BadProtocol as error:
                raise BadProtocol(in_page_words(str(error))) from error
            return t("The protocol was amended.")

        actions.button(
            t("Amend the protocol"),
            amend,
            key="amend",
            type="primary",
        )


def _copy_button(set_up: SetUp) -> None:
    if not person.may(Act.MAKE_STUDY):
        return
    actions.button(
        t("Start a new study with this protocol"),
        lambda: _copy_to_draft(set_up),
        key="copy-protocol",
        icon=":material/content_copy:",
    )


def _copy_to_draft(set_up: SetUp) -> Report:
    name = drafts.unused_name(store(), set_up.row.name)
    number = drafts.begin(
        store(),
        name=name,
        maker=person.id,
        bank=set_up.row.bank_name,
        values=drafts.rules_of(store(), set_up.row.name),
        acting=acting(person),
    )
    draft = {"draft": str(number)}
    return Report(
        text=t("The draft {name} has the protocol of {study}.", name=name, study=set_up.row.name),
        then=lambda: st.switch_page(page_file("new_study.py"), query_params=draft),
    )


def _page() -> None:
    result = set_up_of(person.study_name)
    page_title(t("Protocol"))
    st.html(STYLES)
    _completed_steps(result)
    body, side = st.columns([5, 1.4], gap="large")
    with body:
        if result.row.state == "drawn":
            _opening_section(result)
        else:
            _show_locked_protocol(result)
        title = t("Current protocol") if result.amendments else t("Protocol")
        st.subheader(title, anchor=False)
        st.caption(plain(t("Bank {bank}", bank=result.row.bank_name)))
        protocol_view(result.protocol, consent=not _is_ready(result))
        show_drawn_cases(person)
        links("protocol", {"study/protocol.toml": t("Download the protocol")}, download=True)
        _copy_button(result)
        _deposit_form()
        if result.row.state == "drawn":
            if person.may(Act.MAKE_STUDY):
                _return_form()
            _discard_form()
    with side, st.container(key="meaning"):
        st.markdown(f"**{t('What this means')}**")
        show_workload(result.protocol)


with error_line():
    _page()
