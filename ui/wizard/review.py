"""The last step: the whole protocol to be read, taken away as a file or brought, and the draw."""

from collections.abc import Callable
from functools import lru_cache

import streamlit as st

from study.bank.guessing import guessable
from study.base.errors import StudyError
from study.base.text import decoded
from study.base.translation import language, spoken, t
from study.lifecycle import exposure
from study.protocol.protocol import Protocol, protocol_from
from study.store import banks
from ui.parts.links import links
from ui.parts.text import plain
from ui.parts.uploads import upload
from ui.server.deployment import store
from ui.wizard.protocol_view import consent_view, protocol_view
from ui.wizard.sample import foreseen
from ui.wizard.working import Working


def review(working: Working, draw: Callable[[], None]) -> None:
    """Show the step; `draw` makes the study."""
    protocol = working.protocol()
    if protocol is None:
        st.error(
            t(
                "The protocol has errors, listed on the right. Fix them, then come back to this "
                "step."
            )
        )
    else:
        for sentence in _cautions(working, protocol):
            st.warning(plain(sentence))
        protocol_view(protocol, consent=False)
        consent_view(protocol)
    left, right = st.columns(2, gap="large")
    with left:
        _file(working)
    with right:
        st.subheader(t("Try it, then draw the sample"), anchor=False)
        st.caption(t("The preview shows what a reader will see; nothing is recorded."))
        links("preview", {f"preview-draft?draft={working.id}": t("Preview as a reader")})
        _draw(working, draw)


def _cautions(working: Working, protocol: Protocol) -> tuple[str, ...]:
    """Return what to know of the bank and of what else is read from it before the draw."""
    with store().look() as look:
        bank = banks.find(look, working.bank)
        if bank is None:
            return ()
        others = exposure.elsewhere(look, bank.id, protocol)
    shuffled = protocol.option_order == "random"
    return (*_guesses(bank.id, bank.content_sha256, shuffled, language()), *others)


@lru_cache(maxsize=16)
def _guesses(bank: int, content_sha256: str, shuffled: bool, name: str) -> tuple[str, ...]:
    """Return where answers of the whole bank can be guessed; of drafts' samples nothing is told."""
    with spoken(name), store().look() as look:
        return guessable(banks.Questions(look, bank), shuffled=shuffled)


def _file(working: Working) -> None:
    st.subheader(t("Protocol file"), anchor=False)
    st.caption(t("The same file works on the command line; it always matches what is shown here."))
    if working.protocol() is not None:
        address = f"draft/protocol.toml?draft={working.id}"
        links("protocol", {address: t("Download the protocol")}, download=True)
    brought = upload(
        t("Upload a protocol file"), types=["toml"], key=working.key("file"), most_mb=1
    )
    if brought is None:
        return
    if st.button(t("Replace the draft with this file"), key=working.key("take")):
        try:
            text = decoded(brought.getvalue(), source=brought.name)
            taken = protocol_from(text, source=brought.name)
        except StudyError as error:
            st.error(t("The draft was not changed."))
            st.code(str(error), language=None, wrap_lines=True)
            return
        working.values = taken.in_full()
        working.name = taken.name or working.name
        working.renew()
        st.rerun()


def _draw(working: Working, draw: Callable[[], None]) -> None:
    faults = working.faults()
    trouble = ""
    if not faults:
        try:
            foreseen(working.bank, working.values)
        except StudyError as error:
            trouble = str(error)
    if trouble:
        st.error(plain(trouble))
    st.caption(
        t(
            "Drawing the sample fixes the cases. You can then invite readers and open the study; "
            "until it is open, you can still discard it and draw again."
        )
    )
    if st.button(
        t("Draw the sample"),
        type="primary",
        icon=":material/check:",
        disabled=bool(faults or trouble),
        key=working.key("draw"),
    ):
        draw()
