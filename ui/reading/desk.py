"""The reader's routes: the desk, earlier cases, and the records that the page sends.

Responses are built field by field from the domain's views, which have no field for the reference
standard, report text or another reader's answer.
"""

import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from study.base.errors import StudyError
from study.base.translation import later, t, tn, translated
from study.people.signing_in import Person, has_lost_role, person_of
from study.reading import desk
from study.reading.course import StepView
from study.reading.desk import Acknowledgement, CaseView, Desk, FilmView
from study.store import Transaction, deployment
from ui.parts.text import html, number, prior_in_words
from ui.reading.films import address, prepare_ahead
from ui.server import metrics
from ui.server.access import same_origin, status_of, token_of
from ui.server.deployment import Lane, in_turn, store_with_wait_limit

Address = Callable[[FilmView], str]
"""Function that returns the address of a film."""

_CONTEXT_LABELS = {
    "Age": later("Age"),
    "Sex": later("Sex"),
    "Indication": later("Indication"),
    "Comparison": later("Comparison"),
}
_AGE = re.compile(r"(\d{1,3})(?: to (\d{1,3}))? (year|month|week|day)s?")


_MAX_ACCEPTED_TOKENS = 1000
_accepted_tokens: set[str] = set()
"""Tokens of readers who have requested their desk, whose messages need only one further check.

That check is part of the transaction that stores the records, so that nothing is stored after the
sign-in has ended.
"""


def routes() -> list[Route]:
    """Return the reader's routes."""
    return [
        Route("/desk", _desk, methods=["GET"]),
        Route("/desk/cases/{position}", _case, methods=["GET"]),
        Route("/desk/records", _records, methods=["POST"]),
    ]


async def _desk(request: Request) -> Response:
    def content_for(look: Transaction, person: Person) -> dict[str, Any]:
        now = datetime.now(UTC)
        reader_desk = desk.with_session_feedback(
            store_with_wait_limit(),
            person,
            desk.desk_in_transaction(look, person, now=now),
            now=now,
        )
        return desk_json(reader_desk, _prepared_film_addresses(look, person))

    return await _for_reader(request, content_for)


async def _case(request: Request) -> Response:
    position = position_of(request)

    def content_for(look: Transaction, person: Person) -> dict[str, Any]:
        case = desk.case_at(store_with_wait_limit(), person, position, now=datetime.now(UTC))
        return case_json(case, _signed_addresses(look, person))

    return await _for_reader(request, content_for)


async def _records(request: Request) -> Response:
    if refused := cross_origin_refusal(request):
        return refused
    if token_of(request.cookies) not in _accepted_tokens:
        checked = await _for_reader(request, lambda look, person: {})
        if checked.status_code != 200:
            return checked  # messages without permission are not read
    sent = await read_message(request)
    if isinstance(sent, Response):
        return sent
    seal, records = sent

    def store_records() -> dict[str, Any] | Response:
        current_store = store_with_wait_limit()
        with (
            current_store.desk() as change
        ):  # checked again, because the message may have taken long
            person = _reader(change, request)
            if isinstance(person, Response):
                return person
            if desk.seal(change, person) != seal:
                reason = t("These answers belong to another reader.")
                return refusal(403, reason, reason="other-reader")
            now = datetime.now(UTC)
            receipt = desk.take_in_transaction(change, person, records, now=now)
            address_of = (
                _prepared_film_addresses(change, person)
                if _has_reading(records)
                else _signed_addresses(change, person)
            )
        metrics.records.labels("stored").inc(len(receipt.stored))
        metrics.records.labels("refused").inc(len(receipt.refused))
        explained = desk.with_feedback(current_store, person, receipt, now=now)
        return acknowledgement_json(explained, address_of)

    return await json_answer(store_records, Lane.WRITES)


def position_of(request: Request) -> int:
    """Return the requested position, or a position that no case has."""
    return number(str(request.path_params["position"]))


def cross_origin_refusal(request: Request) -> Response | None:
    """Return the refusal of a message that does not come from the reading page, or None."""
    if same_origin(request.scope):
        return None
    reason = t("Answers are accepted only from the reading page.")
    return refusal(403, reason, reason="wrong-origin")


