"""The readings: their list and details, facts about their quality, and exclusions."""

from collections.abc import Iterator

import streamlit as st

from study.base.text import LONGEST_REASON, checked_reason
from study.base.translation import decimal, t, tn
from study.monitoring.interventions import exclude, exclusion_rule, reinstate
from study.monitoring.quality import FactKind, QualityFact, ReadingFacts
from study.people.signing_in import Person
from study.store.progress import ExclusionRow
from ui.overview.labels import fact_details, fact_label, fact_rule, seconds, status_label
from ui.parts import actions
from ui.parts.actions import Question
from ui.parts.text import date_field_format, minute, plain, table_time
from ui.parts.theme import TALL_PX, Columns, grid, grid_px, section, table
from ui.server.access import acting
from ui.server.deployment import store

READINGS = "readings"
PART_KEY, READER_KEY, POSITION_KEY = "part", "reading-reader", "reading-position"
_LIST_KEY = "readings-list"
_MAX_ROWS = 2_000
"""Maximum number of rows sent to a browser; filters make the others accessible."""


def open_reading(reader_id: str, position: int) -> None:
    """Show a reading on the overview."""
    st.session_state[PART_KEY] = READINGS
    st.session_state[READER_KEY] = reader_id
    st.session_state[f"{POSITION_KEY}-{reader_id}"] = position


def show_readings(person: Person, readings: list[ReadingFacts], log: list[ExclusionRow]) -> None:
    """Show the list of readings, the selected reading, and earlier exclusions."""
    if not readings:
        st.markdown(t("No case has been read yet."))
        return
    st.markdown(
        tn(
            "{n} of {total} readings is excluded.",
            "{n} of {total} readings are excluded.",
            sum(bool(reading.excluded) for reading in readings),
            total=len(readings),
        )
    )
    _show_list(readings)
    chosen = _reading_selector(readings)
    left, right = st.columns([3, 2])
    with left:
        table([t("What"), t("Value")], _detail_rows(chosen), caption=t("Reading details"))
    with right:
        _exclusion_form(person, chosen)
    if log:
        section(t("Decisions so far"))
        grid(_log_columns(log), key="exclusions")


def _show_list(readings: list[ReadingFacts]) -> None:
    """Show the readings as a table, latest first; selecting a row shows the reading."""
    rows = sorted(_filtered(readings), key=lambda reading: reading.received_at_utc, reverse=True)
    shown = rows[:_MAX_ROWS]
    words = tn("{n} reading found.", "{n} readings found.", len(rows))
    if len(rows) > _MAX_ROWS:
        words += " " + t("The latest {n} are listed; filter to see the others.", n=_MAX_ROWS)
    st.caption(words)

    def open_selected() -> None:
        for row in st.session_state[_LIST_KEY].selection.rows:
            open_reading(shown[row].reader_id, shown[row].position)

    grid(
        {
            t("Reader"): [reading.reader_id for reading in shown],
            t("Position"): [reading.position for reading in shown],
            t("Case"): [reading.item_id for reading in shown],
            t("Status"): [status_label(reading.status) for reading in shown],
            t("Response (s)"): [seconds(reading.response_ms) for reading in shown],
            t("Received (UTC)"): [table_time(reading.received_at_utc) for reading in shown],
            t("Flags"): [", ".join(reading.flags) for reading in shown],
            t("Reason for exclusion"): [reading.excluded for reading in shown],
        },
        key=_LIST_KEY,
        height=grid_px(shown, most_px=TALL_PX),
        on_select=open_selected,
        selection_mode="single-row",
    )


def _filtered(readings: list[ReadingFacts]) -> Iterator[ReadingFacts]:
    columns = st.columns(3)
    readers = columns[0].multiselect(
        t("Readers"),
        list(dict.fromkeys(reading.reader_id for reading in readings)),
        placeholder=t("Any"),
        key="list-readers",
    )
    statuses = columns[1].multiselect(
        t("Status"),
        sorted({reading.status for reading in readings}),
        format_func=status_label,
        placeholder=t("Any"),
        key="list-statuses",
    )
    flags_present = sorted({flag for reading in readings for flag in reading.flags})
    flags: list[str] = []
    if flags_present:
        flags = columns[2].multiselect(
            t("Flags"), flags_present, placeholder=t("Any"), key="list-flags"
        )
    first, second, third = st.columns([2, 1, 1])
    cases = first.multiselect(
        t("Cases"),
        sorted({reading.item_id for reading in readings}),
        placeholder=t("Any"),
        key="list-cases",
    )
    first_day = second.date_input(
        t("From (UTC)"), value=None, format=date_field_format(), key="list-since"
    )
    last_day = third.date_input(
        t("To, inclusive (UTC)"), value=None, format=date_field_format(), key="list-until"
    )
    days = first_day.isoformat() if first_day else "", last_day.isoformat() if last_day else "9999"
    return (
        reading
        for reading in readings
        if (not readers or reading.reader_id in readers)
        and (not statuses or reading.status in statuses)
        and (not flags or set(flags) & set(reading.flags))
        and (not cases or reading.item_id in cases)
        and days[0] <= reading.received_at_utc[:10] <= days[1]
    )


