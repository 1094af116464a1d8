"""The first step: the bank, the conditions on cases, their number and the expected precision."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from study.bank.content import ITEM_RULES
from study.bank.managing import join_banks
from study.base.bank_model import Rule
from study.base.canonical import canonical_json
from study.base.errors import BadInput, StudyError
from study.base.text import LONGEST_NAME, guard_cell
from study.base.translation import decimal, t, tn
from study.lifecycle.drafts import CASES_TO_BEGIN_WITH
from study.people.roles import Act
from study.protocol.checks import ids_in
from study.protocol.protocol import STRATA, Protocol
from study.protocol.sampling import (
    ELIGIBILITY,
    EXPECTED_ACCURACY,
    DrawResult,
    Stratum,
    count_drawable,
    wilson_half_width,
)
from study.store import banks, draws
from ui.parts import actions
from ui.parts.actions import Report
from ui.parts.forms import TABLE_TYPES, upload
from ui.parts.protocol_words import in_page_words, setting_labels
from ui.parts.text import plain
from ui.parts.theme import Columns, grid
from ui.server.access import acting, guard
from ui.server.deployment import store
from ui.server.file_jobs import begin_job, read_ids, save_upload
from ui.server.job_view import outcome_of
from ui.wizard.draft import Labels, WorkingDraft, rehearse_draw

MAX_AGE = 120
_MAX_IDS_SHOWN = 1_000
"""Maximum number of IDs that can be edited on the page; a longer list can only be replaced."""

MANUAL = "by hand"
_UNJOINABLE_FORMATS = (banks.FROM_BUNDLE, banks.JOINED)
"""Banks that cannot be joined, because they have no films or are already joined."""


def eligibility_fields(working: WorkingDraft) -> None:
    """Show the conditions that cases must meet, and how many cases meet them."""
    defaults = Protocol().in_full()
    limited = any(working.base[key] != defaults[key] for key in ELIGIBILITY)
    with st.expander(t("Eligible cases"), expanded=limited):
        summary = st.container()
        working.choose_several(
            "required_views",
            {
                "frontal": t("Frontal"),
                "lateral": t("Lateral"),
                "oblique": t("Oblique"),
                "decubitus": t("Decubitus"),
            },
            t("A view without a name in the bank counts as none of these."),
        )
        _age_field(working)
        working.choose_several(
            "sex",
            {"female": t("Female"), "male": t("Male"), "other": t("Other")},
            t("Choose none to include all patients, including those of unknown sex."),
        )
        working.choose_several(
            "without_flags",
            flags_in_words(),
            t("Found by the same checks as when the bank was imported."),
        )
        _show_id_list(working, "only_items")
        _show_id_list(working, "without_items")
        with summary:
            _show_remaining(working)


def flags_in_words() -> Labels:
    """Return the labels of items' flags, by code."""
    words = {
        Rule.ANSWERED: t("The question contains its answer"),
        Rule.ALIKE: t("Asked twice of one examination"),
        Rule.OPTIONS_ALIKE: t("An option is repeated"),
        Rule.NOT_SHOWN: t("Asks about a view that is not shown"),
        Rule.PATIENT_SPLIT: t("Patient in two splits"),
        Rule.EXAMINATION_SPLIT: t("Examination in two splits"),
    }
    return {str(rule): words[rule] for rule in ITEM_RULES}


def _age_field(working: WorkingDraft) -> None:
    base = working.base["age"]
    is_valid = isinstance(base, list) and len(base) == 2 and max(base) <= MAX_AGE
    low, high = st.slider(
        t("Age in years"),
        0,
        MAX_AGE,
        value=tuple(base) if is_valid else (0, MAX_AGE),
        key=working.key("age"),
    )
    is_any_age = (low, high) == (0, MAX_AGE)
    # A value from a file that is out of range is kept until it is changed here.
    working.values["age"] = (base if base and not is_valid else []) if is_any_age else [low, high]
    if working.values["age"]:
        working.switch(
            "unknown_age",
            t("Also cases whose age is missing or not a number."),
            t("Cases whose age is missing or not a number are not drawn."),
        )
    else:
        working.values["unknown_age"] = False
        st.caption(t("All ages."))


