"""The fourth step: what readers read before the first case, and what they are asked."""

import streamlit as st

from study.base.translation import said, t
from study.protocol.protocol import CONSENT_TO_INSERT, MAX_PROSE
from ui.parts.prose import html
from ui.wizard.questions import questionnaire
from ui.wizard.working import Working


def reader_texts(working: Working) -> None:
    """Show the step."""
    consent, instructions, questions = st.tabs(
        [t("Consent"), t("Instructions"), t("Questionnaire")]
    )
    with consent:
        st.caption(
            t("Readers must agree before anything else. Leave empty if you do not ask for consent.")
        )
        _prose(working, "consent", _consent())
    with instructions:
        st.caption(
            t("Shown once, before the first case. Leave empty to let readers start immediately.")
        )
        _prose(working, "instructions", _instructions())
    with questions:
        questionnaire(working)


def _prose(working: Working, key: str, example: str) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        found = st.text_area(
            t("Text (Markdown)"),
            value=str(working.base[key]),
            height=420,
            max_chars=MAX_PROSE,
            key=working.key(key),
        )
        working.values[key] = found
        if not found.strip() and st.button(t("Start from an example"), key=working.key(key + "-x")):
            working.values[key] = example
            working.renew()
            st.rerun()
    with right:
        st.caption(t("As readers will see it"))
        with st.container(border=True, height=420):
            if found.strip():
                st.html(f'<div class="rr-prose">{html(found)}</div>')
            else:
                st.caption(t("Nothing yet."))


def _consent() -> str:
    return (
        t(
            "# Before you take part\n\n"
            "- You will read chest radiographs and answer one question about each.\n"
            "- Your answers, your times and how you use the viewer are recorded under a reader "
            "ID, not under your name.\n"
            "- You may stop at any time; the answers you have given so far stay in the study.\n\n"
        )
        + f"{said(CONSENT_TO_INSERT)}\n"
    )


def _instructions() -> str:
    return t(
        "# How to read\n\n"
        "1. Look at the images for as long as you need. The question is shown beside them.\n"
        "2. Choose an option by its letter and confirm with `Enter`.\n"
        "3. `?` shows all other shortcuts.\n\n"
        "The timer runs while the image is visible. Pausing hides the image and stops the timer.\n"
    )
