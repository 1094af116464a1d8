"""Readings over time: one line a reader, and the same counts as a table by day."""

from collections import Counter
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import streamlit as st

from study.base import translation
from study.base.translation import ENGLISH, language, t
from study.monitoring.progress import Progress
from ui.parts.look import section, table

MOST_POINTS = 200
ALL_POINTS = 3_000
LEAST_POINTS = 6
"""Points of a line, and of all: more are not seen, and make a page of many readers heavy."""

MOST_NAMED = 8
"""With more readers than colours that can be told apart, the lines are alike and named on hover."""

MOST_DAYS = 14


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
