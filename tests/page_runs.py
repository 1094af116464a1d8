"""What tests of pages by Streamlit's own test runner share.

It looks for components and reads the metadata of each package before every run of a page, which
takes longer than most pages; once is enough. And nobody sees how far an analysis is, so a page
waits for it.
"""

from collections.abc import Iterator
from functools import cache
from unittest.mock import patch

import pytest
from streamlit.components.v2 import manifest_scanner

from ui.results import background
from ui.server import worker

if not hasattr(manifest_scanner.scan_component_manifests, "cache_info"):
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


@pytest.fixture(autouse=True, scope="session")
def analysed() -> Iterator[None]:
    """Have a page wait for its analysis to the end, which makes way for nobody."""
    with patch.object(background, "AT_ONCE_S", 120.0), patch.object(worker, "PRIORITY", 0):
        yield
