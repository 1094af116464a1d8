"""Reads the coordinator's list of readers, from a file or as pasted into the page."""

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path

from study.base.errors import BadFile, NotFound
from study.base.text import decoded
from study.base.translation import t

_COLUMNS = ("reader_id", "level", "years", "site", "name", "email")
"""Names and addresses are kept apart from the study, see `study.people.persons`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A reader to invite, under the code that stands for them in the study.

    `name` and `email` are kept apart from everything else and can be erased, see
    `study.people.persons`.
    """

    reader_id: str
    level: str = ""
    years: str = ""
    site: str = ""
    name: str = field(default="", repr=False)
    email: str = field(default="", repr=False)


def read_invitations(path: Path) -> list[Invitation]:
    """Read a CSV with the column ``reader_id`` and, if wanted, any of the others.

    They are ``level``, ``years``, ``site``, ``name`` and ``email``. Columns may be parted by comma,
    semicolon or tab, whichever the header has.

    Raises
    ------
    NotFound
        No such file.
    BadFile
        The file has faults; all of them are listed with their line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NotFound(
            t(
                "The list of readers {path} cannot be read: {strerror}.",
                path=path,
                strerror=error.strerror,
            )
        ) from error
    return _read(str(path), decoded(data, source=str(path)))


def parse_invitations(text: str, *, source: str) -> list[Invitation]:
    """Read such a list from its text.

    Raises
    ------
    BadFile
        The list has faults; all of them are listed with their line, under the name `source`.
    """
    return _read(source, text.lstrip("\ufeff"))


def _read(source: str, text: str) -> list[Invitation]:
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        rows = csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True)
        header = [name.strip().lower() for name in rows.fieldnames or ()]
        rows.fieldnames = header
        return _checked(source, header, [(rows.line_num, row) for row in rows])
    except csv.Error as error:
        raise BadFile(
            t("{source} is not a CSV file: {error}.", source=source, error=error)
        ) from error


def _checked(
    source: str,
    header: list[str],
    rows: list[tuple[int, dict[str | None, str | list[str] | None]]],
) -> list[Invitation]:
    faults = [
        t(
            "header: unknown column {name!r}. Known: {listed}.",
            name=name[:60],
            listed=", ".join(_COLUMNS),
        )
        for name in header
        if name not in _COLUMNS
    ]
    if len(set(header)) < len(header):
        faults.append(t("header: a column appears twice. Remove one."))
    if "reader_id" not in header:
        faults.append(t("header: the column reader_id is missing. Add it."))
    found = [_invitation(row) for _, row in rows]
    # Under a wrong header every line is wrong: of those only the header is told.
    lines = [] if faults else zip(rows, found, strict=True)
    for (line, row), invitation in lines:
        if None in row:
            faults.append(t("line {line}: there are more cells than columns.", line=str(line)))
        elif not invitation.reader_id:
            faults.append(
                t("line {line}: reader_id is empty. Enter a reader ID, such as R1.", line=str(line))
            )
        elif any(len(text) > 60 or not text.isprintable() for text in _texts(invitation)):
            faults.append(
                t(
                    "line {line}: a cell can hold at most 60 printable characters, on one line.",
                    line=str(line),
                )
            )
    if not rows:
        faults.append(t("there are no readers below the header."))
    if faults:
        listed = "\n".join(f"  {fault}" for fault in faults)
        raise BadFile(
            t(
                "{source}: {n} error(s); no one was invited.\n{listed}",
                source=source,
                n=len(faults),
                listed=listed,
            )
        )
    return found


def _texts(invitation: Invitation) -> tuple[str, ...]:
    about = (invitation.level, invitation.years, invitation.site, invitation.name)
    return invitation.reader_id, *about


def _invitation(row: dict[str | None, str | list[str] | None]) -> Invitation:
    cells = {name: str(row.get(name) or "").strip() for name in _COLUMNS}
    return Invitation(**cells)
