"""The archive page: the state of the study, its closing, and its export files."""

from typing import Literal

import streamlit as st

from study.base.text import LONGEST_REASON
from study.base.translation import decimal, t, tn
from study.exchange.archives import BUNDLE, COPY, EXCEL, IMRMC, MISSING, PARQUET, REPORT, SUMS
from study.monitoring.progress import Stage
from study.people.roles import Act
from ui.app.masthead import masthead
from ui.archive import exports as archive
from ui.archive.exports import merge_section
from ui.overview.trail import head_section
from ui.parts import actions
from ui.parts.links import Download, closing_links, downloads, links
from ui.parts.text import minute, plain, study_state
from ui.parts.theme import error_line, grid, page_title, section
from ui.server.access import guard

person = guard(Act.EXPORT)


def _show_state(result: archive.StudyState) -> None:
    counts = result.completeness.counts
    figures = (
        (t("State"), study_state(result.state)),
        (t("Cases"), decimal(result.completeness.n_cases)),
        (
            t("Readers finished"),
            t(
                "{n} of {total}",
                n=result.completeness.by_stage[Stage.FINISHED],
                total=len(result.completeness.readers),
            ),
        ),
        (t("Readings"), t("{n} of {total}", n=counts.n_read, total=counts.n_assigned)),
    )
    for column, (label, value) in zip(st.columns(4), figures, strict=True):
        column.metric(label, value, border=True)
    if result.closed:
        st.info(
            t(
                "Closed on {time} by {who}: {reason}",
                time=minute(result.closed.at_utc),
                who=plain(result.closed.actor),
                reason=plain(result.closed.detail["reason"]),
            )
        )


def _show_missing_readings(study_state: archive.StudyState) -> None:
    section(t("Missing readings"))
    missing_cases = [
        session
        for session in study_state.completeness.sessions
        if session.counts.n_answered < session.counts.n_assigned or session.counts.n_excluded
    ]
    if not study_state.completeness.sessions:
        st.write(t("No cases have been assigned yet."))
    elif not missing_cases:
        st.write(t("None: every assigned case has a valid answer."))
    else:
        grid(
            {
                t("Reader"): [entry.reader_id for entry in missing_cases],
                t("Session"): [entry.session for entry in missing_cases],
                t("Condition"): [entry.condition for entry in missing_cases],
                t("Assigned"): [entry.counts.n_assigned for entry in missing_cases],
                t("Not read"): [entry.counts.n_unread for entry in missing_cases],
                t("Cannot answer"): [entry.counts.n_skipped for entry in missing_cases],
                t("Timed out"): [entry.counts.n_timed_out for entry in missing_cases],
                t("Excluded"): [entry.counts.n_excluded for entry in missing_cases],
            },
            key="missing",
        )
    st.caption(
        t(
            "The closing report lists who read how much, what is missing, amendments, "
            "interventions and hashes. It contains no accuracy results."
        )
    )
    closing_links()


def _closing_form(study_state: archive.StudyState) -> None:
    section(t("Close the study"))
    missing = study_state.completeness.counts.n_unread
    st.markdown(
        t(
            "Closing is **permanent**: no one can reopen the study. Readers can read no further "
            "cases, and answers still on their way from a reader's browser are not accepted. No "
            "more readers can be invited. Everyone who can see results will then see accuracy."
        )
    )
    if missing:
        st.warning(
            tn(
                "{n} assigned case was not read. It remains missing.",
                "{n} assigned cases were not read. They remain missing.",
                missing,
            )
        )
    with st.form("close-study", border=True):
        reason = st.text_area(
            t(
                "Why is the study being closed? The reason is recorded in the audit trail and the "
                "closing report."
            ),
            max_chars=LONGEST_REASON,
            key="close-reason",
        )
        typed = st.text_input(
            t("To confirm, type the study's name: {name}", name=plain(person.study_name)),
            key="close-name",
        )

        def close() -> str:
            archive.close(person, typed=typed, reason=reason)
            return t("The study is closed.")

        actions.button(
            t("Close the study permanently"), close, in_form=True, key="close-study-button"
        )


