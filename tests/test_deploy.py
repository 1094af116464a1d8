"""The files in deploy/ agree with the program and with each other."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

DEPLOY = ROOT / "deploy"
PATH_BELOW_ROOT = re.compile(r"""(?:ROOT|parents\[\d\]|parent) / "([^"]+)\"""")
PROGRAM_PATHS = ("app.py", "analysis", "data", "pages", "study", "ui")


def _paths_in_image() -> set[str]:
    """Return the paths that the image copies from the source."""
    lines = re.findall(r"^COPY (.+) \S+$", (DEPLOY / "Containerfile").read_text("utf-8"), re.M)
    return {name for line in lines for name in line.split()}


def test_the_image_has_every_file_that_the_program_reads() -> None:
    """In the code such paths are joined with `/` and start at a parent folder of the module."""
    sources = [file for name in PROGRAM_PATHS for file in (ROOT / name).rglob("*.py")]
    names = {name for file in sources for name in PATH_BELOW_ROOT.findall(file.read_text("utf-8"))}
    files = ["git", "ls-files", "--", *names]
    known = subprocess.run(files, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    read = {name for name in names if f"\n{name}" in f"\n{known}"}
    assert {"pyproject.toml", "docs/bank-format.md"} <= read
    copied = _paths_in_image()
    assert set(PROGRAM_PATHS) <= copied
    assert ".streamlit/config.toml" in copied  # the folder may also contain secrets.toml
    assert ".streamlit" not in copied
    assert [name for name in sorted(read) if not {name, name.split("/")[0]} & copied] == []


def test_the_installed_command_has_the_settings_of_the_service() -> None:
    """The settings are those in the systemd unit and in the file that the unit reads."""
    unit, script = ((DEPLOY / f"reading-room{end}").read_text("utf-8") for end in (".service", ""))
    for setting in re.findall(r"^Environment=(.+)$", unit, re.M):
        assert f"export {setting}\n" in script or setting.startswith("READING_ROOM_LOG=")
    assert "EnvironmentFile=-/etc/reading-room/environment\n" in unit
    assert "\nsettings=/etc/reading-room/environment\n" in script


REPLACED_COMMANDS = ("apt-get", "curl", "git", "install", "make", "systemctl", "useradd")
"""Commands of the runbook that change the machine; a test replaces them."""


@pytest.mark.thorough
def test_the_runbook_leads_from_an_empty_folder_to_a_restored_store(tmp_path: Path) -> None:
    """All commands before the section about removal run in order without an error."""
    text = (ROOT / "docs/operating.md").read_text("utf-8").partition("## Remove")[0]
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)
    runbook = "".join(commands for language, commands in blocks if not language)
    machine, programs = tmp_path / "machine", tmp_path / "programs"
    folders = ("opt/reading-room/deploy", "var/lib/reading-room", "etc/systemd/system")
    for folder in (programs, *(machine / name for name in (*folders, "usr/local/sbin"))):
        folder.mkdir(parents=True)
    source = machine / "opt/reading-room"
    for name in ("study", "locale", "pyproject.toml", "deploy/reading-room.service"):
        (source / name).symlink_to(ROOT / name)
    (source / ".venv/bin").mkdir(parents=True)
    (source / ".venv/bin/python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (source / ".venv/bin/python").chmod(0o755)

    def in_machine_folder(text: str) -> str:
        return re.sub(r"(?<![\w.])(?=/(?:opt|var|etc|usr/local)/)", str(machine), text)

    scripts = {programs / name: "#!/bin/sh\n" for name in REPLACED_COMMANDS}
    scripts[programs / "runuser"] = '#!/bin/sh\nshift 3\nexec "$@"\n'
    scripts[source / "deploy/reading-room"] = in_machine_folder(
        (DEPLOY / "reading-room").read_text("utf-8")
    )
    for file, content in scripts.items():
        file.write_text(content)
        file.chmod(0o755)
    result = subprocess.run(
        ["sh", "-eu", "-c", in_machine_folder(runbook).replace("NAME.db", "*.db")],
        env=os.environ | {"PATH": f"{programs}:{machine}/usr/local/sbin:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    for line in ("Store ready:", "Backup:", "Verified and restored:", "Everything is intact:"):
        assert f"\n{line}" in f"\n{result.stdout}"
    for name in ("reading-room.db", "after/reading-room.db"):
        assert (machine / "var/lib/reading-room" / name).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["reading-room", "try_container.sh", "create_database.sh"])
def test_scripts_are_valid_and_executable(name: str) -> None:
    """A shell parses each script."""
    subprocess.run(["sh", "-n", str(DEPLOY / name)], check=True)
    assert os.access(DEPLOY / name, os.X_OK)
