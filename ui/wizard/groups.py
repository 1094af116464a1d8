"""The parts of the design step about aided reading, parallel arms and incomplete blocks."""

from copy import deepcopy
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from study.base.translation import decimal, t, tn
from study.protocol.arms import MAX_ARMS
from study.protocol.outline import ListOutline, Reading, confounded_effects, outline_lists
from study.protocol.protocol import MAX_PROSE, Protocol
from ui.parts.protocol_words import setting_labels
from ui.parts.text import plain
from ui.parts.theme import grid
from ui.wizard.draft import Labels, WorkingDraft


def timing_labels() -> Labels:
    """Return the labels of the times at which a model's answer can be shown."""
    return {
        "first": t("With the question"),
        "on demand": t("On request"),
        "after": t("After the reader's own answer"),
    }


def condition_labels() -> Labels:
    """Return the labels of the conditions."""
    return {
        "unaided": t("Unaided"),
        "aided": t("Aided"),
        "image-absent": t("Image-absent"),
        "wrong-image": t("Wrong image"),
        "open-ended": t("Open-ended"),
    }


def aid_fields(working: WorkingDraft) -> None:
    """Show the settings of the aid."""
    st.subheader(t("The model's answers"), anchor=False)
    left, right = st.columns(2, gap="large")
    with left:
        working.choose(
            "aid",
            timing_labels(),
            {
                "first": t("The answer is shown together with the question."),
                "on demand": t("The reader presses a key to see it. The time is recorded."),
                "after": t(
                    "Sequential reading: the reader answers first, then sees the model's answer "
                    "and keeps or changes their own. Both answers are analysed."
                ),
            },
        )
        _text_field(
            working,
            "aid_model",
            t("Add its predictions on the page Models after the draw, before the opening."),
        )
        working.choose_several(
            "aid_shows",
            {
                "answer": t("Answer"),
                "confidence": t("Confidence"),
                "explanation": t("Explanation"),
                "boxes": t("Boxes on the image"),
                "map": t("Heat map on the image"),
            },
            t("Confidence, explanations, boxes and maps come from the file of predictions."),
        )
    with right:
        working.choose(
            "aid_missing",
            {"refuse": t("Refuse to open"), "say": t("Tell the reader")},
            {
                "refuse": t("The study opens only if the model has an answer for every case."),
                "say": t("The reader sees “No answer from the model.”"),
            },
        )
        working.number_field(
            "aid_errors",
            lambda n: (
                tn(
                    "{n} correct answer of the model is replaced by a wrong one. Nobody knows "
                    "which; readers are notified at the end that errors were planted.",
                    "{n} correct answers of the model are replaced by wrong ones. Nobody knows "
                    "which; readers are notified at the end that errors were planted.",
                    n,
                )
                if n
                else t("The model's answers are shown as they are.")
            ),
            low=0,
            high=1_000_000,
        )
        _prose_field(
            working,
            "aid_text",
            t("Readers see that it is a model's output, whatever is written here."),
        )


def case_share_fields(working: WorkingDraft) -> None:
    """Show how many cases each reader reads."""
    st.subheader(t("Cases per reader"), anchor=False)
    columns = st.columns(3, gap="large")
    with columns[0]:
        working.number_field(
            "reads_per_case",
            lambda n: (
                tn("Each case is read by {n} reader.", "Each case is read by {n} readers.", n)
                if n
                else t("Each reader of an arm reads every case.")
            ),
            low=0,
            high=10_000,
        )
    with columns[1]:
        working.number_field(
            "cases_per_reader",
            lambda n: (
                tn("Each reader reads {n} case.", "Each reader reads {n} cases.", n)
                if n
                else t("Follows from the readers per case.")
            ),
            low=0,
            high=1_000_000,
        )
    with columns[2]:
        working.number_field(
            "anchor",
            lambda n: (
                t("These cases make agreement between all readers measurable.")
                if n
                else t("No case is read by everyone by design.")
            ),
            low=0,
            high=1_000_000,
        )


def arm_fields(working: WorkingDraft) -> None:
    """Show the parallel arms."""
    st.subheader(t("Parallel arms"), anchor=False)
    base: list[dict[str, Any]] = working.base["arms"]
    n = st.number_input(
        t("Number of arms"),
        min_value=0,
        max_value=MAX_ARMS,
        value=len(base),
        key=working.key("n-arms"),
        help=t("0 for a study without arms. One arm alone is not possible."),
    )
    st.caption(
        t(
            "Readers are assigned to arms at random when the study opens, within level and site. "
            "Nobody knows a reader's arm before then."
        )
        if n
        else t("All readers have the same design.")
    )
    working.values["arms"] = [_one_arm_fields(working, base, place) for place in range(int(n))]


