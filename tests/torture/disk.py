"""A small disk in memory, which is removed even if the suite is killed."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_REMOVE = """cat > /dev/null
for file in "$0"/*/postmaster.pid; do kill -QUIT "$(head -n 1 "$file")"; done
umount -l "$0"
rm -rf "$0"
"""
"""Waits for the end of its input, which is the end of the suite, stops the database and
unmounts."""

_BLOCK = 1 << 16


@contextmanager
def small_disk(size: str) -> Iterator[Path]:
    """Yield a folder, on a separate disk (of, for example, ``64m``) if the account may mount it."""
    folder = tempfile.mkdtemp(prefix="torture-disk-")
    run("mount", "-t", "tmpfs", "-o", f"size={size},mode=1777", "tmpfs", folder)
    with subprocess.Popen(
        ["sh", "-c", _REMOVE, folder],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ):  # the end of the context closes the input and waits for the process
        yield Path(folder)


def fill(ballast: Path, n_left: int) -> None:
    """Fill the disk of a file except for a number of bytes."""
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(_BLOCK))
        except OSError:
            file.truncate(max(0, file.tell() - n_left))


def run(*command: str) -> bool:
    """Run a command and return whether it succeeded."""
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
