"""A click during an action: the action runs to its end, and only its waits are interrupted."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.page_runs import button
from ui.parts.uninterrupted import run_interruptibly, run_uninterrupted


def _page() -> None:
    """Show a button whose action is followed by a click before the session's state is read."""
    import streamlit as st
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    from ui.parts import actions
    from ui.parts.uninterrupted import run_interruptibly

    done = st.session_state.setdefault("done", [])

    def click_again() -> None:
        context = get_script_run_ctx()
        assert context is not None
        assert context.script_requests is not None
        context.script_requests.request_rerun(RerunData())

    def change() -> str:
        done.append("changed")
        click_again()
        st.session_state["visits"] = 1
        done.append("recorded")
        return "Changed"

    def wait() -> str:
        done.append("waits")
        click_again()
        run_interruptibly(lambda: st.session_state.get("visits"))
        done.append("not interrupted")
        return "Waited"

    actions.button("Change", change, key="change")
    actions.button("Wait", wait, key="wait")


def test_a_click_does_not_interrupt_an_action() -> None:
    """The action records what it changed, and its report is shown."""
    page = AppTest.from_function(_page).run()
    button(page, "change").click().run()
    assert page.session_state["done"] == ["changed", "recorded"]
    assert [report.value for report in page.success] == ["Changed"]


def test_the_second_click_of_a_double_click_does_nothing() -> None:
    """The second click reaches a button that the first click has replaced.

    The next click is valid.
    """
    page = AppTest.from_function(_page).run()
    first = button(page, "change")
    first.click().run()
    first.click().run()
    assert page.session_state["done"] == ["changed", "recorded"]
    button(page, "change").click().run()
    assert page.session_state["done"] == ["changed", "recorded"] * 2


def test_a_click_interrupts_the_wait_of_an_action() -> None:
    """A wait for a job ends, and with it the action; nothing is reported."""
    page = AppTest.from_function(_page).run()
    button(page, "wait").click().run()
    assert page.session_state["done"] == ["waits"]
    assert not page.success


def test_an_action_raises_its_errors_where_it_was_started() -> None:
    """Refusals and defects are handled as in the thread of the script."""

    def fail() -> None:
        raise ValueError("defect")

    with pytest.raises(ValueError, match="defect"):
        run_uninterrupted(fail)
    with pytest.raises(ValueError, match="defect"):
        run_uninterrupted(lambda: run_interruptibly(fail))