def _export_section(study_state: archive.StudyState) -> None:
    section(t("Export files"))
    if study_state.shows_accuracy:
        st.write(
            t(
                "All files are created from the same state of the study and shown with their "
                "SHA-256. The audit trail records who created and who downloaded them."
            )
        )
    else:
        st.write(
            t(
                "While the study is open the files are blinded: they do not contain the reference "
                "standard, so agreement and times can be analysed but accuracy cannot. Once the "
                "study is closed they can be created in full."
            )
        )
    if study_state.licence:
        st.warning(
            t(
                "The questions are under this licence: {licence}. Share files that contain their "
                "texts only as it allows.",
                licence=plain(study_state.licence),
            )
        )
    omits_texts = st.checkbox(
        t("Leave out the texts of questions and options"), key="without-texts"
    )
    archives = archive.archive_files(person)

    def make() -> str:
        archive.make_archive_files(person, texts=not omits_texts)
        return t("The files have been created. Download them below.")

    kind: Literal["primary", "secondary"] = (
        "primary" if study_state.closed and not archives else "secondary"
    )
    actions.button(
        t("Create the files again") if archives else t("Create the files"),
        make,
        key="make-files",
        busy=t("Creating the files ..."),
        type=kind,
    )
    if archives:
        _show_archive_files(archives, study_state)


def _show_archive_files(archives: archive.ArchiveFiles, study_state: archive.StudyState) -> None:
    if archives.blinded and study_state.shows_accuracy:
        st.warning(t("These files are still blinded. Create them again to include everything."))
    if not archives.texts:
        st.info(t("These files do not contain the texts of questions and options."))
    caption = t(
        "Created on {time} by {who}, from the audit trail up to event {n}.",
        time=minute(archives.at_utc),
        who=archives.by,
        n=archives.last_event,
    )
    headings = (t("File"), t("Contents"), t("Size"), "SHA-256")
    purposes = _purposes()
    rows = [
        Download(
            address=f"export/archive/{name}",
            name=name,
            what=purposes[name],
            size=_size(archives.n_bytes[name]),
            sha256=digest,
        )
        for name, digest in archives.sha256.items()
    ]
    sums = Download(
        address=f"export/archive/{SUMS}",
        name=SUMS,
        what=t("Hashes of all files, for: sha256sum --check SHA256SUMS"),
        size="",
        sha256="",
    )
    downloads(caption, headings, (*rows, sums))
    for name, reason in archives.left_out.items():
        st.caption(t("Not created: {name}. {why}", name=plain(name), why=plain(reason)))


def _purposes() -> dict[str, str]:
    return {
        BUNDLE: t("Everything, ready for analysis: items, raters, readings, protocol, audit trail"),
        PARQUET: t("Items, raters and readings as typed Parquet files"),
        EXCEL: t("The same data as an Excel workbook"),
        IMRMC: t("Input for iMRMC, one file per analysis, with an explanation of its numbers"),
        COPY: t("This study alone as a SQLite file, which can be checked with verify"),
        REPORT: t("Readers, numbers, missing readings; for printing or filing"),
        MISSING: t("All assigned cases without a valid answer"),
    }


def _size(n_bytes: int) -> str:
    if n_bytes < 1_000_000:
        return t("{n} kB", n=max(1, round(n_bytes / 1000)))
    return t("{n} MB", n=decimal(n_bytes / 1_000_000, 1))


masthead(person)
page_title(t("Close and export"))
with error_line():
    current = archive.state_of(person)
    _show_state(current)
    _show_missing_readings(current)
    if current.state == "open" and person.may(Act.CLOSE):
        _closing_form(current)
    else:
        actions.show_last_report("close-study-button")
    _export_section(current)
    head_section(person.study_name)
    if current.state == "closed" and person.may(Act.CLOSE):
        if current.has_words:
            section(t("Answers in words"))
            links("to_scoring", {"scoring": t("Have answers in words scored")})
        section(t("Merge another site"))
        merge_section(person)