async def read_message(request: Request) -> tuple[str, list[Any]] | Response:
    """Return the seal and the records of a reading page's message, or a refusal."""
    try:
        sent = json.loads(await request.body())
        return str(sent["seal"]), _with_sending_time(sent["records"], sent.get("sent_epoch_ms"))
    except (ValueError, KeyError, TypeError, RecursionError):
        return refusal(400, t("This is not a valid message from the reading page."))


async def _for_reader(
    request: Request, answer: Callable[[Transaction, Person], dict[str, Any]]
) -> Response:
    def work() -> dict[str, Any] | Response:
        with store_with_wait_limit().look(sealed=True) as look:
            person = _reader(look, request)
            return person if isinstance(person, Response) else answer(look, person)

    return await json_answer(work)


def _reader(look: Transaction, request: Request) -> Person | Response:
    """Return the reader who sends the request, or a refusal for anyone else."""
    token, now = token_of(request.cookies), datetime.now(UTC)
    person = person_of(look, token, now=now) if token else None
    if person is None or person.reader is None:
        _accepted_tokens.discard(token)
    if (person is None or person.reader is None) and token and has_lost_role(look, token, now=now):
        return refusal(403, t("You have left this study."), reason="left")
    if person is None:
        return refusal(401, t("Sign in first."), reason="signed-out")
    if person.reader is None:
        return refusal(403, t("Only readers of this study can read."), reason="other-reader")
    if len(_accepted_tokens) >= _MAX_ACCEPTED_TOKENS:
        _accepted_tokens.clear()
    _accepted_tokens.add(token)
    return person


async def json_answer(
    work: Callable[[], dict[str, Any] | Response], queue: Lane = Lane.READS
) -> Response:
    """Answer a request from the reading page with the result, or with the reason for a refusal."""
    try:
        result = await in_turn(work, queue)
    except StudyError as error:
        return refusal(status_of(error), str(error))
    if isinstance(result, Response):
        return result
    return JSONResponse(result, headers={"Cache-Control": "no-store"})


def refusal(status: int, sentence: str, *, reason: str = "refused") -> Response:
    """Refuse a request, with a message for the reader and a reason for the page."""
    content = {"why": sentence, "reason": reason}
    return JSONResponse(content, status_code=status, headers={"Cache-Control": "no-store"})


def _with_sending_time(records: Any, sent_epoch_ms: Any) -> list[Any]:
    """Return the records of a message, each with the sending time by the page's clock."""
    return [
        {**record, "sent_epoch_ms": sent_epoch_ms} if isinstance(record, dict) else record
        for record in list(records)
    ]


def _has_reading(records: Iterable[Any]) -> bool:
    """Return whether a reading was sent: only then are the reader's next films different."""
    return any(isinstance(record, dict) and record.get("kind") == "reading" for record in records)


def _prepared_film_addresses(look: Transaction, person: Person) -> Address:
    """Prepare a reader's next films in the background, and return the function for addresses."""
    current_store = store_with_wait_limit()
    prepare_ahead(current_store, person, home=current_store)
    return _signed_addresses(look, person)


def _signed_addresses(look: Transaction, person: Person) -> Address:
    secret, now_s = deployment.secret(look), datetime.now(UTC).timestamp()
    return lambda film: address(secret, person, film.film, now_s=now_s)


def desk_json(reader_desk: Desk, address_of: Address) -> dict[str, Any]:
    """Return a desk in the reading page's format."""
    return {
        "seal": reader_desk.seal,
        "study": reader_desk.study,
        "reader": reader_desk.reader,
        "notice": t("Simulated radiographs") if reader_desk.simulated_films else "",
        "total": reader_desk.total,
        "read": reader_desk.read,
        "finished": reader_desk.finished,
        "rules": dict(reader_desk.rules),
        "preparation": [_step_json(step) for step in reader_desk.preparation],
        "practice_total": reader_desk.practice_total,
        "session": reader_desk.session,
        "sessions": reader_desk.sessions,
        "review": reader_desk.review,
        "hold": reader_desk.hold,
        "opens_at_utc": reader_desk.opens_at_utc,
        "opens_in_ms": reader_desk.opens_in_ms,
        "stored": reader_desk.stored,
        "receipt": reader_desk.receipt,
        **{
            name: text
            for name in ("debriefing", "session_feedback")
            if (text := getattr(reader_desk, name))
        },
        "cases": [case_json(case, address_of) for case in reader_desk.cases],
    }


