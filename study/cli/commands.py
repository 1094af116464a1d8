"""The coordinator's command line.

Exit status: 0 done, 1 refused (the reason is on stderr), 2 wrong usage.
"""

import argparse
import json
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from study import demo
from study.bank.importing import import_bank
from study.base.actor import COMMAND_LINE
from study.base.csv_cells import csv_line
from study.base.errors import StudyError
from study.cli import (
    closing as closing_commands,
)
from study.cli import (
    copies as copy_commands,
)
from study.cli import (
    exclusions as exclusion_commands,
)
from study.cli import (
    models as model_commands,
)
from study.cli import (
    verify as verify_commands,
)
from study.exchange import bundle
from study.lifecycle import deployments, opening, studies
from study.monitoring import progress
from study.people import access
from study.people.invitations import read_invitations
from study.protocol import toml_file
from study.protocol.protocol import read_protocol
from study.protocol.sampling import EXPECTED_ACCURACY
from study.reading import simulation
from study.store import Store
from study.trail import deposits

_Command = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    for word in arguments:
        if not word.isprintable():
            parser.error(f"{word!r} holds signs that cannot be printed")
    try:
        status = int(options.run(options))
        sys.stdout.flush()
    except StudyError as error:
        return _refused(str(error))
    except OSError as error:
        return _refused(f"{error.filename or 'Output'}: {error.strerror}.")
    except KeyboardInterrupt:
        return _refused("Stopped. What was under way has been taken back.")
    return status


def _refused(why: str) -> int:
    print(why, file=sys.stderr)
    with suppress(OSError):
        sys.stdout.flush()
    sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 (else Python complains of it at exit)
    return 1


def _now() -> datetime:
    return datetime.now(UTC)


def _init(options: argparse.Namespace) -> int:
    deployments.init(options.db, entropy=secrets.token_bytes, now=_now())
    print(f"Store ready: {options.db}")
    return 0


def _import(options: argparse.Namespace) -> int:
    done = import_bank(
        Store(options.db),
        options.path,
        name=options.bank,
        images=options.images or options.path.parent,
        format=options.format,
        skip_faulty=options.skip_faulty,
        now=_now(),
        progress=_progress if sys.stderr.isatty() else None,
    )
    for note in done.notes:
        print(f"Note: {note}", file=sys.stderr)
    for fault in done.left_out:
        print(f"Left out: {fault}", file=sys.stderr)
    _warn(done.guessable)
    print(
        f"Imported {done.n_items} items and {done.n_films} films into bank {done.bank!r};"
        f" left out {done.n_left_out} item(s)."
    )
    return 0


def _warn(lines: Iterable[str]) -> None:
    for line in lines:
        print(f"Warning: {line}", file=sys.stderr)


def _progress(done: int, total: int) -> None:
    print(f"\rFilms checked: {done} of {total}", end="\n" if done == total else "", file=sys.stderr)


def _draw(options: argparse.Namespace) -> int:
    protocol = read_protocol(options.protocol)
    store = Store(options.db)
    strata = studies.draw(
        store, bank=options.bank, study=options.study, protocol=protocol, now=_now()
    )
    columns = ("stratum", "items_in_bank", protocol.one_question_per, "drawn", "half_width")
    print(csv_line(columns), end="")
    for one in strata:
        row = (one.name, one.n_items, one.n_units, one.n_drawn, f"{one.half_width:.3f}")
        print(csv_line(row), end="")
    print(
        f"Drew {sum(one.n_drawn for one in strata)} cases for study {options.study!r}. half_width: "
        f"expected half-width of the 95 % interval of an accuracy of {EXPECTED_ACCURACY}.",
        file=sys.stderr,
    )
    _warn(opening.cautions(store, options.study))
    return 0


