"""Upload of a model's predictions: the form, a summary of the file, and storing after confirmation.

If the format of a file is unknown or was misrecognised, the user assigns its columns first.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from study.base.errors import BadFile, BadInput
from study.base.text import LONGEST_REASON
from study.base.translation import t, tn
from study.models.files import guess_roles, remembered_columns
from study.models.models import Example, FileSummary, check_free, first_ids, is_model
from study.people.signing_in import Person
from ui.parts import actions
from ui.parts.actions import Report
from ui.parts.forms import required, upload
from ui.parts.links import links
from ui.parts.text import plain
from ui.parts.theme import facts, section, table
from ui.server.access import acting
from ui.server.deployment import store
from ui.server.file_jobs import (
    ModelFile,
    SavedFile,
    begin_job,
    read_model_file,
    save_upload,
    store_model_file,
)
from ui.server.job_view import outcome_of

_READ_KEY, _REFUSED_KEY, _NAMING_KEY = "model-read", "model-refused", "model-naming"
_READ_ACTION, _REREAD_ACTION, _SAVE_ACTION = "model-look", "model-columns-look", "model-keep"
_EXTENSIONS = ["json", "jsonl", "ndjson", "csv", "tsv", "xlsx", "xlsm", "parquet", "eval"]
_MAX_SHOWN_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class _Upload:
    """An uploaded file, with its study and model."""

    study: str
    file_name: str
    file: SavedFile
    model_id: str
    model_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unconfirmed:
    """A file that was read but not stored yet, and the meaning assigned to its columns."""

    uploaded: _Upload
    summary: FileSummary
    column_roles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnknownColumns:
    """A file whose columns the user must assign, and the possible meanings."""

    uploaded: _Upload
    columns: tuple[str, ...]
    column_roles: Mapping[str, str]


def model_form(person: Person) -> None:
    """Show the form, or a summary of the uploaded file until it is stored or discarded."""
    study = person.study_name
    unconfirmed: _Unconfirmed | None = st.session_state.get(_READ_KEY)
    if unconfirmed is not None and unconfirmed.uploaded.study == study:
        _show_summary(person, unconfirmed)
        return
    unknown: _UnknownColumns | None = st.session_state.get(_NAMING_KEY)
    if unknown is not None and unknown.uploaded.study == study:
        _name_columns(unknown)
        return
    st.session_state.pop(_READ_KEY, None)
    st.session_state.pop(_NAMING_KEY, None)
    links("model_example", {"example/predictions.csv": t("Example file (CSV)")}, download=True)
    below = st.container()
    with below, st.form("model", clear_on_submit=False):
        file = upload(t("Predictions"), types=_EXTENSIONS, key="model-file")
        left, right = st.columns(2)
        name = left.text_input(t("Model"), max_chars=100, key="model-name").strip()
        version = right.text_input(t("Version"), max_chars=100, key="model-version").strip()
        actions.button(
            t("Read the file"),
            lambda: _read_upload(study, file, name, version),
            in_form=True,
            key=_READ_ACTION,
            below=below,
        )
    actions.show_last_report(_SAVE_ACTION)
    _offer_naming(study)


def _read_upload(study: str, file: UploadedFile | None, name: str, version: str) -> Report:
    """Read the uploaded file."""
    st.session_state.pop(_REFUSED_KEY, None)
    if file is None:
        raise BadInput(t("Choose a file with the model's predictions."))
    required(t("Model"), name)
    if not is_model(store(), study=study, model_id=name):
        check_free(store(), study=study, model_id=name)
    uploaded = _Upload(
        study=study,
        file_name=file.name,
        file=save_upload(file.name, file),
        model_id=name,
        model_version=version,
    )
    return _read(uploaded)


def _read(uploaded: _Upload) -> Report:
    """Read a file by its contents; the user assigns columns with unknown names."""
    read = _read_in_worker(uploaded)
    if read.summary is not None:
        st.session_state[_READ_KEY] = _Unconfirmed(uploaded=uploaded, summary=read.summary)
        return _read_report(uploaded)
    if not read.is_unknown:
        st.session_state[_REFUSED_KEY] = (uploaded, read.columns)
        raise BadFile(read.refusal)
    _ask_for_columns(uploaded, read.columns)
    return Report(
        text=t(
            "The columns of {file} could not be recognised. Say below which column holds the case "
            "ID and which the answer; the others are optional.",
            file=uploaded.file_name,
        ),
        kind="info",
    )


def _read_in_worker(uploaded: _Upload, column_roles: Mapping[str, str] | None = None) -> ModelFile:
    target = store().address, uploaded.study, column_roles
    return outcome_of(
        _READ_ACTION if column_roles is None else _REREAD_ACTION,
        lambda: begin_job(read_model_file, uploaded.file, *target),
        t("Reading {file}", file=uploaded.file_name),
    )


def _read_report(uploaded: _Upload) -> Report:
    words = t(
        "{file} was read. Nothing has been saved yet: check it, then save or discard it below.",
        file=uploaded.file_name,
    )
    return Report(text=words, kind="info")


def _offer_naming(study: str) -> None:
    """Offer to assign the columns of a refused file, whose names may be misleading."""
    refused: tuple[_Upload, tuple[str, ...]] | None = st.session_state.get(_REFUSED_KEY)
    if refused is None or refused[0].study != study or not refused[1]:
        return
    uploaded, columns = refused
    actions.view_button(
        t("Name the columns"), lambda: _ask_for_columns(uploaded, columns), key="model-rename"
    )


def _ask_for_columns(uploaded: _Upload, columns: tuple[str, ...]) -> None:
    st.session_state.pop(_READ_KEY, None)
    st.session_state.pop(_REFUSED_KEY, None)
    st.session_state[_NAMING_KEY] = _UnknownColumns(
        uploaded=uploaded,
        columns=columns,
        column_roles=remembered_columns(store(), columns) or guess_roles(columns),
    )


def _name_columns(unknown: _UnknownColumns) -> None:
    section(t("Name the columns of {file}", file=unknown.uploaded.file_name))
    actions.show_last_report(_READ_ACTION)
    required, optional = _roles()
    before = {**unknown.column_roles}
    before.setdefault("output", before.pop("answer", ""))
    below = st.container()
    with below, st.form("model-columns"):
        chosen = _columns_chosen(required, unknown.columns, before)
        st.caption(t("Optional"))
        chosen |= _columns_chosen(optional, unknown.columns, before)
        others = {role: column for role, column in before.items() if role not in chosen}
        column_roles = {role: column for role, column in {**others, **chosen}.items() if column}
        with st.container(horizontal=True):
            actions.button(
                t("Read the file"),
                lambda: _read_with_roles(unknown.uploaded, column_roles, required),
                in_form=True,
                key=_REREAD_ACTION,
                below=below,
                type="primary",
            )
            actions.view_button(
                t("Discard"),
                lambda: st.session_state.pop(_NAMING_KEY, None),
                key="model-columns-discard",
                in_form=True,
            )


def _roles() -> tuple[dict[str, str], dict[str, str]]:
    """Return the possible meanings of a file's columns: required and optional."""
    return {"id": t("Case ID (required)"), "output": t("Answer or model output (required)")}, {
        "run": t("Run"),
        "condition": t("Condition"),
        "confidence": t("Confidence"),
        "order": t("Order of the options"),
        "prompt": t("Prompt"),
        "explanation": t("Explanation"),
    }


