"""Fixtures of the tests that run pages in Streamlit's test runner."""

import pytest

from tests.page_runs import analysed as analysed
from tests.page_runs import warm as warm


@pytest.fixture(autouse=True)
def _warm(warm: None) -> None:
    """Keep connections open in every test of this folder."""