def _one_arm_fields(
    working: WorkingDraft, base: list[dict[str, Any]], place: int
) -> dict[str, Any]:
    before = deepcopy(base[place]) if place < len(base) else {}
    with st.container(border=True):
        name, chosen, share = st.columns([2, 4, 1])
        entered = name.text_input(
            t("Name of the arm"),
            value=before.get("name", t("Arm {n}", n=place + 1)),
            max_chars=100,
            key=working.key(f"arm-{place}-name"),
        )
        names = condition_labels()
        picked = chosen.multiselect(
            t("Conditions"),
            list(names),
            default=[name for name in before.get("conditions", []) if name in names],
            format_func=lambda entry: names[entry],
            placeholder=t("Those of the study"),
            key=working.key(f"arm-{place}-conditions"),
        )
        readers = share.number_input(
            t("Share"),
            min_value=1,
            max_value=10,
            value=int(before.get("share", 1)),
            key=working.key(f"arm-{place}-share"),
        )
        with st.expander(t("Model's answers and instructions of this arm")):
            times = {"": t("As in the study"), **timing_labels()}
            when = st.selectbox(
                t("When the model's answer is shown"),
                list(times),
                index=list(times).index(before.get("aid", "")),
                format_func=lambda entry: times[entry],
                key=working.key(f"arm-{place}-aid"),
            )
            texts = {
                key: st.text_area(
                    label,
                    value=before.get(key, ""),
                    max_chars=MAX_PROSE,
                    placeholder=t("Leave empty to use the text of the study."),
                    key=working.key(f"arm-{place}-{key}"),
                )
                for key, label in (
                    ("aid_text", t("Introduction to the model's answers")),
                    ("instructions", t("Instructions")),
                )
            }
    arm = {
        "name": entered.strip(),
        "conditions": picked,
        "share": int(readers),
        "aid": when,
        **texts,
    }
    return {
        key: value for key, value in arm.items() if key == "name" or value not in ("", [], None, 1)
    }


def preview_links(address: str, protocol: Protocol | None) -> dict[str, str]:
    """Return the links to the preview, or to those of the arms, by address."""
    if protocol is None or not protocol.arms:
        return {address: t("Preview as a reader")}
    separator = "&" if "?" in address else "?"
    return {
        f"{address}{separator}{urlencode({'arm': arm.name})}": t(
            "Preview the arm {arm}", arm=arm.name
        )
        for arm in protocol.arms
    }


def show_design(working: WorkingDraft) -> None:
    """Show what each reader reads, and the effects that the design cannot separate."""
    protocol = working.protocol()
    if protocol is None:
        return
    st.subheader(t("What each reader reads"), anchor=False)
    n_readers = st.number_input(
        t("Number of readers"),
        min_value=1,
        max_value=1000,
        value=6,
        key=working.key("n-readers"),
        help=t("For this table only: you invite readers after the draw."),
    )
    design_table(protocol, int(n_readers))


def design_table(protocol: Protocol, n_readers: int) -> None:
    """Show the lists of a design as a table, and the effects that the design cannot separate."""
    lists = outline_lists(protocol, n_readers=n_readers)
    sessions = sorted({session for each in lists for session in each.sessions})
    columns: dict[str, list[Any]] = {}
    if protocol.arms:
        columns[t("Arm")] = [each.arm for each in lists]
    columns[t("List")] = [each.number for each in lists]
    for session in sessions:
        columns[t("Session {n}", n=session)] = [_session_text(each, session) for each in lists]
    grid(columns)
    sentences = confounded_effects(protocol, n_readers=n_readers)
    if sentences:
        st.markdown(f"**{t('What this design cannot separate')}**")
        st.markdown("\n".join(f"- {plain(sentence)}" for sentence in sentences))


def _session_text(each: ListOutline, session: int) -> str:
    counts = each.sessions.get(session, {})
    return ", ".join(f"{_reading_label(reading)}: {decimal(n)}" for reading, n in counts.items())


def _reading_label(reading: Reading) -> str:
    condition, second_stage = reading
    name = condition_labels()[str(condition)]
    return t("{condition} (second answer)", condition=name) if second_stage else name


def _text_field(working: WorkingDraft, key: str, meaning: str) -> None:
    entered = st.text_input(
        setting_labels()[key], value=working.base[key], max_chars=100, key=working.key(key)
    )
    working.values[key] = entered.strip()
    st.caption(meaning)


def _prose_field(working: WorkingDraft, key: str, meaning: str) -> None:
    working.values[key] = st.text_area(
        setting_labels()[key],
        value=working.base[key],
        max_chars=MAX_PROSE,
        height=110,
        key=working.key(key),
    )
    st.caption(meaning)
