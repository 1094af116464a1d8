"""Temporary PostgreSQL servers, which can be killed and can have a standby."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pg8000.native

from benchmarks.machine import free_port
from study.store.postgres_connection import connect

USER = "reading_room"
NEW_DATABASE = "TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
MISSING = "PostgreSQL is not installed: apt install postgresql"

_PATIENCE_S = 60
_TICK_S = 0.05


def postgres_programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, or None."""
    on_path = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return Path(on_path).resolve().parent if on_path else folders[-1] if folders else None


class Cluster:
    """A server on a port of this machine, whose data is in a new folder.

    Parameters
    ----------
    data
        The folder, which does not exist. Its parent must be writable for the user ``nobody`` if
        the caller is root, because the server refuses to run as root.
    settings
        Settings of the server by name.
    """

    def __init__(self, data: Path, settings: dict[str, str]) -> None:
        self.data, self.port = data, free_port()
        self._settings = {
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            **settings,
        }

    @property
    def address(self) -> str:
        """Return the address of the server without a database."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}"

    def create(self) -> None:
        """Create the data of a new server."""
        self._run("initdb", "-A", "trust", "-U", USER, "--locale=C", "-E", "UTF8")

    def create_standby_of(self, primary: "Cluster") -> None:
        """Copy the data of a running server, which this server then follows."""
        address = f"host=127.0.0.1 port={primary.port} user={USER}"
        self._settings["primary_conninfo"] = f"{address} application_name=standby"
        self._run("pg_basebackup", "-d", address, "-c", "fast", "-X", "stream")
        (self.data / "standby.signal").touch()

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        (self.data / "postgresql.conf").write_text(
            "".join(f"{name} = '{value}'\n" for name, value in self._settings.items())
        )
        self._run("pg_ctl", "-w", "-l", f"{self.data}.log", "start")

    def stop(self) -> None:
        """Stop the server, if it runs."""
        if self.processes():
            self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def promote(self) -> None:
        """Make a standby the primary server."""
        self._run("pg_ctl", "-w", "promote")

    def kill(self) -> None:
        """Kill all processes of the server."""
        processes = self.processes()
        self.signal(signal.SIGKILL)
        wait_until(lambda: not any(_is_running(each) for each in processes))
        (self.data / "postmaster.pid").unlink(missing_ok=True)  # its process may still be listed

    def signal(self, number: int) -> None:
        """Send a signal to all processes of the server."""
        for process in self.processes():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                continue

    def processes(self) -> list[int]:
        """Return the ids of the running processes, the first of which starts the others."""
        try:
            first = int((self.data / "postmaster.pid").read_text().split()[0])
            children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        except (OSError, IndexError):
            return []
        return [first, *map(int, children)] if _is_running(first) else []

    def administer(self, *statements: str) -> Any:
        """Run statements as an administrator and return the rows of the last."""
        with self.connected("postgres") as opened:
            return [opened.run(statement) for statement in statements][-1]

    def connected(self, database: str) -> pg8000.native.Connection:
        """Return an administrator's connection to a database, which is closed by `with`."""
        return connect(USER, host="127.0.0.1", port=self.port, database=database, timeout=10)

    def _run(self, program: str, *arguments: str) -> None:
        folder = postgres_programs()
        assert folder, MISSING
        account: dict[str, Any] = {}
        if os.geteuid() == 0:
            account = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        subprocess.run(
            [str(folder / program), "-D", str(self.data), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.data.parent,
            **account,
        )


@contextmanager
def temporary_server(settings: dict[str, str]) -> Iterator[Cluster]:
    """Run a new server, whose data is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="reading-room-postgres-") as folder:
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody")
        cluster = Cluster(Path(folder, "data"), settings)
        cluster.create()
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()


def wait_until(is_met: Callable[[], object]) -> None:
    """Wait for a condition.

    Raises
    ------
    AssertionError
        It is not met within a minute.
    """
    for _ in range(int(_PATIENCE_S / _TICK_S)):
        if is_met():
            return
        threading.Event().wait(_TICK_S)
    raise AssertionError(f"not met within {_PATIENCE_S} s: {is_met}")


def _is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
