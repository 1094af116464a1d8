"""Data quality: the facts, the rule behind each, and the readings it is about."""

import pandas as pd
import streamlit as st

from study.base.translation import decimal, t
from study.monitoring.quality import FactKind, QualityFact, ReadingFacts
from ui.overview.labels import detail_words, kind_word, rule, seconds, status_word
from ui.overview.readings import look_at
from ui.parts.look import grid
from ui.parts.text import instant, plain


def show_quality(
    facts: list[QualityFact], readings: list[ReadingFacts], *, may_exclude: bool
) -> None:
    """Show the facts; nothing is done about any of them here."""
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
            _table(facts),
            key="facts",
            column_config={
                t("Share"): st.column_config.TextColumn(width="small"),
                t("More"): st.column_config.TextColumn(width="large"),
            },
        )
        _closer(facts, readings, may_exclude=may_exclude)
    with st.expander(t("All rules and thresholds")):
        for kind in FactKind:
            st.markdown(f"**{plain(kind_word(kind))}.** {plain(rule(kind))}")


def _table(facts: list[QualityFact]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            t("Observation"): [kind_word(one.kind) for one in facts],
            t("Reader or case"): [_whose(one) for one in facts],
            t("Readings"): [_count(one) for one in facts],
            t("Share"): [_percent(one) for one in facts],
            t("More"): [detail_words(one) for one in facts],
        }
    )


def _whose(one: QualityFact) -> str:
    return one.reader_id or t("case {item}", item=one.item_id)


def _count(one: QualityFact) -> str:
    if one.kind is FactKind.WASHOUT:
        return t("{n} of {total} pairs read too close together", n=one.n, total=one.of)
    return t("{n} of {total}", n=one.n, total=one.of)


def _percent(one: QualityFact) -> str:
    return t("{share} %", share=decimal(100 * one.n / one.of)) if one.of else ""


def _closer(facts: list[QualityFact], readings: list[ReadingFacts], *, may_exclude: bool) -> None:
    place = st.selectbox(
        t("Show details of"),
        range(len(facts)),
        format_func=lambda n: f"{kind_word(facts[n].kind)}, {_whose(facts[n])}: {_count(facts[n])}",
        key="fact",
    )
    fact = facts[min(place, len(facts) - 1)]
    st.markdown(plain(rule(fact.kind)))
    meant = set(fact.readings)
    rows = [one for one in readings if one.id in meant]
    if not rows:
        return
    grid(reading_table(rows), key="fact-readings")
    if may_exclude:
        left, right = st.columns([2, 3], vertical_alignment="bottom")
        chosen = left.selectbox(
            t("Reading"),
            rows,
            format_func=lambda one: t(
                "{reader}, position {n}", reader=one.reader_id, n=one.position
            ),
            key=f"fact-reading-{place}",
        )
        right.button(
            t("Show this reading"),
            key="look-at",
            on_click=look_at,
            args=(chosen.reader_id, chosen.position),
        )


def reading_table(rows: list[ReadingFacts]) -> pd.DataFrame:
    """Return readings as a table: times, flags and circumstances, never the answer."""
    return pd.DataFrame(
        {
            t("Reader"): [one.reader_id for one in rows],
            t("Position"): [one.position for one in rows],
            t("Session"): [one.session for one in rows],
            t("Condition"): [one.condition for one in rows],
            t("Case"): [one.item_id for one in rows],
            t("Status"): [status_word(one.status) for one in rows],
            t("Response (s)"): [seconds(one.response_ms) for one in rows],
            t("Hidden (s)"): [seconds(one.hidden_ms) for one in rows],
            t("Received (UTC)"): [instant(one.received_at_utc) for one in rows],
            t("Flags"): [", ".join(one.flags) for one in rows],
            t("Screen"): [one.setup for one in rows],
            t("Excluded"): [one.excluded for one in rows],
        }
    )
