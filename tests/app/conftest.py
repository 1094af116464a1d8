"""Pages run by Streamlit's own test runner, which need not look for components each time."""

from tests import scanned as scanned
