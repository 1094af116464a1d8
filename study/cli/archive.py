"""Commands that close, export, restore, merge, back up and verify studies."""

import os
import sys
from functools import partial
from pathlib import Path

import click

from study.base.errors import BadFile, StudyError
from study.base.text import quoted
from study.cli.program import PATH, Address, acting, command, note, now
from study.exchange import archives, backups, bundle, moving, removing, restoring
from study.exchange.protocol_deposit import deposit_files
from study.lifecycle import studies
from study.store import Store, banks
from study.store.studies import study_row
from study.trail import heads, losses, verification
from study.trail.heads import head_line
from study.trail.trails import record_export

_WITHOUT_TEXTS = click.option(
    "--without-texts", is_flag=True, help="Leave out the text of questions and options."
)

_BUNDLE = click.argument("folder", metavar="BUNDLE", type=PATH)


@command()
@click.option("--reason", metavar="TEXT", required=True, help="Kept in the audit trail.")
def close(db: Path | str, study: str, reason: str) -> None:
    """Close a study permanently; no more readings are accepted.

    Nobody can read or be invited afterwards, and the study's pages show accuracy. The audit trail
    records who closed it, the reason, and the number of missing answers.
    """
    store = Store(db)
    counts = studies.close(store, study=study, reason=reason, acting=acting()).counts
    print(
        f"Closed {quoted(study)} permanently: {counts.n_read} of {counts.n_assigned} readings, "
        f"{counts.n_unread} missing."
    )
    deposit(store, study)


@command()
@click.option("--out", metavar="DIR", type=PATH, required=True, help="A new folder.")
@_WITHOUT_TEXTS
def archive(db: Path | str, study: str, out: Path, without_texts: bool) -> None:
    """Write a study in every format to a new folder, with SHA256SUMS.

    The hashes are recorded in the audit trail. The files are also complete if the study is open; a
    note then warns that accuracy can be computed from them. See docs/archive.md.
    """
    store = Store(db)
    texts = not without_texts
    archived = archives.archive(
        store, out, study=study, with_truth=True, texts=texts, acting=acting()
    )
    _note_sensitive_content(store, study, without_texts=without_texts)
    for name, reason in archived.left_out.items():
        print(f"Left out: {name}: {reason}", file=sys.stderr)
    print(f"Wrote {', '.join((*archived.sha256, archives.SUMS))} to {out}")


def _note_sensitive_content(store: Store, study: str, *, without_texts: bool) -> None:
    """Print notes if an export reveals accuracy too early, or if its licence restricts sharing."""
    if not studies.accuracy_is_shown(store, study):
        note(
            "the study is not closed, and this contains the reference standard. "
            "Its pages do not show accuracy before it is closed."
        )
    with store.look() as look:
        bank = banks.bank_row(look, study_row(look, study).bank_name)
    if bank.provenance.warning and not without_texts:
        note(f"{bank.provenance.warning} With --without-texts they are left out.")


def deposit(store: Store, study: str) -> None:
    """Send a study's head to its recipient, if any; print the reason if this fails."""
    reason = heads.send_head(store, os.environ, study, acting=acting())
    if reason:
        print(reason, file=sys.stderr)


@command("deposit")
@click.option("--out", metavar="DIR", type=PATH, required=True, help="A new folder, or a .zip.")
@click.option(
    "--author",
    "authors",
    metavar="NAME",
    multiple=True,
    required=True,
    help='As "Family, Given"; once for each author.',
)
def write_deposit(db: Path | str, study: str, out: Path, authors: tuple[str, ...]) -> None:
    """Write the protocol for a deposit on OSF or Zenodo, before the first reading.

    The deposit contains the protocol, its hash, the head of the audit trail, and the metadata in
    the formats of both services. It does not name the drawn cases. See
    docs/archive.md#the-deposit.
    """
    store = Store(db)
    files = deposit_files(store, study, creators=authors, now=now())
    as_zip = out.suffix == ".zip"
    with bundle.write_in_place(out, as_zip=as_zip) as place:
        if as_zip:
            place.write_bytes(bundle.zip_files(files))
        else:
            place.mkdir()
            for name, content in files.items():
                (place / name).write_bytes(content)
        record_export(store, study=study, file="deposit", acting=acting())
    print(f"Wrote {', '.join(files)} to {out}")


