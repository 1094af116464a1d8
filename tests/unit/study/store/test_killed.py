"""A command that is killed leaves a valid store, with its complete effect or none."""

import shutil
import time
from pathlib import Path

import pytest

from study.store import Store
from study.store import studies as stored
from study.trail.verification import verify
from tests.conftest import write_bank
from tests.processes import run, start

pytestmark = pytest.mark.sqlite("opens the file in other processes")

N_CASES = 120
KILL_TIMES = (0.2, 0.4, 0.55, 0.7, 0.8, 0.9, 0.95)
"""Shares of the command's duration at which it is killed; the store must be valid after each."""


@pytest.fixture
def banked(tmp_path: Path) -> Path:
    """Return a folder with a store that has a bank, and a protocol."""
    folder = tmp_path / "before"
    folder.mkdir()
    bank = write_bank(tmp_path / "bank", n_patients=N_CASES, per_patient=1)
    for command in (
        ("init", "--db", folder / "s.db"),
        ("import", bank, "--db", folder / "s.db", "--bank", "b"),
    ):
        assert run("study", *map(str, command)).returncode == 0
    (folder / "p.toml").write_text(f"cases = {N_CASES}\nseed = 1\n")
    return folder


def _draw(folder: Path) -> list[str]:
    arguments = ("--study", "t", "--bank", "b", "--protocol", folder / "p.toml")
    return list(map(str, ("draw", "--db", folder / "s.db", *arguments)))


@pytest.mark.thorough
def test_a_draw_killed_at_any_moment_is_complete_or_absent(banked: Path, tmp_path: Path) -> None:
    """The store is valid; the same command then draws, or reports that the study exists."""
    complete = shutil.copytree(banked, tmp_path / "complete")
    began = time.monotonic()
    process = start("study", _draw(complete), out=tmp_path / "log")
    process.join(120)
    took_s = time.monotonic() - began
    assert process.exitcode == 0
    for number, share in enumerate(KILL_TIMES):
        folder = shutil.copytree(banked, tmp_path / f"killed-{number}")
        process = start("study", _draw(folder), out=tmp_path / "log")
        process.join(share * took_s)
        process.kill()
        process.join()
        store = Store(folder / "s.db")
        assert verify(store) == []
        with store.look() as look:
            study = stored.find(look, "t")
            drawn = len(stored.cases(look, study.id)) if study else 0
        assert drawn == (N_CASES if study else 0)
        repeated = run("study", *_draw(folder))
        assert repeated.returncode == (1 if study else 0), repeated.stderr
        assert verify(store) == []
