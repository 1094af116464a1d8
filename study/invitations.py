"""Reads the coordinator's list of readers."""

import csv
import io
from pathlib import Path

from study.errors import BadFile, NotFound
from study.studies import Invitation

_COLUMNS = ("reader_id", "level", "years", "site")


def read_invitations(path: Path) -> list[Invitation]:
    """Read a CSV with the column ``reader_id`` and, if wanted, ``level``, ``years`` and ``site``.

    Columns may be parted by comma, semicolon or tab, whichever the header has.

    Raises
    ------
    NotFound
        No such file.
    BadFile
        The file has faults; all of them are listed with their line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise NotFound(f"The list of readers {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadFile(f"{path} is not in UTF-8: {error}. Save it as CSV UTF-8.") from error
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        rows = csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True)
        header = [name.strip().lower() for name in rows.fieldnames or ()]
        rows.fieldnames = header
        return _checked(path, header, [(rows.line_num, row) for row in rows])
    except csv.Error as error:
        raise BadFile(f"{path} is not a CSV file: {error}.") from error


def _checked(
    path: Path, header: list[str], rows: list[tuple[int, dict[str | None, str | list[str] | None]]]
) -> list[Invitation]:
    faults = [
        f"header: unknown column {name!r}. Known: {', '.join(_COLUMNS)}."
        for name in header
        if name not in _COLUMNS
    ]
    if len(set(header)) < len(header):
        faults.append("header: a column stands there twice. Leave one out.")
    if "reader_id" not in header:
        faults.append("header: no column reader_id. Add it.")
    found = [_invitation(row) for _, row in rows]
    for (line, row), invitation in zip(rows, found, strict=True):
        if None in row:
            faults.append(f"line {line}: more cells than columns.")
        elif not invitation.reader_id:
            faults.append(f"line {line}: reader_id is empty. Give a study code, such as R1.")
        elif any(len(text) > 60 or not text.isprintable() for text in _texts(invitation)):
            faults.append(f"line {line}: a cell holds at most 60 printable signs, in one line.")
    if not rows:
        faults.append("no reader below the header.")
    if faults:
        listed = "\n".join(f"  {fault}" for fault in faults)
        raise BadFile(f"{path}: {len(faults)} fault(s); nobody was invited.\n{listed}")
    return found


def _texts(invitation: Invitation) -> tuple[str, ...]:
    return invitation.reader_id, invitation.level, invitation.years, invitation.site


def _invitation(row: dict[str | None, str | list[str] | None]) -> Invitation:
    return Invitation(**{name: str(row.get(name) or "").strip() for name in _COLUMNS})
