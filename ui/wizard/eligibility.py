"""Which cases of a bank may be drawn: views, age, sex, flags and lists, with how many are left."""

import json
from functools import lru_cache

import streamlit as st

from study.bank.content import BY_ITEM
from study.base.bank_rules import Rule
from study.base.canonical import canonical_json
from study.base.errors import StudyError
from study.base.text import decoded
from study.base.translation import t, tn
from study.protocol.drawing import left
from study.protocol.item_lists import ids_in
from study.protocol.protocol import ITEM_LISTS, Protocol
from study.store import banks, draws
from ui.parts.forms import upload
from ui.parts.text import plain
from ui.server.deployment import store
from ui.wizard.draft import Words, Working, several, switch

KEYS = ("required_views", "age", "unknown_age", "sex", "without_flags", *ITEM_LISTS)
OLDEST = 120
_MOST_SHOWN = 1_000
"""IDs that can be edited on the page; a longer list is replaced or removed as a whole."""


def eligibility(working: Working) -> None:
    """Show what cases have to meet, and how many are left."""
    usual = Protocol().in_full()
    limited = any(working.base[key] != usual[key] for key in KEYS)
    with st.expander(t("Eligible cases"), expanded=limited):
        told = st.container()
        several(
            working,
            "required_views",
            t("Views each case must have"),
            {
                "frontal": t("Frontal"),
                "lateral": t("Lateral"),
                "oblique": t("Oblique"),
                "decubitus": t("Decubitus"),
            },
            t("A view without a name in the bank counts as none of these."),
        )
        _age(working)
        several(
            working,
            "sex",
            t("Sex"),
            {"female": t("Female"), "male": t("Male"), "other": t("Other")},
            t("Choose none to include all patients, those of unknown sex too."),
        )
        several(
            working,
            "without_flags",
            t("Leave out questions with a flag"),
            flags_in_words(),
            t("Found by the same checks as when the bank was imported."),
        )
        _listed(working, "only_items", t("Draw only these IDs"))
        _listed(working, "without_items", t("Leave out these IDs"))
        with told:
            _left(working)


def flags_in_words() -> Words:
    """Return what the flags of items are called, by code."""
    words = {
        Rule.ANSWERED: t("The question contains its answer"),
        Rule.ALIKE: t("Asked twice of one examination"),
        Rule.OPTIONS_ALIKE: t("An option is repeated"),
        Rule.NOT_SHOWN: t("Asks about a view that is not shown"),
        Rule.PATIENT_SPLIT: t("Patient in two splits"),
        Rule.EXAMINATION_SPLIT: t("Examination in two splits"),
    }
    return {str(rule): words[rule] for rule in BY_ITEM}


def _age(working: Working) -> None:
    base = working.base["age"]
    sound = isinstance(base, list) and len(base) == 2 and max(base) <= OLDEST
    low, high = st.slider(
        t("Age in years"),
        0,
        OLDEST,
        value=tuple(base) if sound else (0, OLDEST),
        key=working.key("age"),
    )
    every = (low, high) == (0, OLDEST)
    # What came with a file, beyond the field's range, stays until it is changed here.
    working.values["age"] = (base if base and not sound else []) if every else [low, high]
    if working.values["age"]:
        switch(
            working,
            "unknown_age",
            t("Include patients of unknown age"),
            t("Also cases whose age is missing or not a number."),
            t("Cases whose age is missing or not a number are not drawn."),
        )
    else:
        working.values["unknown_age"] = False
        st.caption(t("All ages."))


def _listed(working: Working, key: str, label: str) -> None:
    base = working.base[key] if isinstance(working.base[key], list) else []
    if len(base) > _MOST_SHOWN:
        st.markdown(f"**{label}**: " + tn("{n} ID", "{n} IDs", len(base)))
        if st.button(t("Remove the list"), key=working.key(f"{key}-remove")):
            working.values[key] = []
            working.renew()
            st.rerun()
        return
    written = st.text_area(
        label,
        value="\n".join(base),
        height=90,
        placeholder=t("One per line, or separated by commas"),
        key=working.key(key),
    )
    working.values[key] = ids_in(written)
    brought = upload(
        t("Or upload the list as a file"),
        types=["txt", "csv"],
        key=working.key(f"{key}-file"),
        most_mb=20,
    )
    if brought is None:
        return
    try:
        working.values[key] = ids_in(decoded(brought.getvalue(), source=brought.name))
    except StudyError as error:
        st.error(plain(str(error)))
        return
    working.renew()
    st.rerun()


def _left(working: Working) -> None:
    with store().look() as look:
        row, struck = banks.find(look, working.bank), draws.last_struck(look)
    if row is None:
        return
    asked = {key: working.values[key] for key in (*KEYS, "one_question_per")}
    try:
        n, units = _counted(row.id, row.content_sha256, struck, canonical_json(asked))
    except StudyError:
        return  # it stands beneath, where the sample is foreseen
    questions = tn("{n} question", "{n} questions", n)
    whose = {
        "patient": tn("{n} patient", "{n} patients", units),
        "examination": tn("{n} examination", "{n} examinations", units),
    }
    told = whose.get(working.values["one_question_per"])
    st.markdown(
        t("**Left to draw from:** {what}", what=f"{questions}, {told}" if told else questions)
    )


@lru_cache(maxsize=64)
def _counted(bank: int, content_sha256: str, struck: int, asked: str) -> tuple[int, int]:
    values = {**json.loads(asked), "cases": 1}
    return left(store(), bank, Protocol.from_json(values))
