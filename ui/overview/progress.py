"""Progress: the study, its readers, their sessions over time, and who has fallen silent."""

from collections import Counter
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import streamlit as st

from study.base import translation
from study.base.translation import ENGLISH, decimal, language, t, tn
from study.monitoring.progress import Progress, ReaderProgress, SessionProgress, Stage, silent
from study.reading.course import SessionState
from ui.overview.labels import left_words, seconds, stage_word, standing_words
from ui.parts.text import instant, minute, plain, study_state
from ui.parts.theme import Columns, facts, grid, section, table

SILENT_DAYS = (3, 7, 14, 28)
HOUR_MS = 3_600_000.0
MOST_POINTS = 200
ALL_POINTS = 3_000
LEAST_POINTS = 6
"""Points of a line, and of all: more are not seen, and make a page of many readers heavy."""

MOST_NAMED = 8
"""With more readers than colours that can be told apart, the lines are alike and named on hover."""

MOST_DAYS = 14


def show_progress(found: Progress) -> None:
    """Show how far a study is; nothing of right or wrong."""
    _study(found)
    _left_behind(found)
    section(t("Readers"))
    grid(
        _readers(found.readers),
        key="readers",
        column_config={
            t("Progress"): st.column_config.ProgressColumn(
                min_value=0, max_value=100, format=_percent()
            )
        },
    )
    st.caption(
        t("Read: answered, cannot answer or timed out. All numbers are out of the cases assigned.")
    )
    _silence(found)
    _lapsed(found)
    parts = [part for one in found.readers for part in one.parts]
    if len({(part.standing.session, part.condition) for part in parts}) > 1:
        section(t("Sessions and conditions"))
        grid(_parts(parts), key="sessions")
    if found.counts.n_read:
        section(t("Pace"))
        numbers = (t("Median response (s)"), t("Active hours"), t("Cases per active hour"))
        right = st.column_config.TextColumn(alignment="right")
        grid(_pace(found.readers), key="pace", column_config=dict.fromkeys(numbers, right))
        st.caption(
            t(
                "Active hours exclude breaks of more than ten minutes between two readings. Time "
                "left is an estimate: unread cases at the stated pace, excluding breaks."
            )
        )
        show_chart(found)


def _study(found: Progress) -> None:
    n_read, n_assigned = found.counts.n_read, found.counts.n_assigned
    n_cases = max((one.counts.n_assigned for one in found.readers), default=0)
    share = t("{share} %", share=decimal(100 * n_read / n_assigned)) if n_assigned else ""
    facts(
        (
            (t("State"), study_state(found.state), _since(found)),
            (t("Cases per reader"), str(n_cases), ""),
            (t("Readers"), str(len(found.readers)), _stages(found)),
            (t("Readings"), t("{n} of {total}", n=n_read, total=n_assigned), share),
        )
    )
    words = {"drawn": t("drawn"), "opened": t("opened"), "closed": t("closed")}
    dates = ", ".join(f"{words[key]} {minute(at)}" for key, at in found.dates.items() if at)
    amended = tn("{n} amendment", "{n} amendments", found.n_amendments)
    st.caption(
        plain(
            t(
                "{dates}; {amended}; protocol {sha256}",
                dates=dates,
                amended=amended,
                sha256=found.protocol_sha256,
            )
        )
    )


def _since(found: Progress) -> str:
    began = {"drawn": "drawn", "open": "opened", "closed": "closed"}[found.state]
    at = minute(found.dates.get(began))
    return t("since {time}", time=at) if at else ""


def _stages(found: Progress) -> str:
    counted = Counter(one.stage for one in found.readers)
    return ", ".join(
        t("{n} {stage}", n=counted[stage], stage=stage_word(stage))
        for stage in Stage
        if counted[stage]
    )


def _left_behind(found: Progress) -> None:
    if found.n_cases_left_behind:
        st.markdown(
            plain(
                tn(
                    "{n} case assigned to withdrawn readers will not be read; it is included in "
                    "the denominators above.",
                    "{n} cases assigned to withdrawn readers will not be read; they are included "
                    "in the denominators above.",
                    found.n_cases_left_behind,
                )
            )
        )


