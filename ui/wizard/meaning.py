"""What a draft means for a reader, for the precision and for the calendar, beside every step."""

import streamlit as st

from study.base.translation import decimal, t, tn
from study.protocol.assignment import SECONDS_A_READING, Burden, burden
from study.protocol.protocol import Protocol
from study.protocol.sampling import EXPECTED_ACCURACY, wilson_half_width
from ui.parts.text import plain
from ui.wizard.working import Working


def meaning(working: Working) -> None:
    """Show it, and every fault there is."""
    st.markdown(f"**{t('What this means')}**")
    protocol = working.protocol()
    if protocol is not None:
        facts(protocol)
    faults = working.faults()
    if faults:
        st.markdown(f"**{t('To resolve')}**")
        for fault in faults:
            st.warning(plain(fault))
    elif protocol is not None:
        st.success(t("Ready to draw: no conflicts found."))


def facts(protocol: Protocol) -> None:
    """Show what a protocol asks of a reader and what it can show."""
    asked = burden(protocol)
    half = 100 * wilson_half_width(EXPECTED_ACCURACY, protocol.cases)
    st.metric(t("Readings per reader"), decimal(asked.n_readings))
    st.caption(_readings(protocol, asked))
    st.metric(t("Time per reader"), duration(asked.hours))
    st.caption(t("At {n} seconds per reading, excluding breaks.", n=_seconds(protocol)))
    st.metric(t("Precision per reader"), t("± {points} points", points=decimal(half, 1)))
    st.caption(t("95 % confidence interval for an accuracy of 80 % on all cases."))
    if asked.n_sessions > 1:
        st.metric(t("Calendar"), tn("{n} day", "{n} days", round(asked.days)))
        st.caption(t("Minimum, from the first session to the last."))


def duration(hours: float) -> str:
    """Return hours as hours and minutes.

    >>> duration(1.5), duration(0.3)
    ('1 h 30 min', '18 min')
    """
    whole, minutes = divmod(max(round(hours * 60), 1), 60)
    if not whole:
        return t("{minutes} min", minutes=minutes)
    return t("{hours} h {minutes} min", hours=whole, minutes=minutes)


def _seconds(protocol: Protocol) -> int:
    limit = protocol.time_limit_s or SECONDS_A_READING
    return round(min(limit, SECONDS_A_READING))


def _readings(protocol: Protocol, asked: Burden) -> str:
    parts = [tn("{n} case", "{n} cases", protocol.cases)]
    if len(protocol.conditions) > 1:
        parts.append(tn("{n} condition", "{n} conditions", len(protocol.conditions)))
    if asked.n_sessions > 1:
        parts.append(tn("{n} session", "{n} sessions", asked.n_sessions))
    if protocol.hidden_repeats:
        parts.append(tn("{n} hidden repeat", "{n} hidden repeats", protocol.hidden_repeats))
    if asked.n_practice:
        parts.append(tn("plus {n} practice case", "plus {n} practice cases", asked.n_practice))
    return ", ".join(parts)
