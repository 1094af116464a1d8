"""Handing a model in: the form, what its file holds, and keeping it only once that was seen."""

from dataclasses import dataclass

import streamlit as st

from study.base.errors import BadInput, StudyError
from study.base.text import LONGEST_REASON
from study.base.translation import t, tn
from study.models.models import Example, Found, check_free, keep_model, read_model, some_of
from study.models.withdrawals import is_model
from study.people.signing_in import Person
from ui.parts.links import links
from ui.parts.look import facts, refused, section, table
from ui.parts.text import plain
from ui.parts.uploads import on_disk, upload
from ui.server.access import acting
from ui.server.deployment import store

_READ, _TOLD = "model-read", "model-told"
_ENDINGS = ["json", "jsonl", "csv"]
_EXAMPLES = 10
_LONGEST_WORDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """A file that was read and not kept yet, and the name it was handed in under."""

    found: Found
    model_id: str
    model_version: str


def model_form(person: Person) -> None:
    """Show the form, or what the file handed in holds until it is kept or discarded."""
    study = person.study_name
    waiting: _Waiting | None = st.session_state.get(_READ)
    if waiting is not None and waiting.found.study == study:
        _look_and_decide(person, waiting)
        return
    st.session_state.pop(_READ, None)
    told = st.container()
    links("model_example", {"example/predictions.csv": t("Example file (CSV)")}, download=True)
    with st.form("model", clear_on_submit=False):
        file = upload(t("Predictions"), types=_ENDINGS, key="model-file")
        left, right = st.columns(2)
        name = left.text_input(t("Model"), max_chars=100, key="model-name").strip()
        version = right.text_input(t("Version"), max_chars=100, key="model-version").strip()
        asked = st.form_submit_button(t("Read the file"), key="model-look")
    if not asked:
        if done := st.session_state.pop(_TOLD, None):
            told.success(plain(done))
        return
    try:
        if file is None:
            raise BadInput(t("Choose a file with the model's predictions."))
        if not name:
            raise BadInput(t("Enter a name for the model."))
        if not is_model(store(), study=study, model_id=name):
            check_free(store(), study=study, model_id=name)
        with on_disk(file.name, file.getvalue()) as path:
            found = read_model(store(), path, study=study)
    except StudyError as error:
        with told:
            refused(str(error))
        return
    st.session_state[_READ] = _Waiting(found=found, model_id=name, model_version=version)
    st.rerun()


def _look_and_decide(person: Person, waiting: _Waiting) -> None:
    found, name = waiting.found, waiting.model_id
    section(t("{file}, as read for {model}", file=found.source_name, model=name))
    _counts(found)
    for note in found.file.notes:
        st.markdown(plain(t("Note: {note}", note=note)))
    table(
        [t("Case"), t("Model output"), t("Interpreted as")],
        [(one.item_id, _shortened(one.words), _read_as(one)) for one in found.examples(_EXAMPLES)],
        caption=t("Examples from the file"),
    )
    replaces = is_model(store(), study=found.study, model_id=name)
    reason = _why_replaced(name) if replaces else ""
    label = t("Replace the predictions") if replaces else t("Save these predictions")
    with st.container(horizontal=True):
        keep = st.button(label, key="model-keep", type="primary")
        discard = st.button(t("Discard"), key="model-discard")
    if discard:
        st.session_state.pop(_READ, None)
        st.rerun()
    if keep:
        _keep(person, waiting, replaces=replaces, reason=reason)


def _counts(found: Found) -> None:
    counts = found.by_status
    facts(
        [
            (t("Cases"), found.n_cases, t("in the study")),
            (t("Answered"), counts.get("answered", 0), ""),
            (t("Unparsed"), counts.get("unparsed", 0), t("output that names no option")),
            (t("Refused"), counts.get("refused", 0), t("the model declined to answer")),
            (t("Left empty"), counts.get("skipped", 0), ""),
            (t("Absent"), found.n_absent, t("not in the file")),
            (t("Other items"), found.n_not_drawn, t("not in the study; ignored")),
        ]
    )
    if found.n_absent and found.n_not_drawn:
        st.warning(
            plain(
                t(
                    "Only {n} of the study's {total} cases are in this file. Do the IDs match? "
                    "Not in the file: {ours}. Not in the study: {theirs}.",
                    n=found.n_cases - found.n_absent,
                    total=found.n_cases,
                    ours=some_of(found.absent_ids),
                    theirs=some_of(found.file.unknown_ids),
                )
            )
        )
    if found.n_unanswered:
        st.warning(
            plain(
                tn(
                    "{n} of {total} cases has no answer in this file. Absent answers count as "
                    "incorrect, as do unparsed, refused and empty ones.",
                    "{n} of {total} cases have no answer in this file. Absent answers count as "
                    "incorrect, as do unparsed, refused and empty ones.",
                    found.n_unanswered,
                    total=found.n_cases,
                )
            )
        )


def _read_as(one: Example) -> str:
    if one.answer:
        return f"{one.answer}: {one.option}"
    return {
        "skipped": t("left empty"),
        "refused": t("refused"),
    }.get(one.status, t("unparsed"))


def _shortened(words: str) -> str:
    return words if len(words) <= _LONGEST_WORDS else f"{words[:_LONGEST_WORDS]} …"


def _why_replaced(name: str) -> str:
    st.warning(
        plain(
            t(
                "{model} is already in the study. Saving this file replaces its predictions: the "
                "old ones remain in the database, marked as withdrawn, and are not used in any "
                "results.",
                model=name,
            )
        )
    )
    return st.text_area(
        t("Reason for replacing them"),
        max_chars=LONGEST_REASON,
        key="model-replace-reason",
        help=t("Recorded permanently in the audit trail."),
    )


def _keep(person: Person, waiting: _Waiting, *, replaces: bool, reason: str) -> None:
    try:
        keep_model(
            store(),
            waiting.found,
            model_id=waiting.model_id,
            model_version=waiting.model_version,
            replace=replaces,
            reason=reason,
            **acting(person),
        )
    except StudyError as error:
        refused(str(error))
        return
    st.session_state.pop(_READ, None)
    st.session_state[_TOLD] = _kept(waiting)
    st.rerun()


def _kept(waiting: _Waiting) -> str:
    counts = waiting.found.by_status
    return t(
        "{model} was added. Of {n} cases: {answered} answered, {unparsed} unparsed, {refused} "
        "refused, {skipped} left empty, {absent} absent.",
        model=waiting.model_id,
        n=waiting.found.n_cases,
        answered=counts.get("answered", 0),
        unparsed=counts.get("unparsed", 0),
        refused=counts.get("refused", 0),
        skipped=counts.get("skipped", 0),
        absent=waiting.found.n_absent,
    )