def _readers(readers: tuple[ReaderProgress, ...]) -> Columns:
    return {
        t("Reader"): [_named(one) for one in readers],
        t("Stage"): [stage_word(one.stage) for one in readers],
        t("Session"): [_session(one) for one in readers],
        t("Progress"): [_share(one) for one in readers],
        t("Assigned"): [one.counts.n_assigned for one in readers],
        t("Presented"): [one.counts.n_presented for one in readers],
        t("Read"): [one.counts.n_read for one in readers],
        t("Answered"): [one.counts.n_answered for one in readers],
        t("Cannot answer"): [one.counts.n_skipped for one in readers],
        t("Timed out"): [one.counts.n_timed_out for one in readers],
        t("Last active (UTC)"): [
            instant("" if one.simulated else one.last_at_utc) for one in readers
        ],
    }


def _pace(readers: tuple[ReaderProgress, ...]) -> Columns:
    return {
        t("Reader"): [_named(one) for one in readers],
        t("Timed readings"): [one.pace.n_timed for one in readers],
        t("Median response (s)"): [
            _number(seconds(one.pace.median_response_ms)) for one in readers
        ],
        t("Active hours"): [decimal(one.pace.active_ms / HOUR_MS, 1) for one in readers],
        t("Cases per active hour"): [_number(_rate(one)) for one in readers],
        t("Time left"): [left_words(one.left) for one in readers],
    }


def _number(value: float | None) -> str:
    return "" if value is None else decimal(value, len(f"{value:g}".partition(".")[2]))


def _named(one: ReaderProgress) -> str:
    return t("{reader} (simulated)", reader=one.reader_id) if one.simulated else one.reader_id


def _percent() -> str:
    """Return how a table writes a whole percentage, in C's letters."""
    return t("{share} %", share="\0").replace("%", "%%").replace("\0", "%.0f")


def _share(one: ReaderProgress) -> float:
    return 100 * one.counts.n_read / one.counts.n_assigned if one.counts.n_assigned else 0.0


def _rate(one: ReaderProgress) -> float | None:
    rate = one.pace.cases_per_hour
    return None if rate is None else round(rate)


def _session(one: ReaderProgress) -> str:
    """Return which session a reader is in, and what a coordinator has to know of it."""
    standing = one.current
    if standing is None or one.stage is Stage.WITHDRAWN:
        return ""
    words = t("{n}: {state}", n=standing.session, state=standing_words(standing))
    if standing.state is SessionState.WASHING_OUT and standing.opens_at_utc:
        return t("{session}, opens {time}", session=words, time=minute(standing.opens_at_utc))
    if standing.state is SessionState.LAPSED:
        return t("{session}, ended {time}", session=words, time=minute(standing.ends_at_utc))
    if standing.ends_at_utc:
        return t("{session}, ends {time}", session=words, time=minute(standing.ends_at_utc))
    return words


def _silence(found: Progress) -> None:
    left, right = st.columns([1, 4], vertical_alignment="bottom")
    days = left.selectbox(
        t("Inactive for"),
        SILENT_DAYS,
        index=1,
        format_func=lambda n: tn("{n} day", "{n} days", n),
        key="silent-days",
    )
    quiet = silent(found, days)
    if not quiet:
        right.markdown(
            t("No reader who has started and is able to read has been inactive for that long.")
        )
    for one in quiet:
        right.markdown(
            plain(
                tn(
                    "{reader} has read {read} of {total} and was last active {time}: has been "
                    "able to continue for {n} day.",
                    "{reader} has read {read} of {total} and was last active {time}: has been "
                    "able to continue for {n} days.",
                    int(one.silent_days or 0),
                    reader=one.reader_id,
                    read=one.counts.n_read,
                    total=one.counts.n_assigned,
                    time=minute(one.last_at_utc),
                )
            )
        )


def _lapsed(found: Progress) -> None:
    for one in found.readers:
        standing = one.current
        if (
            one.stage is Stage.WITHDRAWN
            or standing is None
            or standing.state is not SessionState.LAPSED
        ):
            continue
        st.markdown(
            plain(
                tn(
                    "{reader}: session {session} lapsed {time} with {n} case unread.",
                    "{reader}: session {session} lapsed {time} with {n} cases unread.",
                    standing.n_assigned - standing.n_read,
                    reader=one.reader_id,
                    session=standing.session,
                    time=minute(standing.ends_at_utc),
                )
            )
        )


