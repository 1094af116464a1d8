"""Backups on a page: the last one and what verifying it found, all of them, made now, scheduled."""

import streamlit as st

from study.base.translation import decimal, t, tn
from study.exchange import backups
from study.exchange.backups import Backup, Schedule
from study.people.signing_in import Person
from ui.parts.text import instant, minute, plain
from ui.parts.theme import Columns, error_line, grid
from ui.server.access import acting
from ui.server.deployment import store


def section(person: Person) -> None:
    """Show the backups, and make one or change their schedule if asked to."""
    standing = st.container()
    if st.button(t("Make a backup now"), key="backup-now", type="primary"):
        _make(person)
    found = backups.listed(store())
    with standing:
        _standing(found)
    if found:
        grid(_table(found))
    st.caption(
        t(
            "Backups are in {folder} on the server; {free} GB are free there. They contain "
            "everything except the images, which remain where the banks were imported from. An "
            "erased name stays in earlier backups until those are removed.",
            folder=plain(str(backups.folder_of(store()))),
            free=decimal(backups.free_bytes(store()) / 1e9, 1),
        )
    )
    _schedule(person)


def last_caption() -> None:
    """Say when the last backup was made and whether it held; what failed is said to few."""
    found = backups.listed(store())
    if not found:
        st.caption(t("There is no backup of this server yet."))
        return
    last, when = found[0], minute(found[0].made_at_utc)
    st.caption(
        t("Last backup: {when} UTC. It has a problem: ask an administrator.", when=when)
        if last.finding or not last.there
        else t("Last backup: {when} UTC, verified.", when=when)
    )


def _standing(found: list[Backup]) -> None:
    if not found:
        st.warning(t("There is no backup yet."))
        return
    last = found[0]
    when = minute(last.made_at_utc)
    if not last.there:
        st.error(
            t("The last backup, made on {when} UTC, is no longer where it was saved.", when=when)
        )
    elif last.finding:
        st.error(
            t(
                "The last backup was made on {when} UTC. Verification failed: {what}",
                when=when,
                what=plain(last.finding),
            )
        )
    else:
        st.success(t("The last backup was made on {when} UTC; verification passed.", when=when))


def _make(person: Person) -> None:
    with error_line():
        with st.spinner(t("Copying and verifying ...")):
            made = backups.make(store(), **acting(person))
        if made.finding:
            st.error(plain(made.finding))
        else:
            st.success(t("Backup made; verification passed."))


def _table(found: list[Backup]) -> Columns:
    return {
        t("Made (UTC)"): [instant(one.made_at_utc, to="s") for one in found],
        t("By"): [one.actor for one in found],
        t("Verified"): [one.finding or t("passed") for one in found],
        t("File"): [one.file.name if one.there else t("missing") for one in found],
        t("Size (MB)"): [round(one.n_bytes / 1e6, 1) for one in found],
        t("SHA-256"): [one.sha256 for one in found],
    }


def _schedule(person: Person) -> None:
    with store().look() as look:
        now = backups.schedule(look)
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
        if st.form_submit_button(t("Save the schedule"), key="backup-save"):
            _save(person, Schedule(every_hours=int(hours), keep=int(keep)))


def _save(person: Person, new: Schedule) -> None:
    with error_line():
        backups.set_schedule(store(), new, **acting(person))
        st.success(t("The schedule has been saved."))