def _columns_chosen(
    roles: Mapping[str, str], columns: Sequence[str], before: Mapping[str, str]
) -> dict[str, str]:
    chosen: dict[str, str] = {}
    places = st.columns(2) * len(roles)
    for (role, label), place in zip(roles.items(), places, strict=False):
        previous = before.get(role, "")
        offered = [*dict.fromkeys(["", *columns, previous])]
        chosen[role] = place.selectbox(
            label,
            offered,
            index=offered.index(previous),
            format_func=lambda column: column or t("none"),
            key=f"model-column-{role}",
        )
    return chosen


def _read_with_roles(
    uploaded: _Upload, column_roles: Mapping[str, str], required: Mapping[str, str]
) -> Report:
    """Read a file whose columns the user assigned."""
    missing = [label for role, label in required.items() if role not in column_roles]
    if missing:
        raise BadInput(t("Choose a column for: {columns}.", columns=", ".join(missing)))
    read = _read_in_worker(uploaded, column_roles)
    if read.summary is None:
        raise BadFile(read.refusal)
    st.session_state.pop(_NAMING_KEY, None)
    st.session_state[_READ_KEY] = _Unconfirmed(
        uploaded=uploaded, summary=read.summary, column_roles=column_roles
    )
    return _read_report(uploaded)


def _show_summary(person: Person, unconfirmed: _Unconfirmed) -> None:
    summary, name = unconfirmed.summary, unconfirmed.uploaded.model_id
    section(t("{file}, as read for {model}", file=summary.source_name, model=name))
    for key in (_READ_ACTION, _REREAD_ACTION):
        actions.show_last_report(key)
    st.markdown(plain(_format_text(summary)))
    _show_counts(summary)
    for note in summary.notes:
        st.markdown(plain(t("Note: {note}", note=note)))
    examples = summary.examples
    has_confidence = any(example.confidence is not None for example in examples)
    table(
        [
            t("Case"),
            t("Model output"),
            t("Interpreted as"),
            *([t("Confidence")] if has_confidence else []),
        ],
        [
            (
                example.item_id,
                _shortened(example.words),
                _shortened(answer_text(example.answer or example.status, example.option)),
                *([_confidence_text(example)] if has_confidence else []),
            )
            for example in examples
        ],
        caption=t("Examples from the file"),
    )
    replaces = is_model(store(), study=summary.study, model_id=name)
    reason = _replacement_reason(name) if replaces else ""
    label = t("Replace the predictions") if replaces else t("Save these predictions")
    row, below = st.container(horizontal=True), st.container()
    with row:
        actions.button(
            label,
            lambda: _save(person, unconfirmed, replaces=replaces, reason=reason),
            key=_SAVE_ACTION,
            below=below,
            type="primary",
        )
        actions.view_button(
            t("Name the columns"),
            lambda: _ask_for_columns(unconfirmed.uploaded, summary.columns),
            key="model-rename",
        )
        actions.view_button(
            t("Discard"), lambda: st.session_state.pop(_READ_KEY, None), key="model-discard"
        )


