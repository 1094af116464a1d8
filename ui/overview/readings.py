"""The readings: a list, facts on their quality, one looked at, set aside or brought back."""

from collections.abc import Iterator

import streamlit as st

from study.base.text import LONGEST_REASON, checked_reason
from study.base.translation import decimal, t, tn
from study.monitoring.interventions import exclude, reinstate, what_it_does
from study.monitoring.quality import FactKind, QualityFact, ReadingFacts
from study.people.signing_in import Person
from study.store.progress import ExclusionRow
from ui.overview.labels import detail_words, kind_word, rule, seconds, status_word
from ui.parts import actions
from ui.parts.actions import Question
from ui.parts.text import day_form, instant, minute, plain
from ui.parts.theme import TALL_PX, Columns, grid, grid_px, section, table
from ui.server.access import acting
from ui.server.deployment import store

READINGS = "readings"
PART, READER, POSITION = "part", "reading-reader", "reading-position"
_LIST = "readings-list"
_MOST = 2_000
"""Rows a browser is sent at once; the filters reach the others."""


def look_at(reader_id: str, position: int) -> None:
    """Turn the overview to one reading."""
    st.session_state[PART] = READINGS
    st.session_state[READER] = reader_id
    st.session_state[f"{POSITION}-{reader_id}"] = position


def show_readings(person: Person, found: list[ReadingFacts], log: list[ExclusionRow]) -> None:
    """Show one reading chosen by reader and position, and what was decided about readings."""
    if not found:
        st.markdown(t("No case has been read yet."))
        return
    st.markdown(
        tn(
            "{n} of {total} readings is excluded.",
            "{n} of {total} readings are excluded.",
            sum(bool(one.excluded) for one in found),
            total=len(found),
        )
    )
    _list(found)
    one = _chosen(found)
    left, right = st.columns([3, 2])
    with left:
        table([t("What"), t("Value")], _facts(one), caption=t("Reading details"))
    with right:
        _decide(person, one)
    if log:
        section(t("Decisions so far"))
        grid(_log(log), key="exclusions")


def _list(found: list[ReadingFacts]) -> None:
    """Show the readings as rows to filter and to sort, the latest first; a row leads to its own."""
    rows = sorted(_filtered(found), key=lambda one: one.received_at_utc, reverse=True)
    shown = rows[:_MOST]
    words = tn("{n} reading found.", "{n} readings found.", len(rows))
    if len(rows) > _MOST:
        words += " " + t("The latest {n} are listed; filter to see the others.", n=_MOST)
    st.caption(words)

    def follow() -> None:
        for row in st.session_state[_LIST].selection.rows:
            look_at(shown[row].reader_id, shown[row].position)

    grid(
        {
            t("Reader"): [one.reader_id for one in shown],
            t("Position"): [one.position for one in shown],
            t("Case"): [one.item_id for one in shown],
            t("Status"): [status_word(one.status) for one in shown],
            t("Response (s)"): [seconds(one.response_ms) for one in shown],
            t("Received (UTC)"): [instant(one.received_at_utc) for one in shown],
            t("Flags"): [", ".join(one.flags) for one in shown],
            t("Reason for exclusion"): [one.excluded for one in shown],
        },
        key=_LIST,
        height=grid_px(shown, most_px=TALL_PX),
        on_select=follow,
        selection_mode="single-row",
    )


def _filtered(found: list[ReadingFacts]) -> Iterator[ReadingFacts]:
    columns = st.columns(3)
    readers = columns[0].multiselect(
        t("Readers"),
        list(dict.fromkeys(one.reader_id for one in found)),
        placeholder=t("Any"),
        key="list-readers",
    )
    statuses = columns[1].multiselect(
        t("Status"),
        sorted({one.status for one in found}),
        format_func=status_word,
        placeholder=t("Any"),
        key="list-statuses",
    )
    there = sorted({flag for one in found for flag in one.flags})
    flags: list[str] = []
    if there:
        flags = columns[2].multiselect(t("Flags"), there, placeholder=t("Any"), key="list-flags")
    first, second, third = st.columns([2, 1, 1])
    cases = first.multiselect(
        t("Cases"), sorted({one.item_id for one in found}), placeholder=t("Any"), key="list-cases"
    )
    since = second.date_input(t("From (UTC)"), value=None, format=day_form(), key="list-since")
    until = third.date_input(
        t("To, inclusive (UTC)"), value=None, format=day_form(), key="list-until"
    )
    days = since.isoformat() if since else "", until.isoformat() if until else "9999"
    return (
        one
        for one in found
        if (not readers or one.reader_id in readers)
        and (not statuses or one.status in statuses)
        and (not flags or set(flags) & set(one.flags))
        and (not cases or one.item_id in cases)
        and days[0] <= one.received_at_utc[:10] <= days[1]
    )


