"""Backups on a page: the last backup and its verification, the list, the schedule, a new backup."""

import streamlit as st

from study.base.translation import decimal, t, tn
from study.exchange import backups
from study.exchange.backups import Backup, Schedule
from study.people.signing_in import Person
from ui.parts import actions
from ui.parts.actions import Report
from ui.parts.text import minute, plain, table_time
from ui.parts.theme import Columns, grid
from ui.server.access import acting
from ui.server.deployment import store


def section(person: Person) -> None:
    """Show the backups, with the controls to make a backup and to change the schedule."""
    state = st.container()
    actions.button(
        t("Make a backup now"),
        lambda: _make_backup(person),
        key="backup-now",
        busy=t("Copying and verifying ..."),
        type="primary",
    )
    backup_list = backups.list_backups(store())
    with state:
        _show_last_backup(backup_list)
    if backup_list:
        grid(_backup_columns(backup_list))
    st.caption(
        t(
            "Backups are in {folder} on the server; {free} GB are free there. They contain "
            "everything except the images, which remain where the banks were imported from. An "
            "erased name stays in earlier backups until those are removed.",
            folder=plain(str(backups.backup_folder(store()))),
            free=decimal(backups.free_bytes(store()) / 1e9, 1),
        )
    )
    _schedule_form(person)


def last_caption() -> None:
    """Show when the last backup was made and verified; only administrators see failures."""
    backup_list = backups.list_backups(store())
    if not backup_list:
        st.caption(t("There is no backup of this server yet."))
        return
    last, when = backup_list[0], minute(backup_list[0].made_at_utc)
    st.caption(
        t("Last backup: {when}. It has a problem: ask an administrator.", when=when)
        if last.finding or not last.there
        else t("Last backup: {when}, verified.", when=when)
    )


def _show_last_backup(backup: list[Backup]) -> None:
    if not backup:
        st.warning(t("There is no backup yet."))
        return
    last = backup[0]
    when = minute(last.made_at_utc)
    if not last.there:
        st.error(t("The last backup, made on {when}, is no longer where it was saved.", when=when))
    elif last.finding:
        st.error(
            t(
                "The last backup was made on {when}. Verification failed: {what}",
                when=when,
                what=plain(last.finding),
            )
        )
    else:
        st.success(t("The last backup was made on {when}; verification passed.", when=when))


def _make_backup(person: Person) -> Report:
    backup = backups.make_backup(store(), acting=acting(person))
    if backup.finding:
        return Report(text=backup.finding, kind="error")
    return Report(text=t("Backup made; verification passed."))


def _backup_columns(backup: list[Backup]) -> Columns:
    return {
        t("Made (UTC)"): [table_time(entry.made_at_utc, to="s") for entry in backup],
        t("By"): [entry.actor for entry in backup],
        t("Verified"): [entry.finding or t("passed") for entry in backup],
        t("File"): [entry.file.name if entry.there else t("missing") for entry in backup],
        t("Size (MB)"): [round(entry.n_bytes / 1e6, 1) for entry in backup],
        t("SHA-256"): [entry.sha256 for entry in backup],
    }


def _schedule_form(person: Person) -> None:
    with store().look() as look:
        now = backups.current_schedule(look)
    st.write(
        tn(
            "A backup is made automatically every hour.",
            "A backup is made automatically every {n} hours.",
            now.every_hours,
        )
        if now.every_hours
        else t("No automatic backups are made.")
    )
    with st.form("backup-schedule"):
        left, right = st.columns(2)
        hours = left.number_input(
            t("Hours between backups (0: no automatic backups)"),
            0,
            backups.MAX_HOURS,
            now.every_hours,
            key="backup-hours",
        )
        keep = right.number_input(
            t("Number of backups to keep"), 1, backups.MAX_KEEP, now.keep, key="backup-keep"
        )
        new = Schedule(every_hours=int(hours), keep=int(keep))
        actions.button(
            t("Save the schedule"),
            lambda: _save_schedule(person, new),
            in_form=True,
            key="backup-save",
        )


def _save_schedule(person: Person, new: Schedule) -> str:
    backups.set_schedule(store(), new, acting=acting(person))
    return t("The schedule has been saved.")