def _show_id_list(working: WorkingDraft, key: str) -> None:
    label = setting_labels()[key]
    base = working.base[key] if isinstance(working.base[key], list) else []
    if len(base) > _MAX_IDS_SHOWN:
        st.markdown(f"**{label}**: " + tn("{n} ID", "{n} IDs", len(base)))

        def remove() -> None:
            working.values[key] = []
            working.renew()

        actions.view_button(t("Remove the list"), remove, key=working.key(f"{key}-remove"))
        return
    typed_ids = st.text_area(
        label,
        value="\n".join(base),
        height=90,
        placeholder=t("One per line, or separated by commas"),
        key=working.key(key),
    )
    working.values[key] = ids_in(typed_ids)
    if working.values[key]:
        st.caption(tn("{n} ID", "{n} IDs", len(working.values[key])))
    file = upload(
        t("Or upload the list as a file"),
        types=("txt", *TABLE_TYPES),
        key=working.key(f"{key}-file"),
        max_mb=2,
    )
    if file is not None:
        _use_file(working, key, file)
    actions.show_last_report(_file_action(working, key))


def _file_action(working: WorkingDraft, key: str) -> str:
    return f"{key}-file-{working.id}"


def _use_file(working: WorkingDraft, key: str, file: UploadedFile) -> None:
    """Replace the list of IDs by the list in a file, and clear the upload field."""
    action = _file_action(working, key)
    try:
        ids = outcome_of(
            action,
            lambda: begin_job(read_ids, save_upload(file.name, file)),
            t("Reading {file}", file=file.name),
            on_cancel=working.renew,
        )
    except StudyError as error:
        result = Report(text=str(error), kind="error")
    else:
        working.values[key] = ids
        result = Report(
            text=tn(
                "{n} ID read from {file}.", "{n} IDs read from {file}.", len(ids), file=file.name
            )
        )
    working.renew()
    actions.record_result(action, result)
    st.rerun()


def _show_remaining(working: WorkingDraft) -> None:
    with store().look() as look:
        row, struck = banks.find(look, working.bank), draws.last_strike_number(look)
    if row is None:
        return
    request = {key: working.values[key] for key in (*ELIGIBILITY, "one_question_per")}
    try:
        n, units = _count_remaining(row.id, row.content_sha256, struck, canonical_json(request))
    except StudyError:
        return  # the error is shown below, with the forecast of the sample
    questions = tn("{n} question", "{n} questions", n)
    whose = {
        "patient": tn("{n} patient", "{n} patients", units),
        "examination": tn("{n} examination", "{n} examinations", units),
    }
    text = whose.get(working.values["one_question_per"])
    st.markdown(
        t("**Left to draw from:** {what}", what=f"{questions}, {text}" if text else questions)
    )


@lru_cache(maxsize=64)
def _count_remaining(bank: int, content_sha256: str, struck: int, request: str) -> tuple[int, int]:
    values = {**json.loads(request), "cases": 1}
    return count_drawable(store(), bank, Protocol.from_json(values))


def sample_step(working: WorkingDraft) -> None:
    """Show the step."""
    left_column, right_column = st.columns(2, gap="large")
    with left_column:
        working.name = st.text_input(
            t("Study name"), value=working.name, max_chars=100, key=working.key("name")
        )
        if working.save_error:
            st.error(plain(working.save_error))
        else:
            st.caption(t("Shown on the coordinator's pages and in every export."))
        _bank_field(working)
    with right_column:  # the available strata depend on the bank
        _sampling_fields(working)
    with left_column:
        _cases_field(working)
        eligibility_fields(working)
    _forecast(working)


def _cases_field(working: WorkingDraft) -> None:
    if not isinstance(working.values["allocation"], str):
        n = working.values["cases"]
        st.markdown(tn("**{n} case**, allocated manually", "**{n} cases**, allocated manually", n))
        st.caption(_precision(n))
        return
    working.number_field("cases", _precision, low=1, high=1_000_000, step=10)


def _precision(n: int) -> str:
    return t(
        "If a reader answers 80 % of {n} cases correctly, the 95 % confidence interval is about ± "
        "{points} points.",
        n=n,
        points=decimal(100 * wilson_half_width(EXPECTED_ACCURACY, n), 1),
    )