def _chosen(found: list[ReadingFacts]) -> ReadingFacts:
    left, right, _ = st.columns([1, 2, 3])
    readers = list(dict.fromkeys(one.reader_id for one in found))
    reader = left.selectbox(t("Reader"), readers, key=READER)
    own = {one.position: one for one in found if one.reader_id == reader}
    position = right.selectbox(
        t("Position"), list(own), format_func=lambda n: _label(own[n]), key=f"{POSITION}-{reader}"
    )
    return own[position]


def _label(one: ReadingFacts) -> str:
    words = t("{n}: {status}", n=one.position, status=status_word(one.status))
    return t("{reading}, excluded", reading=words) if one.excluded else words


def _facts(one: ReadingFacts) -> list[tuple[str, str]]:
    rows = {
        t("Case"): one.item_id,
        t("Session, condition, repeat"): f"{one.session}, {one.condition}, {one.repeat}",
        t("Status"): status_word(one.status),
        t("Response (s)"): _known(seconds(one.response_ms)),
        t("Elapsed (s)"): _known(seconds(one.elapsed_ms)),
        t("Hidden (s)"): _known(seconds(one.hidden_ms)),
        t("Paused (s)"): _known(seconds(one.paused_ms)),
        t("Presented"): minute(one.shown_at_utc),
        t("Received"): minute(one.received_at_utc),
        t("Flags"): ", ".join(one.flags) or t("none"),
        t("Screen and browser"): one.setup or t("not recorded"),
        t("Comment"): one.comment or t("none"),
        **({t("Reason for “cannot answer”"): one.given_up} if one.given_up else {}),
        t("Reason for exclusion"): one.excluded or t("not excluded"),
    }
    return list(rows.items())


def _known(value: float | None) -> str:
    return t("not recorded") if value is None else f"{value:g}"


def _decide(person: Person, one: ReadingFacts) -> None:
    below = st.container()
    with below, st.form(f"exclude-{one.id}", clear_on_submit=True):
        reason = st.text_area(
            t("Reason"),
            max_chars=LONGEST_REASON,
            key=f"exclusion-reason-{one.id}-{bool(one.excluded)}",
            help=t("Recorded permanently with the reading and included in exports."),
        )
        st.caption(what_it_does(store(), person.study_name))
        actions.submit(
            t("Reinstate this reading") if one.excluded else t("Exclude this reading"),
            lambda: _ask(person, one, checked_reason(reason)),
            key=f"exclude-now-{one.id}",
            below=below,
        )


def _ask(person: Person, one: ReadingFacts, reason: str) -> Question:
    where = {"reader": one.reader_id, "position": one.position}
    if one.excluded:
        question = t(
            "Reinstate {reader}, position {position}? Reason: {reason}", **where, reason=reason
        )
        done = t("{reader}, position {position}, is no longer excluded.", **where)
    else:
        question = t(
            "Exclude {reader}, position {position}? Reason: {reason}", **where, reason=reason
        )
        done = t("{reader}, position {position}, is excluded.", **where)
    decide = reinstate if one.excluded else exclude

    def do() -> str:
        decide(store(), study=person.study_name, reading=one.id, reason=reason, **acting(person))
        return done

    return Question(text=question, do=do)


def _log(log: list[ExclusionRow]) -> Columns:
    return {
        t("When (UTC)"): [instant(one.at_utc) for one in log],
        t("Reader"): [one.reader_id for one in log],
        t("Position"): [one.position for one in log],
        t("Decision"): [t("excluded") if one.excluded else t("reinstated") for one in log],
        t("Reason"): [one.reason for one in log],
        t("By"): [one.actor for one in log],
        t("Answer changed since"): ["" if one.current else t("yes") for one in log],
    }


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


def _table(facts: list[QualityFact]) -> Columns:
    return {
        t("Observation"): [kind_word(one.kind) for one in facts],
        t("Reader or case"): [_whose(one) for one in facts],
        t("Readings"): [_count(one) for one in facts],
        t("Share"): [_percent(one) for one in facts],
        t("More"): [detail_words(one) for one in facts],
    }


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
        actions.turn(
            t("Show this reading"),
            lambda: look_at(chosen.reader_id, chosen.position),
            key="look-at",
            place=right,
            early=True,
        )


def reading_table(rows: list[ReadingFacts]) -> Columns:
    """Return readings as a table: times, flags and circumstances, never the answer."""
    return {
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
