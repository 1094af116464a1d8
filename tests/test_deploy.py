"""The files in deploy/ agree with the program and with each other."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

DEPLOY = ROOT / "deploy"
BELOW = re.compile(r"""(?:ROOT|parents\[\d\]|parent) / "([^"]+)\"""")
PROGRAM = ("app.py", "analysis", "data", "pages", "study", "ui")


def _copied() -> set[str]:
    """Return the paths that the image copies from the source."""
    lines = re.findall(r"^COPY (.+) \S+$", (DEPLOY / "Containerfile").read_text("utf-8"), re.M)
    return {name for line in lines for name in line.split()}


def test_the_image_has_every_file_that_the_program_reads() -> None:
    """Paths in the code are joined with `/`, and begin at a parent of the module's file."""
    sources = [file for name in PROGRAM for file in (ROOT / name).rglob("*.py")]
    names = {name for file in sources for name in BELOW.findall(file.read_text("utf-8"))}
    listed = ["git", "ls-files", "--", *names]
    known = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    read = {name for name in names if f"\n{name}" in f"\n{known}"}
    assert {"pyproject.toml", "docs/bank-format.md"} <= read
    copied = _copied()
    assert set(PROGRAM) <= copied
    assert [name for name in sorted(read) if not {name, name.split("/")[0]} & copied] == []


@pytest.mark.slow
def test_the_command_of_an_installation_has_the_settings_of_the_service(tmp_path: Path) -> None:
    """It runs in any folder."""
    unit = (DEPLOY / "reading-room.service").read_text("utf-8")
    script = (DEPLOY / "reading-room").read_text("utf-8")
    for setting in re.findall(r"^Environment=(.+)$", unit, re.M):
        assert f"export {setting}\n" in script or setting.startswith("READING_ROOM_LOG=")
    assert "EnvironmentFile=-/etc/reading-room/environment\n" in unit
    source, elsewhere, store = tmp_path / "source", tmp_path / "elsewhere", tmp_path / "a store.db"
    (source / "deploy").mkdir(parents=True)
    for name in ("study", "locale", "pyproject.toml", ".venv"):
        (source / name).symlink_to(ROOT / name)
    settings = tmp_path / "environment"
    settings.write_text(f"READING_ROOM_DB='{store}'\n")
    installed = source / "deploy" / "reading-room"
    installed.write_text(script.replace("/etc/reading-room/environment", str(settings)))
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "reading-room").symlink_to(installed)
    (programs / "runuser").write_text('#!/bin/sh\nshift 3\nexec "$@"\n')
    for file in (installed, programs / "runuser"):
        file.chmod(0o755)
    elsewhere.mkdir()
    ran = subprocess.run(
        ["reading-room", "init"],
        cwd=elsewhere,
        env={"PATH": f"{programs}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == f"Store ready: {store}\n"
    assert store.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["reading-room", "try_container.sh", "create_database.sh"])
def test_scripts_are_valid_and_may_be_run(name: str) -> None:
    """A shell parses each of them."""
    subprocess.run(["sh", "-n", str(DEPLOY / name)], check=True)
    assert os.access(DEPLOY / name, os.X_OK)