def _invite(options: argparse.Namespace) -> int:
    invitations = read_invitations(options.readers)
    codes = [access.new_code(secrets.token_bytes) for _ in invitations]

    def deliver(known: tuple[str, ...]) -> None:
        print(csv_line(("reader_id", "access_code")), end="")
        for invitation, code in zip(invitations, codes, strict=True):
            given = "" if invitation.reader_id in known else code.text
            print(csv_line((invitation.reader_id, given)), end="")
        sys.stdout.flush()

    store = Store(options.db)
    known = studies.invite(
        store,
        study=options.study,
        invitations=invitations,
        codes=codes,
        now=_now(),
        deliver=deliver,
    )
    if known:
        print(
            f"Note: {', '.join(known)} go in with the access code they have: their e-mail address "
            "is known here.",
            file=sys.stderr,
        )
    _warn(opening.acquaintances(store, options.study, {one.reader_id for one in invitations}))
    return 0


def _code(options: argparse.Namespace) -> int:
    deployments.reader_code(
        Store(options.db),
        study=options.study,
        reader_id=options.reader,
        entropy=secrets.token_bytes,
        now=_now(),
        deliver=lambda code: print(code, flush=True),
    )
    return 0


def _coordinator(options: argparse.Namespace) -> int:
    deployments.coordinator_code(
        Store(options.db),
        study=options.study,
        name=options.name,
        entropy=secrets.token_bytes,
        now=_now(),
        deliver=lambda code: print(code, flush=True),
    )
    return 0


def _administrator(options: argparse.Namespace) -> int:
    deployments.administrator_code(
        Store(options.db),
        name=options.name,
        entropy=secrets.token_bytes,
        now=_now(),
        deliver=lambda code: print(code, flush=True),
    )
    return 0


def _open(options: argparse.Namespace) -> int:
    store = Store(options.db)
    print(opening.consent_to_read(store, options.study), file=sys.stderr)
    _warn(opening.cautions(store, options.study))
    now, to = _now(), options.witness
    print(deposits.open_study(store, study=options.study, witness=to, by=COMMAND_LINE, now=now))
    closing_commands.deposit(store, options.study)
    return 0


def _simulate(options: argparse.Namespace) -> int:
    done = simulation.simulate(
        Store(options.db),
        study=options.study,
        reader_id=options.reader,
        seed=options.seed,
        accuracy=options.accuracy,
        now=_now(),
    )
    print(f"{done.reader_id} (simulated): {done.n_read} readings.")
    return 0


def _status(options: argparse.Namespace) -> int:
    found = progress.status(Store(options.db), options.study)
    if options.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return 0
    print(f"{found['study']}: {found['state']}, {found['n_cases']} cases from {found['bank']}")
    print(f"protocol {found['protocol_sha256']}")
    for reader in found["readers"]:
        label = bundle.label_of(reader["reader_id"], simulated=reader["simulated"])
        print(f"  reader {label}: {reader['n_read']} of {reader['n_assigned']} read")
    for model in found["models"]:
        label = bundle.label_of(model["model_id"], simulated=model["simulated"])
        print(
            f"  model {label}: {model['n_predicted']} of {found['n_cases']} predicted, "
            f"{model['n_unparsed']} unparsed"
        )
    return 0


def _preparations(options: argparse.Namespace) -> int:
    found = progress.preparation_rows(Store(options.db), options.study)
    columns = ("reader_id", "step", "done_at_utc", "received_at_utc", "detail")
    print(csv_line(columns), end="")
    for row in found:
        print(csv_line(row[name] for name in columns), end="")
    return 0


def _demo(options: argparse.Namespace) -> int:
    if options.db.exists():
        store = Store(options.db)
    elif options.empty:
        options.db.parent.mkdir(parents=True, exist_ok=True)
        store = deployments.init(options.db, entropy=secrets.token_bytes, now=_now())
    else:
        print("Setting up the demo study (once) ...", flush=True)
        store = demo.set_up(options.db, _DATA, entropy=secrets.token_bytes, now=_now())
    codes = demo.fresh_codes(store, entropy=secrets.token_bytes, now=_now())
    print(f"\nOpen             {options.url}")
    if codes is None:
        print(f"Sign in with the access codes you gave out; the store is {options.db}.")
        first = deployments.first_administrator(store, entropy=secrets.token_bytes, now=_now())
        print(f"Administrator    {first} (shown only now)\n" if first else "")
        return 0
    print(f"Demo reader      {codes.reader}")
    print(f"Demo coordinator {codes.coordinator}")
    if codes.newcomer:
        print(f"Demo reader, from the start {codes.newcomer}")
    print(f"Administrator    {codes.administrator}")
    print("The codes are new at every start. Films, other readers and models are simulated.\n")
    return 0