def _step_json(step: StepView) -> dict[str, Any]:
    if step.questions:
        return {"step": step.step, "questions": [question.as_json() for question in step.questions]}
    if step.markdown:
        return {"step": step.step, "html": html(step.markdown)}
    return {"step": step.step}


def _context_text(name: str, value: str) -> str:
    """Return an age or a sex in the page's language, and other values unchanged."""
    if name == "Sex":
        return translated(value)
    age = _AGE.fullmatch(value) if name == "Age" else None
    if age is None:
        return value
    if age[2]:
        return t("{low} to {high} years", low=int(age[1]), high=int(age[2]))
    n = int(age[1])
    return {
        "year": tn("{n} year", "{n} years", n),
        "month": tn("{n} month", "{n} months", n),
        "week": tn("{n} week", "{n} weeks", n),
        "day": tn("{n} day", "{n} days", n),
    }[age[3]]


def case_json(case: CaseView, address_of: Address) -> dict[str, Any]:
    """Return a case in the reading page's format."""
    own_reading = case.reading
    return {
        "case": case.case,
        "position": case.position,
        "condition": case.condition,
        "question": case.question,
        "options": [{"option": letter, "text": text} for letter, text in case.options],
        "context": [
            {"name": translated(_CONTEXT_LABELS[name]), "value": _context_text(name, value)}
            for name, value in case.context
        ],
        "views": [_film_json(film, address_of(film)) for film in case.views],
        "presented": case.presented,
        "practice": case.practice,
        "reading": own_reading
        and {
            "id": own_reading.id,
            "option": own_reading.option,
            "words": own_reading.words,
            "status": own_reading.status,
            "confidence": own_reading.confidence,
            "comment": own_reading.comment,
            "faulty": own_reading.faulty,
        },
        **_aid_json(case),
    }


def _aid_json(case: CaseView) -> dict[str, Any]:
    """Return the additional fields of an aided case, or of a stage of sequential reading."""
    stage: dict[str, Any] = {"stage": case.stage} if case.stage else {}
    if case.stage == 2:
        first_answer = case.first_answer
        stage["before"] = first_answer and {
            "option": first_answer.option,
            "confidence": first_answer.confidence,
        }
    if case.aid is None:
        return stage
    content = case.aid.content
    return {
        **stage,
        "aid": {
            "when": case.aid.when,
            "html": html(case.aid.markdown) if case.aid.markdown else "",
            "content": content
            and {
                "missing": content.missing,
                "answer": content.option,
                "confidence": content.confidence,
                "explanation": content.explanation,
                "boxes": [dict(box) for box in content.boxes],
                "map": [dict(heat_map) for heat_map in content.maps],
            },
        },
    }


def _film_json(film: FilmView, url: str) -> dict[str, Any]:
    return {
        "url": url,
        "label": film.label,
        "width": film.width,
        "height": film.height,
        "bits": film.bits,
        "low": film.low if film.bits > 8 else 0,
        "high": film.high if film.bits > 8 else 255,
        "spacing_mm": film.spacing_mm,
        "prior": prior_in_words(film.days) if film.prior else "",
    }


def acknowledgement_json(receipt: Acknowledgement, address_of: Address) -> dict[str, Any]:
    """Return a receipt in the reading page's format."""
    return {
        "stored": list(receipt.stored),
        "refused": [{"id": record, "why": why} for record, why in receipt.refused],
        "feedback": {
            record: {
                "option": feedback.option,
                "correct": feedback.correct,
                "explanation": feedback.explanation,
            }
            for record, feedback in receipt.feedback.items()
        },
        "desk": desk_json(receipt.desk, address_of),
    }