def _reading_selector(readings: list[ReadingFacts]) -> ReadingFacts:
    left, right, _ = st.columns([1, 2, 3])
    readers = list(dict.fromkeys(reading.reader_id for reading in readings))
    reader = left.selectbox(t("Reader"), readers, key=READER_KEY)
    own_readings = {
        reading.position: reading for reading in readings if reading.reader_id == reader
    }
    position = right.selectbox(
        t("Position"),
        list(own_readings),
        format_func=lambda n: _label(own_readings[n]),
        key=f"{POSITION_KEY}-{reader}",
    )
    return own_readings[position]


def _label(reading: ReadingFacts) -> str:
    words = t("{n}: {status}", n=reading.position, status=status_label(reading.status))
    return t("{reading}, excluded", reading=words) if reading.excluded else words


def _detail_rows(reading: ReadingFacts) -> list[tuple[str, str]]:
    rows = {
        t("Case"): reading.item_id,
        t(
            "Session, condition, repeat"
        ): f"{reading.session}, {reading.condition}, {reading.repeat}",
        t("Status"): status_label(reading.status),
        t("Response (s)"): _seconds_text(seconds(reading.response_ms)),
        t("Elapsed (s)"): _seconds_text(seconds(reading.elapsed_ms)),
        t("Hidden (s)"): _seconds_text(seconds(reading.hidden_ms)),
        t("Paused (s)"): _seconds_text(seconds(reading.paused_ms)),
        t("Presented"): minute(reading.shown_at_utc),
        t("Received"): minute(reading.received_at_utc),
        t("Flags"): ", ".join(reading.flags) or t("none"),
        t("Screen and browser"): reading.setup or t("not recorded"),
        t("Comment"): reading.comment or t("none"),
        **({t("Reason for “cannot answer”"): reading.given_up} if reading.given_up else {}),
        t("Reason for exclusion"): reading.excluded or t("not excluded"),
    }
    return list(rows.items())


def _seconds_text(value: float | None) -> str:
    return t("not recorded") if value is None else f"{value:g}"


def _exclusion_form(person: Person, reading: ReadingFacts) -> None:
    below = st.container()
    with below, st.form(f"exclude-{reading.id}", clear_on_submit=True):
        reason = st.text_area(
            t("Reason"),
            max_chars=LONGEST_REASON,
            key=f"exclusion-reason-{reading.id}-{bool(reading.excluded)}",
            help=t("Recorded permanently with the reading and included in exports."),
        )
        st.caption(exclusion_rule(store(), person.study_name))
        actions.button(
            t("Reinstate this reading") if reading.excluded else t("Exclude this reading"),
            lambda: _confirmation(person, reading, checked_reason(reason)),
            in_form=True,
            key=f"exclude-now-{reading.id}",
            below=below,
        )


def _confirmation(person: Person, reading: ReadingFacts, reason: str) -> Question:
    key = {"reader": reading.reader_id, "position": reading.position}
    if reading.excluded:
        question = t(
            "Reinstate {reader}, position {position}? Reason: {reason}", **key, reason=reason
        )
        report = t("{reader}, position {position}, is no longer excluded.", **key)
    else:
        question = t(
            "Exclude {reader}, position {position}? Reason: {reason}", **key, reason=reason
        )
        report = t("{reader}, position {position}, is excluded.", **key)
    decide = reinstate if reading.excluded else exclude

    def do() -> str:
        decide(
            store(),
            study=person.study_name,
            reading=reading.id,
            reason=reason,
            acting=acting(person),
        )
        return report

    return Question(text=question, do=do)


