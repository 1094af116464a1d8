"""Parts of the set-up page of a drawn study: its cases, its opening and its amendments.

They show the images of the drawn cases, never the correct answers.
"""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from study.base.text import LONGEST_REASON
from study.base.translation import t, tn
from study.lifecycle.amendments import AMENDABLE
from study.people.signing_in import Person
from study.protocol.protocol import (
    CLAIMS_ABOUT,
    ENDPOINTS,
    HYPOTHESES,
    MAX_PROSE,
    Feedback,
    Protocol,
    stored_protocol,
)
from study.store import people, studies
from study.store.studies import Amendment, DrawnCase, StudyRow, study_row
from study.trail import heads
from ui.overview import case_films
from ui.parts.protocol_words import setting_labels
from ui.parts.text import minute, plain
from ui.parts.theme import Columns, pick
from ui.server.access import acting
from ui.server.deployment import store
from ui.wizard.protocol_view import metadata_fields, positive_field, value_in_words


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """A study as shown on its set-up page."""

    row: StudyRow
    protocol: Protocol
    n_readers: int
    amendments: list[Amendment]


def set_up_of(study: str) -> SetUp:
    """Return a study as shown on its set-up page.

    Raises
    ------
    NotFound
        The study does not exist.
    """
    with store().look() as look:
        row = study_row(look, study)
        return SetUp(
            row=row,
            protocol=stored_protocol(row),
            n_readers=len(people.readers(look, row.id)),
            amendments=studies.amendments(look, row.id),
        )


def open_study(person: Person, witness: str) -> None:
    """Open the person's study; the head of its chain is sent to `witness`, if given.

    Raises
    ------
    Undelivered
        `witness` is not an e-mail address; nothing is opened.
    """
    current_store, study, actor = store(), person.study_name, acting(person)
    heads.open_study(current_store, study=study, witness=witness.strip(), acting=actor)
    heads.send_head(current_store, os.environ, study, acting=actor)


def show_drawn_cases(person: Person) -> None:
    """Show the drawn cases of the person's study on request."""
    study = person.study
    if study is None or not st.toggle(t("Show the drawn cases"), key="drawn-cases"):
        return
    with store().look(sealed=True) as look:
        drawn_cases = studies.drawn_cases(look, study)
    left, right = st.columns(2)
    search_text = left.text_input(t("Search text"), key="drawn-text", max_chars=200).casefold()
    strata = right.multiselect(
        t("Stratum"),
        sorted({entry.stratum for entry in drawn_cases}),
        placeholder=t("Any"),
        key="drawn-strata",
    )
    shown = [
        entry
        for entry in drawn_cases
        if search_text in " ".join(map(str, entry)).casefold()
        and (not strata or entry.stratum in strata)
    ]
    counts = Counter(entry.stratum for entry in shown if entry.stratum)
    st.caption(
        plain(
            tn("{n} case", "{n} cases", len(shown))
            + "".join(f" · {stratum} {n}" for stratum, n in sorted(counts.items()))
        )
    )
    picked = pick(shown, _case_columns(shown), key="drawn-list")
    if picked:
        _show_case(study, picked)


def _case_columns(shown: list[DrawnCase]) -> Columns:
    return {
        t("No."): [entry.number for entry in shown],
        t("Item"): [entry.item_id for entry in shown],
        t("Stratum"): [entry.stratum for entry in shown],
        t("Task"): [entry.task for entry in shown],
        t("Category"): [entry.category for entry in shown],
        t("Views"): [entry.view for entry in shown],
        t("Patient"): [entry.patient_id for entry in shown],
        t("Question"): [entry.question for entry in shown],
    }


def _show_case(study: int, case: DrawnCase) -> None:
    st.markdown(f"**{case.number}. {plain(case.question)}**")
    views = case_films.addresses(store(), study, case.item_id)
    shown = "".join(case_films.figure_html(label, address) for label, address in views)
    st.html(f'<div class="case"><div class="films">{shown}</div></div>')


def amendable_labels() -> dict[str, str]:
    """Return the labels of the settings that may be amended."""
    all_labels = setting_labels() | {"smallest_window": t("Minimum window size (pixels)")}
    return {key: all_labels[key] for key in AMENDABLE}


def amendment_form(protocol: Protocol, n_amendments: int) -> tuple[dict[str, Any], str]:
    """Show the fields of an amendment; return the changes and the reason."""
    names = amendable_labels()
    if not protocol.instructions:
        del names["instructions"]  # texts can be reworded, not added
    # Each amendment is followed by new fields, so that a second click does not repeat it.
    key = st.selectbox(
        t("What to change"), list(names), format_func=names.__getitem__, key=f"what-{n_amendments}"
    )
    new = _value_field(key, protocol.in_full()[key], f"amend-{n_amendments}-{key}")
    reason = st.text_area(
        t("Reason"),
        max_chars=LONGEST_REASON,
        height=90,
        placeholder=t("Recorded in the audit trail and in every export."),
        key=f"reason-{n_amendments}",
    )
    return {key: new}, reason


def amendment_list(amendments: Sequence[Amendment]) -> None:
    """Show the amendments, newest first."""
    names = amendable_labels()
    for entry in reversed(amendments):
        with st.container(border=True):
            when = minute(entry.at_utc)
            st.markdown(
                plain(t("{n}. {when}, by {who}", n=entry.number, when=when, who=entry.actor))
            )
            for key, change in entry.changes.items():
                old, new = (value_in_words(key, change[which]) for which in ("old", "new"))
                values = f"{plain(_shortened(old))} → {plain(_shortened(new))}"
                st.markdown(f"**{names.get(key, key)}:** {values}")
            st.caption(plain(t("Reason: {reason}", reason=entry.reason)))


def _shortened(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:157]}..."


def _value_field(key: str, now: Any, name: str) -> Any:
    """Show the field of one setting and return its value."""
    choices = {
        "feedback": tuple(str(value) for value in Feedback),
        "endpoint": ("", *ENDPOINTS),
        "hypothesis": ("", *HYPOTHESES),
        "claim_about": ("", *CLAIMS_ABOUT),
    }
    label = t("New value")
    if key in choices:
        known = choices[key]
        return st.selectbox(
            label,
            known,
            index=known.index(str(now)),
            format_func=lambda entry: entry or t("None declared"),
            key=name,
        )
    if key == "instructions":
        return st.text_area(label, value=now, height=260, max_chars=MAX_PROSE, key=name)
    if key == "primary_model":
        return st.text_input(label, value=now, max_chars=100, key=name).strip()
    if key == "positive":
        return positive_field(now, name)
    if key == "smallest_window":
        width, height = now or (0, 0)
        hint = t("0 for no limit.")
        sides = [
            st.number_input(t("Width"), 0, 10_000, width, help=hint, key=f"{name}-width"),
            st.number_input(t("Height"), 0, 10_000, height, help=hint, key=f"{name}-height"),
        ]
        return sides if all(sides) else []
    if key == "metadata":
        return metadata_fields(now, name)
    if key == "interim_results":
        return st.toggle(label, value=bool(now), key=name)
    if key == "margin":
        points = st.number_input(
            label, min_value=0.0, max_value=100.0, value=100 * float(now), step=0.5, key=name
        )
        return now if abs(points - 100 * now) < 1e-9 else round(points / 100, 6)
    days = st.number_input(label, min_value=0, max_value=3650, value=int(now), key=name)
    return now if days == int(now) else int(days)