@command()
@click.option("--out", metavar="DIR", type=PATH, required=True, help="A new folder, or a .zip.")
@_WITHOUT_TEXTS
def export(db: Path | str, study: str, out: Path, without_texts: bool) -> None:
    """Write a study's bundle to a new folder, or to a single file if DIR ends in .zip.

    Notes on stderr warn if the bank's licence restricts sharing, or if the study is not closed. See
    docs/bundle.md.
    """
    store = Store(db)
    record = partial(record_export, store, study=study, file="bundle", acting=acting())
    names = bundle.export(store, study=study, out=out, texts=not without_texts, record=record)
    _note_sensitive_content(store, study, without_texts=without_texts)
    print(f"Wrote {', '.join(names)} to {out}")


@command(of_study=False, reads="folder")
@_BUNDLE
def restore(db: Path | str, folder: Path) -> None:
    """Restore a study from its bundle (a folder or a .zip).

    The bundle is first compared with its hashes and its chain; it is restored completely or not at
    all. An existing study is not changed. See docs/archive.md.
    """
    result = restoring.restore(Store(db), folder, acting=acting())
    print(
        f"Restored {quoted(result.study)} ({result.state}), "
        f"read in deployment {result.deployment_id}: "
        f"{result.n_readers} readers, {result.n_readings} readings, {result.n_models} models; "
        f"bank {quoted(result.bank)}."
    )
    if result.note:
        note(result.note)


@command(reads="folder")
@_BUNDLE
@click.option(
    "--site", metavar="SITE", default="", help="Site of its readers (default: their deployment)."
)
def merge(db: Path | str, study: str, folder: Path, site: str) -> None:
    """Merge the bundle of another site (a folder or a .zip) into a closed study.

    The other deployment must have used the same locked protocol. A merge with conflicts is refused,
    and all conflicts are listed.
    """
    merged = restoring.merge(Store(db), folder, study=study, site=site, acting=acting())
    print(
        f"Merged into {quoted(merged.study)}: {', '.join(merged.readers)} of {merged.site}, "
        f"{merged.n_readings} readings; new models: {', '.join(merged.models) or 'none'}."
    )


@command(of_study=False)
@click.option(
    "--out", metavar="FILE", type=PATH, help="A new file (default: the folder next to DB)."
)
def backup(db: Path | str, out: Path | None) -> int:
    """Make a consistent backup of the store, even while it is in use, and verify it.

    Exit status 1 if the verification finds errors. See docs/backups.md.
    """
    backup_file = backups.make_backup(Store(db), acting=acting(), out=out)
    print(f"Backup: {backup_file.file} ({backup_file.n_bytes} bytes, SHA-256 {backup_file.sha256})")
    if backup_file.finding:
        print(backup_file.finding, file=sys.stderr)
        return 1
    print("Verified: all holds.")
    return 0


@command("restore-backup", of_study=False, reads="file")
@click.argument("file", metavar="FILE", type=PATH)
def restore_backup(db: Path | str, file: Path) -> None:
    """Verify a backup and restore it as a new store.

    Nothing is overwritten. The command reports what is missing compared with the previous store of
    the same name. See docs/backups.md.
    """
    store = backups.restore_backup(file, db)
    try:
        records_lost = backups.record_restored(store, file, acting=acting())
    except StudyError as error:
        raise StudyError(
            f"The backup was restored to {db}, but this was not recorded: {error} Remove the "
            "restored store and repeat the command."
        ) from error
    print(f"Verified and restored: {db}")
    for loss in records_lost:
        print(f"Note: {loss.sentence}")


@command(of_study=False)
@click.option(
    "--to",
    metavar="DB",
    type=Address(),
    required=True,
    help="A new file, or the address of an empty PostgreSQL database.",
)
def move(db: Path | str, to: Path | str) -> int:
    """Copy a deployment into a new store, for example from SQLite to PostgreSQL or back.

    Stop the server first. The store is copied completely or not at all; DB is not changed. The rows
    of every table are compared, and both stores are verified without their images. Exit status 1 if
    the verification finds a breach. See docs/postgresql.md#move-a-deployment.
    """
    moved = moving.move(Store(db), to)
    n_rows = sum(content.n_rows for content in moved.contents.values())
    print(f"Copied {len(moved.contents)} tables with {n_rows} rows to {to}")
    for file in moved.files:
        print(f"Copied {file}")
    print("The number of rows and their SHA-256 are equal in every table.")
    if moved.before != moved.after:
        print(f"Do not use {to}: its verification differs from that of {db}.", file=sys.stderr)
    elif moved.after:
        print("Both stores have these breaches:", file=sys.stderr)
    for breach in moved.after:
        print(breach, file=sys.stderr)
    if moved.before == moved.after:
        print(f"Next: set READING_ROOM_DB to {to} and start the server.")
        print(f"Readers must not continue on {db}; keep it until the next backup.")
    return 1 if moved.after or moved.before else 0


