"""Reads a UTF-8 text file in parts, so that memory use does not depend on its size."""

import codecs
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from study.base.budget import BUDGET
from study.base.errors import BadFile
from study.base.system import system_reason
from study.base.translation import t

_PART_BYTES = 1 << 20


@contextmanager
def open_bytes(path: Path) -> Iterator[BufferedReader]:
    """Open a file for reading bytes.

    Raises
    ------
    BadFile
        The file cannot be opened; the message states the reason.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise BadFile(f"{path} does not exist; check the path") from None
    except IsADirectoryError:
        raise BadFile(f"{path} is a folder; name the file inside it") from None
    except (OSError, ValueError) as error:
        raise BadFile(f"{path} cannot be read: {system_reason(error)}") from error
    with file:
        yield file


class TextFile:
    """A text file of which only a part is in memory; consumed text is dropped before more is read.

    Attributes
    ----------
    here : str
        The text in memory; it has been consumed up to the position `at`.
    is_complete : bool
        Whether the end of `here` is the end of the file.
    n_bytes, hash
        The number of bytes read so far, and their SHA-256.
    longest : int
        Maximum number of characters in a line or record.
    """

    def __init__(
        self, path: Path, file: BufferedReader, longest: int = BUDGET.record_characters
    ) -> None:
        self.path, self._file, self.longest = path, file, longest
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.hash = hashlib.sha256()
        self.n_bytes = self._n_lines = 0
        self.here, self.at = "", 0
        self._line = self._column = 1
        self.is_complete = False

    def more(self) -> bool:
        """Read the next part of the file; return whether there was any.

        Raises
        ------
        BadFile
            The part is not UTF-8; the message states the byte and the line.
        """
        if self.is_complete:
            return False
        self._forget()
        try:
            part = self._file.read(max(_PART_BYTES, len(self.here)))
        except OSError as error:
            raise BadFile(f"{self.path} cannot be read: {system_reason(error)}") from error
        pending, _ = self._decoder.getstate()
        try:
            self.here += self._decoder.decode(part, final=not part)
        except UnicodeDecodeError as error:
            at = self.n_bytes - len(pending) + error.start
            line = self._n_lines + (pending + part).count(b"\n", 0, error.start) + 1
            raise BadFile(
                f"{self.path} is not UTF-8: byte {at:,}, line {line:,}; save it as UTF-8 (in"
                " Excel: “CSV UTF-8”)"
            ) from None
        self.hash.update(part)
        self.n_bytes += len(part)
        self._n_lines += part.count(b"\n")
        self.is_complete = not part
        return not self.is_complete

    def _forget(self) -> None:
        n_lines = self.here.count("\n", 0, self.at)
        last = self.here.rfind("\n", 0, self.at)
        self._line += n_lines
        self._column = self.at - last if n_lines else self._column + self.at
        self.here, self.at = self.here[self.at :], 0

    def beginning(self) -> str:
        """Return the first part of the text without consuming it."""
        if not self.here:
            self.more()
        return self.here

    def lines(self) -> Iterator[str]:
        """Yield the lines with their line ends.

        Raises
        ------
        BadFile
            A line is longer than a record may be.
        """
        while True:
            end = self.here.find("\n", self.at) + 1
            if end:
                line, self.at = self.here[self.at : end], end
                yield line
            elif len(self.here) - self.at > self.longest:
                raise BadFile(
                    t(
                        "{name} has a line of more than {most} characters. Write each entry on a "
                        "line of its own.",
                        name=self.path,
                        most=f"{self.longest:,}",
                    )
                )
            elif not self.more():
                break
        if self.at < len(self.here):
            yield self.here[self.at :]
