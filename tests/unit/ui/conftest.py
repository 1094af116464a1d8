"""The two studies, served in whichever state a test asks for."""

from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from anyio.from_thread import start_blocking_portal
from starlette.testclient import TestClient

from tests.page_runs import analysed as analysed
from tests.unit.ui.two_studies import Deployment, build


@pytest.fixture(scope="session", autouse=True)
def _one_loop() -> Iterator[None]:
    """Answer every request in one loop, as the server does: one for each takes half its time."""
    with start_blocking_portal() as portal, patch.object(TestClient, "portal", portal):
        yield


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Deployment]:
    """Return the deployment in each state."""
    return build(tmp_path_factory.mktemp("two-studies"))


@pytest.fixture
def enter(
    states: dict[str, Deployment], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Deployment]:
    """Return a function that serves the deployment in a state."""

    def serve(state: str) -> Deployment:
        monkeypatch.setenv("READING_ROOM_DB", str(states[state].store.path))
        return states[state]

    return serve


@pytest.fixture
def altered(
    states: dict[str, Deployment], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Deployment]:
    """Return a function that serves a copy of the deployment in a state."""

    def serve(state: str) -> Deployment:
        found = states[state].copied(tmp_path / state)
        monkeypatch.setenv("READING_ROOM_DB", str(found.store.path))
        return found

    return serve
