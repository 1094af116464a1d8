"""Commands that take a study, or the whole store, out and in: bundles and backups."""

import argparse
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from study.base.actor import COMMAND_LINE
from study.cli.closing import note_if_open
from study.exchange import backups, bundle, merging, restoring
from study.store import Store
from study.trail.downloads import record_taking

_NewCommand = Callable[..., argparse.ArgumentParser]


def add(command: _NewCommand) -> None:
    """Add the commands.

    Parameters
    ----------
    command
        Makes a command of the store, or with a further True of one study in it, from its name,
        what runs it, and what it does.
    """
    export = command("export", _export, "Write a study's bundle.", True)
    export.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="a new folder, or a .zip"
    )
    restore = command("restore", _restore, "Restore a study from its bundle.")
    merge = command("merge", _merge, "Merge another site's bundle into a study.", True)
    for one in (restore, merge):
        one.add_argument("bundle", type=Path, metavar="BUNDLE", help="a folder or a .zip")
    merge.add_argument(
        "--site", default="", metavar="SITE", help="of its readers (default: their deployment)"
    )
    backup = command("backup", _backup, "Make a backup of the store and verify it.")
    backup.add_argument(
        "--out", type=Path, metavar="FILE", help="a new file (default: the folder beside DB)"
    )
    back = command("restore-backup", _restore_backup, "Put a backup in place as a new store.")
    back.add_argument("file", type=Path, metavar="FILE")


def _export(options: argparse.Namespace) -> int:
    store = Store(options.db)
    names = bundle.export(store, study=options.study, out=options.out)
    record_taking(store, study=options.study, what="bundle", by=COMMAND_LINE, now=datetime.now(UTC))
    note_if_open(store, options.study)
    print(f"Wrote {', '.join(names)} to {options.out}")
    return 0


def _restore(options: argparse.Namespace) -> int:
    done = restoring.restore(
        Store(options.db), options.bundle, by=COMMAND_LINE, now=datetime.now(UTC)
    )
    print(
        f"Restored {done.study!r} ({done.state}), read in deployment {done.deployment_id}: "
        f"{done.n_readers} readers, {done.n_readings} readings, {done.n_models} models; "
        f"bank {done.bank!r}."
    )
    return 0


def _merge(options: argparse.Namespace) -> int:
    done = merging.merge(
        Store(options.db),
        options.bundle,
        study=options.study,
        site=options.site,
        by=COMMAND_LINE,
        now=datetime.now(UTC),
    )
    print(
        f"Merged into {done.study!r}: {', '.join(done.readers)} of {done.site}, "
        f"{done.n_readings} readings; new models: {', '.join(done.models) or 'none'}."
    )
    return 0


def _backup(options: argparse.Namespace) -> int:
    made = backups.make(Store(options.db), by=COMMAND_LINE, now=datetime.now(UTC), out=options.out)
    print(f"Backup: {made.file} ({made.n_bytes} bytes, SHA-256 {made.sha256})")
    if made.finding:
        print(made.finding, file=sys.stderr)
        return 1
    print("Verified: all holds.")
    return 0


def _restore_backup(options: argparse.Namespace) -> int:
    store, now = backups.restore_backup(options.file, options.db), datetime.now(UTC)
    lacking = backups.record_restored(store, options.file, by=COMMAND_LINE, now=now)
    print(f"Verified, and in place: {options.db}")
    for one in lacking:
        print(f"Note: {one.sentence}")
    return 0
