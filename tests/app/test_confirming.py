"""What is asked back is done once, and what came of it can be read after one click too many."""

from streamlit.testing.v1 import AppTest


def _page() -> None:
    from datetime import UTC, datetime

    import streamlit as st

    from study.base.actor import COMMAND_LINE, Acting
    from ui.parts.forms import ask, confirm

    done = st.session_state.setdefault("done", [])
    if st.button("Pause", key="pause"):
        ask("asked", about="trial", question="Pause?", do=done.append, done="It was paused")
    confirm("asked", Acting(by=COMMAND_LINE, now=datetime.now(UTC)), about="trial")


def test_a_second_click_neither_does_it_again_nor_takes_the_words_away() -> None:
    """The run that a double click adds shows what came of the first one."""
    app = AppTest.from_function(_page).run()
    app.button("pause").click().run()
    app.button("asked-yes").click().run()
    assert [one.value for one in app.success] == ["It was paused"]
    app.run()
    assert [one.value for one in app.success] == ["It was paused"]
    assert len(app.session_state["done"]) == 1
    app.button("pause").click().run()
    assert not app.success
