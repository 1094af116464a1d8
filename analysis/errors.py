"""The exceptions of the analysis, as a tree.

AnalysisError
├── BundleError    the input cannot be used; every fault is listed
├── OptionsError   an option has an invalid value
└── OutputError    the result cannot be written to the given folder
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

MAX_FAULTS_SHOWN = 200


def quoted(value: object) -> str:
    r"""Quote a value for a message: text in quotation marks, other values as JSON.

    Control characters and invisible characters in text are written as escapes.

    >>> quoted("R1\u200b"), quoted(2.5), quoted(None)
    ('“R1\\u200b”', '2.5', 'null')
    """
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False, default=str)
    return f"“{''.join(map(_escape_invisible, value))}”"


def _escape_invisible(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode()


class AnalysisError(Exception):
    """An error of the input, the options or the output, with a message for the user."""


class OptionsError(AnalysisError):
    """An option has an invalid value."""


class OutputError(AnalysisError):
    """The result cannot be written to the given folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An error in an input table.

    Parameters
    ----------
    file : str
        The file that has the error.
    row : int or None
        The row, where the header is row 1; None if the error concerns the file.
    what : str
        The error, with the invalid value.
    remedy : str
        What the user can do.
    """

    file: str
    row: int | None
    what: str
    remedy: str

    def __str__(self) -> str:
        place = self.file if self.row is None else f"{self.file}, row {self.row}"
        return f"{place}: {self.what}. {self.remedy}."


class BundleError(AnalysisError):
    """The input cannot be used; every fault is listed.

    Parameters
    ----------
    faults : sequence of Fault
        All faults, in the order of files and rows.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        lines = [str(fault) for fault in self.faults[:MAX_FAULTS_SHOWN]]
        left = len(self.faults) - MAX_FAULTS_SHOWN
        if left > 0:
            lines.append(f"... and {left} more faults of these kinds.")
        return "\n".join(lines)
