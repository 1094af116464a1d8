"""The command lines as users run them: exit status, output, and complete workflows."""

import csv
import inspect
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import click
import pytest

from analysis.cli import program as analysis_program
from study.base.errors import Busy
from study.cli.program import program
from study.exchange import backups
from tests import command_reference, processes, templates
from tests.conftest import ROOT, bank_records, write_bank
from tests.contract.test_passwords import _run

PROGRAMS = {"study": program, "analysis": analysis_program}
COMMANDS = tuple(
    (name, *path)
    for name, group in PROGRAMS.items()
    for path in ((), *(path for path, _ in command_reference.commands_of(group)))
)


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run ``python -m ...`` and return the finished process."""
    return processes.run(*map(str, arguments))


def output_of(*arguments: str | Path) -> str:
    """Run a command that must succeed and return its output."""
    result = run(*arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """Return a bank file of 60 patients, with its films."""
    return write_bank(tmp_path / "bank", n_patients=60)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """The option --help prints the usage and exits with 0."""
    name, *path = command
    assert PROGRAMS[name].main([*path, "--help"], f"python -m {name}", standalone_mode=False) == 0
    assert capsys.readouterr().out.startswith(f"usage: python -m {' '.join(command)} ")


@pytest.mark.thorough
@pytest.mark.parametrize("program", ["study", "analysis"])
def test_a_program_starts_in_a_new_interpreter(program: str) -> None:
    """The program runs in a new interpreter; other tests fork a process that has imported them."""
    command = [sys.executable, "-m", program, "--help"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("address", ["broken.db", "postgresql://clinic@127.0.0.1:1/trials"])
def test_a_store_that_cannot_be_opened_is_reported_in_one_line(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message contains the database's own error, which is not logged separately."""
    monkeypatch.setenv("READING_ROOM_FILES", str(tmp_path / "files"))
    if "//" not in address:
        address = str(tmp_path / address)
        Path(address).write_text("no database" * 100)
    result = run("study", "verify", "--db", address)
    (line,) = result.stderr.splitlines()
    assert result.returncode == 1
    assert f". ({address}: " in line


def test_the_command_reference_is_up_to_date() -> None:
    """The file docs/commands.md equals the output of `make docs-commands`."""
    text = command_reference.DOCUMENT.read_text("utf-8")
    assert text == command_reference.document(), "Run: make docs-commands"
    for command in COMMANDS:
        assert f"python -m {' '.join(command)}" in text


def test_every_option_of_a_command_has_a_short_help_text() -> None:
    """The text is short, so that the rows of the reference fit on a screen."""
    for program_ in PROGRAMS.values():
        for path, command in command_reference.commands_of(program_):
            assert command.help, path
            options = [option for option in command.params if isinstance(option, click.Option)]
            assert [option.opts[0] for option in options if not option.help] == [], path
    rows = [line for line in command_reference.document().splitlines() if line.startswith("|")]
    assert max(map(len, rows)) < 250


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (("study", "impot"), "import"),
        (("study", "bank", "chek"), "check"),
        (("study", "import", "--dbb", "x"), "--db"),
        (("analysis", "tabels"), "tables"),
    ],
)
def test_the_message_of_a_misspelt_command_or_option_suggests_another(
    words: tuple[str, ...], nearest: str
) -> None:
    """The exit status is 2, as for all wrong usage."""
    result = run(*words)
    assert result.returncode == 2
    assert f"Did you mean '{nearest}'?" in result.stderr


@pytest.mark.parametrize(
    "command", [("study",), ("study", "init"), ("study", "nonsense"), ("analysis", "report")]
)
def test_wrong_usage_exits_with_2(command: tuple[str, ...]) -> None:
    """Missing or unknown arguments are wrong usage."""
    assert run(*command).returncode == 2


@pytest.mark.parametrize(
    "command",
    [
        ("study", "status", "--db", "nowhere.db", "--study", "s"),
        ("study", "verify", "--db", "nowhere.db"),
        ("analysis", "tables", "nowhere", "--out", "nowhere-out"),
    ],
)
def test_a_missing_file_exits_with_1(command: tuple[str, ...]) -> None:
    """It prints a sentence to stderr, nothing to stdout, and creates no file."""
    result = run(*command)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.strip()
    assert "Traceback" not in result.stderr
    assert not (ROOT / "nowhere.db").exists()
    assert not (ROOT / "nowhere-out").exists()


