"""Add files to a folder, all of them or none."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analysis.errors import OutputError


@contextmanager
def destination(out: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the path of a folder without links, and the folder or its nearest existing parent.

    Raises
    ------
    OutputError
        A file cannot be written within the `with` block.
    """
    try:
        place = Path(os.path.realpath(out))  # a link may point to another filesystem
        yield place, next(path for path in (place, *place.parents) if path.exists())
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"{out}: cannot be written ({reason}). Give another folder.") from error


@contextmanager
def staging_folder(out: Path) -> Iterator[Path]:
    """Yield an empty folder whose files are moved to `out` after the block.

    They replace files of the same name.

    Raises
    ------
    OutputError
        A file cannot be written; `out` then contains no new file.
    """
    with (
        destination(out) as (place, nearest),
        tempfile.TemporaryDirectory(prefix=".analysis-", dir=nearest) as scratch,
    ):
        yield Path(scratch)
        for file in sorted(path for path in Path(scratch).rglob("*") if path.is_file()):
            target = place / file.relative_to(scratch)
            target.parent.mkdir(parents=True, exist_ok=True)
            file.replace(target)
