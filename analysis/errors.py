"""The exceptions of the analysis, one tree.

AnalysisError
├── BundleError    the input cannot be used; every fault is listed
├── OptionsError   an option has a value that makes no sense
└── OutputError    the result cannot be written where it was asked for
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SHOWN_FAULTS = 200


class AnalysisError(Exception):
    """Anything the analysis refuses, with a message fit for the person who asked."""


class OptionsError(AnalysisError):
    """An option has a value that makes no sense."""


class OutputError(AnalysisError):
    """The result cannot be written where it was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with an input table.

    Parameters
    ----------
    file : str
        The file it was found in.
    row : int or None
        The row, the header being row 1; None when the whole file is meant.
    what : str
        What is wrong, naming the value.
    remedy : str
        What to do about it.
    """

    file: str
    row: int | None
    what: str
    remedy: str

    def __str__(self) -> str:
        where = self.file if self.row is None else f"{self.file}, row {self.row}"
        return f"{where}: {self.what}. {self.remedy}."


class BundleError(AnalysisError):
    """The input cannot be used; every fault is listed.

    Parameters
    ----------
    faults : sequence of Fault
        All that was found, in the order of files and rows.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        lines = [str(fault) for fault in self.faults[:SHOWN_FAULTS]]
        left = len(self.faults) - SHOWN_FAULTS
        if left > 0:
            lines.append(f"... and {left} more faults of these kinds.")
        return "\n".join(lines)
