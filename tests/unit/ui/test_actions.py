"""Every action of the staff's pages reports its result through `ui.parts.actions`.

The functions passed to it must return a report, which mypy checks. These tests check that there is
no other way: pages do not call Streamlit's buttons, and buttons that only change the view do
nothing else.
"""

import ast
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Lock, Semaphore
from typing import Any

import pytest

from tests.conftest import ROOT
from ui.parts import actions

MECHANISM = "ui/parts/actions.py"
ELSEWHERE = {
    "ui/server/single_sign_on.py": "the sign-in page: its buttons lead to the provider",
    "ui/parts/unavailable.py": "its button runs the page again",
}
BUTTONS = {"button", "form_submit_button", "download_button", "chat_input", "dialog", "toast"}


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _files() -> list[Path]:
    paths = [*(ROOT / "pages").glob("*.py"), *(ROOT / "ui").rglob("*.py")]
    names = {path: path.relative_to(ROOT).as_posix() for path in paths}
    return sorted(path for path, name in names.items() if name not in (MECHANISM, *ELSEWHERE))


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _called(call: ast.Call) -> tuple[str, str]:
    """Return the object's name and the method of a call, where the object is a name."""
    function = call.func
    if not isinstance(function, ast.Attribute):
        return "", ""
    owner = function.value.id if isinstance(function.value, ast.Name) else "?"
    return owner, function.attr


def _acts(node: ast.AST, functions: dict[str, ast.FunctionDef], seen: frozenset[str]) -> bool:
    """Return whether code records the acting person, itself or in a function of its module."""
    for name in (name.id for name in ast.walk(node) if isinstance(name, ast.Name)):
        if name == "acting":
            return True
        if name in functions and name not in seen:
            if _acts(functions[name], functions, seen | {name}):
                return True
    return False


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {
        function.name: function
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
    }


@pytest.mark.parametrize("path", _files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_use_only_buttons_that_report(path: Path) -> None:
    """With a plain Streamlit button, reporting would be left to each page."""
    offenders = [
        f"line {call.lineno}: {owner}.{method}"
        for call in _calls(_tree(path))
        for owner, method in [_called(call)]
        if method in BUTTONS and owner != "actions"
    ]
    assert not offenders


@pytest.mark.parametrize("path", _files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_callbacks_of_the_view_change_no_data(path: Path) -> None:
    """View buttons and the callbacks of fields report nothing, so they must not change data."""
    tree = _tree(path)
    functions = _functions(tree)
    offenders = []
    for call in _calls(tree):
        handlers = [
            keyword.value for keyword in call.keywords if keyword.arg in ("on_change", "on_click")
        ]
        if _called(call) == ("actions", "view_button"):
            handlers.append(call.args[1])
        offenders += [call.lineno for handler in handlers if _acts(handler, functions, frozenset())]
    assert not offenders


@pytest.mark.parametrize("path", _files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_action_ends_the_run_of_its_page_itself(path: Path) -> None:
    """Ending the run would lose the report; `Report.then` leaves the page after it."""
    offenders = []
    for function in _functions(_tree(path)).values():
        inside = [
            node for node in ast.walk(function) if isinstance(node, ast.Lambda | ast.FunctionDef)
        ]
        later = {
            id(node) for nested in inside if nested is not function for node in ast.walk(nested)
        }
        own = [call for call in _calls(function) if id(call) not in later]
        names = {call.func.id for call in own if isinstance(call.func, ast.Name)}
        ends = [call for call in own if _called(call) in (("st", "rerun"), ("st", "switch_page"))]
        if "acting" in names and ends:
            offenders.append(f"line {ends[0].lineno}: {function.name}")
    assert not offenders


class _Watched:
    """A lock that counts the threads that want it."""

    def __init__(self) -> None:
        self._lock, self.wanted = Lock(), Semaphore(0)

    def __enter__(self) -> None:
        self.wanted.release()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_a_click_during_an_action_waits_and_does_not_repeat_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second click starts another thread of the page, which has the button of the first."""
    shown, ended, runs = [], Semaphore(0), []
    monkeypatch.setattr("streamlit.rerun", lambda: shown.append(memory.result))
    memory: Any = actions._Memory()
    lock = memory.locks["invite", None] = _Watched()

    def invite() -> str:
        runs.append(1)
        assert ended.acquire(timeout=60)
        return "R7 is invited."

    with ThreadPoolExecutor(2) as pool:
        clicks = [
            pool.submit(actions._run_action, memory, invite, "invite", None, "", 0) for _ in "12"
        ]
        assert all(lock.wanted.acquire(timeout=60) for _ in clicks)
        ended.release(2)
    assert [click.result() for click in clicks] == [None, None]
    assert len(runs) == 1
    assert shown == [actions.Report(text="R7 is invited.")] * 2
