"""The commands that set a reading aside and bring it back, named by reader and position."""

import argparse
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from study.base.errors import NotFound
from study.monitoring.exclusions import exclude, reinstate, what_it_does
from study.monitoring.inspection import chosen, readings_of
from study.store import Store


def add(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add both commands; `command` as in `study.cli.copies`."""
    for name, act, done, what in (
        (
            "exclude",
            exclude,
            "Excluded",
            "Set a reading aside, with a reason; it stays in the export. The protocol's key "
            "exclusions says whether it leaves the primary analysis.",
        ),
        ("reinstate", reinstate, "Brought back", "Bring an excluded reading back, with a reason."),
    ):
        parser = command(name, partial(_decide, act, done), what, True)
        parser.add_argument("--reader", required=True, metavar="READER")
        parser.add_argument("--position", required=True, type=int, metavar="N")
        parser.add_argument("--reason", required=True, metavar="WORDS")


def _decide(act: Callable[..., None], done: str, options: argparse.Namespace) -> int:
    store = Store(options.db)
    act(
        store,
        study=options.study,
        reading=_reading(store, options),
        reason=options.reason,
        now=datetime.now(UTC),
    )
    print(f"{done}: {options.reader}, position {options.position}.")
    if act is exclude:
        print(f"Note: {what_it_does(store, options.study)}", file=sys.stderr)
    return 0


def _reading(store: Store, options: argparse.Namespace) -> str:
    found = chosen(readings_of(store, options.study), options.reader, options.position)
    if found is None:
        raise NotFound(f"{options.reader!r} has read nothing at position {options.position}.")
    return found.id