def _parts(parts: list[SessionProgress]) -> Columns:
    return {
        t("Reader"): [one.reader_id for one in parts],
        t("Session"): [one.standing.session for one in parts],
        t("Condition"): [one.condition for one in parts],
        t("State"): [standing_words(one.standing) for one in parts],
        t("Opens (UTC)"): [instant(one.standing.opens_at_utc) for one in parts],
        t("Ends (UTC)"): [instant(one.standing.ends_at_utc) for one in parts],
        t("Assigned"): [one.counts.n_assigned for one in parts],
        t("Presented"): [one.counts.n_presented for one in parts],
        t("Read"): [one.counts.n_read for one in parts],
        t("Answered"): [one.counts.n_answered for one in parts],
        t("Cannot answer"): [one.counts.n_skipped for one in parts],
        t("Timed out"): [one.counts.n_timed_out for one in parts],
    }


def show_chart(found: Progress) -> None:
    """Show the chart and, beside it, its table."""
    arrivals = {name: times for name, times in found.arrivals.items() if times}
    if not arrivals:
        return
    section(t("Readings over time"))
    left, right = st.columns([3, 2])
    left.plotly_chart(_figure(found, arrivals), theme="streamlit", key="readings-over-time")
    with right:
        _by_day(arrivals)


def _figure(found: Progress, arrivals: Mapping[str, Sequence[str]]) -> go.Figure:
    few = len(arrivals) <= MOST_NAMED
    figure = go.Figure()
    most = min(MOST_POINTS, max(LEAST_POINTS, ALL_POINTS // len(arrivals)))
    lines = {name: _points(times, most) for name, times in arrivals.items()}
    if few:
        for name, (x, y) in lines.items():
            figure.add_scatter(x=x, y=y, name=name, line={"shape": "hv", "width": 2}, **_HOVER)
    else:  # one line with gaps: hundreds take the browser seconds
        figure.add_scatter(
            x=[at for x, _ in lines.values() for at in (*x, None)],
            y=[n for _, y in lines.values() for n in (*y, None)],
            text=[name for name, (x, _) in lines.items() for _ in (*x, None)],
            line={"width": 1},
            opacity=0.6,
            **(_HOVER | {"hovertemplate": _HOVERED.format("%{text}")}),
        )
    longest = max(one.counts.n_assigned for one in found.readers)
    figure.update_layout(
        height=360,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=few,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0},
        yaxis={"title": t("Cases read"), "range": [0, longest * 1.03]},
        xaxis={"title": t("Received (UTC)"), "showgrid": False},
    )
    if language() != ENGLISH:  # Plotly knows the months of English only
        figure.update_xaxes(tickformat="%H:%M\n%Y-%m-%d")
    return figure


_HOVERED = "%{{y}} · %{{x|%Y-%m-%d %H:%M}}<extra>{}</extra>"
_HOVER = {"mode": "lines", "hovertemplate": _HOVERED.format("%{fullData.name}")}


def _points(times: Sequence[str], most: int) -> tuple[list[str], list[int]]:
    """Return a reader's line from 0, thinned out where it has more points than can be seen."""
    step = max(1, -(-len(times) // most))
    places = sorted({*range(0, len(times), step), len(times) - 1})
    return [times[0], *(times[place] for place in places)], [0, *(place + 1 for place in places)]


def _by_day(arrivals: Mapping[str, Sequence[str]]) -> None:
    counted = {name: Counter(at[:10] for at in times) for name, times in arrivals.items()}
    days = sorted({day for own in counted.values() for day in own})[-MOST_DAYS:]
    named = list(counted) if len(counted) <= MOST_NAMED else []
    rows = [
        (
            translation.day(f"{day}T00:00Z"),
            *(counted[name][day] for name in named),
            sum(own[day] for own in counted.values()),
        )
        for day in days
    ]
    words = t("Readings received on each of the most recent days with any (UTC).")
    table([t("Day"), *named, t("All")], rows, caption=words)
    st.caption(words)
