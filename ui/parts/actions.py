"""Buttons of the staff pages: each runs an action and shows its result next to the button.

Only this module calls Streamlit's buttons. `button` runs a function that must return a report, so
every action shows its result; a refusal (`StudyError`) is shown at the same place. The report
remains until the next action or page, is scrolled into view and receives the focus. `view_button`
is for buttons that only change what this window shows.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from study.base.errors import StudyError
from study.base.translation import t
from ui.parts.text import plain
from ui.parts.theme import page_file, show_lines, show_refusal
from ui.parts.uninterrupted import run_uninterrupted

_MEMORY = "last-action"

_FOCUS = page_file(__file__, "report-focus.js")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of an action in plain text.

    Parameters
    ----------
    warnings, lines
        Warnings and a list of details, shown below the text.
    followed_by
        The key of a container after the report that must be visible as well.
    then
        A function that leaves the page, such as `st.switch_page`; the next page shows the report
        at its top.
    """

    text: str
    kind: Literal["success", "info", "error"] = "success"
    warnings: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    followed_by: str = ""
    then: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question that must be confirmed before `do` is run."""

    text: str
    do: "Action"


SHOWN_BELOW = Report(text="")
"""Returned by actions whose progress and result the page shows below the button."""

Result = str | Report | Question
Action = Callable[[], Result]


@dataclass(slots=True)
class _Memory:
    """The last action in a window and its result, kept because a run may be interrupted."""

    page: Hashable = None
    page_visits: int = 0
    number: int = 0
    key: str = ""
    subject: Hashable = None
    result: Report | Question | None = None
    is_new: bool = False
    shown_on_next_page: bool = False
    at_top: bool = False
    pressed: int | None = None
    """The last report's number when a button was pressed whose result is not shown yet, or None."""
    runs: Counter[tuple[str, Hashable]] = field(default_factory=Counter)
    locks: defaultdict[tuple[str, Hashable], Lock] = field(
        default_factory=lambda: defaultdict(Lock)
    )

    def press(self, number: int) -> None:
        self.pressed = number

    def keep(self, key: str, subject: Hashable, result: Result) -> None:
        self.number += 1
        self.key, self.subject = key, subject
        self.is_new, self.at_top = True, False
        self.result = Report(text=result) if isinstance(result, str) else result
        self.shown_on_next_page = isinstance(result, Report) and result.then is not None


def button(
    label: str,
    do: Action,
    *,
    key: str,
    subject: Hashable = None,
    place: DeltaGenerator | None = None,
    below: DeltaGenerator | None = None,
    busy: str = "",
    in_form: bool = False,
    **options: Any,
) -> None:
    """Show a button that runs an action, and the report of its result.

    The second click of a double click does nothing, because the button is replaced after each run
    of the action that is not refused. A click during the action waits for its end.

    Parameters
    ----------
    key
        The name of the action; the button's key begins with it.
    subject
        The subject of the action, in addition to its key; reports and questions about other
        subjects are not shown at this button.
    place
        The container of the button; by default the current container.
    below
        The container of the report; by default it follows the button.
    busy
        The message shown while the action runs.
    in_form
        Whether the button submits a form.
    """
    container = place or st
    kind = container.form_submit_button if in_form else container.button
    memory = _memory()
    n_runs = memory.runs[key, subject]
    pressed = kind(
        label,
        key=f"{key}/{n_runs}",
        on_click=memory.press,
        args=(memory.number,),
        **options,
    )
    with below if below is not None else nullcontext():
        if pressed:
            _run_action(memory, do, key, subject, busy, n_runs)
        _show_result(memory, key, subject)


def view_button(
    label: str,
    to: Callable[[], object],
    *,
    key: str,
    place: DeltaGenerator | None = None,
    in_form: bool = False,
    before_page: bool = False,
    **options: Any,
) -> None:
    """Show a button that only changes what this window shows, such as the page, step or row.

    Parameters
    ----------
    before_page
        Whether `to` runs before the page, because it sets the value of a widget.
    """
    container = place or st
    kind = container.form_submit_button if in_form else container.button

    def callback() -> None:
        to()

    if (
        kind(label, key=key, on_click=callback if before_page else None, **options)
        and not before_page
    ):
        to()
        st.rerun()


def record_result(key: str, result: Report, subject: Hashable = None) -> None:
    """Record the result of an action that was interrupted, for example by a click."""
    _memory().keep(key, subject, result)


