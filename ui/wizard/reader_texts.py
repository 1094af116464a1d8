"""The fourth step: texts before the first case, and the editor of the questionnaire."""

from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from study.base.translation import t, translated
from study.protocol.protocol import CONSENT_TO_INSERT, MAX_PROSE
from study.protocol.questionnaire import MAX_QUESTIONS, MAX_WORDS
from ui.parts import actions
from ui.parts.text import html
from ui.wizard.draft import WorkingDraft
from ui.wizard.protocol_view import condition_text

_Question = dict[str, Any]
_NO_CONDITION = ("", "")
"""The choice for a question that is put to every reader."""


def reader_texts(working: WorkingDraft) -> None:
    """Show the step."""
    consent, instructions, questions = st.tabs(
        [t("Consent"), t("Instructions"), t("Questionnaire")]
    )
    with consent:
        st.caption(
            t("Readers must agree before anything else. Leave empty if you do not ask for consent.")
        )
        _prose_field(working, "consent", _example_consent())
    with instructions:
        st.caption(
            t("Shown once, before the first case. Leave empty to let readers start immediately.")
        )
        _prose_field(working, "instructions", _example_instructions())
    with questions:
        _questionnaire_editor(working)


def _prose_field(working: WorkingDraft, key: str, example: str) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        entered = st.text_area(
            t("Text (Markdown)"),
            value=str(working.base[key]),
            height=420,
            max_chars=MAX_PROSE,
            key=working.key(key),
        )
        working.values[key] = entered
        if not entered.strip():

            def use_example() -> None:
                working.values[key] = example
                working.renew()

            actions.view_button(
                t("Start from an example"), use_example, key=working.key(key + "-x")
            )
    with right:
        st.caption(t("As readers will see it"))
        with st.container(border=True, height=420):
            if entered.strip():
                st.html(f'<div class="rr-prose">{html(entered)}</div>')
            else:
                st.caption(t("Nothing yet."))


def _example_consent() -> str:
    return (
        t(
            "# Before you take part\n\n"
            "- You will read chest radiographs and answer one question about each.\n"
            "- Your answers, your times and how you use the viewer are recorded under a reader "
            "ID, not under your name.\n"
            "- You may stop at any time; the answers you have given so far stay in the study.\n\n"
        )
        + f"{translated(CONSENT_TO_INSERT)}\n"
    )


def _example_instructions() -> str:
    return t(
        "# How to read\n\n"
        "1. Look at the images for as long as you need. The question is shown beside them.\n"
        "2. Choose an option by its letter and confirm with `Enter`.\n"
        "3. `?` shows all other shortcuts.\n\n"
        "The timer runs while the image is visible. Pausing hides the image and stops the timer.\n"
    )


def _questionnaire_editor(working: WorkingDraft) -> None:
    """Show the fields of all questions, and the buttons that add questions."""
    questions: list[_Question] = [dict(value) for value in working.values["questionnaire"]]
    st.caption(
        t(
            "Asked once, before the first case. Answers stay on this server and are not exported "
            "unless the reading rules say so."
        )
    )
    tools = []
    for place in range(len(questions)):
        with st.container(border=True):
            tools.append(_question_fields(working, questions, place))
    working.values["questionnaire"] = questions
    # The buttons come after all fields, so that text typed before a click is kept.
    for place, columns in enumerate(tools):
        _question_buttons(working, questions, place, columns)
    _add_buttons(working, questions)


