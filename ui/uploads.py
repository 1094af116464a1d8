"""Files people hand in through a page: written to a folder of their own, read, and gone again."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath

from study.errors import BadFile


@contextmanager
def on_disk(name: str, content: bytes) -> Iterator[Path]:
    """Lay a file in a folder that lasts for the block; refusals name it as it was handed in."""
    own = PurePath(name.replace("\\", "/")).name or "file"
    with tempfile.TemporaryDirectory(prefix="reading-room-") as folder:
        path = Path(folder) / own[-100:]
        path.write_bytes(content)
        try:
            yield path
        except BadFile as error:
            raise BadFile(str(error).replace(f"{path.parent}/", "")) from error
