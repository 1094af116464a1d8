"""Imports a bank in a separate process, independent of the pages."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from typing import Any

from study.bank.importing import DEFAULT_OPTIONS, Imported
from study.bank.reading import ImportOptions
from study.bank.uploads import ReceivedBank, import_received
from study.base.actor import Acting
from study.base.budget import BUDGET
from study.base.errors import NotNow
from study.base.translation import t
from study.store import Store
from study.store.leases import lease
from ui.server.worker import FileBudget, Job, OnProgress

_NUMBERS = count(1)


class ImportJob(Job[Imported]):
    """The import of a bank: running, done, failed or cancelled.

    Its number is unique in this process, unlike the `id` of an object, which may be reused.
    """

    def __init__(
        self,
        store: Store,
        upload: ReceivedBank,
        name: str,
        options: ImportOptions,
        arguments: Mapping[str, Any],
    ) -> None:
        self.number, self.name, self._upload = next(_NUMBERS), name, upload
        file_budget = FileBudget(budget=BUDGET, name=upload.name) if upload.archive else None
        self._lease = ExitStack()
        if not self._lease.enter_context(lease(store, "import"))():
            raise NotNow(t("Another import is under way. Wait until it is done, then try again."))
        job_arguments = store.address, upload, options, {"name": name, **arguments}
        try:
            super().__init__(_import, *job_arguments, file_budget=file_budget, on_end=self._clear)
        except NotNow:
            self._lease.close()
            raise

    def _clear(self, was_ended: bool) -> None:
        self._lease.close()
        if was_ended:
            self._upload.discard()


_JOBS: dict[str, ImportJob] = {}


def begin(
    store: Store,
    upload: ReceivedBank,
    name: str,
    *,
    acting: Acting,
    chosen: Sequence[str] = (),
    options: ImportOptions = DEFAULT_OPTIONS,
) -> ImportJob:
    """Start an import; see `study.bank.uploads.import_received`.

    Raises
    ------
    NotNow
        Another import is running, on this or another server.
    """
    arguments = {"acting": acting, "chosen": chosen}
    try:
        job = _JOBS[store.address] = ImportJob(store, upload, name, options, arguments)
    except NotNow:
        upload.discard()
        raise
    return job


def current(store: Store) -> ImportJob | None:
    """Return the running import, or the last import until it is dismissed."""
    return _JOBS.get(store.address)


def put_away(store: Store) -> None:
    """Forget the last import, which has ended."""
    _JOBS.pop(store.address, None)


def _import(
    on_progress: OnProgress,
    address: str,
    upload: ReceivedBank,
    options: ImportOptions,
    arguments: Mapping[str, Any],
) -> Imported:
    return import_received(
        Store.at(address), upload, options=replace(options, progress=on_progress), **arguments
    )
