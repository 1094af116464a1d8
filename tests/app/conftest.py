"""Fixtures of the tests that run pages in Streamlit's test runner."""

from tests.page_runs import analysed as analysed
