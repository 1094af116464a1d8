"""Commands that write files print one sentence and leave no file when the disk is full."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import pytest

from analysis.cli import program as analysis_program
from study.cli.program import program as study_program
from tests import processes
from tests.command_reference import commands_of
from tests.conftest import bank_records, write_bank
from tests.torture.disk import small_disk

pytestmark = [pytest.mark.thorough, pytest.mark.sqlite("fills the disk of the file")]

DB_OPTION = ("--db", "{disk}/store.db")
TRIAL_OPTIONS = (*DB_OPTION, "--study", "trial")
OUT_OPTION = ("--out", "{disk}/out")
PLAN_OPTIONS = (
    "--published",
    "van-dyke",
    "--effect",
    "0.05",
    "--readers",
    "3:4",
    "--cases",
    "50:100:50",
)

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "study init": ("--db", "{disk}/new.db"),
    "study demo": ("--db", "{disk}/new.db", "--url", "http://room", "--empty"),
    "study import": ("{disk}/bank/bank.json", *DB_OPTION, "--bank", "second"),
    "study export": (*TRIAL_OPTIONS, *OUT_OPTION),
    "study archive": (*TRIAL_OPTIONS, *OUT_OPTION),
    "study deposit": (*DB_OPTION, "--study", "early", *OUT_OPTION, "--author", "Doe, Jo"),
    "study restore": ("{disk}/bundle", "--db", "{disk}/empty.db"),
    "study backup": (*DB_OPTION, "--out", "{disk}/copy.db"),
    "study restore-backup": ("{disk}/backup.db", "--db", "{disk}/new.db"),
    "study move": (*DB_OPTION, "--to", "{disk}/new.db"),
    "study models paper": (*DB_OPTION, "--bank", "bank", *OUT_OPTION),
    "analysis report": ("{disk}/bundle", *OUT_OPTION, "--bootstrap", "20"),
    "analysis tables": ("{disk}/bundle", *OUT_OPTION, "--bootstrap", "20"),
    "analysis leaderboard": ("{disk}/bundle", *OUT_OPTION),
    "analysis review": ("{disk}/verdicts.csv", *OUT_OPTION),
    "analysis power": (*OUT_OPTION, *PLAN_OPTIONS),
}


def _run_successfully(*words: str | Path) -> None:
    ran = processes.run(*map(str, words))
    assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a closed study, its bundle and a backup."""
    folder = tmp_path_factory.mktemp("original")
    db, bank = folder / "store.db", write_bank(folder / "bank", n_patients=20)
    (folder / "protocol.toml").write_text("cases = 12\nseed = 5\n")
    (folder / "readers.csv").write_text("reader_id\nR1\nR2\n")
    answers = {item: {"model_prediction": "A"} for item in bank_records(20)}
    (folder / "model.json").write_text(json.dumps(answers))
    verdicts = [f"q{n},R{place},{place},sound\n" for n in range(4) for place in (1, 2)]
    (folder / "verdicts.csv").write_text("".join(["item_id,reviewer,place,verdict\n", *verdicts]))
    trial, early = (("--db", db, "--study", name) for name in ("trial", "early"))
    for name in (db, folder / "empty.db"):
        _run_successfully("study", "init", "--db", name)
    _run_successfully("study", "import", bank, "--db", db, "--bank", "bank")
    for study in (trial, early):
        _run_successfully(
            "study", "draw", *study, "--bank", "bank", "--protocol", folder / "protocol.toml"
        )
        _run_successfully("study", "invite", *study, folder / "readers.csv")
        _run_successfully("study", "open", *study)
    _run_successfully("study", "models", "add", folder / "model.json", *trial, "--model", "M")
    for reader in ("R1", "R2"):
        _run_successfully("study", "simulate", *trial, "--reader", reader, "--seed", "1")
    _run_successfully("study", "close", *trial, "--reason", "done")
    _run_successfully("study", "export", *trial, "--out", folder / "bundle")
    _run_successfully("study", "backup", "--db", db, "--out", folder / "backup.db")
    return folder


@pytest.fixture(scope="module")
def disk() -> Iterator[Path]:
    """Return a small disk for the store and all files."""
    with small_disk("100m") as folder:
        if not folder.is_mount():
            pytest.skip("a small disk cannot be mounted: run the tests as root")
        yield folder


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_on_a_full_disk_leaves_no_files(
    name: str, original: Path, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk has space for half of the files; with enough space the command succeeds."""
    monkeypatch.setenv("TMPDIR", str(disk / "tmp"))
    command = [word.format(disk=disk) for word in (*name.split(), *COMMANDS[name])]
    needed = _space_needed(command, original, disk)
    files = _reset_disk(original, disk)
    with (disk / "ballast").open("wb") as ballast:
        os.posix_fallocate(ballast.fileno(), 0, _free_bytes(disk) - needed // 2)
    ran = processes.run(*command)
    (disk / "ballast").unlink()
    assert ran.returncode == 1
    (reason,) = ran.stderr.splitlines()
    assert str(disk) in reason
    assert "full" in reason or "No space left" in reason
    assert _files_except_logs(disk) == files
    _run_successfully(*command)
    _run_successfully("study", "verify", "--db", disk / "store.db")


def test_a_certificate_that_cannot_be_written_can_be_printed_later(
    original: Path, disk: Path, tmp_path: Path
) -> None:
    """The study is removed nevertheless, and the message states this."""
    _reset_disk(original, disk)
    db, certificate = tmp_path / "store.db", disk / "certificate.json"
    shutil.copy(original / "store.db", db)
    shutil.copy(original / "store.db-heads.log", tmp_path)
    with (disk / "ballast").open("wb") as ballast:
        os.posix_fallocate(ballast.fileno(), 0, _free_bytes(disk))
    trial = ("--db", str(db), "--study", "trial")
    confirmed = ("--confirm", "trial", "--reason", "ended", "--certificate", str(certificate))
    ran = processes.run("study", "remove", *trial, *confirmed)
    (disk / "ballast").unlink()
    assert ran.returncode == 1
    assert f"{certificate} cannot be written: the disk is full. The study was removed" in ran.stderr
    assert not certificate.exists()
    assert '"study": "trial"' in processes.run("study", "certificates", *trial[:2], "--json").stdout


def test_the_table_has_every_command_that_writes_files() -> None:
    """These commands have an option that names a new file or folder."""
    programs = (("study", study_program), ("analysis", analysis_program))
    writing = {
        " ".join((name, *path))
        for name, group in programs
        for path, command in commands_of(group)
        if any(
            isinstance(p, click.Option) and p.opts[0] in ("--out", "--to") for p in command.params
        )
    }
    assert writing <= COMMANDS.keys()


def _space_needed(command: list[str], original: Path, disk: Path) -> int:
    _reset_disk(original, disk)
    before = _free_bytes(disk)
    _run_successfully(*command)
    return before - _free_bytes(disk)


def _free_bytes(disk: Path) -> int:
    return shutil.disk_usage(disk).free


def _reset_disk(original: Path, disk: Path) -> list[Path]:
    """Replace everything on the disk by a copy of the original, and return the files."""
    for path in disk.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(original, disk, dirs_exist_ok=True)
    (disk / "tmp").mkdir()
    return _files_except_logs(disk)


def _files_except_logs(disk: Path) -> list[Path]:
    """Return all files except the store's logs, which its next connection removes or changes."""
    endings = (".db-wal", ".db-shm")
    return sorted(
        path for path in disk.rglob("*") if path.is_file() and not path.name.endswith(endings)
    )