def test_a_study_can_be_run_from_bank_to_report_by_commands(bank: Path, tmp_path: Path) -> None:
    """After the readings, the commands verify the store, export the study and write the report."""
    db, protocol, readers = tmp_path / "s.db", tmp_path / "p.toml", tmp_path / "r.csv"
    protocol.write_text('cases = 40\nseed = 5\noption_order = "random"\n')
    readers.write_text("reader_id,level\nR1,resident\nR2,resident\nR3,resident\n")
    study = ("--db", db, "--study", "trial")
    output_of("study", "init", "--db", db)
    assert "120 items" in output_of("study", "import", bank, "--db", db, "--bank", "b")
    drawn = list(
        csv.DictReader(
            io.StringIO(output_of("study", "draw", *study, "--bank", "b", "--protocol", protocol))
        )
    )
    assert sum(int(row["drawn"]) for row in drawn) == 40
    codes = list(csv.DictReader(io.StringIO(output_of("study", "invite", *study, readers))))
    assert [row["reader_id"] for row in codes] == ["R1", "R2", "R3"]
    assert len({row["access_code"] for row in codes}) == 3
    assert len(output_of("study", "open", *study).strip()) == 64
    for model in range(2):
        file = tmp_path / f"m{model}.json"
        answers = {
            item_id: {"model_prediction": "ABCD"[(i + model) % 4]}
            for i, item_id in enumerate(bank_records(60))
        }
        file.write_text(json.dumps(answers))
        assert "40 answered" in output_of(
            "study", "models", "add", file, *study, "--model", f"M{model}"
        )
    for reader in ("R1", "R2", "R3"):
        simulated = output_of("study", "simulate", *study, "--reader", reader, "--seed", "1")
        assert "40 readings" in simulated
    status = json.loads(output_of("study", "status", *study, "--json"))
    assert [row["n_read"] for row in status["readers"]] == [40, 40, 40]
    _exclude_and_reinstate(study)
    output_of("study", "verify", "--db", db)
    output_of("study", "export", *study, "--out", tmp_path / "bundle")
    output_of(
        "analysis", "report", tmp_path / "bundle", "--out", tmp_path / "out", "--bootstrap", "50"
    )
    report = (tmp_path / "out" / "report.html").read_text()
    assert "R1" in report
    assert "M1" in report
    table = (tmp_path / "out" / "tables" / "accuracy.csv").read_text()
    accuracy = list(csv.DictReader(io.StringIO(table)))
    micro = {row["rater_id"]: row["n"] for row in accuracy if row["group"] == "micro"}
    assert micro == dict.fromkeys(("R1", "R2", "R3", "M0", "M1"), "40")


@pytest.mark.thorough
def test_commands_print_warnings_before_a_study_is_read(tmp_path: Path) -> None:
    """They concern guessable answers, the consent text, and readers who may know the answers."""
    path = write_bank(tmp_path / "bank", n_patients=30)
    records = bank_records(30)
    for record in records.values():
        record["correct_answer"] = "A"
    path.write_text(json.dumps(records))
    db, protocol, readers = tmp_path / "s.db", tmp_path / "p.toml", tmp_path / "r.csv"
    readers.write_text("reader_id,email\nR1,r1@example.org\n")
    study = ("--db", db, "--study", "trial")
    draw = ("study", "draw", *study, "--bank", "b", "--protocol", protocol)
    output_of("study", "init", "--db", db)
    message = run("study", "import", path, "--db", db, "--bank", "b").stderr
    assert (
        "Warning: The correct answer is A in 60 of 60 questions (15 expected, p < 0.001)" in message
    )
    example = "[Insert the consent text approved by your ethics committee]"
    protocol.write_text(f'cases = 30\nconsent = """# May we?\n\n{example}"""\n')
    refused = run(*draw)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert example in refused.stderr
    assert "leave the consent empty" in refused.stderr
    protocol.write_text('cases = 30\nconsent = "# May we?"\nfeedback = "after case"\n')
    drawn = run(*draw)
    assert drawn.returncode == 0
    output_of("study", "invite", *study, readers)
    opened = run("study", "open", *study)
    assert len(opened.stdout.strip()) == 64
    for message in (drawn.stderr, opened.stderr):
        assert "Warning: The correct answer is A in 30 of 30 questions" in message
    assert "Readers must agree to this text before they start:\n\n# May we?" in opened.stderr
    output_of("study", "simulate", *study, "--reader", "R1", "--seed", "1")
    study = ("--db", db, "--study", "next")
    output_of("study", "draw", *study, "--bank", "b", "--protocol", protocol)
    message = run("study", "invite", *study, readers).stderr
    assert "Warning: R1 may have seen the reference standard of these cases, as a reader" in message


