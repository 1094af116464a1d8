"""The drawn cases of a study as a list, with the images of the one chosen; never what is right."""

from collections import Counter

import pandas as pd
import streamlit as st

from study.base.translation import t, tn
from study.people.signing_in import Person
from study.store import studies
from study.store.studies import DrawnCase
from ui.parts.look import grid
from ui.parts.text import plain
from ui.results import case_films
from ui.server.deployment import store


def drawn_cases(person: Person) -> None:
    """Show which cases were drawn for the person's study, once they ask for it."""
    study = person.study
    if study is None or not st.toggle(t("Show the drawn cases"), key="drawn-cases"):
        return
    with store().look(sealed=True) as look:
        found = studies.drawn_cases(look, study)
    left, right = st.columns(2)
    wanted = left.text_input(t("Search text"), key="drawn-text", max_chars=200).casefold()
    strata = right.multiselect(
        t("Stratum"),
        sorted({one.stratum for one in found}),
        placeholder=t("Any"),
        key="drawn-strata",
    )
    shown = [
        one
        for one in found
        if wanted in " ".join(map(str, one)).casefold() and (not strata or one.stratum in strata)
    ]
    counts = Counter(one.stratum for one in shown if one.stratum)
    st.caption(
        plain(
            tn("{n} case", "{n} cases", len(shown))
            + "".join(f" · {stratum} {n}" for stratum, n in sorted(counts.items()))
        )
    )
    picked = grid(
        _table(shown),
        height=min(38 + 35 * max(1, len(shown)), 318),
        key="drawn-list",
        on_select="rerun",
        selection_mode="single-row",
    )
    for row in picked["selection"]["rows"]:
        if row < len(shown):
            _look_at(study, shown[row])


def _table(shown: list[DrawnCase]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            t("No."): [one.number for one in shown],
            t("Item"): [one.item_id for one in shown],
            t("Stratum"): [one.stratum for one in shown],
            t("Task"): [one.task for one in shown],
            t("Category"): [one.category for one in shown],
            t("Views"): [one.view for one in shown],
            t("Patient"): [one.patient_id for one in shown],
            t("Question"): [one.question for one in shown],
        }
    )


def _look_at(study: int, case: DrawnCase) -> None:
    st.markdown(f"**{case.number}. {plain(case.question)}**")
    views = case_films.addresses(store(), study, case.item_id)
    shown = "".join(case_films.figure(label, address) for label, address in views)
    st.html(f'<div class="case"><div class="films">{shown}</div></div>')
