"""Reads uploaded files in a worker: predictions, lists of readers, lists of item IDs, bundles."""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from study.base.actor import Acting
from study.base.budget import BUDGET
from study.base.errors import BadFile, BeyondBudget
from study.base.system import system_reason
from study.base.text import file_name, refuse_empty
from study.base.translation import t
from study.exchange.restoring import Merged, Restored, merge, restore
from study.models.files import ColumnRoles, have_usual_names, remember_columns
from study.models.models import FileSummary, keep_model, read_model, summary_of
from study.models.predictions import columns_of
from study.people.invitations import Invitation, read_invitations
from study.protocol.checks import ids_in_file
from study.store import Store
from ui.server.worker import FileBudget, Job, OnProgress

_PART_BYTES = 1 << 20
_N_EXAMPLES = 10
_Result = TypeVar("_Result")


class SavedFile:
    """An uploaded file in a separate folder, which is removed with this object."""

    def __init__(self, name: str) -> None:
        folder = tempfile.mkdtemp(prefix="reading-room-")
        self.path = Path(folder) / file_name(name)
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    @property
    def name(self) -> str:
        """Return the file's name as uploaded."""
        return self.path.name


def save_upload(name: str, file: IO[bytes]) -> SavedFile:
    """Write an uploaded file to disk in parts.

    Raises
    ------
    BadFile
        The file is empty or cannot be written.
    """
    try:
        saved = SavedFile(name)
        file.seek(0)
        with saved.path.open("xb") as copy:
            shutil.copyfileobj(file, copy, _PART_BYTES)
    except OSError as error:
        reason = system_reason(error)
        raise BadFile(t("{name} cannot be saved: {why}.", name=name, why=reason)) from error
    refuse_empty(name, saved.path.stat().st_size)
    return saved


def begin_job(do: Callable[..., _Result], file: SavedFile, *arguments: Any) -> Job[_Result]:
    """Start a job for one of the functions below; its file is kept until the job ends.

    Raises
    ------
    NotNow
        The maximum number of files is already being read.
    """
    files = [file]

    def release(_: bool) -> None:
        files.clear()

    file_budget = FileBudget(budget=BUDGET, name=file.name)
    return Job(do, file.path, *arguments, file_budget=file_budget, on_end=release)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """The result of reading a prediction file: a summary, or the refusal and the columns.

    `is_unknown` means that the columns have unknown names, so the user must assign them.
    """

    summary: FileSummary | None = None
    refusal: str = ""
    columns: tuple[str, ...] = ()
    is_unknown: bool = False


# The following functions run in the worker.


def read_model_file(
    _: OnProgress, path: Path, db: str, study: str, column_roles: ColumnRoles | None = None
) -> ModelFile:
    """Read a prediction file for a study, without keeping anything."""
    try:
        with _uploaded_name(path):
            summary = read_model(Store.at(db), path, study=study, column_roles=column_roles)
    except BeyondBudget:
        raise  # reading the file again for its columns would take as long
    except BadFile as error:
        with _uploaded_name(path):
            columns = columns_of(path)
        return ModelFile(
            refusal=str(error),
            columns=columns,
            is_unknown=bool(columns) and not have_usual_names(columns),
        )
    return ModelFile(
        summary=summary_of(summary, n_examples=_N_EXAMPLES), columns=summary.file.columns
    )


def store_model_file(
    _: OnProgress,
    path: Path,
    db: str,
    study: str,
    column_roles: ColumnRoles,
    arguments: Mapping[str, Any],
) -> FileSummary:
    """Read a prediction file again and store it; `arguments` are those of `keep_model`."""
    store = Store.at(db)
    with _uploaded_name(path):
        summary = read_model(store, path, study=study, column_roles=column_roles or None)
    keep_model(store, summary, **arguments)
    if column_roles:
        remember_columns(store, summary.file.columns, column_roles, arguments["acting"].now)
    return summary_of(summary)


def read_reader_list(_: OnProgress, path: Path) -> list[Invitation]:
    """Read a list of readers."""
    with _uploaded_name(path):
        return read_invitations(path)


def read_ids(_: OnProgress, path: Path) -> list[str]:
    """Read a list of item IDs."""
    with _uploaded_name(path):
        return ids_in_file(path)


@contextmanager
def _uploaded_name(path: Path) -> Iterator[None]:
    """Make error messages use the name under which a file was uploaded."""
    try:
        yield
    except BadFile as error:
        kind = BeyondBudget if isinstance(error, BeyondBudget) else BadFile
        raise kind(str(error).replace(f"{path.parent}/", "")) from error


def restore_bundle(_: OnProgress, path: Path, db: str, acting: Acting) -> Restored:
    """Restore the study in a bundle."""
    with _uploaded_name(path):
        return restore(Store.at(db), path, acting=acting)


def merge_bundle(
    _: OnProgress, path: Path, db: str, study: str, site: str, acting: Acting
) -> Merged:
    """Merge a bundle into a study."""
    with _uploaded_name(path):
        return merge(Store.at(db), path, study=study, site=site, acting=acting)