def _bank_field(working: WorkingDraft) -> None:
    place = st.container()
    _several_banks(working)
    with store().look() as look:
        names = banks.names(look)
    chosen = place.selectbox(
        t("Question bank"),
        names,
        index=names.index(working.bank) if working.bank in names else None,
        placeholder=t("Choose a bank"),
        key=working.key("bank"),
    )
    working.bank = chosen or ""
    place.caption(t("Cases are drawn from it once; the seed fixes which ones."))


def _several_banks(working: WorkingDraft) -> None:
    """Offer to join several banks; the joined bank becomes the draft's bank."""
    with store().look() as look:
        names = [bank.name for bank in banks.listed(look) if bank.format not in _UNJOINABLE_FORMATS]
    if len(names) < 2:
        return
    with st.expander(t("Draw from several banks")):
        st.caption(
            t(
                "The banks are joined into a new one. Every question keeps the name of its bank: "
                "you can stratify by it, and the report shows the difference between banks."
            )
        )
        chosen = st.multiselect(
            t("Banks to join"),
            sorted(names),
            placeholder=t("Choose a bank"),
            key=working.key("to-join"),
        )
        prefix = st.checkbox(
            t("Put the bank's name before every ID"),
            help=t(
                "For banks of different hospitals: equal question, examination and patient IDs "
                "then mean different questions and patients."
            ),
            key=working.key("join-prefix"),
        )
        actions.button(
            t("Join"),
            lambda: _join(working, chosen, prefix=prefix),
            key=f"join-{working.id}",
            busy=t("Joining banks ..."),
        )


def _join(working: WorkingDraft, chosen: Sequence[str], *, prefix: bool) -> Report:
    if len(chosen) < 2:
        raise BadInput(t("Choose at least two “Banks to join”."))
    person = guard(Act.MAKE_STUDY)
    name = " + ".join(sorted(chosen))[:LONGEST_NAME]
    joined = join_banks(store(), chosen, name=name, prefix=prefix, acting=acting(person))
    working.bank = st.session_state[working.key("bank")] = joined.bank
    return Report(
        text=t(
            "Joined: {n} questions. The draft now draws from {bank}.",
            n=joined.n_items,
            bank=joined.bank,
        ),
        warnings=(joined.note,) if joined.note else (),
    )


def _sampling_fields(working: WorkingDraft) -> None:
    working.choose(
        "one_question_per",
        {"patient": t("Patient"), "examination": t("Examination"), "item": t("No limit")},
        {
            "patient": t(
                "No patient appears twice: cases are independent and intervals are valid."
            ),
            "examination": t("A patient may appear again with another examination."),
            "item": t("One image may have several questions, so answers are not independent."),
        },
    )
    working.choose_several(
        "stratify_by",
        _strata_offered(working),
        t(
            "Stratify so that each group gets its planned share. Leave empty for a simple random "
            "sample."
        ),
    )
    _allocation_field(working)
    with st.expander(t("Random seed")):
        working.number_field(
            "seed",
            lambda n: t(
                "The same bank, protocol and seed always give the same cases in the same order."
            ),
            low=1 - 2**53,
            high=2**53 - 1,
        )


def _strata_offered(working: WorkingDraft) -> Mapping[str, str]:
    """Return the fields in which the bank's questions differ, and those named by the draft."""
    words = {
        "task": t("Task"),
        "category": t("Category"),
        "subcategory": t("Subcategory"),
        "view_class": t("View types"),
        "view": t("Views"),
        "sex": t("Sex"),
        "bank": t("Question bank"),
        "site": t("Site"),
        "split": t("Split"),
        "class": t("Class"),
        "validation_code": t("Validation code"),
    }
    with store().look() as look:
        row = banks.find(look, working.bank)
    fields_offered = _fields_that_differ(row.id, row.content_sha256) if row else ()
    strata_named = working.base["stratify_by"]
    return {
        name: text for name, text in words.items() if name in fields_offered or name in strata_named
    }


@lru_cache(maxsize=16)
def _fields_that_differ(bank: int, content_sha256: str) -> tuple[str, ...]:
    with store().look() as look:
        return tuple(
            field
            for field in STRATA
            if draws.n_values(look, bank, field) > 1
            and not (field in draws.ATTRIBUTES and draws.reveals_answer(look, bank, field))
        )


