"""The coordinator's overview: progress, data quality and interventions."""

import streamlit as st

from study.base.translation import t
from study.monitoring.interventions import exclusion_history
from study.people.roles import Act
from ui.app.masthead import masthead
from ui.archive import backups
from ui.overview.current_state import current_progress, quality_facts, reading_facts
from ui.overview.interventions import show_interventions, show_reminders
from ui.overview.progress import show_progress
from ui.overview.readings import PART_KEY, READINGS, show_quality, show_readings
from ui.parts.links import bundle_link
from ui.parts.theme import error_line, page_title, section
from ui.server.access import guard
from ui.server.deployment import store

person = guard(Act.WATCH)

PROGRESS, QUALITY, INTERVENE, REMINDERS = "progress", "quality", "step in", "remind"


@st.fragment(run_every=10)
def _refreshing_progress() -> None:
    guard(Act.WATCH)
    with error_line():
        show_progress(current_progress(store(), person.study_name))


def _part_title(part: str) -> str:
    return {
        PROGRESS: t("Progress"),
        QUALITY: t("Data quality"),
        READINGS: t("Readings"),
        INTERVENE: t("Intervene"),
        REMINDERS: t("Reminders"),
    }[part]


def _show_part(part: str, *, may_step_in: bool) -> None:
    current_store, study = store(), person.study_name
    if part == PROGRESS:
        _refreshing_progress()
        section(
            t("Export"),
            t(
                "The bundle contains every item, rater and reading with its times, the protocol "
                "and the chain of events. The analysis needs nothing else."
            ),
        )
        bundle_link()
        backups.last_caption()
    elif part == QUALITY:
        show_quality(
            quality_facts(current_store, study),
            reading_facts(current_store, study),
            may_exclude=may_step_in,
        )
    elif part == READINGS:
        show_readings(
            person, reading_facts(current_store, study), exclusion_history(current_store, study)
        )
    elif part == INTERVENE:
        show_interventions(person, current_progress(current_store, study))
    else:
        show_reminders(person, current_progress(current_store, study))


masthead(person)
page_title(t("Progress"))
may_step_in = person.may(Act.STEP_IN)
chosen = st.segmented_control(
    t("Part"),
    [PROGRESS, QUALITY, *((READINGS, INTERVENE, REMINDERS) if may_step_in else ())],
    default=PROGRESS,
    required=True,
    format_func=_part_title,
    label_visibility="collapsed",
    key=PART_KEY,
)
with error_line():
    _show_part(chosen, may_step_in=may_step_in)
