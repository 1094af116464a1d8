"""Long jobs while the database restarts: each ends as usual, or with a sentence and without traces.

The server restarts, stays away or ends the connections before a statement of the job. The job can
then be repeated with the usual result.
"""

import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import count
from pathlib import Path

import pytest

from benchmarks.postgres_cluster import (
    MISSING,
    NEW_DATABASE,
    Cluster,
    postgres_programs,
    temporary_server,
)
from study.base.errors import StudyError
from study.cli.program import program
from study.exchange import backups
from study.exchange.moving import move
from study.lifecycle import studies
from study.lifecycle.deployments import init
from study.monitoring import reminders
from study.monitoring.scheduled_reminders import schedule_reminders, send_due_reminders
from study.people.codes import new_code
from study.people.invitations import Invitation
from study.protocol.protocol import Protocol
from study.store import Store, leases, postgres_connection
from study.store.moving import contents
from study.trail import heads
from study.trail.verification import verify
from tests import sites
from tests.command_reference import commands_of
from tests.conftest import ACTING, NOW, ROOT, entropy_from
from tests.contract.test_passwords import _run
from ui.results.background import _read_bundle, current_request
from ui.server.schedule import prepare_films

pytestmark = pytest.mark.thorough

LATER = NOW + timedelta(days=30)
MAIL = {"READING_ROOM_SMTP": "smtp://127.0.0.1:1", "READING_ROOM_MAIL_FROM": "room@x.example"}
RECORDS = ("deployment", "events", "chain_heads", "backups")
"""Tables in which jobs also record failures and leases."""

FINISHED_LATER = ("move", "move back")
"""Jobs that leave a marked copy if it was complete; the next attempt verifies it."""

SHORT = {"close", "certificates", "head", "accept-loss"}
"""Commands of `study.cli.archive` that are one short transaction."""

_numbers = count()


@dataclass(frozen=True, kw_only=True)
class Place:
    """A store on a server, an empty one, a SQLite file with the same rows, and a folder."""

    address: str
    empty: str
    file: Path
    folder: Path
    new_database: Callable[[], str]

    @cached_property
    def new(self) -> str:
        """Return the address of an empty database."""
        return self.new_database()

    @property
    def store(self) -> Store:
        """Open the store, as each program does."""
        return Store(self.address)


def _command(*words: str) -> Callable[[Place], None]:
    """Return a job that runs a command, whose arguments name parts of the location in braces."""

    def run(place: Place) -> None:
        if _run([word.format(place=place) for word in words]):
            raise StudyError("refused")

    return run


_TRIAL = ("--db", "{place.address}", "--study", "trial")

JOBS: Mapping[str, Callable[[Place], object]] = {
    "backup": lambda place: backups.make_backup_if_due(place.store, now=_much_later()),
    "reminders": lambda place: _raised(send_due_reminders(place.store, MAIL, now=LATER)),
    "heads": lambda place: heads.send_due_heads(place.store, MAIL, now=LATER),
    "films": lambda place: prepare_films(place.store, set(), threading.Event()),
    "analysis": lambda place: _read_bundle(current_request(place.store, "trial"), trails=True),
    "import": _command(
        "import", "{place.folder}/1/bank/bank.json", "--db", "{place.address}", "--bank", "second"
    ),
    "backup command": _command("backup", "--db", "{place.address}", "--out", "{place.folder}/out"),
    "move": _command("move", "--db", "{place.file}", "--to", "{place.new}"),
    "move back": _command("move", "--db", "{place.address}", "--to", "{place.folder}/moved.db"),
    "restore-backup": _command("restore-backup", "--db", "{place.new}", "{place.file}"),
    "restore": _command("restore", "--db", "{place.empty}", "{place.folder}/other.zip"),
    "merge": _command("merge", *_TRIAL, "{place.folder}/other.zip"),
    "export": _command("export", *_TRIAL, "--out", "{place.folder}/out"),
    "archive": _command("archive", *_TRIAL, "--out", "{place.folder}/out"),
    "deposit": _command(
        "deposit",
        "--db",
        "{place.address}",
        "--study",
        "open",
        "--out",
        "{place.folder}/out",
        "--author",
        "Doe, Jo",
    ),
    "paper": _command(
        "models",
        "paper",
        "--db",
        "{place.address}",
        "--bank",
        "bank",
        "--out",
        "{place.folder}/out",
    ),
    "remove": _command("remove", *_TRIAL, "--confirm", "trial", "--reason", "ended"),
    "verify": _command("verify", "--db", "{place.address}"),
}


def _much_later() -> datetime:
    """Return a time at which a failed backup is due again."""
    return LATER + timedelta(days=next(_numbers))


def _raised(reasons: list[str]) -> None:
    if reasons:
        raise StudyError(*reasons)


class Interruption:
    """Counts the statements that are sent to the server, and acts before one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.n_sent, self.at = 0, 0
        self.act: Callable[[], object] = lambda: None
        self._original = postgres_connection._raising_sqlite_errors
        monkeypatch.setattr(postgres_connection, "_raising_sqlite_errors", self._counted)

    @contextmanager
    def _counted(self, sql: str = "") -> Iterator[None]:
        self.n_sent += 1
        if self.n_sent == self.at:
            self.act()
        with self._original(sql):
            yield


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Return a server of these tests only, because it is stopped."""
    if postgres_programs() is None:
        pytest.skip(MISSING)
    with temporary_server({}) as made:
        yield made


