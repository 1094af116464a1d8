"""Receipts: twelve signs a reader keeps, by which their readings can be known again.

A receipt such as ``r1 · 60 of 60 · 7QK2-M9XD-4T3N`` is made of the hash of the reader's last
reading event, their study code and the hash of the locked protocol. An event's hash covers the
reading and every event before it, so that whoever changes an answer, their own or another's, and
writes all hashes anew cannot give the same twelve signs (60 bits) again. It says nothing of right
or wrong.
"""

from study.base.canonical import sha256_of
from study.people.codes import SIGNS
from study.people.signing_in import Person
from study.store import Store, Transaction, events, readings, studies
from study.store.events import EventKind
from study.store.studies import StudyRow

_LENGTH, _GROUP = 12, 4


def receipt(look: Transaction, study: StudyRow, reader: int, reader_id: str) -> str:
    """Return a reader's receipt for what they have read so far; empty where that is nothing.

    Parameters
    ----------
    study
        The study's row.
    reader, reader_id
        The reader's number, and the study code they read under.
    """
    chain = events.study_chain(study.name)
    last = events.last_hash(look, chain, EventKind.CASE_READ, reader_id)
    if last is None:
        return ""
    counts = readings.counts(look, reader)
    twelve = signs(study.protocol_sha256, reader_id, last)
    return _text(reader_id, counts.n_read, counts.n_assigned, twelve)


def receipt_of(store: Store, person: Person) -> str:
    """Return the receipt of whoever is signed in as a reader, or an empty text."""
    with store.look(sealed=True) as look:
        study = studies.find(look, person.study_name)
        if study is None or person.reader is None:
            return ""
        return receipt(look, study, person.reader, person.name)


def signs(protocol_sha256: str, reader_id: str, event_hash: str) -> str:
    """Return the twelve signs for what a reader had read when an event was written."""
    digest = int(sha256_of(["receipt", protocol_sha256, reader_id, event_hash]), 16) >> 196
    return "".join(SIGNS[(digest >> 5 * place) & 31] for place in reversed(range(_LENGTH)))


def _text(reader_id: str, n_read: int, n_assigned: int, signs: str) -> str:
    groups = (signs[start : start + _GROUP] for start in range(0, _LENGTH, _GROUP))
    return f"{reader_id} · {n_read} of {n_assigned} · {'-'.join(groups)}"
