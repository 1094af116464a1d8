"""Closing and export of a study: files, downloads, and bundles from other servers.

The downloads require the cookie, unlike Streamlit's media files, which anyone with the address can
read. While accuracy is hidden, the bundle is blinded and there is no report. The files of the
archive are written once and kept next to the store, so that the displayed hash is the hash of the
download; writing them again replaces them. Bundles of other deployments are restored as a new study
or merged into an existing study.
"""

import json
import os
import secrets
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from study.base.canonical import stamp
from study.base.errors import BadFile, BadInput, NotFound, StudyError
from study.base.system import system_reason
from study.base.text import checked_reason
from study.base.translation import ENGLISH, t
from study.exchange import archives
from study.exchange.bundle import bundle_files, sha256_of_file, zip_files
from study.exchange.closing_report import report_files
from study.exchange.protocol_deposit import deposit_files
from study.lifecycle import studies
from study.lifecycle.scoring import count_answers_to_score
from study.lifecycle.studies import accuracy_is_shown
from study.monitoring.progress import Completeness, completeness_in
from study.people.roles import Act
from study.people.signing_in import Person
from study.store import Store, banks, events
from study.store.events import EventKind, EventRow
from study.store.studies import study_row
from study.trail import heads
from study.trail.trails import record_download, record_export
from ui.parts import actions
from ui.parts.forms import upload
from ui.parts.links import attachment
from ui.server.access import acting, answer
from ui.server.deployment import store
from ui.server.file_jobs import SavedFile, begin_job, merge_bundle, restore_bundle, save_upload
from ui.server.job_view import outcome_of

_CLOSING_MEDIA_TYPES = {"closing-report.html": "text/html", "missing.csv": "text/csv"}
_ZIP = "application/zip"
_REPORT_MEDIA_TYPES = {
    "report.zip": _ZIP,
    "report.html": "text/html",
    "report.pdf": "application/pdf",
}
_METADATA_FILE = "made.json"


def routes() -> list[Route]:
    """Return the download routes."""
    makers = {
        "bundle.zip": _bundle,
        "deposit.zip": _deposit,
        **dict.fromkeys(_REPORT_MEDIA_TYPES, _report),
        "figures/{name}": _figure,
        **dict.fromkeys(_CLOSING_MEDIA_TYPES, _closing_report),
        "archive/{name}": _archive,
    }
    return [_route(path, make) for path, make in makers.items()]


def _route(path: str, make: Callable[[Person, Request], Response]) -> Route:
    async def download(request: Request) -> Response:
        refused = t("Sign in with an account that can export the study.")
        return await answer(request, Act.EXPORT, lambda person: make(person, request), refused)

    return Route(f"/export/{path}", download, methods=["GET"])


def _bundle(person: Person, _: Request) -> Response:
    current_store, study = store(), person.study_name
    blinded = not accuracy_is_shown(current_store, study)
    content = zip_files(bundle_files(current_store, study, blinded=blinded))
    return _file_response(person, "bundle.zip", content, _ZIP)


def _deposit(person: Person, request: Request) -> Response:
    creators = request.query_params.getlist("author")
    now = acting(person).now
    files = deposit_files(store(), person.study_name, creators=creators, now=now)
    return _file_response(person, "deposit.zip", zip_files(files), _ZIP)


def _report(person: Person, request: Request) -> Response:
    """Return a page of the report, or the complete report, in English or the requested language."""
    # Importing the analysis takes longer than everything else in the server, and is rarely needed.
    from analysis import AnalysisError
    from ui.results.report_parts import report, report_file

    name, current_store, study = _requested_name(request), store(), person.study_name
    language = request.query_params.get("language", ENGLISH)
    try:
        content = (
            report(current_store, study, language)
            if _REPORT_MEDIA_TYPES[name] == _ZIP
            else report_file(current_store, study, name, language)
        )
    except AnalysisError as error:
        raise BadFile(str(error)) from error
    return _file_response(person, name, content, _REPORT_MEDIA_TYPES[name])


