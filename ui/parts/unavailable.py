"""Shows why a page is not available, with a button that runs the page again.

Without the button, only a reload of the page in the browser would try again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import streamlit as st

from study.base.errors import StudyError
from study.base.translation import t
from ui.parts.text import plain


@contextmanager
def stop_on_error() -> Iterator[None]:
    """Run a block that the page cannot do without; if it raises an error, end the page."""
    try:
        yield
    except StudyError as error:
        stop_with(error)


def stop_with(error: StudyError) -> NoReturn:
    """Show an error and the button, and end the run of the page or fragment."""
    st.error(plain(str(error)))
    st.button(t("Try again"), key="try-again")  # every click runs the page
    st.stop()
