"""Amends the protocol of an open study.

Settings that determined the drawn cases, the assignments or how answered cases were shown cannot be
changed; this would require a new study. Amendments are stored next to the locked protocol, which
keeps its hash.
"""

from collections.abc import Mapping
from typing import Any

from study.base.actor import Acting
from study.base.canonical import stamp
from study.base.errors import BadProtocol, NotNow
from study.base.text import checked_reason, quoted
from study.base.translation import t
from study.lifecycle import exposure
from study.protocol.protocol import ITEM_LISTS, Feedback, Protocol, faults_of, stored_protocol
from study.store import Store, Transaction, events, readings, studies
from study.store.events import EventKind
from study.store.studies import Amendment, StudyRow, study_row

AMENDABLE = (
    "instructions",
    "feedback",
    "break_every",
    "washout_days",
    "session_days",
    "interim_results",
    "endpoint",
    "hypothesis",
    "margin",
    "claim_about",
    "primary_model",
    "positive",
    "smallest_window",
    "metadata",
)
"""The keys that may be changed after opening; `feedback` and `instructions` only within limits."""

_DRAW_KEYS = frozenset(
    {
        *("cases", "seed", "stratify_by", "allocation", "one_question_per"),
        *("required_views", "age", "unknown_age", "sex", "without_flags", *ITEM_LISTS),
    }
)
_ASSIGNMENT_KEYS = frozenset(
    {
        *("case_order", "option_order", "conditions", "sessions", "hidden_repeats"),
        *("practice_cases", "reads_per_case", "cases_per_reader", "anchor", "arms"),
    }
)
_DECLARATION_KEYS = frozenset(
    {
        *("exclusions", "score_card", "bundle_extras", "subgroups", "sample_size"),
        *("ordered_options", "years_limit"),
    }
)
_ANSWERED_KEYS = frozenset({"consent", "questionnaire", "display_check"})


def amend(
    store: Store, *, study: str, changes: Mapping[str, Any], reason: str, acting: Acting
) -> Amendment:
    """Amend the protocol of an open study from now on.

    Parameters
    ----------
    changes
        The new values by key, as in the protocol file.
    reason
        The reason, which is recorded in the trail and in all exports.

    Raises
    ------
    NotNow
        The study is not open, or nothing would change.
    BadInput
        The reason is empty or too long.
    BadProtocol
        A key can no longer be changed, or the protocol would have faults, which are all listed.
    """
    why = checked_reason(reason)
    with store.change() as change:
        row = study_row(change, study)
        _refuse_unless_open(row)
        before = stored_protocol(row)
        _refuse_faults(_faults(change, row, before, changes))
        after = Protocol.from_json({**before.in_full(), **changes}).in_full()
        changed = {
            key: {"old": old, "new": after[key]}
            for key, old in before.in_full().items()
            if after[key] != old
        }
        if not changed:
            raise NotNow(t("Nothing would change: these settings already apply."))
        amendment = Amendment(
            number=len(studies.amendments(change, row.id)) + 1,
            at_utc=stamp(acting.now),
            actor=acting.by.name,
            reason=why,
            changes=changed,
        )
        _store_amendment(change, row, amendment, acting)
        if exposure.reveals(study_row(change, study)) and not exposure.reveals(row):
            others = exposure.studies_reading(change, row.bank, excluding=row.id)
            exposure.record_others(change, row, others, EventKind.OTHER_STUDY_AMENDED, acting)
    return amendment


def why_fixed(key: str) -> str:
    """Return why a key of the protocol cannot be changed after opening; empty if it can."""
    if key in AMENDABLE:
        return ""
    if key in _DRAW_KEYS:
        return t("{key}: it determined which cases were drawn.", key=key)
    if key in _ASSIGNMENT_KEYS:
        return t("{key}: it determined each reader's assigned cases, which are now fixed.", key=key)
    if key in _ANSWERED_KEYS:
        return t("{key}: readers have already answered it in its present form.", key=key)
    if key in _DECLARATION_KEYS:
        return t("{key}: it was decided before reading started.", key=key)
    if key == "name":
        return t("{key}: it identifies the study.", key=key)
    if key in Protocol().in_full():
        return t("{key}: it determined how cases already answered were shown.", key=key)
    return t("{key}: this is not a protocol setting.", key=key)


def _refuse_unless_open(row: StudyRow) -> None:
    name = quoted(row.name)
    if row.discarded_at_utc:
        raise NotNow(t("The study {name} was discarded.", name=name))
    if row.state == "drawn":
        raise NotNow(
            t(
                "The study {name} is not open yet. To change its protocol, return it to a draft "
                "and draw the sample again.",
                name=name,
            )
        )
    if row.state != "open":
        raise NotNow(
            t("The study {name} is closed. Its protocol can no longer be changed.", name=name)
        )


def _faults(
    look: Transaction, row: StudyRow, before: Protocol, changes: Mapping[str, Any]
) -> list[str]:
    fixed = [why_fixed(key) for key in changes if why_fixed(key)]
    if fixed:
        return fixed
    faults = faults_of({**before.in_full(), **changes})
    if bool(str(changes.get("instructions", before.instructions)).strip()) != bool(
        before.instructions
    ):
        faults.append(
            t(
                "instructions: they can be reworded, but not added or removed: that would change "
                "the steps for readers who have already started."
            )
        )
    if changes.get("interim_results") and not before.interim_results:
        reading = exposure.studies_reading(look, row.bank, excluding=row.id)
        faults += [f"interim_results: {exposure.interim_refusal(reading)}"] if reading else []
    return faults + _feedback_faults(look, row, before, changes)


def _feedback_faults(
    look: Transaction, row: StudyRow, before: Protocol, changes: Mapping[str, Any]
) -> list[str]:
    new = changes.get("feedback", before.feedback)
    added = (before.feedback, new) == (Feedback.NEVER, Feedback.AFTER_STUDY)
    if new == before.feedback or added or not readings.has_presentation(look, row.id):
        return []
    return [
        t(
            "feedback: once a case has been read, only a score after the study can be added; any "
            "other change would alter how cases already answered were shown."
        )
    ]


def _refuse_faults(faults: list[str]) -> None:
    if faults:
        fault_list = "\n".join(f"  {fault}" for fault in faults)
        raise BadProtocol(t("The protocol was not amended:") + "\n" + fault_list)


def _store_amendment(
    change: Transaction, row: StudyRow, amendment: Amendment, acting: Acting
) -> None:
    studies.add_amendment(change, row.id, amendment)
    detail = {
        "number": amendment.number,
        "reason": amendment.reason,
        "changes": dict(amendment.changes),
    }
    events.record(change, row.name, acting, kind=EventKind.PROTOCOL_AMENDED, detail=detail)
