"""The reading page over what is no study: teaching, review, scoring; its routes, the way in."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from study.base.translation import t
from study.lifecycle import teaching
from study.lifecycle.judging_desk import reviewers_desk, scorers_desk
from study.people.roles import Act
from study.people.signing_in import Person
from study.reading.desk import FilmView
from study.store import teaching as stored
from ui import viewer
from ui.parts.links import links
from ui.parts.text import number
from ui.reading.desk import (
    acknowledgement_json,
    answered,
    desk_json,
    from_elsewhere,
    message,
    refusal,
)
from ui.reading.films import film_response
from ui.server.access import allowed
from ui.server.deployment import store


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where the reading page is over something else than a study.

    Parameters
    ----------
    of
        What the page says it is: a word of `texts.js`, and the first part of its addresses.
    act
        What somebody must be allowed to do to enter.
    key
        Names of the numbers that tell one such room from another.
    domain
        Has `desk`, `seal`, `film` and `take_records`, each of store, person and those numbers.
    leave
        The page that leads here, and is gone back to.
    """

    of: str
    act: Act
    key: tuple[str, ...]
    domain: Any
    leave: str

    def mount(self, *key: int) -> None:
        """Mount the reading page in the room of these numbers."""
        viewer.mount(
            desk_url=f"{self._address(key)}/desk",
            modules_url=viewer.modules_url(),
            sign_out_url="sign-out",
            apart={"of": self.of, "leave_url": self.leave},
        )

    def routes(self) -> list[Route]:
        """Return the room's routes."""
        at = "/".join(["", self.of, *(f"{{{name}}}" for name in self.key)])
        return [
            Route(f"{at}/desk", self._desk, methods=["GET"]),
            Route(f"{at}/desk/records", self._records, methods=["POST"]),
            Route(f"{at}/films/{{case}}/{{view}}", self._film, methods=["GET"]),
        ]

    async def _desk(self, request: Request) -> Response:
        def found(person: Person, *key: int) -> dict[str, Any]:
            return desk_json(self.domain.desk(store(), person, *key), self._films(key))

        return await self._within(request, found)

    async def _records(self, request: Request) -> Response:
        refused = from_elsewhere(request) or await self._within(request, lambda *_: {})
        if refused.status_code != 200:
            return refused
        sent = await message(request)
        if isinstance(sent, Response):
            return sent
        seal, records = sent

        def take(person: Person, *key: int) -> dict[str, Any] | Response:
            if self.domain.seal(store(), person, *key) != seal:
                why = t("These answers belong to another reader.")
                return refusal(403, why, reason="other-reader")
            now = datetime.now(UTC)
            receipt = self.domain.take_records(store(), person, *key, records, now=now)
            return acknowledgement_json(receipt, self._films(key))

        return await self._within(request, take, writes=True)

    async def _film(self, request: Request) -> Response:
        case, view = str(request.path_params["case"]), number(request.path_params["view"])

        def found(person: Person, *key: int) -> Response:
            row = self.domain.film(store(), person, *key, case, view)
            if row is None:
                text = t("There is no such image in this study.")
                return PlainTextResponse(text, status_code=404)
            return film_response(store(), row)

        return await self._within(request, found)

    async def _within(
        self,
        request: Request,
        answer: Callable[..., dict[str, Any] | Response],
        *,
        writes: bool = False,
    ) -> Response:
        """Answer whoever is signed in from the room a request names."""
        key = [number(request.path_params[name]) for name in self.key]

        def work() -> dict[str, Any] | Response:
            person = allowed(request, self.act)
            if person is None:
                return refusal(401, t("Sign in first."), reason="signed-out")
            return answer(person, *key)

        return await answered(work, writes=writes)

    def _films(self, key: tuple[int, ...]) -> Callable[[FilmView], str]:
        return partial(self._film_address, key)

    def _film_address(self, key: tuple[int, ...], film: FilmView) -> str:
        return f"{self._address(key)}/films/{film.film}"

    def _address(self, key: tuple[int, ...]) -> str:
        return "/".join([self.of, *map(str, key)])


TEACHING = Room(
    of="teaching", act=Act.CHOOSE, key=("bank", "round"), domain=teaching, leave="teaching"
)
REVIEW = Room(of="expert", act=Act.REVIEW, key=("review",), domain=reviewers_desk, leave="reviews")
SCORING = Room(of="scoring", act=Act.REVIEW, key=("scoring",), domain=scorers_desk, leave="reviews")


def routes() -> list[Route]:
    """Return the routes of every room."""
    return [*TEACHING.routes(), *REVIEW.routes(), *SCORING.routes()]


def to_teaching() -> None:
    """Lead to the page of teaching, where any bank is taught from."""
    with store().look() as look:
        there = stored.taught(look)
    if there:
        links("teaching", {TEACHING.leave: t("Practise with teaching cases")})
