"""Fixtures that serve two studies in the requested state."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import pytest
from anyio.from_thread import start_blocking_portal
from starlette.testclient import TestClient

from tests.page_runs import analysed as analysed
from tests.unit.ui.two_studies import Deployment, build
from ui.server.deployment import store


@pytest.fixture(scope="session", autouse=True)
def _one_loop() -> Iterator[None]:
    """Answer every request in the same event loop, as the server does; this is also faster."""
    with start_blocking_portal() as portal, patch.object(TestClient, "portal", portal):
        yield


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Deployment]:
    """Return the deployment in each state."""
    return build(tmp_path_factory.mktemp("two-studies"))


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Deployment], Deployment]]:
    """Return a function that serves a deployment until the test ends."""
    with ExitStack() as used:

        def serve(deployment: Deployment) -> Deployment:
            monkeypatch.setenv("READING_ROOM_DB", str(deployment.store.path))
            used.enter_context(deployment.store.kept_open())
            used.enter_context(store().kept_open())
            return deployment

        yield serve


@pytest.fixture
def enter(
    states: dict[str, Deployment], served: Callable[[Deployment], Deployment]
) -> Callable[[str], Deployment]:
    """Return a function that serves the deployment in the named state."""
    return lambda state: served(states[state])


@pytest.fixture
def altered(
    states: dict[str, Deployment], served: Callable[[Deployment], Deployment], tmp_path: Path
) -> Callable[[str], Deployment]:
    """Return a function that serves a copy of the deployment in the named state."""
    return lambda state: served(states[state].copied(tmp_path / state))
