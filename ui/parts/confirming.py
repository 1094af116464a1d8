"""Nothing is done at one click: what is to be done is asked back first, and done once."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from time import monotonic

import streamlit as st

from study.base.actor import Acting
from study.base.errors import StudyError
from study.base.translation import t
from ui.parts.text import plain

# A second click draws the page again; what came of the first is still to be read then.
_TOLD_FOR_S = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """What waits for a yes: about what, the question, what is done, what is said afterwards."""

    about: Hashable
    question: str
    do: Callable[[Acting], object]
    done: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What came of a yes: whether it was done, in words, and how long they are shown."""

    about: Hashable
    done: bool
    words: str
    until: float


def ask(
    key: str, *, about: Hashable, question: str, do: Callable[[Acting], object], done: str
) -> None:
    """Have something asked back under a key, for as long as the page shows what it is about."""
    st.session_state.pop(f"{key}-told", None)
    st.session_state[key] = Pending(about=about, question=question, do=do, done=done)


def answer(key: str, acting: Acting, *, about: Hashable) -> None:
    """Show what waits under a key with its two buttons, or what came of the last one.

    A question about something else than the page shows by now is dropped.
    """
    told: _Told | None = st.session_state.get(f"{key}-told")
    if told is not None and told.about == about and monotonic() < told.until:
        (st.success if told.done else st.error)(plain(told.words))
    pending: Pending | None = st.session_state.get(key)
    if pending is None or pending.about != about:
        st.session_state.pop(key, None)
        return
    with st.container(border=True):
        st.markdown(plain(pending.question))
        yes, no, _ = st.columns([1, 1, 4])
        said_yes = yes.button(t("Yes"), key=f"{key}-yes", type="primary", width="stretch")
        said_no = no.button(t("No"), key=f"{key}-no", width="stretch")
    if said_yes or said_no:
        # Taken away before it is done: whoever clicks again finds nothing waiting.
        st.session_state.pop(key, None)
        if said_yes:
            st.session_state[f"{key}-told"] = _done(pending, acting)
        st.rerun()


def _done(pending: Pending, acting: Acting) -> _Told:
    words = pending.done
    try:
        pending.do(acting)
        done = True
    except StudyError as error:
        words, done = str(error), False
    return _Told(about=pending.about, done=done, words=words, until=monotonic() + _TOLD_FOR_S)
