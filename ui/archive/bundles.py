"""Bundles of other deployments, uploaded on a page: restored as a study, or merged into one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from study.base.errors import StudyError
from study.base.translation import t
from study.exchange.merging import merge
from study.exchange.restoring import restore
from study.people.signing_in import Person
from ui.parts.forms import on_disk, upload
from ui.parts.text import plain
from ui.server.access import acting
from ui.server.deployment import store


def restore_section(person: Person) -> None:
    """Show where a study's bundle is restored; for whoever runs the deployment."""
    st.write(
        t(
            "A bundle exported from another server is restored as the original study: every "
            "reading, assignment, model and decision with its chain, checked before anything is "
            "saved. Bundles contain no images, names or codes, so reading cannot continue here."
        )
    )
    given = upload(t("Bundle"), types=["zip"], key="restore-file")
    if st.button(t("Restore the study"), key="restore", disabled=given is None):
        _told(lambda path: _restored(person, path), given)


def merge_section(person: Person) -> None:
    """Show where another site's bundle is merged into the study; for whoever may close it."""
    st.write(
        t(
            "A bundle from another server that ran the same locked protocol joins this study: its "
            "readers, their readings and its chain. Both studies must be closed. If anything "
            "prevents the merge, it is listed and nothing is changed."
        )
    )
    given = upload(t("Bundle from the other site"), types=["zip"], key="merge-file")
    site = st.text_input(
        t("Site of these readers"),
        key="merge-site",
        max_chars=100,
        help=t("For readers with no site yet. If left empty, the other server's ID is used."),
    )
    if st.button(t("Merge the bundle"), key="merge", disabled=given is None):
        _told(lambda path: _merged(person, path, site), given)


def _restored(person: Person, path: Path) -> str:
    done = restore(store(), path, **acting(person))
    return t(
        "The study {study} has been restored: {readers} readers, {readings} readings, {models} "
        "models.",
        study=plain(done.study),
        readers=done.n_readers,
        readings=done.n_readings,
        models=done.n_models,
    )


def _merged(person: Person, path: Path, site: str) -> str:
    study = person.study_name
    done = merge(store(), path, study=study, site=site, **acting(person))
    return t(
        "Merged: {readers} from {site}, {readings} readings.",
        readers=plain(", ".join(done.readers)),
        site=plain(done.site),
        readings=done.n_readings,
    )


def _told(act: Callable[[Path], str], given: Any) -> None:
    if given is None:
        return
    try:
        with (
            st.spinner(t("Checking the bundle ...")),
            on_disk(given.name, given.getvalue()) as path,
        ):
            st.success(act(path))
    except StudyError as error:
        first, *faults = str(error).splitlines()
        st.error("\n".join([plain(first), *(f"- {plain(fault)}" for fault in faults)]))