def _allocation_field(working: WorkingDraft) -> None:
    base = working.base["allocation"]
    words = {"proportional": t("As in the bank"), "equal": t("Equal"), MANUAL: t("Manual")}
    chosen = st.segmented_control(
        t("Allocation"),
        list(words),
        default=base if isinstance(base, str) else MANUAL,
        format_func=lambda entry: words[entry],
        required=True,
        key=working.key("allocation"),
    )
    if chosen != MANUAL:
        working.values["allocation"] = chosen
        st.caption(
            t("Common strata get more cases; the overall sample reflects the bank.")
            if chosen == "proportional"
            else t(
                "Every stratum is measured with the same precision; the overall sample does not "
                "reflect the bank."
            )
        )
        return
    _manual_allocation(working)


def _manual_allocation(working: WorkingDraft) -> None:
    """Show a field for the number of cases in each stratum; the total is their sum."""
    base = working.base["allocation"]
    base = base if isinstance(base, dict) else {}
    try:
        strata = _strata(working)
    except StudyError as error:
        st.caption(plain(str(error)))
        return
    share = {entry.name: base.get(entry.name, entry.n_drawn) for entry in strata}
    table = st.data_editor(
        pd.DataFrame({"stratum": list(map(guard_cell, share)), "cases": list(share.values())}),
        hide_index=True,
        column_config={
            "stratum": st.column_config.TextColumn(t("Stratum"), disabled=True),
            "cases": st.column_config.NumberColumn(t("Cases"), min_value=0, step=1),
        },
        key=working.key(f"by-hand-{'-'.join(working.values['stratify_by'])}"),
    )
    numbers = {
        name: int(n) if n == n and n is not None else 0
        for name, n in zip(share, table["cases"], strict=True)
    }
    working.values["allocation"] = numbers
    working.values["cases"] = max(sum(numbers.values()), 1)
    st.caption(
        t("{n} cases in total; this is the number that will be drawn.", n=working.values["cases"])
    )


def _strata(working: WorkingDraft) -> tuple[Stratum, ...]:
    """Return the strata with proportional allocation."""
    values = {**working.values, "allocation": "proportional", "practice_cases": 0}
    values |= {"conditions": ["unaided"], "arms": []}  # wrong images may need other cases
    for cases in (int(working.base["cases"]), *CASES_TO_BEGIN_WITH):
        try:
            return rehearse_draw(working.bank, {**values, "cases": cases}).strata
        except BadInput:
            continue
    return ()


def _forecast(working: WorkingDraft) -> None:
    st.subheader(t("Expected sample"), anchor=False)
    if not working.bank:
        st.info(t("Choose a bank to see the expected sample."))
        return
    try:
        result = rehearse_draw(working.bank, working.values)
    except StudyError as error:
        st.error(plain(in_page_words(str(error))))
        return
    grid(_forecast_columns(result), column_config=_columns(working))
    st.caption(
        t(
            "± is the expected half-width of the 95 % confidence interval, in points, for an "
            "accuracy of 80 % measured by one reader on the cases of one stratum. Nothing has "
            "been drawn yet."
        )
    )


def _forecast_columns(result: DrawResult) -> Columns:
    return {
        "stratum": [stratum.name for stratum in result.strata],
        "n_items": [stratum.n_items for stratum in result.strata],
        "n_units": [stratum.n_units for stratum in result.strata],
        "n_drawn": [stratum.n_drawn for stratum in result.strata],
        "half_width": [round(100 * stratum.half_width, 1) for stratum in result.strata],
    }


def _columns(working: WorkingDraft) -> dict[str, Any]:
    units = {"patient": t("Patients"), "examination": t("Examinations"), "item": t("Questions")}
    return {
        "stratum": st.column_config.TextColumn(t("Stratum"), width="medium"),
        "n_items": st.column_config.NumberColumn(t("Questions in the bank")),
        "n_units": st.column_config.NumberColumn(units[working.values["one_question_per"]]),
        "n_drawn": st.column_config.ProgressColumn(
            t("Drawn"), format="%d", min_value=0, max_value=int(working.values["cases"])
        ),
        "half_width": st.column_config.NumberColumn(t("± points"), format="localized"),
    }
