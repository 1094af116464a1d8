"""What a reader does before the first case: consent, instructions, questionnaire, display check.

The first three are done once, the display check once a sign-in: another day, perhaps another
screen. Each is stored once, in this order. A simulated reader has nothing to prepare.
"""

import hmac
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from study.base.canonical import canonical_json, stamp
from study.base.translation import t
from study.people.signing_in import Person
from study.protocol.protocol import Protocol
from study.protocol.questionnaire import UnfitAnswers, fit_answers
from study.reading.fields import MalformedRecord, bounded
from study.reading.outcomes import SIMULATED, Taken
from study.reading.records import Preparation
from study.reading.views import StepView
from study.store import Transaction, deployment, people, preparations
from study.store.events import EventKind, vouch


class Step(StrEnum):
    """A step before the first case, in the order they are done."""

    CONSENT = "consent"
    INSTRUCTIONS = "instructions"
    QUESTIONNAIRE = "questionnaire"
    DISPLAY = "display"


def asked(protocol: Protocol) -> list[Step]:
    """Return the steps a protocol asks for, in order."""
    wanted = {
        Step.CONSENT: protocol.consent,
        Step.INSTRUCTIONS: protocol.instructions,
        Step.QUESTIONNAIRE: protocol.questionnaire,
        Step.DISPLAY: protocol.display_check,
    }
    return [step for step in Step if wanted[step]]


def to_do(look: Transaction, protocol: Protocol, reader: int, sign_in: str) -> list[Step]:
    """Return the steps a reader still has to do at this sign-in, in order."""
    steps = asked(protocol)
    if not steps or is_simulated(look, reader):
        return []
    done = preparations.done(look, reader)
    return [step for step in steps if (step, _counts_for(step, sign_in)) not in done]


def is_prepared(look: Transaction, protocol: Protocol, reader: int) -> bool:
    """Return whether a reader has done every step, the display check at whichever sign-in.

    Cases are handed out after a display check at the present sign-in, see `to_do`; but an answer
    given before a sign-in ran out may arrive after the next one, and is not lost.
    """
    steps = asked(protocol)
    if not steps or is_simulated(look, reader):
        return True
    done = {step for step, _ in preparations.done(look, reader)}
    return done.issuperset(steps)


def is_simulated(look: Transaction, reader: int) -> bool:
    """Return whether a reader is marked as simulated."""
    row = people.reader_row(look, reader)
    return row is not None and bool(row.simulated)


def view(protocol: Protocol, step: Step) -> StepView:
    """Return what a page shows for a step."""
    texts = {Step.CONSENT: protocol.consent, Step.INSTRUCTIONS: protocol.instructions}
    return StepView(
        step=step,
        markdown=texts.get(step, ""),
        questions=protocol.questionnaire if step is Step.QUESTIONNAIRE else (),
    )


def take(
    change: Transaction, protocol: Protocol, person: Person, record: Preparation, *, now: datetime
) -> Taken:
    """Store a step within the caller's transaction, or say why not."""
    reader = person.reader or 0
    try:
        refused = _refusal(change, protocol, reader, person.sign_in, record)
        if not refused and not preparations.by_id(change, record.id):
            _store(change, protocol, person, record, now)
    except UnfitAnswers as error:
        refused = str(error)
    except MalformedRecord as error:
        refused = t("Invalid record: {error}.", error=error)
    return Taken(id=record.id, case="", refused=refused)


def _refusal(
    look: Transaction, protocol: Protocol, reader: int, sign_in: str, record: Preparation
) -> str:
    known = preparations.by_id(look, record.id)
    if known is not None:
        same = (known["reader"], known["step"]) == (reader, record.step)
        return "" if same else t("Another record already has this ID.")
    if is_simulated(look, reader):
        return SIMULATED
    if record.step not in asked(protocol):
        return t("This study has no such step.")
    waiting = to_do(look, protocol, reader, sign_in)
    if record.step in waiting[1:]:
        return t("Complete the previous step first: {step}.", step=waiting[0])
    return ""


def _store(
    change: Transaction, protocol: Protocol, person: Person, record: Preparation, now: datetime
) -> None:
    """Write a step, unless it was done already: then the first stands."""
    reader, step = person.reader or 0, Step(record.step)
    if step not in to_do(change, protocol, reader, person.sign_in):
        return
    preparations.add(
        change,
        id=record.id,
        reader=reader,
        step=step,
        sign_in=_counts_for(step, person.sign_in),
        detail=canonical_json(_detail(protocol, step, record.detail)),
        done_at_utc=stamp(record.done_at) if record.done_at else None,
        received_at_utc=stamp(now),
        salt=_salt(change, record.id),
    )
    stored = preparations.by_id(change, record.id)
    detail = {"preparation": record.id, "step": step}
    vouch(change, person.study_name, person.by, now, EventKind.PREPARATION_DONE, stored, detail)


def _detail(protocol: Protocol, step: Step, given: Mapping[str, Any]) -> dict[str, Any]:
    if step is Step.CONSENT:
        if given.get("agreed") is not True:
            raise MalformedRecord("consent has to be given")
        return {"agreed": True}
    if step is Step.QUESTIONNAIRE:
        return {"answers": fit_answers(protocol.questionnaire, given.get("answers"))}
    return bounded(given, "measurements") if step is Step.DISPLAY else {}


def _counts_for(step: Step, sign_in: str) -> str:
    return sign_in if step is Step.DISPLAY else ""


def _salt(look: Transaction, record_id: str) -> str:
    """Return what keeps a questionnaire's answers from being guessed by the hash of their row."""
    key = bytes.fromhex(deployment.secret(look))
    return hmac.digest(key, f"preparation/{record_id}".encode(), "sha256").hex()[:32]
