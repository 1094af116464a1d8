"""Labels of stages, states and quality facts on the overview, and the rule of each fact."""

from collections.abc import Mapping
from typing import Any

from study.base.translation import decimal, t, tn
from study.monitoring.progress import Basis, Stage, TimeLeft
from study.monitoring.quality import (
    GLANCE_MS,
    HIDDEN_MS,
    MIN_TROUBLED,
    RARE_RUN_PROBABILITY,
    FactKind,
    QualityFact,
)
from study.reading.accepting import TOO_FAST_MS
from study.reading.course import SessionStanding, SessionState


def stage_label(stage: Stage) -> str:
    """Return the label of a reader's stage."""
    return {
        Stage.NOT_BEGUN: t("not started"),
        Stage.PREPARING: t("preparing"),
        Stage.PRACTISING: t("practising"),
        Stage.READING: t("reading"),
        Stage.FINISHED: t("finished"),
        Stage.WITHDRAWN: t("withdrawn"),
    }[stage]


def session_status_text(session: SessionStanding) -> str:
    """Return the state of a session in words."""
    if session.withdrawn:
        return t("withdrawn")
    word = {
        SessionState.WAITING: t("waiting for the previous session"),
        SessionState.WASHING_OUT: t("in wash-out period"),
        SessionState.OPEN: t("open"),
        SessionState.LAPSED: t("lapsed"),
        SessionState.DONE: t("done"),
    }[session.state]
    paused = session.paused and session.state is not SessionState.DONE
    return t("{state}, paused", state=word) if paused else word


def status_label(status: str) -> str:
    """Return the status of a case in words."""
    return {
        "answered": t("answered"),
        "skipped": t("cannot answer"),
        "timed_out": t("timed out"),
    }.get(status, status)


def seconds(ms: float | None) -> float | None:
    """Return milliseconds as seconds, with two decimals below 10 s and one decimal above."""
    return None if ms is None else round(ms / 1000, 2 if ms < 10_000 else 1)


def time_left_text(left: TimeLeft | None) -> str:
    """Return the estimated remaining time, with the basis of the estimate."""
    if left is None:
        return ""
    if left.hours < 1:
        duration = tn("about {n} minute", "about {n} minutes", max(1, round(left.hours * 60)))
    else:
        duration = t("about {hours} h", hours=decimal(left.hours, 1))
    if left.basis is Basis.OWN:
        return tn(
            "{long} (own pace, {n} case)", "{long} (own pace, {n} cases)", left.n, long=duration
        )
    return tn(
        "{long} (pace of {n} other reader)",
        "{long} (at the median pace of {n} other readers)",
        left.n,
        long=duration,
    )


def fact_label(kind: FactKind) -> str:
    """Return the short name of a kind of fact."""
    return {
        FactKind.TOO_FAST: t("Faster than an image can be viewed"),
        FactKind.GLANCE: t("Answered at a glance"),
        FactKind.HIDDEN: t("Page hidden for a long time"),
        FactKind.ONE_KEY: t("Long run of the same letter"),
        FactKind.CLOCK: t("Clocks disagree"),
        FactKind.LATE: t("Arrived late or incomplete"),
        FactKind.FILM: t("Image not fully seen"),
        FactKind.WINDOW: t("Page zoomed or window small"),
        FactKind.SOFTWARE: t("Rendered without a graphics card"),
        FactKind.TRANSLATED: t("Page translated by the browser"),
        FactKind.FAULTY: t("Questions marked as faulty"),
        FactKind.SCREENS: t("Several screens in one session"),
        FactKind.WASHOUT: t("Wash-out"),
        FactKind.CASE: t("Case with repeated problems"),
    }[kind]


def fact_rule(kind: FactKind) -> str:
    """Return the rule and threshold by which a kind of fact is reported."""
    return {
        FactKind.TOO_FAST: t(
            "Answered less than {ms} ms after the image appeared: too short to look and press two "
            "keys.",
            ms=decimal(TOO_FAST_MS),
        ),
        FactKind.GLANCE: t(
            "First answers with a response time under {s} s, out of those with a known time. A "
            "question seen before can be answered this fast.",
            s=decimal(GLANCE_MS / 1000),
        ),
        FactKind.HIDDEN: t(
            "The page was hidden for {s} s or more during a case; that time is not counted as "
            "response time.",
            s=decimal(HIDDEN_MS / 1000),
        ),
        FactKind.ONE_KEY: t(
            "A run of the same letter, as shown, so long that a sequence of this length would "
            "contain one by chance less than once in {n} times if every option were equally "
            "likely for every case. Where the correct answers themselves favour one letter, such "
            "runs are more likely.",
            n=decimal(1 / RARE_RUN_PROBABILITY),
        ),
        FactKind.CLOCK: t(
            "Flags clock_disagreement, clock_implausible or clock_set: the browser and server "
            "clocks disagree, or one was changed during a case."
        ),
        FactKind.LATE: t(
            "Flags received_late, presentation_lost, received_while_paused or "
            "received_after_lapse: the connection was lost, or an answer was held on the computer."
        ),
        FactKind.FILM: t(
            "Flags film_not_whole, view_not_shown, display_lost or page_covered: part of the "
            "images may not have been seen."
        ),
        FactKind.WINDOW: t(
            "Flags page_zoom, pixel_ratio_changed, low_pixel_ratio or window_too_small: less "
            "image detail reached the screen."
        ),
        FactKind.SOFTWARE: t(
            "Flag software_rendering: the processor rendered the images, which may have been "
            "slower."
        ),
        FactKind.TRANSLATED: t(
            "Flag page_translated: the browser or an extension translated the page or changed its "
            "words, so the reader may have read another question."
        ),
        FactKind.FAULTY: t(
            "Flag question_faulty: the reader marked the question as faulty but still answered it. "
            "The comment may say why."
        ),
        FactKind.SCREENS: t(
            "Readings made on a different screen or browser from most readings in that session."
        ),
        FactKind.WASHOUT: t(
            "Among pairs of readings of the same case in two sessions, those closer together than "
            "the protocol's wash-out period; shown even if there are none."
        ),
        FactKind.CASE: t(
            "Cases that at least {n} readers, and at least half of those who read them, could not "
            "answer, ran out of time on, answered too fast or did not see in full.",
            n=MIN_TROUBLED,
        ),
    }[kind]


def fact_details(fact: QualityFact) -> str:
    """Return the details of a fact in words."""
    values: Mapping[str, Any] = fact.values
    if fact.kind is FactKind.ONE_KEY:
        return t(
            "{letter}, {n} times in a row; by chance {chance}",
            letter=values["letter"],
            n=fact.n,
            chance=_chance(values["chance"]),
        )
    if fact.kind is FactKind.SCREENS:
        return t("session {n}: {setups}", n=fact.session, setups="; ".join(values["setups"]))
    if fact.kind is FactKind.WASHOUT:
        return t(
            "shortest interval {days} days; the protocol requires {wanted}",
            days=decimal(values["shortest_days"], 1),
            wanted=f"{values['washout_days']:g}",
        )
    if fact.kind is FactKind.CASE:
        words = {
            "skipped": t("cannot answer"),
            "timed_out": t("timed out"),
            "flagged": t("flagged"),
        }
        return ", ".join(f"{words[key]}: {values[key]}" for key in words if key in values)
    return ""


def _chance(chance: float) -> str:
    return t("under 1 in a million") if chance < 1e-6 else t("1 in {n}", n=decimal(1 / chance))
