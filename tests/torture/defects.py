"""Deliberate defects of the server, each of which the fault suite must find."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from study.people.signing_in import person_of
from study.reading import accepting, desk
from study.reading.records import canonical_letter
from study.store import postgres, readings
from study.store.studies import STUDY
from ui.server.deployment import store


@dataclass(frozen=True, kw_only=True)
class Defect:
    """A defect: `plant` changes the server's process, `found_as` is the count that shows it.

    By default it applies to every `engine`, and any `fault` reveals it.
    """

    plant: Callable[[], None]
    found_as: str
    engine: str = ""
    fault: str = ""


FROZEN = "database frozen until requests are refused"
SUSPENDED = "program of staff suspended in the middle of a change"

_COMMITTED_AFTER_S = 0.5


def _acknowledge_before_commit() -> None:
    """Acknowledge records that are stored half a second later."""
    take, lock = desk.take_in_transaction, threading.Lock()
    waiting: dict[int | None, tuple[Any, Any, Any]] = {}

    def store_waiting(change: Any, reader: int | None) -> None:
        with lock:
            arguments = waiting.pop(reader, None)
        if arguments:
            take(change, *arguments[:2], now=arguments[2])

    def store_later(reader: int | None) -> None:
        with store().desk() as change:
            store_waiting(change, reader)

    def early(change: Any, person: Any, records: Any, *, now: Any) -> desk.Acknowledgement:
        store_waiting(change, person.reader)
        heads = dict(change.heads)
        change.execute("SAVEPOINT early")
        receipts = take(change, person, records, now=now)
        change.execute("ROLLBACK TO early")
        change.heads = heads
        with lock:
            waiting[person.reader] = (person, records, now)
        threading.Timer(_COMMITTED_AFTER_S, store_later, (person.reader,)).start()
        return receipts

    patch.object(desk, "take_in_transaction", early).start()


def _forget_known_records() -> None:
    """Treat a repeated record as new."""
    _replace_in_accepting(by_id=lambda *_: None)


def _report_refusals_as_stored() -> None:
    original = desk.Acknowledgement.of

    def of(taken: Any, reader_desk: Any, **more: Any) -> desk.Acknowledgement:
        stored = tuple(record.id for record in taken)
        return replace(original(taken, reader_desk, **more), stored=stored, refused=())

    patch.object(desk.Acknowledgement, "of", of).start()


def _store_twice() -> None:
    def add(change: Any, of: Any, **columns: Any) -> None:
        readings.add(change, of, **columns)
        if of is STUDY:
            repeated = {"id": f"{columns['id']}-2", "supersedes": columns["id"]}
            readings.add(change, of, **{**columns, **repeated})

    _replace_in_accepting(add=add)


def _store_another_option() -> None:
    patch.object(
        accepting, "canonical_letter", lambda shown, order: canonical_letter(shown, order[::-1])
    ).start()


def _refuse_without_reason() -> None:
    gate = accepting._preparation_refusal

    def refusing(at: Any) -> str:
        return "Refused." if sum(at.assigned.id.encode()) % 8 == 0 else gate(at)

    patch.object(accepting, "_preparation_refusal", refusing).start()


def _store_without_event() -> None:
    patch.object(accepting, "_vouch", lambda *_: None).start()


def _lock_out_readers() -> None:
    def without_some(look: Any, token: str, **more: Any) -> Any:
        person = person_of(look, token, **more)
        return None if person and sum(person.name.encode()) % 2 else person

    patch("ui.reading.desk.person_of", without_some).start()


def _wait_for_a_frozen_database() -> None:
    postgres._ANSWER_S = 600.0


def _keep_locks_while_suspended() -> None:
    postgres._STAFF_IDLE_S = 600.0


def _replace_in_accepting(**functions: Any) -> None:
    """Replace functions of `study.store.readings` where records are accepted."""

    class Changed:
        def __getattr__(self, name: str) -> Any:
            return functions.get(name) or getattr(readings, name)

    patch.object(accepting, "readings", Changed()).start()


DEFECTS: Mapping[str, Defect] = {
    "acknowledged-before-commit": Defect(plant=_acknowledge_before_commit, found_as="lost"),
    "refusals-reported-as-stored": Defect(plant=_report_refusals_as_stored, found_as="lost"),
    "stored-twice": Defect(plant=_store_twice, found_as="duplicated"),
    "another-option-stored": Defect(plant=_store_another_option, found_as="wrong"),
    "known-records-forgotten": Defect(plant=_forget_known_records, found_as="refused"),
    "refused-without-reason": Defect(plant=_refuse_without_reason, found_as="refused"),
    "readers-locked-out": Defect(plant=_lock_out_readers, found_as="stuck"),
    "stored-without-event": Defect(plant=_store_without_event, found_as="unverified"),
    "frozen-database-waited-for": Defect(
        plant=_wait_for_a_frozen_database, found_as="hung", engine="postgres", fault=FROZEN
    ),
    "locks-kept-while-suspended": Defect(
        plant=_keep_locks_while_suspended, found_as="hung", engine="postgres", fault=SUSPENDED
    ),
}
