"""Reads the coordinator's list of readers from a file, or from text pasted into the page."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from study.base.bank_model import Fault
from study.base.errors import BadFile
from study.base.text import did_you_mean, quoted
from study.base.translation import t, tn
from study.tables.columns import Kind, plain_key
from study.tables.table import Row, open_table, read_pasted_table

_COLUMNS = ("reader_id", "level", "years", "site", "name", "email")
"""The columns; names and addresses are stored separately, see `study.people.persons`."""

_COLUMN_OF = {plain_key(column): column for column in _COLUMNS}
_MAX_LENGTH = 60
MAX_EMAIL_LENGTH = 254
_EMAIL = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+\.[^\s@,;<>]+")
_YEARS = re.compile(r"[0-9]{1,2}([.,][0-9]+)?")
_SHORT_COLUMNS = ("reader_id", "level", "years", "site", "name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A reader to invite, identified by their study code.

    `name` and `email` are stored separately and can be erased; see `study.people.persons`.
    """

    reader_id: str
    level: str = ""
    years: str = ""
    site: str = ""
    name: str = field(default="", repr=False)
    email: str = field(default="", repr=False)


def read_invitations(path: Path) -> list[Invitation]:
    """Read a table (CSV, TSV or XLSX) of readers.

    The column ``reader_id`` is required; ``level``, ``years``, ``site``, ``name`` and ``email`` are
    optional.

    Raises
    ------
    BadFile
        The file cannot be read or has faults, which are all listed with their line.
    """
    with open_table(path, kind_of=_kind_of) as table:
        return _check_invitations(table.name, table.header, table.rows)


def parse_invitations(text: str, *, source: str) -> list[Invitation]:
    """Read a list of readers from text copied from a spreadsheet.

    Raises
    ------
    BadFile
        The list has faults, which are all listed with their line; `source` is the list's name.
    """
    header, rows = read_pasted_table(text, name=source, kind_of=_kind_of)
    return _check_invitations(source, header, rows)


def email_fault(email: str) -> str:
    """Return what is wrong with an e-mail address; empty if it is valid or empty."""
    if not email or (len(email) <= MAX_EMAIL_LENGTH and _EMAIL.fullmatch(email)):
        return ""
    return t("{email} is not a valid email address. Write it as name@example.org.", email=email)


def years_fault(years: str) -> str:
    """Return what is wrong with years of experience; empty if they are valid or empty.

    The analysis groups readers by this number, and leaves out readers for whom it is not a number.
    """
    if not years or _YEARS.fullmatch(years):
        return ""
    return t(
        "years must be a number, such as 2 or 2.5, not “{years}”. Leave it empty if it is unknown.",
        years=years,
    )


def _kind_of(column: str) -> Kind:
    return Kind.NUMBER if plain_key(column) == "years" else Kind.TEXT


def _check_invitations(
    source: str, header: Sequence[str], rows: Iterable[Row | Fault]
) -> list[Invitation]:
    faults = list(_header_faults(header))
    invitations: list[Invitation] = []
    # If the header is wrong, every line is wrong, so only the header is reported.
    n_rows = 0
    for row in rows if not faults else ():
        n_rows += 1
        if isinstance(row, Fault):
            faults.append(str(row))
            continue
        invitation = _invitation(row)
        invitations.append(invitation)
        faults += _row_faults(row.place, invitation)
    if not faults and not n_rows:
        faults.append(t("There are no readers below the header."))
    if faults:
        title = tn(
            "{source}: 1 error; no one was invited.",
            "{source}: {n} errors; no one was invited.",
            len(faults),
            source=source,
        )
        raise BadFile("\n".join([title, *(f"  {fault}" for fault in faults)]))
    return invitations


def _header_faults(header: Sequence[str]) -> Iterator[str]:
    known_names = [plain_key(name) in _COLUMN_OF for name in header if name]
    known = ", ".join(_COLUMNS)
    if known_names and not any(known_names):
        yield t(
            "The first line must name the columns: reader_id and, optionally, others of {known}. "
            "Below it, enter one reader per line.",
            known=known,
        )
        return
    for name in header:
        if name and plain_key(name) not in _COLUMN_OF:
            yield t(
                "header: unknown column {name}. Known: {listed}.",
                name=quoted(name[:60]),
                listed=known,
            ) + did_you_mean(name, _COLUMNS)
    if plain_key("reader_id") not in map(plain_key, header):
        yield t("header: the column reader_id is missing. Add it.")


def _row_faults(place: str, invitation: Invitation) -> Iterator[str]:
    if not invitation.reader_id:
        yield t("{place}: reader_id is empty. Enter a reader ID, such as R1.", place=place)
    for column in _SHORT_COLUMNS:
        text = getattr(invitation, column)
        if len(text) > _MAX_LENGTH:
            yield t(
                "{place}: {column} has {n} characters; the limit is {most}. Shorten it.",
                place=place,
                column=column,
                n=len(text),
                most=_MAX_LENGTH,
            )
        elif not text.isprintable():
            yield t(
                "{place}: {column} contains a line break or another unprintable character. "
                "Remove it.",
                place=place,
                column=column,
            )
    for fault in (years_fault(invitation.years), email_fault(invitation.email)):
        if fault:
            yield f"{place}: {fault}"


def _invitation(row: Row) -> Invitation:
    cells = {_COLUMN_OF[plain_key(name)]: text.strip() for name, text in row.cells.items()}
    return Invitation(**cells)
