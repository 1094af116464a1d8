"""Progress of the study: its readers, their sessions over time, and inactive readers."""

from collections import Counter
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import streamlit as st

from study.base import translation
from study.base.translation import ENGLISH, decimal, language, t, tn
from study.monitoring.progress import (
    Progress,
    ReaderProgress,
    SessionProgress,
    Stage,
    silent_readers,
)
from study.reading.course import SessionState
from ui.overview.labels import seconds, session_status_text, stage_label, time_left_text
from ui.parts.text import minute, plain, study_state, table_time
from ui.parts.theme import Columns, facts, grid, section, table

SILENT_DAYS = (3, 7, 14, 28)
HOUR_MS = 3_600_000.0
MAX_POINTS_PER_LINE = 200
MAX_POINTS = 3_000
MIN_POINTS_PER_LINE = 6
"""Limits on the points of the chart; more points are invisible and slow the page down."""

MAX_NAMED_READERS = 8
"""Number of distinguishable colours; more lines have one colour and are named on hover."""

MAX_DAYS = 14


def show_progress(progress: Progress) -> None:
    """Show the progress of a study, without correctness."""
    _show_study_facts(progress)
    _show_cases_of_withdrawn(progress)
    section(t("Readers"))
    grid(
        _reader_columns(progress.readers),
        key="readers",
        column_config={
            t("Progress"): st.column_config.ProgressColumn(
                min_value=0, max_value=100, format=_percent_format()
            )
        },
    )
    st.caption(
        t("Read: answered, cannot answer or timed out. All numbers are out of the cases assigned.")
    )
    _show_inactive_readers(progress)
    _show_lapsed_sessions(progress)
    parts = [part for reader in progress.readers for part in reader.parts]
    if len({(part.status.session, part.condition) for part in parts}) > 1:
        section(t("Sessions and conditions"))
        grid(_session_columns(parts), key="sessions")
    if progress.counts.n_read:
        section(t("Pace"))
        numbers = (t("Median response (s)"), t("Active hours"), t("Cases per active hour"))
        right = st.column_config.TextColumn(alignment="right")
        grid(
            _pace_columns(progress.readers), key="pace", column_config=dict.fromkeys(numbers, right)
        )
        st.caption(
            t(
                "Active hours exclude breaks of more than ten minutes between two readings. Time "
                "left is an estimate: unread cases at the stated pace, excluding breaks."
            )
        )
        show_chart(progress)


def _show_study_facts(progress: Progress) -> None:
    n_read, n_assigned = progress.counts.n_read, progress.counts.n_assigned
    n_cases = max((reader.counts.n_assigned for reader in progress.readers), default=0)
    share = t("{share} %", share=decimal(100 * n_read / n_assigned)) if n_assigned else ""
    facts(
        (
            (t("State"), study_state(progress.state), _state_since(progress)),
            (t("Cases per reader"), str(n_cases), ""),
            (t("Readers"), str(len(progress.readers)), _stages(progress)),
            (t("Readings"), t("{n} of {total}", n=n_read, total=n_assigned), share),
        )
    )
    words = {"drawn": t("drawn"), "opened": t("opened"), "closed": t("closed")}
    dates = ", ".join(f"{words[key]} {minute(at)}" for key, at in progress.dates.items() if at)
    amended = tn("{n} amendment", "{n} amendments", progress.n_amendments)
    st.caption(
        plain(
            t(
                "{dates}; {amended}; protocol {sha256}",
                dates=dates,
                amended=amended,
                sha256=progress.protocol_sha256,
            )
        )
    )


def _state_since(progress: Progress) -> str:
    began = {"drawn": "drawn", "open": "opened", "closed": "closed"}[progress.state]
    at = minute(progress.dates.get(began))
    return t("since {time}", time=at) if at else ""


def _stages(progress: Progress) -> str:
    n_by_stage = Counter(reader.stage for reader in progress.readers)
    return ", ".join(
        t("{n} {stage}", n=n_by_stage[stage], stage=stage_label(stage))
        for stage in Stage
        if n_by_stage[stage]
    )


def _show_cases_of_withdrawn(progress: Progress) -> None:
    if progress.n_cases_left_behind:
        st.markdown(
            plain(
                tn(
                    "{n} case assigned to withdrawn readers will not be read; it is included in "
                    "the denominators above.",
                    "{n} cases assigned to withdrawn readers will not be read; they are included "
                    "in the denominators above.",
                    progress.n_cases_left_behind,
                )
            )
        )