@pytest.fixture(scope="module")
def original(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a closed study and an open one, a bundle of another site, and their databases."""
    folder = tmp_path_factory.mktemp("original")
    home, other = (
        sites.create_site(folder / str(n), n, person_id=f"P{n}", simulated=f"S{n}") for n in (1, 2)
    )
    for store in (home, other):
        sites.close_trial(store)
    shutil.copy(sites.export_bundle(other, "other.zip"), folder)
    _open_another(home)
    addresses = [f"{cluster.address}/{name}" for name in ("original", "bare")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("READING_ROOM_FILES", str(folder / "files"))
        for name in ("original", "bare"):
            cluster.administer(f"CREATE DATABASE {name} {NEW_DATABASE}")
        move(home, addresses[0])
        init(addresses[1], entropy=entropy_from(9), now=NOW)
        made = Place(
            address=addresses[0],
            empty=addresses[1],
            file=home.path,
            folder=folder,
            new_database=lambda: "",
        )
        JOBS["export"](made)
    shutil.rmtree(folder / "out")
    return made


def _open_another(store: Store) -> None:
    """Open a study whose only reader is reminded and whose head is sent by e-mail."""
    protocol = Protocol.from_json({"cases": 6, "one_question_per": "item"})
    studies.draw(store, bank="bank", study="open", protocol=protocol, acting=ACTING)
    studies.invite(
        store,
        study="open",
        invitations=[Invitation(reader_id="R9", email="r9@x.example")],
        codes=[new_code(entropy_from(9))],
        acting=ACTING,
    )
    heads.open_study(store, study="open", witness="w@x.example", acting=ACTING)
    address = "https://room.example"
    schedule_reminders(store, study="open", days=1, address=address, acting=ACTING)


@pytest.fixture
def places(
    cluster: Cluster, original: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Place]:
    """Return a function that copies the original location with its databases."""

    def database(like: str) -> str:
        name = f"copy_{next(_numbers)}"
        cluster.administer(f"CREATE DATABASE {name} {like}")
        return f"{cluster.address}/{name}"

    def make() -> Place:
        folder = tmp_path / str(next(_numbers))
        shutil.copytree(original.folder, folder)
        monkeypatch.setenv("READING_ROOM_FILES", str(folder / "files"))
        address = database("TEMPLATE original")
        name = address.rpartition("/")[2]
        for file in (folder / "files").iterdir():
            file.rename(file.with_name(file.name.replace("original", name)))
        return Place(
            address=address,
            empty=database("TEMPLATE bare"),
            file=folder / original.file.relative_to(original.folder),
            folder=folder,
            new_database=lambda: database(NEW_DATABASE),
        )

    return make


@pytest.mark.parametrize("name", JOBS)
def test_a_job_survives_the_restart_of_the_database(
    name: str,
    cluster: Cluster,
    places: Callable[[], Place],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is interrupted after a fifth, half and nine tenths of its statements."""
    job, sent = JOBS[name], list[str]()
    for module in (reminders, heads):
        monkeypatch.setattr(module, "send", lambda *_, to, **__: sent.append(to))
    interruption = Interruption(monkeypatch)
    place = places()
    interruption.n_sent = 0
    job(place)
    n_sent, usual = interruption.n_sent, _state(place)
    for way, share in (("terminate", 0.2), ("restart", 0.5), ("stop", 0.9)):
        place = places()
        before = _state(place)
        capsys.readouterr()
        interruption.n_sent, interruption.at = 0, 1 + int(share * n_sent)
        interruption.act = getattr(Ways(cluster), way)
        reason = _outcome(job, place, interruption, cluster)
        printed = capsys.readouterr().err.strip() or reason
        assert "\n" not in printed
        if name not in FINISHED_LATER:
            assert _state(place) in (before, usual), way
        if reason and _state(place) != usual:
            with monkeypatch.context() as patch:
                patch.setattr(leases, "LEASE_DURATION", timedelta(0))
                job(place)
        assert _state(place) == usual, way
        for address in (place.address, *([place.new] if "new" in vars(place) else [])):
            assert verify(Store(address), films=False) == []


def _outcome(
    job: Callable[[Place], object], place: Place, interruption: Interruption, cluster: Cluster
) -> str:
    """Run a job and return why it was refused, if it was; afterwards the server runs."""
    try:
        job(place)
    except StudyError as error:
        return str(error)
    finally:
        interruption.at = 0
        if not cluster.processes():
            cluster.start()
    return ""


class Ways:
    """The ways to interrupt the connections to a server."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def terminate(self) -> None:
        """End all connections."""
        self._cluster.administer(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'Reading Room'"
        )

    def restart(self) -> None:
        """Stop the server and start it again."""
        self._cluster.stop()
        self._cluster.start()

    def stop(self) -> None:
        """Stop the server."""
        self._cluster.stop()


def _state(place: Place) -> tuple[object, ...]:
    """Return the number of rows of each table except logs, and the names of all files."""
    with place.store.look() as look, Store(place.empty).look() as other:
        tables = {
            name: content.n_rows for name, content in contents(look).items() if name not in RECORDS
        }
        restored = len(other.rows("SELECT * FROM studies"))
    names = sorted(
        re.sub(r"copy_\d+|\d{8}T\d{6}Z|(-\d+)?\.db$", "", str(path.relative_to(place.folder)))
        for path in place.folder.rglob("*")
        if path.is_file()
    )
    return tables, restored, names


def test_the_table_has_every_long_job() -> None:
    """Those that only one server runs at a time, and the commands for whole studies and stores."""
    leased = {
        name
        for package in ("study", "ui")
        for file in (ROOT / package).rglob("*.py")
        for name in re.findall(r'lease\(\w+, "(\w+)"', file.read_text("utf-8"))
    }
    commands = {
        path[0]
        for path, command in commands_of(program)
        if getattr(command.callback, "__module__", "") == "study.cli.archive"
    }
    assert {"films", "reminders"} <= leased <= JOBS.keys()
    assert {"move", "export"} <= commands - SHORT <= JOBS.keys()
