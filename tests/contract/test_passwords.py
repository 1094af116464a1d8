"""The password in the address of a store is never shown."""

import sys
import traceback
from pathlib import Path

import click
import pytest

from study.base.errors import StudyError
from study.cli.program import main, program
from study.exchange.moving import move
from study.store import Store, postgres
from study.store.address import ServerAddress, settings_of
from tests.command_reference import commands_of
from ui.results.background import AnalysisRequest

SECRET = "S3cret"
ADDRESS = f"postgresql://clinic:{SECRET}@127.0.0.1:1/reading_room"
"""An address that is refused at once, because no server uses this port."""

COMMANDS = {" ".join(path): command for path, command in commands_of(program)}


def _arguments(command: click.Command, file: Path) -> list[str]:
    """Return a value for each required argument and option."""
    words = []
    for parameter in command.params:
        if not parameter.required:
            continue
        kinds = {"path": str(file), "address": ADDRESS, "integer": "1", "float": "0.5"}
        value = kinds.get(parameter.type.name, "x")
        if isinstance(parameter.type, click.Choice):
            value = str(parameter.type.choices[0])
        is_option = isinstance(parameter, click.Option)
        words += [parameter.opts[0], value] if is_option else [value]
    return words


def _run(arguments: list[str]) -> int:
    """Run a command; after a refusal it leaves another stream as output."""
    output = sys.stdout
    status = main(arguments)
    if sys.stdout is not output:
        sys.stdout.close()
        sys.stdout = output
    return status


@pytest.mark.parametrize("words", COMMANDS)
def test_no_command_shows_the_password(
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """If the server cannot be reached; its address is in the environment."""
    monkeypatch.setenv("READING_ROOM_FILES", str(tmp_path))
    file = tmp_path / "file.toml"
    file.write_text("cases = 4\n")
    command = [*words.split(), *_arguments(COMMANDS[words], file)]
    monkeypatch.setenv("READING_ROOM_DB", ADDRESS)
    for arguments in (command, [*words.split(), "--help"]):
        status = _run(arguments)
        out, err = capsys.readouterr()
        assert SECRET not in out + err + caplog.text
        assert (status == 0) == (arguments[-1] == "--help")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "address",
    [
        ADDRESS,
        f"postgresql://clinic:{SECRET}@/no-host",
        f"postgresql://clinic:{SECRET}@127.0.0.1:1/",
        f"postgresql://clinic:{SECRET}/x@127.0.0.1:1/reading_room",
        f"postgresql://clinic:x@{SECRET}@127.0.0.1:1/reading_room",
        f"postgresql://clinic:{SECRET}[@127.0.0.1:1/reading_room",
        f"postgresql://clinic:x#{SECRET}@127.0.0.1:1/reading_room",
        f"postgresql://clinic:{SECRET}@127.0.0.1:port/reading_room",
        f"postgresql://clinic@127.0.0.1:1/reading_room?password={SECRET}",
        f"postgresql://:{SECRET}@127.0.0.1:1/reading_room",
        f"{ADDRESS}?sslmode=verify_full",
        f"{ADDRESS}?sslmode=verify-full&sslrootcert=/none.pem",
        f"postgres:/clinic:{SECRET}@127.0.0.1:1/reading_room",
        f"mysql://clinic:{SECRET}@127.0.0.1:1/reading_room",
    ],
)
def test_no_error_shows_the_password(
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Invalid addresses and tracebacks are included."""
    monkeypatch.setenv("READING_ROOM_FILES", str(tmp_path))
    with pytest.raises(StudyError) as refused:
        Store(address)
    shown = traceback.format_exception(refused.value)
    assert _run(["verify", "--db", address]) in (1, 2)
    assert SECRET not in "".join([*shown, *capsys.readouterr(), caplog.text])


def test_an_address_is_shown_without_its_password(
    on_postgres: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every form of text, and in objects that contain it."""
    monkeypatch.setattr(postgres, "_CLOSING_WAIT_S", 1)
    address = ServerAddress(ADDRESS)
    asked = AnalysisRequest(address=address, study="s", head="", blinded=False, language="en")
    shown = (str(address), repr(address), f"{address}", f"{address:>90}", repr(asked))
    assert not [text for text in shown if SECRET in text]
    assert settings_of(ServerAddress(address))["password"] == SECRET
    with_password = on_postgres.address.complete.replace("@", f":{SECRET}@")  # type: ignore[attr-defined]
    store = Store(with_password)
    with on_postgres.look():  # leaves a connection, which the move refuses
        pass
    with pytest.raises(StudyError, match="in use") as refused:
        move(store, tmp_path / "new.db")
    assert SECRET not in f"{refused.value}{store.address}"


def test_a_password_can_be_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A password in an argument of a command can be seen by all users of the computer."""
    monkeypatch.setenv("PGPASSWORD", SECRET)
    settings = settings_of(ServerAddress("postgresql://clinic@127.0.0.1/reading_room"))
    assert settings["password"] == SECRET