def _reader_columns(readers: tuple[ReaderProgress, ...]) -> Columns:
    return {
        t("Reader"): [_reader_label(reader) for reader in readers],
        t("Stage"): [stage_label(reader.stage) for reader in readers],
        t("Session"): [_session_text(reader) for reader in readers],
        t("Progress"): [_percent_read(reader) for reader in readers],
        t("Assigned"): [reader.counts.n_assigned for reader in readers],
        t("Presented"): [reader.counts.n_presented for reader in readers],
        t("Read"): [reader.counts.n_read for reader in readers],
        t("Answered"): [reader.counts.n_answered for reader in readers],
        t("Cannot answer"): [reader.counts.n_skipped for reader in readers],
        t("Timed out"): [reader.counts.n_timed_out for reader in readers],
        t("Last active (UTC)"): [
            table_time("" if reader.simulated else reader.last_at_utc) for reader in readers
        ],
    }


def _pace_columns(readers: tuple[ReaderProgress, ...]) -> Columns:
    return {
        t("Reader"): [_reader_label(reader) for reader in readers],
        t("Timed readings"): [reader.pace.n_timed for reader in readers],
        t("Median response (s)"): [
            _number_text(seconds(reader.pace.median_response_ms)) for reader in readers
        ],
        t("Active hours"): [decimal(reader.pace.active_ms / HOUR_MS, 1) for reader in readers],
        t("Cases per active hour"): [_number_text(_rounded_rate(reader)) for reader in readers],
        t("Time left"): [time_left_text(reader.left) for reader in readers],
    }


def _number_text(value: float | None) -> str:
    return "" if value is None else decimal(value, len(f"{value:g}".partition(".")[2]))


def _reader_label(reader: ReaderProgress) -> str:
    return (
        t("{reader} (simulated)", reader=reader.reader_id) if reader.simulated else reader.reader_id
    )


def _percent_format() -> str:
    """Return the printf format of integer percentages in tables."""
    return t("{share} %", share="\0").replace("%", "%%").replace("\0", "%.0f")


def _percent_read(reader: ReaderProgress) -> float:
    return (
        100 * reader.counts.n_read / reader.counts.n_assigned if reader.counts.n_assigned else 0.0
    )


def _rounded_rate(reader: ReaderProgress) -> float | None:
    rate = reader.pace.cases_per_hour
    return None if rate is None else round(rate)


def _session_text(reader: ReaderProgress) -> str:
    """Return a reader's current session, with its state and deadlines."""
    session = reader.current
    if session is None or reader.stage is Stage.WITHDRAWN:
        return ""
    words = t("{n}: {state}", n=session.session, state=session_status_text(session))
    if session.state is SessionState.WASHING_OUT and session.opens_at_utc:
        return t("{session}, opens {time}", session=words, time=minute(session.opens_at_utc))
    if session.state is SessionState.LAPSED:
        return t("{session}, ended {time}", session=words, time=minute(session.ends_at_utc))
    if session.ends_at_utc:
        return t("{session}, ends {time}", session=words, time=minute(session.ends_at_utc))
    return words


def _show_inactive_readers(progress: Progress) -> None:
    left, right = st.columns([1, 4], vertical_alignment="bottom")
    days = left.selectbox(
        t("Inactive for"),
        SILENT_DAYS,
        index=1,
        format_func=lambda n: tn("{n} day", "{n} days", n),
        key="silent-days",
    )
    inactive_readers = silent_readers(progress, days)
    if not inactive_readers:
        right.markdown(
            t("No reader who has started and is able to read has been inactive for that long.")
        )
    for reader in inactive_readers:
        right.markdown(
            plain(
                tn(
                    "{reader} has read {read} of {total} and was last active {time}: has been "
                    "able to continue for {n} day.",
                    "{reader} has read {read} of {total} and was last active {time}: has been "
                    "able to continue for {n} days.",
                    int(reader.silent_days or 0),
                    reader=reader.reader_id,
                    read=reader.counts.n_read,
                    total=reader.counts.n_assigned,
                    time=minute(reader.last_at_utc),
                )
            )
        )


def _show_lapsed_sessions(progress: Progress) -> None:
    for reader in progress.readers:
        session = reader.current
        if (
            reader.stage is Stage.WITHDRAWN
            or session is None
            or session.state is not SessionState.LAPSED
        ):
            continue
        st.markdown(
            plain(
                tn(
                    "{reader}: session {session} lapsed {time} with {n} case unread.",
                    "{reader}: session {session} lapsed {time} with {n} cases unread.",
                    session.n_assigned - session.n_read,
                    reader=reader.reader_id,
                    session=session.session,
                    time=minute(session.ends_at_utc),
                )
            )
        )


