"""A pytest plugin with which the workers of a new checkout compile different modules.

All workers import all test modules in the same order, so on a new checkout each of them compiled
each module at the same time as the others, which took half a minute of processor time per worker.
"""

from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def pytest_sessionstart(session: pytest.Session) -> None:
    """Import the test modules before collection; each worker starts at a different module."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    number = int(worker["workerid"].removeprefix("gw"))
    for name in rotated(_test_module_names(), number, worker["workercount"]):
        with suppress(Exception, pytest.skip.Exception):  # pytest reports it during collection
            import_module(name)


def _test_module_names() -> list[str]:
    """Return the names of the test modules."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]


def rotated(names: list[str], number: int, count: int) -> list[str]:
    """Return the names from a worker's first module to the end, followed by those before it."""
    start = len(names) * number // count
    return names[start:] + names[:start]
