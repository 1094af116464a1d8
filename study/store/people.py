"""Readers, the people behind them and behind every role, their codes' hashes and sign-ins."""

from typing import Any, TypedDict

from study.store.connection import Transaction


class Span(TypedDict):
    """When a sign-in that still stands for somebody may have been made, and used last."""

    since_utc: str
    until_utc: str
    active_since_utc: str


_STANDS = (
    "(at_utc BETWEEN :since_utc AND :until_utc "
    "AND active_at_utc BETWEEN :active_since_utc AND :until_utc)"
)
_STANDING = (
    "SELECT grants.*, studies.name AS study_name, studies.state, studies.discarded_at_utc, "
    "readers.reader_id FROM grants LEFT JOIN studies ON studies.id = grants.study "
    "LEFT JOIN readers ON readers.id = grants.reader "
)


def add_reader(change: Transaction, **columns: Any) -> int:
    """Insert a reader's row and return its id."""
    return change.insert("readers", **columns)


def reader(look: Transaction, study: int, reader_id: str) -> dict[str, Any] | None:
    """Return a reader's row, or None."""
    return look.row(
        "SELECT * FROM readers WHERE study = :study AND reader_id = :reader_id",
        study=study,
        reader_id=reader_id,
    )


def readers(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return a study's readers in the order of their invitation."""
    return look.rows("SELECT * FROM readers WHERE study = :study ORDER BY id", study=study)


def reader_row(look: Transaction, number: int) -> dict[str, Any] | None:
    """Return a reader by rowid with the study's name and state, or None."""
    return look.row(
        "SELECT readers.*, studies.name AS study_name, studies.state FROM readers "
        "JOIN studies ON studies.id = readers.study WHERE readers.id = :number",
        number=number,
    )


def mark_simulated(change: Transaction, number: int) -> None:
    """Mark a reader as simulated, for good."""
    change.execute("UPDATE readers SET simulated = 1 WHERE id = :number", number=number)


def add(change: Transaction, *, handle: str, made_at_utc: str) -> int:
    """Insert a person and return their id; readers have no handle but their study codes."""
    return change.insert("people", handle=handle, made_at_utc=made_at_utc)


def see(change: Transaction, number: int, at_utc: str) -> None:
    """Note when a person last signed in."""
    change.execute(
        "UPDATE people SET seen_at_utc = :at_utc WHERE id = :number", at_utc=at_utc, number=number
    )


def person(look: Transaction, number: int) -> dict[str, Any] | None:
    """Return a person's row, or None."""
    return look.row("SELECT * FROM people WHERE id = :number", number=number)


def grant(change: Transaction, **columns: Any) -> int:
    """Insert a role given to a person and return its id."""
    return change.insert("grants", **columns)


def revoke(change: Transaction, grant_id: int, at_utc: str) -> None:
    """End a role."""
    change.execute(
        "UPDATE grants SET revoked_at_utc = :at_utc "
        "WHERE id = :grant_id AND revoked_at_utc IS NULL",
        at_utc=at_utc,
        grant_id=grant_id,
    )


def roles_held(look: Transaction, person_id: int) -> list[dict[str, Any]]:
    """Return the roles a person holds, each with its study's name and state, oldest first."""
    return look.rows(
        _STANDING + "WHERE person = :person_id AND revoked_at_utc IS NULL ORDER BY grants.id",
        person_id=person_id,
    )


def grant_row(look: Transaction, grant_id: int) -> dict[str, Any] | None:
    """Return a role ever given, with whom it was given to and its study's name, or None."""
    return look.row(
        "SELECT grants.*, handle, readers.reader_id, studies.name AS study_name FROM grants "
        "JOIN people ON people.id = grants.person LEFT JOIN readers ON readers.id = grants.reader "
        "LEFT JOIN studies ON studies.id = grants.study WHERE grants.id = :grant_id",
        grant_id=grant_id,
    )


def grants_of_study(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return every role ever given in a study, with whom it was given to."""
    return look.rows(
        "SELECT grants.*, handle, seen_at_utc, readers.reader_id, level, years, site, simulated "
        "FROM grants JOIN people ON people.id = grants.person "
        "LEFT JOIN readers ON readers.id = grants.reader "
        "WHERE grants.study = :study ORDER BY grants.id",
        study=study,
    )


def grants_of_deployment(look: Transaction) -> list[dict[str, Any]]:
    """Return every role ever given for the deployment as a whole, with whom it was given to."""
    return look.rows(
        "SELECT grants.*, handle, seen_at_utc FROM grants JOIN people ON people.id = grants.person "
        "WHERE grants.study IS NULL ORDER BY grants.id"
    )


def given(look: Transaction, grant_id: int) -> dict[str, Any] | None:
    """Return a role as it was given, ended or not, or None."""
    return look.row("SELECT * FROM grants WHERE id = :grant_id", grant_id=grant_id)


def holder(
    look: Transaction, *, handle: str, role: str, study: int | None
) -> dict[str, Any] | None:
    """Return the standing role held under a handle, or None."""
    return look.row(
        "SELECT grants.* FROM grants JOIN people ON people.id = grants.person "
        "WHERE handle = :handle AND role = :role AND study IS :study AND revoked_at_utc IS NULL",
        handle=handle,
        role=role,
        study=study,
    )


def ever(look: Transaction, person_id: int) -> list[dict[str, Any]]:
    """Return every role a person holds or held, with their handle and reader's code."""
    return look.rows(
        "SELECT grants.*, handle, readers.reader_id FROM grants "
        "JOIN people ON people.id = grants.person LEFT JOIN readers ON readers.id = grants.reader "
        "WHERE person = :person_id ORDER BY grants.id",
        person_id=person_id,
    )


def name_handle(change: Transaction, number: int, handle: str) -> None:
    """Give a person a handle if they have none: one who only read so far."""
    change.execute(
        "UPDATE people SET handle = :handle WHERE id = :number AND handle = ''",
        number=number,
        handle=handle,
    )


def staff_named(look: Transaction, handle: str) -> list[int]:
    """Return the people who hold a role other than reader under a handle."""
    rows = look.rows(
        "SELECT DISTINCT person FROM grants JOIN people ON people.id = grants.person "
        "WHERE handle = :handle AND role <> 'reader' AND revoked_at_utc IS NULL ORDER BY person",
        handle=handle,
    )
    return [int(row["person"]) for row in rows]


def of_reader(look: Transaction, reader: int) -> int | None:
    """Return the person who reads as a reader, or None where nobody does any more."""
    found = look.value(
        "SELECT person FROM grants WHERE reader = :reader AND revoked_at_utc IS NULL",
        reader=reader,
    )
    return None if found is None else int(found)


def set_code(change: Transaction, person_id: int, **columns: Any) -> None:
    """Give a person an access code; one they had before and its sign-ins end."""
    end_access(change, person_id)
    change.insert("codes", person=person_id, **columns)


def end_sign_ins(change: Transaction, person_id: int) -> None:
    """End all sign-ins of a person, in every browser."""
    change.execute("DELETE FROM sign_ins WHERE person = :person_id", person_id=person_id)


def end_access(change: Transaction, person_id: int) -> None:
    """Delete a person's code and end all their sign-ins."""
    for table in ("codes", "sign_ins"):
        change.execute(f"DELETE FROM {table} WHERE person = :person_id", person_id=person_id)


def code(look: Transaction, person_id: int) -> dict[str, Any] | None:
    """Return what is stored of a person's code, or None."""
    return look.row("SELECT * FROM codes WHERE person = :person_id", person_id=person_id)


def by_lookup(look: Transaction, lookup: str) -> dict[str, Any] | None:
    """Return what is stored of a code by its open part, or None."""
    return look.row("SELECT * FROM codes WHERE lookup = :lookup", lookup=lookup)


def count_failure(change: Transaction, person_id: int) -> int:
    """Count a wrong try at a code and return how many there were since its owner last came."""
    change.execute(
        "UPDATE codes SET failures = failures + 1 WHERE person = :person_id", person_id=person_id
    )
    found = change.value(
        "SELECT failures FROM codes WHERE person = :person_id", person_id=person_id
    )
    return int(found or 0)


def forget_failures(change: Transaction, person_id: int) -> None:
    """Take the count of wrong tries back to none."""
    change.execute(
        "UPDATE codes SET failures = 0 WHERE person = :person_id AND failures > 0",
        person_id=person_id,
    )


def add_sign_in(change: Transaction, **columns: Any) -> None:
    """Insert a sign-in: it lasts until it is ended, or its person's code is replaced."""
    change.insert("sign_ins", **columns)


def choose(change: Transaction, token_id: str, standing: int, study: int | None) -> None:
    """Let a sign-in go on in another role or study of its person."""
    change.execute(
        "UPDATE sign_ins SET standing = :standing, study = :study WHERE id = :token_id",
        standing=standing,
        study=study,
        token_id=token_id,
    )


def end_sign_in(change: Transaction, token_id: str) -> None:
    """Delete a sign-in."""
    change.execute("DELETE FROM sign_ins WHERE id = :token_id", token_id=token_id)


def end_old_sign_ins(change: Transaction, span: Span) -> None:
    """Delete the sign-ins that stand for nobody any more."""
    change.execute(f"DELETE FROM sign_ins WHERE NOT {_STANDS}", **span)


def by_sign_in(look: Transaction, token_id: str, span: Span) -> dict[str, Any] | None:
    """Return a sign-in that still stands for somebody with its person's handle, or None."""
    return look.row(
        "SELECT sign_ins.*, handle FROM sign_ins JOIN people ON people.id = sign_ins.person "
        f"WHERE sign_ins.id = :token_id AND {_STANDS}",
        token_id=token_id,
        **span,
    )


def sign_ins(look: Transaction) -> list[dict[str, Any]]:
    """Return every sign-in with its person's handle."""
    return look.rows(
        "SELECT sign_ins.*, handle FROM sign_ins JOIN people ON people.id = sign_ins.person"
    )


def mark_active(change: Transaction, token_id: str, at_utc: str) -> None:
    """Note that somebody is at the computer of a sign-in."""
    change.execute(
        "UPDATE sign_ins SET active_at_utc = :at_utc WHERE id = :token_id",
        at_utc=at_utc,
        token_id=token_id,
    )


def add_place(change: Transaction, **columns: Any) -> None:
    """Insert a place by its mark, unless it is known."""
    change.execute(
        "INSERT INTO places (mark, address, agent, first_seen_at_utc) "
        "VALUES (:mark, :address, :agent, :first_seen_at_utc) ON CONFLICT DO NOTHING",
        **columns,
    )


def places(look: Transaction) -> dict[str, dict[str, Any]]:
    """Return the known places by their mark."""
    return {row["mark"]: row for row in look.rows("SELECT * FROM places")}


def knows_place(look: Transaction, mark: str) -> bool:
    """Return whether a place is known by its mark."""
    return look.value("SELECT 1 FROM places WHERE mark = :mark", mark=mark) is not None
