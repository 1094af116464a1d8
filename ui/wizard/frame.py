"""The frame around the steps: the rail at the left, one step, and what it means at the right."""

from collections.abc import Callable

import streamlit as st

from study.base.translation import t
from ui.parts.look import arrow
from ui.parts.text import minute
from ui.wizard import design, endpoint, meaning, reader_texts, review, rules, sample
from ui.wizard.working import Working, keep_mine, reach, read_again, save

STEPS = ("sample", "design", "rules", "words", "endpoint", "review")
LOOK = """
<style>
[data-testid="stCaptionContainer"] { margin-top: -.55rem; }
[data-testid="stMetricValue"] { font-size: 1.4rem; }
.st-key-meaning [data-testid="stMetric"] { background: none; }
.stMainBlockContainer h2 { padding-top: 0; }
.rr-prose { line-height: 1.55; }
.rr-prose h1 { font-size: 1.5rem; padding: .2rem 0; }
.rr-prose h2 { font-size: 1.2rem; padding: .2rem 0; }
.st-key-rail { gap: .25rem; }
.st-key-rail .stButton button > div { justify-content: flex-start; width: 100%; }
.st-key-rail .stButton button { padding-inline-start: .7rem; }
.st-key-rail [data-testid="stCaptionContainer"] {
  margin-block: .6rem 0; margin-inline-start: .7rem; }
.st-key-meaning { padding-inline-start: 1.4rem;
  border-inline-start: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
</style>
"""


# A step begins at its top, wherever the one before was left.
_TO_TOP = """
const seen = new WeakSet();
export default function ({ parentElement }) {
  if (!seen.has(parentElement)) {
    seen.add(parentElement);
    document.querySelector("[data-testid='stMain']")?.scrollTo(0, 0);
  }
}
"""


def titles() -> dict[str, str]:
    """Return what each step is called, in their order."""
    return {
        "sample": t("Bank and sample"),
        "design": t("Design"),
        "rules": t("Reading rules"),
        "words": t("Texts for readers"),
        "endpoint": t("Endpoint"),
        "review": t("Review and draw"),
    }


def wizard(working: Working, draw: Callable[[], None]) -> None:
    """Show the step asked for in the address, and save what was written."""
    asked = str(st.query_params.get("step", STEPS[0]))
    step = asked if asked in STEPS else STEPS[0]
    working.enter(step)
    st.html(LOOK)
    st.components.v2.component("to_top", js=_TO_TOP)(key=f"top-{working.id}-{step}")
    rail, body, side = st.columns([1.2, 4.6, 1.4], gap="large")
    with body:
        st.header(titles()[step], anchor=False)
        _step(working, step, draw)
    told = working.trouble
    save(working)
    if working.trouble and working.trouble != told:
        st.rerun()  # it stands beside its field, which is above; nobody goes on before they saw it
    if working.elsewhere:
        with body:
            _elsewhere(working)
    with side, st.container(key="meaning"):
        meaning.meaning(working)
    # After the step: a click comes with what was typed last, which is read and saved by now.
    with rail, st.container(key="rail"):
        _rail(working, step)
    with body:
        _onwards(working, step)
    if told and not working.trouble:
        st.rerun()


def _step(working: Working, step: str, draw: Callable[[], None]) -> None:
    shown: dict[str, Callable[[Working], None]] = {
        "sample": sample.sample,
        "design": design.design,
        "rules": rules.rules,
        "words": reader_texts.reader_texts,
        "endpoint": endpoint.endpoint,
    }
    if step in shown:
        shown[step](working)
    else:
        review.review(working, draw)


def _rail(working: Working, step: str) -> None:
    here = STEPS.index(step)
    reach(working, here)
    for place, (name, title) in enumerate(titles().items()):
        icon = (
            ":material/radio_button_checked:"
            if place == here
            else ":material/check_circle:"
            if place < working.reached
            else ":material/radio_button_unchecked:"
        )
        if st.button(
            title,
            icon=icon,
            type="secondary" if place == here else "tertiary",
            width="stretch",
            key=f"rail-{working.id}-{name}",
        ):
            _go(name)
    if not working.elsewhere:
        st.caption(t("Saved {when} UTC.", when=minute(working.seen)))


def _onwards(working: Working, step: str) -> None:
    here = STEPS.index(step)
    back, _, onward = st.columns([1.4, 3, 2])
    names = list(titles().values())
    if here and back.button(t("Back"), icon=arrow(forward=False), key=f"back-{working.id}"):
        _go(STEPS[here - 1])
    if here + 1 < len(STEPS) and onward.button(
        t("Next: {step}", step=names[here + 1]),
        type="primary",
        width="stretch",
        key=f"next-{working.id}",
    ):
        _go(STEPS[here + 1])


def _go(step: str) -> None:
    st.query_params["step"] = step
    st.rerun()


def _elsewhere(working: Working) -> None:
    st.error(
        t(
            "This draft has been saved in another window since you opened it here. What you "
            "entered in this window has not been saved."
        )
    )
    left, right = st.columns(2)
    if left.button(t("Load the saved version"), key=f"again-{working.id}", width="stretch"):
        read_again(working)
        st.rerun()
    if right.button(t("Keep this version"), key=f"mine-{working.id}", width="stretch"):
        keep_mine(working)
        st.rerun()
