"""Commands that take a study, or the whole store, out and in: bundles and backups."""

import sys
from pathlib import Path

import click

from study.base.actor import COMMAND_LINE
from study.cli.closing import WITHOUT_TEXTS, note_if_open, note_terms
from study.cli.program import PATH, command, now
from study.exchange import backups, bundle, merging, restoring
from study.store import Store
from study.trail.trails import record_taking

_BUNDLE = click.argument("folder", metavar="BUNDLE", type=PATH)


@command()
@click.option("--out", metavar="DIR", type=PATH, required=True, help="A new folder, or a .zip.")
@WITHOUT_TEXTS
def export(db: Path, study: str, out: Path, without_texts: bool) -> None:
    """Write a study's bundle."""
    store = Store(db)
    names = bundle.export(store, study=study, out=out, texts=not without_texts)
    record_taking(store, study=study, what="bundle", by=COMMAND_LINE, now=now())
    note_if_open(store, study)
    note_terms(store, study, without_texts=without_texts)
    print(f"Wrote {', '.join(names)} to {out}")


@command(of_study=False)
@_BUNDLE
def restore(db: Path, folder: Path) -> None:
    """Restore a study from its bundle (a folder or a .zip)."""
    done = restoring.restore(Store(db), folder, by=COMMAND_LINE, now=now())
    print(
        f"Restored {done.study!r} ({done.state}), read in deployment {done.deployment_id}: "
        f"{done.n_readers} readers, {done.n_readings} readings, {done.n_models} models; "
        f"bank {done.bank!r}."
    )


@command()
@_BUNDLE
@click.option(
    "--site", metavar="SITE", default="", help="Of its readers (default: their deployment)."
)
def merge(db: Path, study: str, folder: Path, site: str) -> None:
    """Merge another site's bundle (a folder or a .zip) into a study."""
    done = merging.merge(Store(db), folder, study=study, site=site, by=COMMAND_LINE, now=now())
    print(
        f"Merged into {done.study!r}: {', '.join(done.readers)} of {done.site}, "
        f"{done.n_readings} readings; new models: {', '.join(done.models) or 'none'}."
    )


@command(of_study=False)
@click.option(
    "--out", metavar="FILE", type=PATH, help="A new file (default: the folder beside DB)."
)
def backup(db: Path, out: Path | None) -> int:
    """Make a backup of the store and verify it."""
    made = backups.make(Store(db), by=COMMAND_LINE, now=now(), out=out)
    print(f"Backup: {made.file} ({made.n_bytes} bytes, SHA-256 {made.sha256})")
    if made.finding:
        print(made.finding, file=sys.stderr)
        return 1
    print("Verified: all holds.")
    return 0


@command("restore-backup", of_study=False)
@click.argument("file", metavar="FILE", type=PATH)
def restore_backup(db: Path, file: Path) -> None:
    """Put a backup in place as a new store."""
    store = backups.restore_backup(file, db)
    lacking = backups.record_restored(store, file, by=COMMAND_LINE, now=now())
    print(f"Verified, and in place: {db}")
    for one in lacking:
        print(f"Note: {one.sentence}")