def _figure(person: Person, request: Request) -> Response:
    from analysis import AnalysisError
    from ui.results.report_parts import figure_file

    name, matrix = _requested_name(request), dict(request.query_params)
    try:
        content, media_type = figure_file(store(), person.study_name, name, matrix)
    except AnalysisError as error:
        raise BadFile(str(error)) from error
    return _file_response(person, name, content, media_type)


def _closing_report(person: Person, request: Request) -> Response:
    name = _requested_name(request)
    return _file_response(
        person, name, report_files(store(), person.study_name)[name], _CLOSING_MEDIA_TYPES[name]
    )


def _archive(person: Person, request: Request) -> Response:
    name = _requested_name(request)
    path = downloadable_file(person, name)
    return FileResponse(path, media_type="application/octet-stream", headers=attachment(name))


def _requested_name(request: Request) -> str:
    """Return the name of the requested file."""
    return request.url.path.rpartition("/")[2]


def _file_response(person: Person, name: str, content: bytes, media_type: str) -> Response:
    """Return a file, and record the download."""
    study = person.study_name
    record_download(store(), study=study, file=name, content=content, acting=acting(person))
    return Response(content, media_type=media_type, headers=attachment(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyState:
    """The state of a study, as shown on its page.

    `closed` is the event that records its closing; `licence` is the licence of its bank, if that
    restricts sharing.
    """

    state: str
    shows_accuracy: bool
    closed: EventRow | None
    completeness: Completeness
    licence: str
    has_words: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveFiles(archives.Archive):
    """The archive files of a study, with their author and time."""

    at_utc: str
    by: str


def state_of(person: Person) -> StudyState:
    """Return the state of a person's study."""
    with store().look() as look:
        row = study_row(look, person.study_name)
        source = banks.bank_row(look, row.bank_name).provenance
        trail = events.study_chain(person.study_name)
        closings = (
            event for event in events.walk(look, trail) if event.kind == EventKind.STUDY_CLOSED
        )
        return StudyState(
            state=row.state,
            shows_accuracy=studies.shows_accuracy(row),
            closed=next(closings, None) if row.state == "closed" else None,
            completeness=completeness_in(look, row),
            licence=source.licence if source.is_restricted else "",
            has_words=any(count_answers_to_score(look, row.id).values()),
        )


def close(person: Person, *, typed: str, reason: str) -> None:
    """Close a person's study after confirmation by typing its name.

    Raises
    ------
    BadInput
        The reason is missing, or the typed text is not the study's name.
    NotNow
        The study cannot be closed.
    """
    reason = checked_reason(reason)
    if not typed.strip():
        raise BadInput(t("Type the study's name to confirm the closing."))
    if typed.strip() != person.study_name:
        raise BadInput(t("This is not the study's name. Type it exactly as shown above the field."))
    current_store, study, actor = store(), person.study_name, acting(person)
    studies.close(current_store, study=study, reason=reason, acting=actor)
    heads.send_head(current_store, os.environ, study, acting=actor)


def make_archive_files(person: Person, *, texts: bool = True) -> None:
    """Write the archive files of a person's study, replacing earlier files.

    Parameters
    ----------
    texts
        Whether to include the texts of questions and options.
    """
    current_store, actor = store(), acting(person)
    place = _archive_folder(current_store, person)
    try:
        place.parent.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".making-") as scratch:
            new = Path(scratch) / "new"
            archived = archives.archive(
                current_store, new, study=person.study_name, texts=texts, acting=actor
            )
            details = {**asdict(archived), "at_utc": stamp(actor.now), "by": person.by.name}
            (new / _METADATA_FILE).write_text(json.dumps(details), encoding="utf-8")
            _replace_folder(new, place, Path(scratch))
    except OSError as error:
        raise StudyError(
            t("The files cannot be created: {why}. Try again.", why=system_reason(error))
        ) from error


def archive_files(person: Person) -> ArchiveFiles | None:
    """Return the archive files that may be downloaded now, or None."""
    current_store = store()
    try:
        result = json.loads(
            (_archive_folder(current_store, person) / _METADATA_FILE).read_text(encoding="utf-8")
        )
    except (OSError, ValueError):
        return None
    if not result["blinded"] and not studies.accuracy_is_shown(current_store, person.study_name):
        return None
    return ArchiveFiles(**result)


def downloadable_file(person: Person, name: str) -> Path:
    """Return the path of an archive file, and record its download.

    Raises
    ------
    NotFound
        The file does not exist, or may not be downloaded now.
    """
    current_store, result = store(), archive_files(person)
    if name == archives.SUMS:
        digest = sha256_of_file(_archive_folder(current_store, person) / name) if result else ""
    else:
        digest = result.sha256.get(name, "") if result else ""
    if not digest:
        raise NotFound(
            t(
                "This file is not available at present. Create the files on the page Close and "
                "export."
            )
        )
    study = person.study_name
    record_export(current_store, study=study, file=name, sha256=digest, acting=acting(person))
    return _archive_folder(current_store, person) / name


def _archive_folder(current_store: Store, person: Person) -> Path:
    return current_store.companion_path("archives") / str(person.study)


def _replace_folder(new: Path, place: Path, scratch: Path) -> None:
    with suppress(FileNotFoundError):
        place.rename(scratch / f"old-{secrets.token_hex(4)}")
    new.rename(place)


def restore_section(person: Person) -> None:
    """Show the form that restores a study's bundle, for administrators."""
    st.write(
        t(
            "A bundle exported from another server is restored as the original study: every "
            "reading, assignment, model and decision with its chain, checked before anything is "
            "saved. Bundles contain no images, names or codes, so reading cannot continue here."
        )
    )
    bundle = upload(t("Bundle"), types=["zip"], key="restore-file")
    actions.button(
        t("Restore the study"),
        lambda: _with_uploaded_bundle(bundle, lambda file: _restore(person, file)),
        key="restore",
    )


def merge_section(person: Person) -> None:
    """Show the form that merges another site's bundle, for users who may close the study."""
    st.write(
        t(
            "A bundle from another server that ran the same locked protocol joins this study: its "
            "readers, their readings and its chain. Both studies must be closed. If anything "
            "prevents the merge, it is listed and nothing is changed."
        )
    )
    bundle = upload(t("Bundle from the other site"), types=["zip"], key="merge-file")
    site = st.text_input(
        t("Site of these readers"),
        key="merge-site",
        max_chars=100,
        help=t("For readers with no site yet. If left empty, the other server's ID is used."),
    )
    actions.button(
        t("Merge the bundle"),
        lambda: _with_uploaded_bundle(bundle, lambda file: _merge(person, file, site)),
        key="merge",
    )


def _restore(person: Person, file: SavedFile) -> str:
    done = outcome_of(
        "restore",
        lambda: begin_job(restore_bundle, file, store().address, acting(person)),
        t("Checking {file}", file=file.name),
    )
    restored = t(
        "The study {study} has been restored: {readers} readers, {readings} readings, {models} "
        "models.",
        study=done.study,
        readers=done.n_readers,
        readings=done.n_readings,
        models=done.n_models,
    )
    return f"{restored} {done.note}".strip()


def _merge(person: Person, file: SavedFile, site: str) -> str:
    target = store().address, person.study_name, site
    merged = outcome_of(
        "merge",
        lambda: begin_job(merge_bundle, file, *target, acting(person)),
        t("Checking {file}", file=file.name),
    )
    return t(
        "Merged: {readers} from {site}, {readings} readings.",
        readers=", ".join(merged.readers),
        site=merged.site,
        readings=merged.n_readings,
    )


def _with_uploaded_bundle(bundle: Any, act: Callable[[SavedFile], str]) -> str:
    """Call a function with the uploaded bundle."""
    if bundle is None:
        raise BadInput(t("Choose a bundle (ZIP) first."))
    return act(save_upload(bundle.name, bundle))