def show_last_report(key: str, subject: Hashable = None) -> None:
    """Show the report of an action whose button is no longer shown."""
    _show_result(_memory(), key, subject)


@contextmanager
def page(place: Hashable) -> Iterator[None]:
    """Run a page; discard reports from other pages, and show reports without a button at the top.

    A pressed button that the page no longer shows, because another window has changed its subject,
    does nothing, which is reported too.

    Parameters
    ----------
    place
        The current page and study.
    """
    memory = _memory()
    if memory.page != place:
        memory.page = place
        memory.page_visits += 1
        memory.pressed = None
        if not memory.shown_on_next_page:
            memory.result = None
    top = st.container()
    yield
    if memory.pressed == memory.number:  # otherwise it is the second click of a double click
        memory.keep("", None, Report(text=_obsolete_button_text(), kind="error"))
    memory.pressed = None
    result = memory.result
    if isinstance(result, Report) and (memory.is_new or memory.at_top):
        memory.at_top = True
        with top:
            _show_result(memory, memory.key, memory.subject)


def _obsolete_button_text() -> str:
    return t(
        "Nothing was done: this page has changed in the meantime, perhaps in another window. Check "
        "what it shows now."
    )


def page_visits() -> int:
    """Return the number of page changes in this window."""
    return _memory().page_visits


@contextmanager
def attention(name: str, label: str, *, followed_by: str = "") -> Iterator[None]:
    """Show the block; scroll to it and give it the focus once per name."""
    with st.container(key=name):
        yield
        focus = st.components.v2.component("report_focus", js=_FOCUS)
        data = {"name": name, "label": label, "followed_by": followed_by}
        focus(key=f"focus-{name}", data=data)


def _memory() -> _Memory:
    memory = st.session_state.setdefault(_MEMORY, _Memory())
    assert isinstance(memory, _Memory)
    return memory


def _run_action(
    memory: _Memory, do: Action, key: str, subject: Hashable, busy: str, n_runs: int
) -> None:
    """Run an action and keep its result, even if the user clicks in the meantime.

    A click during the action starts another thread of the page. That thread waits, and shows the
    result of the first click: the action has then run more than `n_runs` times.
    """
    memory.pressed = None

    def run() -> None:
        with memory.locks[key, subject]:
            if memory.runs[key, subject] == n_runs:
                memory.keep(key, subject, do())
                memory.runs[key, subject] += 1

    try:
        with st.spinner(busy) if busy else nullcontext():
            run_uninterrupted(run)
    except StudyError as error:
        memory.keep(key, subject, Report(text=str(error), kind="error"))
        return
    if isinstance(memory.result, Report) and memory.result.then:
        memory.result.then()
    st.rerun()


def _show_result(memory: _Memory, key: str, subject: Hashable) -> None:
    result = memory.result
    if result is None or (memory.key, memory.subject) != (key, subject):
        return
    memory.is_new = memory.shown_on_next_page = False
    if result == SHOWN_BELOW:
        return
    name = f"report-{memory.number}"
    if isinstance(result, Question):
        with attention(name, result.text):
            _show_question(memory, result)
    else:
        with attention(name, result.text, followed_by=result.followed_by):
            show_report(result)


def show_report(result: Report) -> None:
    """Show a report."""
    if result.kind == "error":
        show_refusal(result.text)
    else:
        (st.success if result.kind == "success" else st.info)(plain(result.text))
    for warning in result.warnings:
        st.warning(plain(warning))
    if result.lines:
        show_lines(result.lines)


def _show_question(memory: _Memory, question: Question) -> None:
    key, subject = memory.key, memory.subject
    with st.container(border=True):
        st.markdown(plain(question.text))
        yes, no, _ = st.columns([1, 1, 4])
        is_confirmed = yes.button(
            t("Yes"),
            key=f"{key}-yes",
            on_click=memory.press,
            args=(memory.number,),
            type="primary",
            width="stretch",
        )
        is_declined = no.button(t("No"), key=f"{key}-no", width="stretch")
    if is_confirmed:
        memory.result = None  # a second click has nothing to confirm
        _run_action(memory, question.do, key, subject, "", memory.runs[key, subject])
        st.rerun()
    if is_declined:
        memory.keep(key, subject, Report(text=t("Nothing was changed."), kind="info"))
        st.rerun()