def _exclude_and_reinstate(study: tuple[str | Path, ...]) -> None:
    """Exclude a reading once and reinstate it; an unread case is refused."""
    third = (*study, "--reader", "R1", "--position", "3", "--reason", "fire alarm")
    result = run("study", "exclude", *third)
    assert result.stdout == "Excluded: R1, position 3.\n"
    assert (
        "Note: As specified in the protocol, excluded readings are included in the primary"
        in result.stderr
    )
    repeated = run("study", "exclude", *third)
    assert (repeated.returncode, repeated.stdout) == (1, "")
    assert "already excluded" in repeated.stderr
    assert output_of("study", "reinstate", *third) == "Reinstated: R1, position 3.\n"
    unread = run("study", "exclude", *study, "--reader", "R1", "--position", "41", "--reason", "x")
    assert (unread.returncode, unread.stderr) == (1, "“R1” has no reading at position 41.\n")


def test_a_bank_with_errors_is_refused_with_all_of_them(bank: Path, tmp_path: Path) -> None:
    """Each error names the key and a remedy; --skip-faulty imports the other items."""
    records = json.loads(bank.read_text())
    records["q0000"]["correct_answer"] = "E"
    records["q0001"]["ImagePath"] = ["../../etc/passwd"]
    records["q0002"]["options"] = ["A. one"]
    bank.write_text(json.dumps(records))
    db = tmp_path / "s.db"
    output_of("study", "init", "--db", db)
    refused = run("study", "import", bank, "--db", db, "--bank", "b")
    assert refused.returncode == 1
    for key in ("q0000", "q0001", "q0002"):
        assert key in refused.stderr
    assert "117 items" in output_of(
        "study", "import", bank, "--db", db, "--bank", "b", "--skip-faulty"
    )


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    """Return a store with a drawn study without readers, next to its protocol."""
    return templates.copy(tmp_path, _drawn)


def _drawn(folder: Path) -> None:
    db, protocol = folder / "store.db", folder / "p.toml"
    bank = write_bank(folder / "bank", n_patients=60)
    protocol.write_text("cases = 10\n")
    output_of("study", "init", "--db", db)
    output_of("study", "import", bank, "--db", db, "--bank", "b")
    output_of("study", "draw", "--db", db, "--study", "t", "--bank", "b", "--protocol", protocol)


@pytest.mark.thorough
def test_banks_can_be_managed_by_commands(bank: Path, tmp_path: Path) -> None:
    """The command `check` stores nothing and exits with 1 if an import would be refused."""
    db = ("--db", tmp_path / "s.db")
    output_of("study", "init", *db)
    sound = json.loads(output_of("study", "bank", "check", bank, "--json"))
    assert (sound["sound"], sound["items"], sound["rules"]) == (True, 120, [])
    items = json.loads(bank.read_text())
    items["q0001"]["correct_answer"] = "Z"
    faulty = bank.with_name("faulty.json")
    faulty.write_text(json.dumps(items))
    refused = run("study", "bank", "check", faulty, "--json")
    (rule,) = json.loads(refused.stdout)["rules"]
    assert (refused.returncode, rule["code"], rule["count"]) == (1, "B121", 1)
    assert "B121 fault" in run("study", "bank", "check", faulty).stdout
    terms = ("--licence", "CC BY-NC 4.0", "--version", "2")
    output_of("study", "import", bank, *db, "--bank", "a", *terms)
    output_of("study", "import", faulty, *db, "--bank", "b", "--skip-faulty")
    files = csv.DictReader(io.StringIO(output_of("study", "bank", "list", *db)))
    listed_banks = {row["bank"]: (row["items"], row["licence"], row["studies"]) for row in files}
    assert listed_banks == {"a": ("120", "CC BY-NC 4.0", "0"), "b": ("119", "", "0")}
    assert "only in a (1)\n  q0001" in output_of("study", "bank", "compare", "a", "b", *db)
    assert "by view:\n       120  PA+LATERAL" in output_of(
        "study", "bank", "show", *db, "--bank", "a"
    )
    assert "119 items" in output_of("study", "bank", "remove", *db, "--bank", "b")
    assert run("study", "bank", "remove", *db, "--bank", "b").returncode == 1
    assert "Everything is intact" in output_of("study", "verify", *db)