def _log_columns(log: list[ExclusionRow]) -> Columns:
    return {
        t("When (UTC)"): [table_time(entry.at_utc) for entry in log],
        t("Reader"): [entry.reader_id for entry in log],
        t("Position"): [entry.position for entry in log],
        t("Decision"): [t("excluded") if entry.excluded else t("reinstated") for entry in log],
        t("Reason"): [entry.reason for entry in log],
        t("By"): [entry.actor for entry in log],
        t("Answer changed since"): ["" if entry.current else t("yes") for entry in log],
    }


def show_quality(
    facts: list[QualityFact], readings: list[ReadingFacts], *, may_exclude: bool
) -> None:
    """Show the facts on data quality; they have no automatic consequences."""
    st.markdown(
        t(
            "Observations on times, screens and answers, each with its rule. None is a judgement, "
            "and none has consequences by itself. Simulated readers are left out."
        )
    )
    if not facts:
        st.markdown(t("Nothing to report so far."))
    else:
        grid(
            _fact_columns(facts),
            key="facts",
            column_config={
                t("Share"): st.column_config.TextColumn(width="small"),
                t("More"): st.column_config.TextColumn(width="large"),
            },
        )
        _show_fact_details(facts, readings, may_exclude=may_exclude)
    with st.expander(t("All rules and thresholds")):
        for kind in FactKind:
            st.markdown(f"**{plain(fact_label(kind))}.** {plain(fact_rule(kind))}")


def _fact_columns(facts: list[QualityFact]) -> Columns:
    return {
        t("Observation"): [fact_label(fact.kind) for fact in facts],
        t("Reader or case"): [_subject_of(fact) for fact in facts],
        t("Readings"): [_count(fact) for fact in facts],
        t("Share"): [_percent(fact) for fact in facts],
        t("More"): [fact_details(fact) for fact in facts],
    }


def _subject_of(fact: QualityFact) -> str:
    return fact.reader_id or t("case {item}", item=fact.item_id)


def _count(fact: QualityFact) -> str:
    if fact.kind is FactKind.WASHOUT:
        return t("{n} of {total} pairs read too close together", n=fact.n, total=fact.total)
    return t("{n} of {total}", n=fact.n, total=fact.total)


def _percent(fact: QualityFact) -> str:
    return t("{share} %", share=decimal(100 * fact.n / fact.total)) if fact.total else ""


def _show_fact_details(
    facts: list[QualityFact], readings: list[ReadingFacts], *, may_exclude: bool
) -> None:
    place = st.selectbox(
        t("Show details of"),
        range(len(facts)),
        format_func=lambda n: (
            f"{fact_label(facts[n].kind)}, {_subject_of(facts[n])}: {_count(facts[n])}"
        ),
        key="fact",
    )
    fact = facts[min(place, len(facts) - 1)]
    st.markdown(plain(fact_rule(fact.kind)))
    positions = set(fact.readings)
    rows = [reading for reading in readings if reading.id in positions]
    if not rows:
        return
    grid(reading_table(rows), key="fact-readings")
    if may_exclude:
        left, right = st.columns([2, 3], vertical_alignment="bottom")
        chosen = left.selectbox(
            t("Reading"),
            rows,
            format_func=lambda row: t(
                "{reader}, position {n}", reader=row.reader_id, n=row.position
            ),
            key=f"fact-reading-{place}",
        )
        actions.view_button(
            t("Show this reading"),
            lambda: open_reading(chosen.reader_id, chosen.position),
            key="look-at",
            place=right,
            before_page=True,
        )


def reading_table(rows: list[ReadingFacts]) -> Columns:
    """Return a table of the readings' times, flags and circumstances, without answers."""
    return {
        t("Reader"): [row.reader_id for row in rows],
        t("Position"): [row.position for row in rows],
        t("Session"): [row.session for row in rows],
        t("Condition"): [row.condition for row in rows],
        t("Case"): [row.item_id for row in rows],
        t("Status"): [status_label(row.status) for row in rows],
        t("Response (s)"): [seconds(row.response_ms) for row in rows],
        t("Hidden (s)"): [seconds(row.hidden_ms) for row in rows],
        t("Received (UTC)"): [table_time(row.received_at_utc) for row in rows],
        t("Flags"): [", ".join(row.flags) for row in rows],
        t("Screen"): [row.setup for row in rows],
        t("Excluded"): [row.excluded for row in rows],
    }
