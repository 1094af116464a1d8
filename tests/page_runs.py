"""Speed up pages that run in Streamlit's test runner, and find their buttons.

Before every run of a page the runner searches all packages for components, which takes longer than
most pages; here it does so once. The progress of an analysis is not displayed in tests, so a page
waits for its end.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from ui.results import background
from ui.server import worker

PAGES = Path(__file__).parents[1] / "pages"

if not hasattr(manifest_scanner.scan_component_manifests, "cache_info"):
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


@pytest.fixture(autouse=True, scope="session")
def analysed() -> Iterator[None]:
    """Have a page wait for the end of its analysis, which runs at normal priority."""
    with patch.object(background, "AT_ONCE_S", 120.0), patch.object(worker, "PRIORITY", 0):
        yield


def open_page(name: str, **query: str) -> AppTest:
    """Run the page of a file with a query, as far as its first display."""
    page = AppTest.from_file(str(PAGES / name), default_timeout=60)
    for key, value in query.items():
        page.query_params[key] = value
    return page.run()


def button(page: AppTest, key: str) -> Button:
    """Return the button of an action, whose key ends in the number of its runs."""
    return next(
        element
        for element in page.button
        if element.key == key or str(element.key).rpartition("/")[0] == key
    )
