"""Speed up pages that run in Streamlit's test runner, and find their buttons.

Before every run of a page the runner searches all packages for components and compiles the scripts,
which takes longer than most pages; here it does so once. It checks every millisecond whether a run
has ended, which slows down the thread of the page; here it waits for that thread. Tests do not
display the progress of an analysis, so a page waits until the analysis has ended.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner import script_cache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.testing.v1.element_tree import Button

from study.store import Store
from ui.results import background
from ui.server import deployment, worker

PAGES = Path(__file__).parents[1] / "pages"

if not hasattr(manifest_scanner.scan_component_manifests, "cache_info"):
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)

_SCRIPTS = script_cache.ScriptCache()
for module in (app_test, local_script_runner):
    setattr(module, "ScriptCache", lambda: _SCRIPTS)  # noqa: B010


def _wait_for_run(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """Wait until a run of a page has ended."""
    thread = runner._script_thread
    assert thread is not None
    thread.join(timeout)
    if not runner.script_stopped():
        runner.request_stop()
        raise RuntimeError(f"the page has not ended after {timeout} s")


local_script_runner.require_widgets_deltas = _wait_for_run


@pytest.fixture(autouse=True, scope="session")
def analysed() -> Iterator[None]:
    """Let pages wait until their analysis has ended, and run it at normal priority."""
    with (
        patch.object(background, "WAIT_BEFORE_PROGRESS_S", 120.0),
        patch.object(worker, "PRIORITY", 0),
    ):
        yield


@pytest.fixture
def warm() -> Iterator[None]:
    """Keep the connections of the pages' stores open until the test ends, as a server does."""
    with ExitStack() as connections:

        def open_store(address: str | Path) -> Store:
            store = Store(address)
            connections.enter_context(store.kept_open())
            return store

        with patch.object(deployment, "_opened_store", cache(open_store)):
            yield


def open_page(name: str, **query: str) -> AppTest:
    """Run the page in a file once, with a query."""
    page = AppTest.from_file(str(PAGES / name), default_timeout=60)
    for key, value in query.items():
        page.query_params[key] = value
    return page.run()


def button(page: AppTest, key: str) -> Button:
    """Return the button with a key, which may be followed by the number of its runs."""
    return next(
        element
        for element in page.button
        if element.key == key or str(element.key).rpartition("/")[0] == key
    )
