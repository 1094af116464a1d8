"""Reads the coordinator's list of readers."""

import csv
from pathlib import Path

from study.errors import BadFile, NotFound
from study.studies import Invitation

_COLUMNS = ("reader_id", "level", "years", "site")


def read_invitations(path: Path) -> list[Invitation]:
    """Read a CSV with the column ``reader_id`` and, if wanted, ``level``, ``years`` and ``site``.

    Raises
    ------
    NotFound
        No such file.
    BadFile
        The file has faults; all of them are listed with their line.
    """
    if not path.is_file():
        raise NotFound(f"No list of readers at {path}.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            header = [name.strip() for name in rows.fieldnames or ()]
            rows.fieldnames = header
            return _checked(path, header, [(rows.line_num, row) for row in rows])
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadFile(f"{path} is not a CSV file in UTF-8: {error}.") from error


def _checked(
    path: Path, header: list[str], rows: list[tuple[int, dict[str | None, str | list[str] | None]]]
) -> list[Invitation]:
    faults = [
        f"header: unknown column {name!r}. Known: {', '.join(_COLUMNS)}."
        for name in header
        if name not in _COLUMNS
    ]
    if "reader_id" not in header:
        faults.append("header: no column reader_id. Add it.")
    found = [_invitation(row) for _, row in rows]
    for (line, row), invitation in zip(rows, found, strict=True):
        if None in row:
            faults.append(f"line {line}: more cells than columns.")
        elif not invitation.reader_id:
            faults.append(f"line {line}: reader_id is empty. Give a study code, such as R1.")
        elif len(invitation.reader_id) > 60 or not invitation.reader_id.isprintable():
            faults.append(f"line {line}: reader_id must be at most 60 printable signs.")
    if not rows:
        faults.append("no reader below the header.")
    if faults:
        listed = "\n".join(f"  {fault}" for fault in faults)
        raise BadFile(f"{path}: {len(faults)} fault(s); nobody was invited.\n{listed}")
    return found


def _invitation(row: dict[str | None, str | list[str] | None]) -> Invitation:
    return Invitation(**{name: str(row.get(name) or "").strip() for name in _COLUMNS})
