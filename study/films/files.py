"""A film's file as it was imported, or a refusal: what a reader sees is what was checked."""

import hashlib
from pathlib import Path

from study.base.errors import StudyError


def imported_bytes(path: Path, sha256: str) -> bytes:
    """Return the bytes of a film's file, checked against its hash at import.

    Raises
    ------
    StudyError
        The file cannot be read, or was changed.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StudyError("This film cannot be read at present. Ask your coordinator.") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StudyError("This film was changed after its import. Ask your coordinator.")
    return data