_DATA = Path(__file__).parents[2] / "data"


def _protocol(options: argparse.Namespace) -> int:
    print(toml_file.of_study(Store(options.db), options.study), end="")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m study",
        description="Set up, run and export reader studies.",
        epilog="Exit status: 0 done, 1 refused with a reason on stderr, 2 wrong usage.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add(commands, "init", _init, "Make an empty store.")
    _add_import(commands)
    drawing = _add(commands, "draw", _draw, "Draw a study's cases; print the strata drawn.", True)
    drawing.add_argument("--bank", required=True, metavar="NAME")
    drawing.add_argument("--protocol", required=True, type=Path, metavar="FILE.toml")
    inviting = _add(commands, "invite", _invite, "Invite readers; print their codes.", True)
    inviting.add_argument("readers", type=Path, metavar="READERS.csv")
    coding = _add(
        commands, "code", _code, "Print a new access code for a reader who lost theirs.", True
    )
    coding.add_argument("--reader", required=True, metavar="READER")
    coordinating = _add(
        commands, "coordinator", _coordinator, "Print a new access code of a coordinator.", True
    )
    coordinating.add_argument("--name", default="coordinator", metavar="NAME")
    administering = _add(
        commands, "administrator", _administrator, "Print a new access code of an administrator."
    )
    administering.add_argument("--name", default="admin", metavar="NAME")
    opening = _add(
        commands, "open", _open, "Lock the protocol, write all assignments; print its hash.", True
    )
    opening.add_argument(
        "--witness", default="", metavar="EMAIL", help="whom the chain's head is sent to, daily"
    )
    _add(commands, "protocol", _protocol, "Print the protocol in force, as TOML.", True)
    model_commands.add(commands, _add)
    _add_simulate(commands)
    status = _add(commands, "status", _status, "Print how far a study is.", True)
    status.add_argument("--json", action="store_true", help="as JSON")
    exclusion_commands.add(partial(_add, commands))
    _add(commands, "preparations", _preparations, "Print what readers did before reading.", True)
    verify_commands.add(partial(_add, commands))
    showing = _add(commands, "demo", _demo, "Set up the demo in a new store; print its codes.")
    showing.add_argument(
        "--url", default="http://localhost:8501", help="what to tell people to open"
    )
    showing.add_argument("--empty", action="store_true", help="make an empty store, no demo")
    copy_commands.add(partial(_add, commands))
    closing_commands.add(partial(_add, commands))
    return parser


_Subparsers = argparse._SubParsersAction


def _add(
    commands: "_Subparsers[argparse.ArgumentParser]",
    name: str,
    run: _Command,
    what: str,
    of_study: bool = False,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=what, description=what)
    command.set_defaults(run=run)
    command.add_argument("--db", required=True, type=Path, metavar="DB", help="the store's file")
    if of_study:
        command.add_argument("--study", required=True, metavar="NAME")
    return command


def _add_import(commands: "_Subparsers[argparse.ArgumentParser]") -> None:
    command = _add(commands, "import", _import, "Import a question bank and its films.")
    command.add_argument("path", type=Path, metavar="PATH", help="JSON, JSONL or CSV")
    command.add_argument("--bank", required=True, metavar="NAME")
    command.add_argument(
        "--images",
        type=Path,
        metavar="DIR",
        help="where image paths start (default: PATH's folder)",
    )
    command.add_argument(
        "--format", choices=("rexvqa", "csv"), help="default: by the file's ending"
    )
    command.add_argument(
        "--skip-faulty", action="store_true", help="leave out items with faults, and list them"
    )


def _add_simulate(commands: "_Subparsers[argparse.ArgumentParser]") -> None:
    command = _add(commands, "simulate", _simulate, "Let a simulated reader read, marked so.", True)
    command.add_argument("--reader", required=True, metavar="READER")
    command.add_argument("--seed", required=True, type=int, metavar="N")
    command.add_argument(
        "--accuracy", type=float, default=0.75, metavar="P", help="expected (default: 0.75)"
    )
