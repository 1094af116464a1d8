"""Handing a model in: the form, what its file holds, and keeping it only once that was seen.

A file of no known shape has its columns named first; so has one that was taken for another shape.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

from study.base.errors import BadFile, BadInput, StudyError
from study.base.text import LONGEST_REASON
from study.base.translation import t, tn
from study.models.files import guessed, remembered_columns
from study.models.models import Example, FileSummary, check_free, is_model, some_of
from study.people.signing_in import Person
from ui.parts.forms import upload
from ui.parts.links import links
from ui.parts.text import plain
from ui.parts.theme import error_line, facts, refused, section, table
from ui.server.access import acting
from ui.server.deployment import store
from ui.server.file_jobs import KeptFile, ModelFile, begin, model_file, model_kept, on_disk

_READ, _TOLD, _NAMING = "model-read", "model-told", "model-naming"
_REFUSED = "model-refused"
_ENDINGS = ["json", "jsonl", "ndjson", "csv", "tsv", "xlsx", "parquet", "eval"]
_LONGEST_WORDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class _HandedIn:
    """A file that was handed in, and what for."""

    study: str
    file_name: str
    file: KeptFile
    model_id: str
    model_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """A file that was read and not kept yet, and what its columns were said to mean."""

    handed_in: _HandedIn
    found: FileSummary
    meant: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unnamed:
    """A file whose columns are to be named, what they may mean, and why they are asked for."""

    handed_in: _HandedIn
    columns: tuple[str, ...]
    meant: Mapping[str, str]
    why: str


def model_form(person: Person) -> None:
    """Show the form, or what the file handed in holds until it is kept or discarded."""
    study = person.study_name
    waiting: _Waiting | None = st.session_state.get(_READ)
    if waiting is not None and waiting.handed_in.study == study:
        _look_and_decide(person, waiting)
        return
    unnamed: _Unnamed | None = st.session_state.get(_NAMING)
    if unnamed is not None and unnamed.handed_in.study == study:
        _name_columns(unnamed)
        return
    st.session_state.pop(_READ, None)
    st.session_state.pop(_NAMING, None)
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
    handed_in = None
    try:
        if file is None:
            raise BadInput(t("Choose a file with the model's predictions."))
        if not name:
            raise BadInput(t("Enter a name for the model."))
        if not is_model(store(), study=study, model_id=name):
            check_free(store(), study=study, model_id=name)
        handed_in = _HandedIn(
            study=study,
            file_name=file.name,
            file=on_disk(file.name, file),
            model_id=name,
            model_version=version,
        )
        _read(handed_in)
    except StudyError as error:
        with told:
            _tell(error, handed_in)
        return
    st.rerun()


def _read(handed_in: _HandedIn) -> None:
    """Read a file by what it holds; where its columns have no usual names, they are to be named."""
    read = _in_worker(handed_in)
    if read.summary is not None:
        st.session_state[_READ] = _Waiting(handed_in=handed_in, found=read.summary)
    elif read.is_unknown:
        _ask_for_columns(handed_in, read.columns, read.refusal)
    else:
        st.session_state[_REFUSED] = read.columns
        raise BadFile(read.refusal)


def _in_worker(handed_in: _HandedIn, meant: Mapping[str, str] | None = None) -> ModelFile:
    where = store().path, handed_in.study, meant
    return begin(model_file, handed_in.file, *where).outcome()


def _tell(error: StudyError, handed_in: _HandedIn | None) -> None:
    """Show why a file was refused; usual names may still mean something else in it."""
    refused(str(error))
    columns = st.session_state.pop(_REFUSED, ())
    if handed_in is not None and columns:
        st.button(
            t("Name the columns"),
            key="model-rename",
            on_click=_ask_for_columns,
            args=(handed_in, columns, ""),
        )


def _ask_for_columns(handed_in: _HandedIn, columns: tuple[str, ...], why: str) -> None:
    st.session_state.pop(_READ, None)
    st.session_state[_NAMING] = _Unnamed(
        handed_in=handed_in,
        columns=columns,
        meant=remembered_columns(store(), columns) or guessed(columns),
        why=why,
    )


def _name_columns(unnamed: _Unnamed) -> None:
    handed_in = unnamed.handed_in
    section(t("Name the columns of {file}", file=handed_in.file_name))
    if unnamed.why:
        refused(unnamed.why)
    roles = {
        "id": t("Case ID"),
        "output": t("Answer or model output"),
        "run": t("Run"),
        "condition": t("Condition"),
        "confidence": t("Confidence"),
        "order": t("Order of the options"),
        "prompt": t("Prompt"),
        "explanation": t("Explanation"),
    }
    before = {**unnamed.meant}
    before.setdefault("output", before.pop("answer", ""))
    with st.form("model-columns"):
        chosen: dict[str, str] = {}
        for n, place in enumerate(st.columns(2) * (len(roles) // 2)):
            role = list(roles)[n]
            there = before.get(role, "")
            chosen[role] = place.selectbox(
                roles[role],
                ["", *dict.fromkeys([*unnamed.columns, *([there] if there else [])])],
                index=[*dict.fromkeys(["", *unnamed.columns, there])].index(there),
                format_func=lambda column: column or t("none"),
                key=f"model-column-{role}",
            )
        with st.container(horizontal=True):
            asked = st.form_submit_button(
                t("Read the file"), key="model-columns-look", type="primary"
            )
            discard = st.form_submit_button(t("Discard"), key="model-columns-discard")
    if discard:
        st.session_state.pop(_NAMING, None)
        st.rerun()
    if asked:
        others = {role: column for role, column in before.items() if role not in roles}
        meant = {role: column for role, column in {**others, **chosen}.items() if column}
        with error_line():
            read = _in_worker(handed_in, meant)
            if read.summary is None:
                raise BadFile(read.refusal)
            st.session_state.pop(_NAMING, None)
            st.session_state[_READ] = _Waiting(handed_in=handed_in, found=read.summary, meant=meant)
            st.rerun()


def _look_and_decide(person: Person, waiting: _Waiting) -> None:
    found, name = waiting.found, waiting.handed_in.model_id
    section(t("{file}, as read for {model}", file=found.source_name, model=name))
    st.markdown(plain(_recognised(found)))
    _counts(found)
    for note in found.notes:
        st.markdown(plain(t("Note: {note}", note=note)))
    examples = found.examples
    sure = any(one.confidence is not None for one in examples)
    table(
        [t("Case"), t("Model output"), t("Interpreted as"), *([t("Confidence")] if sure else [])],
        [
            (
                one.item_id,
                _shortened(one.words),
                _shortened(read_as(one.answer or one.status, one.option)),
                *([_sure(one)] if sure else []),
            )
            for one in examples
        ],
        caption=t("Examples from the file"),
    )
    replaces = is_model(store(), study=found.study, model_id=name)
    reason = _why_replaced(name) if replaces else ""
    label = t("Replace the predictions") if replaces else t("Save these predictions")
    with st.container(horizontal=True):
        keep = st.button(label, key="model-keep", type="primary")
        rename = st.button(t("Name the columns"), key="model-rename")
        discard = st.button(t("Discard"), key="model-discard")
    if discard:
        st.session_state.pop(_READ, None)
        st.rerun()
    if rename:
        _ask_for_columns(waiting.handed_in, found.columns, "")
        st.rerun()
    if keep:
        _keep(person, waiting, replaces=replaces, reason=reason)


def _recognised(found: FileSummary) -> str:
    """Return what a file was taken for, and what beside one answer a case it holds."""
    told = [t("{shape}, rows: {n}.", shape=found.shape, n=found.n_rows)]
    if found.n_runs > 1:
        told.append(t("Runs: {n}. The first is used in all results.", n=found.n_runs))
    others = found.conditions[1:]
    if others:
        told.append(
            t(
                "Conditions: {conditions}. Only answers given under the readers' condition are "
                "compared with the readers.",
                conditions=", ".join(one or t("as shown to readers") for one in found.conditions),
            )
        )
    return " ".join(told)


def _sure(one: Example) -> str:
    return "" if one.confidence is None else f"{one.confidence:.2f}"


def _counts(found: FileSummary) -> None:
    counts = found.by_status
    facts(
        [
            (t("Cases"), found.n_cases, t("in the study")),
            (t("Answered"), counts.get("answered", 0), ""),
            (t("Unparsed"), counts.get("unparsed", 0), t("output without a recognisable option")),
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
                    theirs=some_of(found.unknown_ids),
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


def read_as(read: str, option: str) -> str:
    """Return what words were read as: a letter and its option if given, or what became of them."""
    words = {"skipped": t("left empty"), "refused": t("refused"), "unparsed": t("unparsed")}
    return words.get(read) or (f"{read}: {option}" if option else read)


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
    handed_in = waiting.handed_in
    with error_line():
        model = {
            "model_id": handed_in.model_id,
            "model_version": handed_in.model_version,
            "replace": replaces,
            "reason": reason,
        }
        where = store().path, handed_in.study, waiting.meant
        begin(model_kept, handed_in.file, *where, model, acting(person)).outcome()
        st.session_state.pop(_READ, None)
        st.session_state[_TOLD] = _kept(waiting)
        st.rerun()


def _kept(waiting: _Waiting) -> str:
    counts = waiting.found.by_status
    return t(
        "{model} was added. Of {n} cases: {answered} answered, {unparsed} unparsed, {refused} "
        "refused, {skipped} left empty, {absent} absent.",
        model=waiting.handed_in.model_id,
        n=waiting.found.n_cases,
        answered=counts.get("answered", 0),
        unparsed=counts.get("unparsed", 0),
        refused=counts.get("refused", 0),
        skipped=counts.get("skipped", 0),
        absent=waiting.found.n_absent,
    )