def _format_text(summary: FileSummary) -> str:
    """Return the recognised format of a file, and its further runs and conditions."""
    sentences = [t("{shape}, rows: {n}.", shape=summary.shape, n=summary.n_rows)]
    if summary.n_runs > 1:
        sentences.append(t("Runs: {n}. The first is used in all results.", n=summary.n_runs))
    others = summary.conditions[1:]
    if others:
        sentences.append(
            t(
                "Conditions: {conditions}. Only answers given under the readers' condition are "
                "compared with the readers.",
                conditions=", ".join(
                    condition or t("as shown to readers") for condition in summary.conditions
                ),
            )
        )
    return " ".join(sentences)


def _confidence_text(example: Example) -> str:
    return "" if example.confidence is None else f"{example.confidence:.2f}"


def _show_counts(summary: FileSummary) -> None:
    counts = summary.by_status
    facts(
        [
            (t("Cases"), summary.n_cases, t("in the study")),
            (t("Answered"), counts.get("answered", 0), ""),
            (t("Unparsed"), counts.get("unparsed", 0), t("output without a recognisable option")),
            (t("Cut off"), summary.n_cut_off, t("of the unparsed: ended at the token limit")),
            (t("Refused"), counts.get("refused", 0), t("the model declined to answer")),
            (t("Left empty"), counts.get("skipped", 0), ""),
            (t("Absent"), summary.n_absent, t("not in the file")),
            (t("Other items"), summary.n_not_drawn, t("not in the study; ignored")),
        ]
    )
    if summary.n_absent and summary.n_not_drawn:
        st.warning(
            plain(
                t(
                    "Only {n} of the study's {total} cases are in this file. Do the IDs match? "
                    "Not in the file: {ours}. Not in the study: {theirs}.",
                    n=summary.n_cases - summary.n_absent,
                    total=summary.n_cases,
                    ours=first_ids(summary.absent_ids),
                    theirs=first_ids(summary.unknown_ids),
                )
            )
        )
    for words in _missing_answer_warnings(summary):
        st.warning(plain(words))


def _missing_answer_warnings(summary: FileSummary) -> Iterator[str]:
    """Yield how many cases are absent, and how many are present without a recognised answer."""
    if summary.n_absent:
        yield tn(
            "{n} of {total} cases is not in this file and counts as incorrect.",
            "{n} of {total} cases are not in this file and count as incorrect.",
            summary.n_absent,
            total=summary.n_cases,
        )
    if summary.n_unanswered:
        yield tn(
            "{n} of {total} cases is in this file, but its output was unparsed, refused or empty. "
            "It counts as incorrect.",
            "{n} of {total} cases are in this file, but their outputs were unparsed, refused or "
            "empty. They count as incorrect.",
            summary.n_unanswered,
            total=summary.n_cases,
        )


def answer_text(read: str, option: str) -> str:
    """Return the parsed answer of an output: a letter with its option if known, or a status."""
    words = {"skipped": t("left empty"), "refused": t("refused"), "unparsed": t("unparsed")}
    return words.get(read) or (f"{read}: {option}" if option else read)


def _shortened(words: str) -> str:
    return words if len(words) <= _MAX_SHOWN_CHARS else f"{words[:_MAX_SHOWN_CHARS]} …"


def _replacement_reason(name: str) -> str:
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


def _save(person: Person, unconfirmed: _Unconfirmed, *, replaces: bool, reason: str) -> str:
    uploaded = unconfirmed.uploaded
    model = {
        "model_id": uploaded.model_id,
        "model_version": uploaded.model_version,
        "replacing": reason if replaces else None,
        "acting": acting(person),
    }
    target = store().address, uploaded.study, unconfirmed.column_roles
    outcome_of(
        _SAVE_ACTION,
        lambda: begin_job(store_model_file, uploaded.file, *target, model),
        t("Saving {file}", file=uploaded.file_name),
    )
    st.session_state.pop(_READ_KEY, None)
    return _confirmation_text(unconfirmed)


def _confirmation_text(unconfirmed: _Unconfirmed) -> str:
    counts = unconfirmed.summary.by_status
    return t(
        "{model} was added. Of {n} cases: {answered} answered, {unparsed} unparsed, {refused} "
        "refused, {skipped} left empty, {absent} absent.",
        model=unconfirmed.uploaded.model_id,
        n=unconfirmed.summary.n_cases,
        answered=counts.get("answered", 0),
        unparsed=counts.get("unparsed", 0),
        refused=counts.get("refused", 0),
        skipped=counts.get("skipped", 0),
        absent=unconfirmed.summary.n_absent,
    )