@pytest.mark.thorough
def test_codes_that_could_not_be_printed_are_not_issued(drawn: Path, tmp_path: Path) -> None:
    """On a full disk, no reader is invited, and the next attempt succeeds."""
    readers = tmp_path / "r.csv"
    readers.write_text("reader_id;level\nR1;resident\n", encoding="utf-8-sig")
    command = [sys.executable, "-m", "study", "invite", "--db", drawn, "--study", "t", readers]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            list(map(str, command)),
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    status = json.loads(output_of("study", "status", "--db", drawn, "--study", "t", "--json"))
    assert status["readers"] == []
    assert output_of("study", "invite", "--db", drawn, "--study", "t", readers).count("R1,") == 1
    code = output_of("study", "code", "--db", drawn, "--study", "t", "--reader", "R1")
    assert len(code.strip()) == 19


MESSAGES_AFTER_INTERRUPTION = {
    "studies.draw = lambda *_, **__: wait()": "Incomplete changes were undone.",
    "studies.draw = lambda *_, **__: in_sql(wait)": "Incomplete changes were undone.",
    "sys.meta_path.insert(0, Importing())": "Nothing was changed.",
}
"""The line that makes a command wait until it is interrupted, and the message it then prints."""


@pytest.mark.parametrize("where", MESSAGES_AFTER_INTERRUPTION)
def test_ctrl_c_ends_a_command_without_a_traceback(drawn: Path, tmp_path: Path, where: str) -> None:
    """The command prints one line and exits with the usual status."""
    fifo = tmp_path / "never-written"
    os.mkfifo(fifo)
    study = ("--db", drawn, "--study", "u", "--bank", "b", "--protocol", tmp_path / "p.toml")
    program = f"""
import runpy, sqlite3, sys
from study.lifecycle import studies

def wait():
    open({str(fifo)!r}, "rb", buffering=0).read()

def in_sql(function):
    connection = sqlite3.connect(":memory:")
    connection.create_function("f", 0, function)
    connection.execute("SELECT f()")

class Importing:
    def find_spec(self, name, *_):
        if name == "study.cli.studies":
            wait()

{where}
runpy.run_module("study", run_name="__main__")
"""
    result = subprocess.Popen(
        list(map(str, (sys.executable, "-c", program, "draw", *study))),
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        # If the tests run in the background of a script, they and their children ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        with fifo.open("w"):  # opens when the command reads
            result.send_signal(signal.SIGINT)
            _, printed = result.communicate(timeout=60)
    finally:
        result.kill()
    assert result.returncode == 130
    assert printed.strip() == f"Stopped. {MESSAGES_AFTER_INTERRUPTION[where]}"


INTERRUPTED_IMPORTS = [
    ("analysis", "analysis.registry"),
    ("analysis", "analysis.cli"),
    ("benchmarks", "benchmarks.reading"),
]
"""Programs, and the module during whose import each is interrupted."""


@pytest.mark.thorough
@pytest.mark.parametrize(("program", "module"), INTERRUPTED_IMPORTS)
def test_ctrl_c_ends_a_program_that_is_starting_without_a_traceback(
    tmp_path: Path, program: str, module: str
) -> None:
    """The program prints one line and exits with the usual status."""
    fifo = tmp_path / "never-written"
    os.mkfifo(fifo)
    (tmp_path / "sitecustomize.py").write_text(
        f"""
import sys

class Importing:
    def find_spec(self, name, *_):
        if name == {module!r}:
            open({str(fifo)!r}, "rb", buffering=0).read()

sys.meta_path.insert(0, Importing())
"""
    )
    result = subprocess.Popen(
        [sys.executable, "-m", program, "--help"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        with fifo.open("w"):  # opens when the program imports the module
            result.send_signal(signal.SIGINT)
            _, printed = result.communicate(timeout=60)
    finally:
        result.kill()
    assert result.returncode == 130
    assert printed.strip() == "Stopped."


def test_a_reader_known_by_address_keeps_the_access_code(drawn: Path, tmp_path: Path) -> None:
    """The bundle contains neither the name nor the address from the list of readers."""
    study, readers = ("--db", drawn, "--study", "t"), tmp_path / "r.csv"
    readers.write_text("reader_id,name,email\nR1,Anna Smith,anna@example.org\n")
    (first,) = csv.DictReader(io.StringIO(output_of("study", "invite", *study, readers)))
    assert len(first["access_code"]) == 19
    draw = ("study", "draw", "--db", drawn, "--study", "u", "--bank", "b")
    output_of(*draw, "--protocol", tmp_path / "p.toml")
    second = run("study", "invite", "--db", drawn, "--study", "u", readers)
    assert second.stdout == "reader_id,access_code\nR1,\n"
    assert "R1 sign in with their existing access code" in second.stderr
    output_of("study", "open", *study)
    output_of("study", "export", *study, "--out", tmp_path / "out")
    exported = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert b"Smith" not in exported
    assert b"anna@" not in exported


@pytest.mark.thorough
def test_a_model_can_be_added_replaced_and_withdrawn_by_commands(
    drawn: Path, tmp_path: Path
) -> None:
    """A dry run prints the same counts; replacing and withdrawing a model need a reason."""
    study, file = ("--db", drawn, "--study", "t"), tmp_path / "m.json"
    add = ("study", "models", "add", file, *study, "--model", "M")
    file.write_text(json.dumps(dict.fromkeys(bank_records(60), "B")))
    counts = (
        "M: 10 cases: 10 answered, 0 absent; predictions ignored for items outside the study: 110"
    )
    assert output_of(*add, "--dry-run") == f"{counts}.\nNothing was stored.\n"
    assert json.loads(output_of("study", "status", *study, "--json"))["models"] == []
    assert output_of(*add) == f"{counts}.\n"
    file.write_text(json.dumps(dict.fromkeys(bank_records(60), "no idea")))
    assert "already a model" in run(*add).stderr
    assert "Give a reason" in run(*add, "--replace").stderr
    result = run(*add, "--replace", "--reason", "The wrong file")
    assert "10 of 10 cases are in the file without an answer" in result.stderr
    assert "M: 10 cases: 10 unparsed, 0 absent" in result.stdout
    withdraw = ("study", "models", "withdraw", *study, "--model", "M", "--reason", "Wrong too")
    assert output_of(*withdraw).startswith("Withdrawn: M. ")
    assert run(*withdraw).stderr == "“t” has no model “M”.\n"
    assert json.loads(output_of("study", "status", *study, "--json"))["models"] == []
    output_of("study", "verify", "--db", drawn)


@pytest.mark.thorough
def test_the_demo_prints_three_codes(tmp_path: Path) -> None:
    """The third is that of a new reader, whose preparation can be listed."""
    printed = output_of("study", "demo", "--db", tmp_path / "demo.db").splitlines()
    starts = ("Demo reader      ", "Demo coordinator ", "Demo reader, from the start ")
    lines = [line for line in printed if line.startswith("Demo ")]
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == list(starts)
    assert all(len(line.split()[-1]) == 19 for line in lines)
    assert "The demo reader is “guest”" in "\n".join(printed)
    assert "The reader from the start is “newcomer”" in "\n".join(printed)
    study = ("--db", tmp_path / "demo.db", "--study", "Demo study, from the start")
    header = "reader_id,step,done_at_utc,received_at_utc,detail\n"
    assert output_of("study", "preparations", *study) == header
    assert "0 of 10 read" in output_of("study", "status", *study)
    output_of("study", "verify", "--db", tmp_path / "demo.db")


def test_the_code_of_the_first_administrator_is_printed_once(
    tmp_path: Path,
) -> None:
    """If the code is lost, a command replaces it."""
    store = tmp_path / "deeper" / "empty.db"
    first = output_of("study", "demo", "--empty", "--db", store)
    (line,) = [text for text in first.splitlines() if text.startswith("Administrator ")]
    assert len(line.split()[1]) == 19
    assert "Sign in with the administrator code below" in first
    assert "access codes that were issued" in output_of("study", "demo", "--empty", "--db", store)
    assert "Administrator" not in output_of("study", "demo", "--empty", "--db", store)
    new = output_of("study", "administrator", "--db", store).strip()
    assert len(new) == 19
    assert new not in first
    output_of("study", "verify", "--db", store)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("level\nresident\n", "the column reader_id is missing"),
        ("reader_id,reader_id\nR1,R2\n", "twice"),
        ("reader_id,surname\nR1,Smith\n", "unknown column “surname”"),
        ("reader_id,level\nR1,=1+1\n", "level begins with ="),
        ("reader_id\nR1\nR1\n", "listed twice"),
        ("reader_id,level\n,resident\n", "line 2: reader_id is empty"),
        ("reader_id\n", "There are no readers below the header"),
        ('reader_id\n"R1\n', "not a valid CSV file"),
    ],
)
def test_an_invalid_list_of_readers_is_refused(
    drawn: Path, tmp_path: Path, text: str, reason: str
) -> None:
    """The message names the line and a remedy, and no reader is invited."""
    readers = tmp_path / "r.csv"
    readers.write_text(text)
    result = run("study", "invite", "--db", drawn, "--study", "t", readers)
    assert (result.returncode, result.stdout) == (1, "")
    assert reason in result.stderr


@pytest.mark.parametrize(
    "path", ["no/folder/s.db", "x" * 300, "/proc/version"], ids=["folder", "long", "foreign"]
)
def test_an_invalid_path_of_a_store_is_reported_in_one_sentence(path: str, tmp_path: Path) -> None:
    """The folder is missing, the name too long, or the file foreign; there is no traceback."""
    result = run("study", "init", "--db", tmp_path / path)
    assert (result.returncode, "Traceback" in result.stderr) == (1, False)
    assert len(result.stderr.strip().splitlines()) == 1


def test_releasing_an_account_that_does_not_exist_is_refused(drawn: Path) -> None:
    """The person is unknown in the study or on the server, or never signed in with an account."""
    output_of("study", "administrator", "--db", drawn)
    about = ("study", "release-account", "--db", drawn, "--reason", "x", "--who")
    for more in ((), ("--study", "t")):
        assert "Nobody is called “R9”" in run(*about, "R9", *more).stderr
    assert "no sign-in account" in run(*about, "admin").stderr


def test_the_function_of_a_command_accepts_all_its_options() -> None:
    """The function has a parameter for each option, or accepts any, and has no other parameters."""
    commands = [command for _, command in command_reference.commands_of(program)]
    assert len(commands) > 30
    while commands:
        command = commands.pop()
        if isinstance(command, click.Group):
            commands += command.commands.values()
            continue
        assert command.callback is not None
        parameters = inspect.signature(command.callback).parameters.values()
        option_names = {item.name for item in parameters if item.kind != item.VAR_KEYWORD}
        options = {option.name for option in command.params}
        assert option_names <= options, command.name
        assert len(option_names) < len(parameters) or options == option_names, command.name


def test_a_command_imports_only_what_it_needs() -> None:
    """Importing the modules of all commands takes longer than importing a small bank."""
    script = (
        "import sys; from study.cli import main; main(['import', '--help']); "
        "needless = {'pandas', 'study.models', 'study.exchange', 'study.lifecycle'}; "
        "print(needless & sys.modules.keys() or 'none')"
    )
    ended = subprocess.run((sys.executable, "-c", script), capture_output=True, text=True)
    assert ended.stdout.endswith("\nnone\n"), ended.stdout + ended.stderr


def test_the_message_of_a_misspelt_name_suggests_another(drawn: Path) -> None:
    """The name is that of a study, bank, reader, role, model or column."""
    output_of("study", "administrator", "--db", drawn)
    bank_name = output_of("study", "bank", "list", "--db", drawn).splitlines()[1].split(",")[0]
    readers = drawn.with_name("readers.csv")
    readers.write_text("reader_id\nResident-1\n")
    output_of("study", "invite", "--db", drawn, "--study", "t", readers)
    misspelt = drawn.with_name("misspelt.csv")
    misspelt.write_text("reader_id,levl\nR2,1\n")
    predictions = drawn.with_name("p.csv")
    predictions.write_text("a,b\n1,A\n")
    store = ("--db", drawn)
    cases = {
        ("study", "status", *store, "--study", "T"): "t",
        ("study", "bank", "show", *store, "--bank", f"{bank_name}x"): bank_name,
        ("study", "code", *store, "--study", "t", "--reader", "resident1"): "Resident-1",
        ("study", "release-account", *store, "--who", "admn", "--reason", "x"): "admin",
        ("study", "invite", *store, "--study", "t", misspelt): "level",
        (
            *("study", "models", "add", predictions, *store, "--study", "t", "--model", "M"),
            *("--columns", "idd=a,answer=b"),
        ): "id",
    }
    for words, nearest in cases.items():
        result = run(*words)
        assert result.returncode == 1, result.stdout
        assert f"Did you mean {nearest}?" in result.stderr, result.stderr


def test_the_message_about_an_invalid_backup_has_its_path(tmp_path: Path) -> None:
    """The hidden copy that is checked is not mentioned."""
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    result = run("study", "restore-backup", text, "--db", tmp_path / "new.db")
    assert result.returncode == 1
    assert str(text) in result.stderr
    assert "making" not in result.stderr
    assert not (tmp_path / "new.db").exists()


def test_a_restoration_that_could_not_be_recorded_can_be_repeated(
    drawn: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message states that the store was restored, and what to do."""
    backup, new = drawn.with_name("backup.db"), drawn.with_name("new.db")
    run("study", "backup", "--db", drawn, "--out", backup)
    words = ["restore-backup", str(backup), "--db", str(new)]
    with monkeypatch.context() as patch:
        patch.setattr(backups, "record_restored", Mock(side_effect=Busy("It is busy.")))
        assert _run(words) == 1
    assert f"was restored to {new}, but this was not recorded" in capsys.readouterr().err
    new.unlink()
    assert _run(words) == 0


@pytest.mark.parametrize("command", [("verify",), ("status", "--study", "t"), ("backup",)])
def test_the_message_about_a_file_that_is_not_a_store_has_its_name(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    """The message distinguishes the file from the others of the command."""
    text = tmp_path / "notes.txt"
    text.write_text("hello" * 200)
    result = run("study", *command, "--db", text)
    assert (result.returncode, result.stdout) == (1, "")
    assert "notes.txt: The database is not a SQLite file" in result.stderr


def test_the_message_about_a_backup_that_cannot_be_written_has_its_folder(drawn: Path) -> None:
    """The folder is missing or is a file."""
    for folder in (drawn.with_name("nowhere"), drawn):
        result = run("study", "backup", "--db", drawn, "--out", folder / "copy.db")
        assert (result.returncode, result.stdout) == (1, "")
        assert str(folder) in result.stderr


def test_the_verification_names_the_file_of_each_line(drawn: Path) -> None:
    """Receipts and chain heads are read from separate files."""
    receipts, kept = drawn.with_name("receipts.txt"), drawn.with_name("heads.txt")
    for file in (receipts, kept):
        file.write_text("nonsense\n")
    result = run("study", "verify", "--db", drawn, "--receipts", receipts, "--heads", kept)
    assert result.returncode == 1
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == [
        "receipts.txt, line 1",
        "heads.txt, line 1",
    ]


@pytest.mark.parametrize("content", ["", "\ufeff", "# nothing\n", "> \n\n"])
@pytest.mark.parametrize("option", ["--receipts", "--heads"])
def test_the_verification_refuses_a_file_without_receipts_or_heads(
    drawn: Path, option: str, content: str
) -> None:
    """Otherwise the output would suggest that they were compared."""
    file = drawn.with_name("kept.txt")
    file.write_text(content, encoding="utf-8")
    result = run("study", "verify", "--db", drawn, option, file)
    assert result.returncode == 1
    assert "kept.txt, it has no line to compare" in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("invite", "--study", "t"),
        ("draw", "--study", "u", "--bank", "b", "--protocol"),
        ("import", "--bank", "c"),
        ("models", "add", "--study", "t", "--model", "m"),
        ("restore",),
        ("verify", "--heads"),
    ],
)
def test_a_pipe_or_device_is_refused(drawn: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Reading a pipe or device might never end."""
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for file in (pipe, Path("/dev/zero")):
        result = run("study", *command, file, "--db", drawn)
        assert result.returncode == 2
        assert f"{file} is neither a file nor a folder" in result.stderr


def test_a_drawn_study_can_be_returned_to_a_draft_by_command(drawn: Path) -> None:
    """A reason is required; without a coordinator, the draft belongs to an administrator."""
    back = ("study", "return-to-draft", "--db", drawn, "--study", "t")
    assert run(*back).returncode == 2
    assert "Add an administrator first" in run(*back, "--reason", "Wrong seed.").stderr
    output_of("study", "administrator", "--db", drawn)
    assert output_of(*back, "--reason", "Wrong seed.") == "Draft: t (2)\n"
    assert "was discarded" in run(*back, "--reason", "Again.").stderr
