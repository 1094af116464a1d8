"""Reads a list of item ids: pasted, one a line, or a column of a table."""

import csv
import re
from pathlib import Path

from study.bank.fields import SPELLINGS
from study.bank.source import plain_key
from study.base.errors import NotFound
from study.base.text import decoded
from study.base.translation import t

_ID = {plain_key(spelling) for spelling in SPELLINGS["item_id"]}


def ids_in(text: str) -> list[str]:
    r"""Return the ids in a text, each once, in order.

    Of a table whose first line names a column `item_id`, as a bank may spell it, that column; else
    whatever stands between ends of lines, commas, semicolons and tabs.

    >>> ids_in("q2\nq1, q2"), ids_in("No.;Item ID\n1;q7\n2;q5")
    (['q1', 'q2'], ['q5', 'q7'])
    """
    lines = text.removeprefix("\ufeff").splitlines()
    head = lines[0] if lines else ""
    for delimiter in "\t;,":
        names = [plain_key(name) for name in next(csv.reader([head], delimiter=delimiter), [])]
        place = next((n for n, name in enumerate(names) if name in _ID), None)
        if place is not None:
            rows = csv.reader(lines[1:], delimiter=delimiter)
            return _sorted([row[place] for row in rows if len(row) > place])
    return _sorted(re.split(r"[\n\t;,]", "\n".join(lines)))


def _sorted(found: list[str]) -> list[str]:
    return sorted({one.strip().strip('"') for one in found} - {""})


def ids_beside(protocol: Path, name: str) -> list[str]:
    """Return the ids in a file that lies beside a protocol file.

    Raises
    ------
    NotFound
        It is not there, or lies elsewhere.
    """
    path = protocol.parent / name
    try:
        if Path(name).name != name:
            raise FileNotFoundError(2, t("it has to lie beside the protocol file"))
        return ids_in(decoded(path.read_bytes(), source=name))
    except OSError as error:
        raise NotFound(
            t(
                "The list {name} of the protocol file cannot be read: {strerror}.",
                name=name,
                strerror=error.strerror,
            )
        ) from error