@command("remove")
@click.option("--reason", metavar="TEXT", required=True, help="Kept in the audit trail.")
@click.option("--confirm", metavar="NAME", required=True, help="The study's name once more.")
@click.option("--certificate", metavar="FILE", type=PATH, help="A new file for the certificate.")
def remove_study(
    db: Path | str, study: str, reason: str, confirm: str, certificate: Path | None
) -> None:
    """Remove a closed study with its readings, people and audit trail, and print a certificate.

    A bundle or archive of the study must have been written after it was closed. The audit trail of
    the deployment keeps counts and hashes. See docs/removal.md.
    """
    removing.refuse_existing(certificate)
    made = removing.remove_study(Store(db), study, typed=confirm, reason=reason, acting=acting())
    _print_certificate(made, certificate)


def _print_certificate(certificate: removing.Certificate, file: Path | None) -> None:
    print(certificate.text)
    try:
        if file:
            with bundle.write_in_place(file, as_zip=True) as place:
                place.write_text(certificate.as_json, encoding="utf-8")
    except BadFile as error:
        raise BadFile(
            f"{error} The study was removed. Print the certificate again with: "
            "python -m study certificates --json"
        ) from error


@command("certificates", of_study=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON, one certificate per line.")
def write_certificates(db: Path | str, as_json: bool) -> None:
    """Print the certificates of all removals: studies, predictions of models, and banks.

    Each certificate lists the backups that still contain what was removed. See docs/removal.md.
    """
    for certificate in removing.certificates(Store(db)):
        print(certificate.as_json if as_json else f"{certificate.text}\n")


@command(of_study=False)
@click.option("--receipts", metavar="FILE", type=PATH, help="Readers' receipts, one per line.")
@click.option("--heads", "kept", metavar="FILE", type=PATH, help="Deposited heads, one per line.")
def verify(db: Path | str, receipts: Path | None, kept: Path | None) -> int:
    """Check the chain of events and all data whose hashes it contains.

    The command checks banks, protocols, readers, models, assignments, preparation, practice,
    presentations, readings, predictions, roles, amendments, interventions, exclusions, merged
    sites, images on disk, sessions and accounts, backups, and the deployment's ID and secret. It
    also checks that the store contains every acknowledged answer, that tables, indexes, triggers,
    references and the file are intact, and that the clock was not set back by more than an hour
    without a record.

    Names, e-mail addresses, access codes, drafts and the backup schedule are not covered, because
    they may change or be erased. For a copy of a study, only the rows that it contains are checked.

    Every breach is printed; for a broken chain, the number, kind and time of the first broken link
    are stated. For each line of --receipts and --heads, the command prints whether it matches the
    chain. Exit status 1 if any check fails. See docs/archive.md#proof-of-integrity and
    docs/backups.md#when-acknowledged-answers-are-missing.
    """
    store = Store(db)
    findings = [
        (path, finding)
        for path, check in ((receipts, heads.check_receipts), (kept, heads.check_heads))
        if path
        for finding in check(store, _read_text(path)) or [_NOTHING_TO_COMPARE]
    ]
    breaches = verification.verify(store)
    for remark in verification.remarks(store):
        print(f"Note: {remark}")
    for breach in breaches:
        print(breach, file=sys.stderr)
    if not breaches and verification.is_extract(store):
        print("Everything in this copy of a study is intact: chain, protocol, items, assignments,")
        print("readings, predictions. It does not contain the films and the rest of the bank.")
    elif not breaches:
        print("Everything is intact: chain, protocols, assignments, readings, predictions, films.")
    for path, finding in findings:
        stream = sys.stdout if finding.matches else sys.stderr
        print(f"{path.name}, {finding.sentence}", file=stream)
    return 1 if breaches or not all(finding.matches for _, finding in findings) else 0


_NOTHING_TO_COMPARE = heads.LineFinding(
    matches=False,
    sentence="it has no line to compare. Name the file with the lines that were kept.",
)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadFile(f"{path} is not UTF-8 text. Save it as UTF-8.") from error


@command()
def head(db: Path | str, study: str) -> None:
    """Print the head of a study's chain as a line to be kept outside the store."""
    print(head_line(Store(db), study, now=now()))


@command("accept-loss", of_study=False)
@click.option("--reason", metavar="WORDS", required=True, help="Kept in the audit trail.")
def accept_loss(db: Path | str, reason: str) -> None:
    """Accept that the store lacks acknowledged records.

    The reason is kept in the audit trail. See
    docs/backups.md#when-acknowledged-answers-are-missing.
    """
    for loss in losses.accept_losses(Store(db), reason=reason, acting=acting()):
        print(loss.sentence)
    print("Accepted, and recorded in the audit trail.")
