"""Pages run by Streamlit's own test runner, which need not look for components each time."""

from tests.page_runs import analysed as analysed