def _question_fields(
    working: WorkingDraft, questions: list[_Question], place: int
) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Show a question; return the containers of its two buttons."""
    entry, base = questions[place], working.base["questionnaire"][place]

    def key(name: str) -> str:
        return working.key(f"question-{place}-{name}")

    words, kind, tools = st.columns([5, 3, 2], vertical_alignment="bottom")
    entry["question"] = words.text_input(
        t("Question {n}", n=place + 1),
        value=str(base.get("question", "")),
        max_chars=MAX_WORDS,
        key=key("words"),
    )
    kinds = {"choice": t("Single choice"), "number": t("Number"), "text": t("Text")}
    entry["kind"] = kind.segmented_control(
        t("Answer type"),
        list(kinds),
        default=base.get("kind", "text"),
        format_func=lambda name: kinds[name],
        required=True,
        key=key("kind"),
    )
    entry["options"] = _options_field(base, key("options")) if entry["kind"] == "choice" else []
    entry["required"] = st.checkbox(
        t("Required"), value=bool(base.get("required", True)), key=key("required")
    )
    _condition_field(questions, place, key("shown-if"))
    up, remove_column = tools.columns(2)
    return up, remove_column


def _condition_field(questions: list[_Question], place: int, key: str) -> None:
    """Show a field for the earlier answer on which a question depends, if there are any."""
    entry = questions[place]
    conditions = {
        (earlier.get("id"), option): condition_text(number, option)
        for number, earlier in enumerate(questions[:place], start=1)
        if earlier["kind"] == "choice"
        for option in earlier["options"]
    }
    current = entry.pop("shown_if", None)
    now = (current["question"], current["is"]) if current else _NO_CONDITION
    if now == _NO_CONDITION and not conditions:
        return
    labels = {_NO_CONDITION: t("To every reader")} | conditions
    labels.setdefault(now, t("Only after an answer that no earlier question has"))
    chosen = st.selectbox(
        t("Shown"),
        list(labels),
        index=list(labels).index(now),
        format_func=lambda condition: labels[condition],
        key=key,
    )
    if chosen != _NO_CONDITION:
        entry["shown_if"] = {"question": chosen[0], "is": chosen[1]}


def _question_buttons(
    working: WorkingDraft,
    questions: list[_Question],
    place: int,
    columns: tuple[DeltaGenerator, DeltaGenerator],
) -> None:
    """Show the buttons that move a question up and remove it."""

    def move() -> None:
        questions[place - 1 : place + 1] = [questions[place], questions[place - 1]]
        working.renew()

    def remove() -> None:
        del questions[place]
        working.renew()

    up, remove_column = columns
    name = f"question-{place}"
    actions.view_button(
        "",
        move,
        key=working.key(f"{name}-up"),
        place=up,
        icon=":material/arrow_upward:",
        help=t("Move up"),
        disabled=place == 0,
    )
    actions.view_button(
        "",
        remove,
        key=working.key(f"{name}-away"),
        place=remove_column,
        icon=":material/delete:",
        help=t("Remove"),
    )


def _options_field(base: _Question, key: str) -> list[str]:
    lines = st.text_area(
        t("Options, one per line"), value="\n".join(base.get("options", ())), height=110, key=key
    )
    return [line.strip() for line in lines.splitlines() if line.strip()]


def _add_buttons(working: WorkingDraft, questions: list[_Question]) -> None:
    training: _Question = {
        "question": t("What is your level of training?"),
        "kind": "choice",
        "options": [t("Student"), t("Radiology resident"), t("Radiologist"), t("Other")],
    }
    weekly: _Question = {
        "question": t("About how many chest radiographs do you read per week?"),
        "kind": "number",
    }
    new_questions: dict[str, _Question] = {
        t("Add a question"): {"question": "", "kind": "text"},
        t("Ask about training"): training,
        t("Ask about images per week"): weekly,
    }
    for column, (label, new_question) in zip(st.columns(3), new_questions.items(), strict=True):
        full = len(questions) >= MAX_QUESTIONS
        actions.view_button(
            label,
            partial(_append, working, questions, new_question),
            key=working.key(f"add-{label}"),
            place=column,
            disabled=full,
            width="stretch",
        )


def _append(working: WorkingDraft, questions: list[_Question], new_question: _Question) -> None:
    questions.append({"id": _free_id(questions), "options": [], "required": True, **new_question})
    working.renew()


def _free_id(questions: list[_Question]) -> str:
    taken = {entry.get("id") for entry in questions}
    return next(f"q{n}" for n in range(1, len(questions) + 2) if f"q{n}" not in taken)
