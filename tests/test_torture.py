"""Short runs of the fault suite, and checks of the suite; `make torture` runs it completely."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from benchmarks.postgres_cluster import MISSING, postgres_programs, wait_until
from study.store import witness
from tests.torture.defects import DEFECTS
from tests.torture.postgres import Postgres
from tests.torture.power_loss import Flushed, lose_power
from tests.torture.sqlite import Sqlite
from tests.torture.suite import Engine, Outcome, Plan, run_batch

_ON_POSTGRES = pytest.mark.skipif(postgres_programs() is None, reason=MISSING)


@pytest.mark.parametrize(
    ("engine", "servers"),
    [
        (Sqlite(), 1),
        (Sqlite(), 2),
        pytest.param(Postgres(), 2, marks=[_ON_POSTGRES, pytest.mark.thorough]),
    ],
    ids=["sqlite-1", "sqlite-2", "postgres-2"],
)
def test_no_acknowledged_answer_is_lost_by_faults(engine: Engine, servers: int) -> None:
    """A reader's messages go to any of the servers; a server or the database is killed."""
    plan = Plan(readers=6, cases=5, server_faults=2, servers=servers, engine=engine)
    outcome = run_batch(plan, seed="short")
    faults, outcome.faults = outcome.faults, Outcome().faults
    assert outcome == Outcome(acknowledged=outcome.acknowledged), "seed 'short'"
    assert outcome.acknowledged >= plan.readers * plan.cases
    assert faults.total() > plan.readers


def test_a_killed_suite_leaves_no_disk_behind() -> None:
    """A separate process removes the disk when the suite has ended for any reason."""
    with subprocess.Popen(
        [sys.executable, "-c", _SCRIPT_WITH_DISK],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as suite:
        assert suite.stdout
        folder = Path(suite.stdout.readline().strip())
        assert folder.is_dir()
        suite.kill()
    wait_until(lambda: not folder.exists())


_SCRIPT_WITH_DISK = """
from tests.torture.disk import small_disk
with small_disk("1m") as folder:
    print(folder, flush=True)
    input()
"""


@pytest.mark.parametrize(
    "defect",
    [
        "stored-twice",
        pytest.param("another-option-stored", marks=pytest.mark.thorough),
        pytest.param("known-records-forgotten", marks=pytest.mark.thorough),
    ],
)
def test_the_suite_detects_a_server_with_a_defect(defect: str) -> None:
    """`python -m tests.torture --defects` includes defects that only a fault reveals."""
    outcome = run_batch(Plan(readers=5, cases=5, server_faults=1, defect=defect), seed="defect")
    assert outcome.breaches[DEFECTS[defect].found_as] > 0, outcome


def _copy_files(store: Path, to: Path) -> None:
    """Copy a store that is in use, as it is on the disk."""
    for end in ("", "-wal", "-heads.log"):
        shutil.copyfile(f"{store}{end}", f"{to}{end}")


def test_a_power_loss_keeps_flushed_data_and_may_lose_the_rest(tmp_path: Path) -> None:
    """SQLite can open the files after each simulated power loss."""
    store = tmp_path / "store.db"
    witness.file_of(store).write_bytes(b"first line\nhead 1\n")
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE answers (content TEXT)")
        for row in range(15):
            if row == 10:
                flushed = Flushed.of(store)
            connection.execute("INSERT INTO answers VALUES (?)", (f"{row} " + "x" * 900,))
        _copy_files(store, tmp_path / "crashed.db")
    n_left = set()
    for seed in range(40):
        crashed = tmp_path / f"{seed}.db"
        _copy_files(tmp_path / "crashed.db", crashed)
        lose_power(crashed, flushed, Random(seed))
        with closing(sqlite3.connect(crashed)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            rows = [row.split()[0] for (row,) in connection.execute("SELECT content FROM answers")]
        assert rows[:10] == [str(row) for row in range(10)]
        n_left.add(len(rows))
    assert n_left == {10, 15}