def _session_columns(parts: list[SessionProgress]) -> Columns:
    return {
        t("Reader"): [part.reader_id for part in parts],
        t("Session"): [part.status.session for part in parts],
        t("Condition"): [part.condition for part in parts],
        t("State"): [session_status_text(part.status) for part in parts],
        t("Opens (UTC)"): [table_time(part.status.opens_at_utc) for part in parts],
        t("Ends (UTC)"): [table_time(part.status.ends_at_utc) for part in parts],
        t("Assigned"): [part.counts.n_assigned for part in parts],
        t("Presented"): [part.counts.n_presented for part in parts],
        t("Read"): [part.counts.n_read for part in parts],
        t("Answered"): [part.counts.n_answered for part in parts],
        t("Cannot answer"): [part.counts.n_skipped for part in parts],
        t("Timed out"): [part.counts.n_timed_out for part in parts],
    }


def show_chart(progress: Progress) -> None:
    """Show the chart and its table."""
    arrivals = {name: times for name, times in progress.arrivals.items() if times}
    if not arrivals:
        return
    section(t("Readings over time"))
    left, right = st.columns([3, 2])
    left.plotly_chart(_figure(progress, arrivals), theme="streamlit", key="readings-over-time")
    with right:
        _show_daily_counts(arrivals)


def _figure(progress: Progress, arrivals: Mapping[str, Sequence[str]]) -> go.Figure:
    has_few_readers = len(arrivals) <= MAX_NAMED_READERS
    figure = go.Figure()
    max_points = min(MAX_POINTS_PER_LINE, max(MIN_POINTS_PER_LINE, MAX_POINTS // len(arrivals)))
    lines = {name: _line_points(times, max_points) for name, times in arrivals.items()}
    if has_few_readers:
        for name, (x, y) in lines.items():
            figure.add_scatter(
                x=x, y=y, name=name, line={"shape": "hv", "width": 2}, **_LINE_OPTIONS
            )
    else:  # one line with gaps, because hundreds of lines take the browser seconds
        figure.add_scatter(
            x=[at for x, _ in lines.values() for at in (*x, None)],
            y=[n for _, y in lines.values() for n in (*y, None)],
            text=[name for name, (x, _) in lines.items() for _ in (*x, None)],
            line={"width": 1},
            opacity=0.6,
            **(_LINE_OPTIONS | {"hovertemplate": _HOVER_TEMPLATE.format("%{text}")}),
        )
    longest = max(reader.counts.n_assigned for reader in progress.readers)
    figure.update_layout(
        height=360,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=has_few_readers,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0},
        yaxis={"title": t("Cases read"), "range": [0, longest * 1.03]},
        xaxis={"title": t("Received (UTC)"), "showgrid": False},
    )
    if language() != ENGLISH:  # Plotly only knows English month names
        figure.update_xaxes(tickformat="%H:%M\n%Y-%m-%d")
    return figure


_HOVER_TEMPLATE = "%{{y}} · %{{x|%Y-%m-%d %H:%M}}<extra>{}</extra>"
_LINE_OPTIONS = {"mode": "lines", "hovertemplate": _HOVER_TEMPLATE.format("%{fullData.name}")}


def _line_points(times: Sequence[str], max_points: int) -> tuple[list[str], list[int]]:
    """Return the points of a reader's line, which starts at 0."""
    step = max(1, -(-len(times) // max_points))
    places = sorted({*range(0, len(times), step), len(times) - 1})
    return [times[0], *(times[place] for place in places)], [0, *(place + 1 for place in places)]


def _show_daily_counts(arrivals: Mapping[str, Sequence[str]]) -> None:
    counts_by_reader = {name: Counter(at[:10] for at in times) for name, times in arrivals.items()}
    days = sorted({day for counts in counts_by_reader.values() for day in counts})[-MAX_DAYS:]
    names_shown = list(counts_by_reader) if len(counts_by_reader) <= MAX_NAMED_READERS else []
    rows = [
        (
            translation.day(f"{day}T00:00Z"),
            *(counts_by_reader[name][day] for name in names_shown),
            sum(counts[day] for counts in counts_by_reader.values()),
        )
        for day in days
    ]
    words = t("Readings received per day, on the most recent days with readings (UTC).")
    table([t("Day"), *names_shown, t("All")], rows, caption=words)
    st.caption(words)
