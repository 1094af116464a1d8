"""Teaching: the reading page's routes over a bank that is taught from, and the way there."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from study.base.translation import t
from study.lifecycle import teaching
from study.people.roles import Act
from study.people.signing_in import Person
from study.reading.desk import FilmView
from study.store import teaching as stored
from ui import viewer
from ui.parts.links import links
from ui.parts.text import number
from ui.reading.desk import (
    Address,
    answered,
    desk_json,
    from_elsewhere,
    message,
    receipt_json,
    refusal,
)
from ui.reading.films import film_response
from ui.server.access import allowed
from ui.server.deployment import store

PAGE = "teaching"
"""The page that lists the banks that are taught from."""


def mount(bank: int, round: int) -> None:
    """Mount the reading page over a round of a bank."""
    viewer.mount(
        desk_url=f"{_address(bank, round)}/desk",
        modules_url=viewer.modules_url(),
        sign_out_url="sign-out",
        apart={"of": "teaching", "leave_url": PAGE},
    )


def to_teaching() -> None:
    """Lead to the page of teaching, where any bank is taught from."""
    with store().look() as look:
        there = stored.taught(look)
    if there:
        links("teaching", {PAGE: t("Practise with teaching cases")})


def routes() -> list[Route]:
    """Return teaching's routes."""
    at = "/teaching/{bank}/{round}"
    return [
        Route(f"{at}/desk", _desk, methods=["GET"]),
        Route(f"{at}/desk/records", _records, methods=["POST"]),
        Route(f"{at}/films/{{case}}/{{view}}", _film, methods=["GET"]),
    ]


async def _desk(request: Request) -> Response:
    def found(person: Person, bank: int, round: int) -> dict[str, Any]:
        return desk_json(teaching.desk(store(), person, bank, round), _films(bank, round))

    return await _learning(request, found)


async def _records(request: Request) -> Response:
    refused = from_elsewhere(request) or await _learning(request, lambda *_: {})
    if refused.status_code != 200:
        return refused
    sent = await message(request)
    if isinstance(sent, Response):
        return sent
    seal, records = sent

    def take(person: Person, bank: int, round: int) -> dict[str, Any] | Response:
        if teaching.seal(store(), person, bank, round) != seal:
            why = t("These answers belong to another reader.")
            return refusal(403, why, reason="other-reader")
        now = datetime.now(UTC)
        receipt = teaching.take_records(store(), person, bank, round, records, now=now)
        return receipt_json(receipt, _films(bank, round))

    return await _learning(request, take, writes=True)


async def _film(request: Request) -> Response:
    case, view = str(request.path_params["case"]), number(request.path_params["view"])

    def found(person: Person, bank: int, round: int) -> Response:
        row = teaching.film(store(), person, bank, round, case, view)
        if row is None:
            return PlainTextResponse(t("There is no such image in this study."), status_code=404)
        return film_response(store(), row)

    return await _learning(request, found)


async def _learning(
    request: Request,
    answer: Callable[[Person, int, int], dict[str, Any] | Response],
    *,
    writes: bool = False,
) -> Response:
    """Answer whoever is signed in from a round of theirs."""
    bank, round = (number(request.path_params[key]) for key in ("bank", "round"))

    def work() -> dict[str, Any] | Response:
        person = allowed(request, Act.CHOOSE)
        if person is None:
            return refusal(401, t("Sign in first."), reason="signed-out")
        return answer(person, bank, round)

    return await answered(work, writes=writes)


def _films(bank: int, round: int) -> Address:
    return partial(_film_address, bank, round)


def _film_address(bank: int, round: int, film: FilmView) -> str:
    return f"{_address(bank, round)}/films/{film.film}"


def _address(bank: int, round: int) -> str:
    return f"teaching/{bank}/{round}"
