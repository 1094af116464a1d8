"""Runs an action to its end even if the user clicks in the meantime.

After a click Streamlit ends the run of a page at its next access to the session's state, but only
in the thread of the script. If that happens between a change in the store and the report of the
change, the same click may change the store a second time. An action therefore runs in its own
thread, while the thread of the script waits.
"""

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

_Result = TypeVar("_Result")
_Parts = SimpleQueue[Callable[[], None] | None]

_parts_of_action: ContextVar[_Parts | None] = ContextVar("parts of the action", default=None)


def run_uninterrupted(do: Callable[[], _Result]) -> _Result:
    """Return the result of an action that a click cannot interrupt, or raise its exception."""
    parts: _Parts = SimpleQueue()
    outcome: Future[_Result] = Future()

    def run() -> None:
        _parts_of_action.set(parts)
        _resolve(outcome, do)
        parts.put(None)

    thread = Thread(target=copy_context().run, args=(run,))
    add_script_run_ctx(thread, get_script_run_ctx()).start()
    for part in iter(parts.get, None):
        part()
    return outcome.result()


def run_interruptibly(do: Callable[[], _Result]) -> _Result:
    """Return the result of a part of an action that a click may interrupt, such as a long wait."""
    parts = _parts_of_action.get()
    if parts is None:
        return do()
    outcome: Future[_Result] = Future()
    context = copy_context()
    parts.put(lambda: context.run(_resolve, outcome, do))
    return outcome.result()


def _resolve(outcome: Future[_Result], do: Callable[[], _Result]) -> None:
    try:
        outcome.set_result(do())
    except BaseException as error:  # Streamlit ends a run by exceptions outside of `Exception`
        outcome.set_exception(error)
