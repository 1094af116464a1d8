"""Feedback between sessions: the approximate share of correct answers in a session.

The cases of a session are shown again in the next session, so the feedback must not reveal the
answer to any of them. A reader learns two shares, their own and the model's, of at least
`MIN_FEEDBACK_ANSWERS` answers, rounded to 10 percentage points and never lower than 10 % or higher
than 90 %. Readers without an aid learn only their own share.
"""

from datetime import datetime

from study.base.actor import Acting
from study.base.translation import t
from study.people.signing_in import Person
from study.protocol.contradictions import MIN_FEEDBACK_ANSWERS
from study.protocol.protocol import Condition, Protocol
from study.store import Store, Transaction, events, progress
from study.store.events import EventKind

_LOWEST, _HIGHEST, _STEP = 10, 90, 10


def session_feedback(
    store: Store, person: Person, protocol: Protocol, session: int, *, now: datetime
) -> str:
    """Return the feedback for a reader after a session, and record that they received it.

    Parameters
    ----------
    protocol
        The protocol of the reader's arm.
    session
        A session in which the reader has read every case.

    Returns
    -------
    str
        One or two sentences; empty if there are too few answers.
    """
    with store.look() as look:
        counts = progress.matches_of_session(look, person.reader or 0, session)
    if counts["n"] < MIN_FEEDBACK_ANSWERS:
        return ""
    _record(store, person, session, now)
    feedback_text = t(
        "In session {n} your answers were correct in {share} of the cases.",
        n=session,
        share=_share(counts["n_correct"], counts["n"]),
    )
    if Condition.AIDED not in protocol.conditions or "answer" not in protocol.aid_shows:
        return feedback_text
    model = t(
        "The AI model's answers were correct in {share} of the same cases.",
        share=_share(counts["n_aid_correct"], counts["n"]),
    )
    return f"{feedback_text} {model}"


def _share(n_correct: int, n: int) -> str:
    percent = rounded_percent(n_correct, n)
    if percent == _HIGHEST:
        return t("about {percent} % or more", percent=percent)
    if percent == _LOWEST:
        return t("about {percent} % or fewer", percent=percent)
    return t("about {percent} %", percent=percent)


def rounded_percent(n_correct: int, n: int) -> int:
    """Return a share in percent, rounded and limited as in the feedback.

    >>> [rounded_percent(n_correct, 20) for n_correct in (0, 1, 13, 19, 20)]
    [10, 10, 70, 90, 90]
    """
    rounded = _STEP * ((200 * n_correct + _STEP * n) // (2 * _STEP * n))
    return min(_HIGHEST, max(_LOWEST, rounded))


def _record(store: Store, person: Person, session: int, now: datetime) -> None:
    """Record once that the reader received feedback, without the shares.

    Staff must not learn the shares before the study is closed.
    """
    with store.look(sealed=True) as look:
        if _is_recorded(look, person, session):
            return
    with store.change() as change:
        if not _is_recorded(change, person, session):
            events.record(
                change,
                person.study_name,
                Acting(by=person.by, now=now),
                kind=EventKind.SESSION_FEEDBACK_SHOWN,
                detail={"session": session},
            )


def _is_recorded(look: Transaction, person: Person, session: int) -> bool:
    chain = events.study_chain(person.study_name)
    return any(
        (event.actor, event.detail["session"]) == (person.name, session)
        for event in events.of_kinds(look, chain, (EventKind.SESSION_FEEDBACK_SHOWN,))
    )
