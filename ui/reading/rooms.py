"""The reading page for uses other than a study: teaching, review, scoring and previews.

This module contains their routes and mounts the page. A preview uses a temporary copy of a study;
its page and data are a reader's, and only the addresses differ.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any, Concatenate, Protocol

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from study.base.errors import StudyError
from study.base.translation import t
from study.lifecycle import previews, teaching
from study.lifecycle.judging_desk import reviewers_desk, scorers_desk
from study.lifecycle.previews import Preview
from study.people.roles import Act
from study.people.signing_in import Person
from study.reading import desk
from study.reading.desk import Acknowledgement, Desk
from study.store import Store
from study.store import teaching as teaching_banks
from study.store.banks import FilmRow
from ui import viewer
from ui.parts.links import links
from ui.parts.text import number, plain
from ui.reading.desk import (
    Address,
    acknowledgement_json,
    case_json,
    cross_origin_refusal,
    desk_json,
    json_answer,
    position_of,
    read_message,
    refusal,
)
from ui.reading.films import film_response, prepare_ahead
from ui.server.access import allowed, same_origin, signed_in
from ui.server.deployment import Lane, store, store_with_wait_limit


class RoomDomain(Protocol):
    """Domain functions that a room calls with the store, the person and the room's numbers.

    `film` also receives a case and a view; `take_records` receives the records and, by name, `now`.
    """

    @property
    def desk(self) -> Callable[Concatenate[Store, Person, ...], Desk]:
        """Returns the desk of the reading page."""

    @property
    def seal(self) -> Callable[Concatenate[Store, Person, ...], str]:
        """Returns the seal that a page's outbox contains."""

    @property
    def film(self) -> Callable[Concatenate[Store, Person, ...], FilmRow | None]:
        """Returns the row of a film that the person may see, or None."""

    @property
    def take_records(self) -> Callable[Concatenate[Store, Person, ...], Acknowledgement]:
        """Stores the records sent by the page, and returns the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A use of the reading page other than a study.

    Parameters
    ----------
    kind
        The kind of room: a key of `texts.js`, and the first part of its addresses.
    act
        The permission needed to enter.
    key_names
        Names of the numbers that identify a room of this kind.
    domain
        The module or object that provides its cases and stores its records.
    return_page
        The page from which the room is entered, and to which the reader returns.
    """

    kind: str
    act: Act
    key_names: tuple[str, ...]
    domain: RoomDomain
    return_page: str

    def mount(self, *numbers: int) -> None:
        """Mount the reading page in a room."""
        viewer.mount(
            desk_url=f"{self._address(numbers)}/desk",
            modules_url=viewer.modules_url(),
            sign_out_url="sign-out",
            variant={"of": self.kind, "leave_url": self.return_page},
        )

    def routes(self) -> list[Route]:
        """Return the room's routes."""
        at = "/".join(["", self.kind, *(f"{{{name}}}" for name in self.key_names)])
        return [
            Route(f"{at}/desk", self._desk, methods=["GET"]),
            Route(f"{at}/desk/records", self._records, methods=["POST"]),
            Route(f"{at}/films/{{case}}/{{view}}", self._film, methods=["GET"]),
        ]

    async def _desk(self, request: Request) -> Response:
        def content_for(person: Person, *numbers: int) -> dict[str, Any]:
            return desk_json(
                self.domain.desk(store_with_wait_limit(), person, *numbers), self._films(numbers)
            )

        return await self._within(request, content_for)

    async def _records(self, request: Request) -> Response:
        refused = cross_origin_refusal(request) or await self._within(request, lambda *_: {})
        if refused.status_code != 200:
            return refused
        sent = await read_message(request)
        if isinstance(sent, Response):
            return sent
        seal, records = sent

        def store_records(person: Person, *numbers: int) -> dict[str, Any] | Response:
            if self.domain.seal(store_with_wait_limit(), person, *numbers) != seal:
                reason = t("These answers belong to another reader.")
                return refusal(403, reason, reason="other-reader")
            now = datetime.now(UTC)
            receipt = self.domain.take_records(
                store_with_wait_limit(), person, *numbers, records, now=now
            )
            return acknowledgement_json(receipt, self._films(numbers))

        return await self._within(request, store_records, Lane.WRITES)

    async def _film(self, request: Request) -> Response:
        case, view = str(request.path_params["case"]), number(request.path_params["view"])

        def content_for(person: Person, *numbers: int) -> Response:
            row = self.domain.film(store_with_wait_limit(), person, *numbers, case, view)
            if row is None:
                text = t("There is no such image in this study.")
                return PlainTextResponse(text, status_code=404)
            return film_response(store_with_wait_limit(), row)

        return await self._within(request, content_for, Lane.IMAGES)

    async def _within(
        self,
        request: Request,
        answer: Callable[..., dict[str, Any] | Response],
        queue: Lane = Lane.READS,
    ) -> Response:
        """Answer a signed-in person's request to a room."""
        numbers = [number(request.path_params[name]) for name in self.key_names]

        def work() -> dict[str, Any] | Response:
            person = allowed(request, self.act)
            if person is None:
                return refusal(401, t("Sign in first."), reason="signed-out")
            return answer(person, *numbers)

        return await json_answer(work, queue)

    def _films(self, numbers: tuple[int, ...]) -> Address:
        return lambda film: f"{self._address(numbers)}/films/{film.film}"

    def _address(self, numbers: tuple[int, ...]) -> str:
        return "/".join([self.kind, *map(str, numbers)])


TEACHING = Room(
    kind="teaching",
    act=Act.CHOOSE,
    key_names=("bank", "round"),
    domain=teaching,
    return_page="teaching",
)
REVIEW = Room(
    kind="expert",
    act=Act.REVIEW,
    key_names=("review",),
    domain=reviewers_desk,
    return_page="reviews",
)
SCORING = Room(
    kind="scoring",
    act=Act.REVIEW,
    key_names=("scoring",),
    domain=scorers_desk,
    return_page="reviews",
)


def routes() -> list[Route]:
    """Return the routes of every room, and of previews."""
    return [
        *TEACHING.routes(),
        *REVIEW.routes(),
        *SCORING.routes(),
        Route("/preview/{mark}/desk", _preview_desk, methods=["GET"]),
        Route("/preview/{mark}/desk/cases/{position}", _preview_case, methods=["GET"]),
        Route("/preview/{mark}/desk/records", _preview_records, methods=["POST"]),
        Route("/preview/{mark}/films/{case}/{view}", _preview_film, methods=["GET"]),
        Route("/preview/{mark}/again", _restart, methods=["POST"]),
    ]


def link_to_teaching() -> None:
    """Link to the teaching page if any bank is open for teaching."""
    with store().look() as look:
        lessons = teaching_banks.taught(look)
    if lessons:
        links("teaching", {TEACHING.return_page: t("Practise with teaching cases")})


def show_preview(person: Person, *, draft: int | None = None) -> None:
    """Mount the reading page with a person's preview of their study or of a draft.

    In a study with arms the address names the arm. If the preview is not possible, the reason is
    shown.
    """
    arm = str(st.query_params.get("arm", ""))
    try:
        preview = previews.preview(
            store(),
            person,
            entropy=secrets.token_bytes,
            now=datetime.now(UTC),
            draft=draft,
            arm=arm,
        )
    except StudyError as error:
        st.error(plain(str(error)))
        st.html(f'<a href="{escape(_return_page(draft))}" target="_self">{t("Back")}</a>')
        return
    viewer.mount(
        desk_url=f"preview/{preview.mark}/desk",
        modules_url=viewer.modules_url(),
        sign_out_url="sign-out",
        variant={
            "of": "preview",
            "again_url": f"preview/{preview.mark}/again",
            "leave_url": _return_page(draft),
            "arm": preview.arm,
        },
    )


def _return_page(draft: int | None) -> str:
    """Return the page from which the preview was opened and to which it returns."""
    return "set-up" if draft is None else f"new-study?draft={draft}&step=review"


async def _preview_desk(request: Request) -> Response:
    def content_for(current_store: Store, preview: Preview) -> dict[str, Any]:
        return desk_json(_desk_of(preview), _preview_films(current_store, preview))

    return await _answer_in_preview(request, content_for)


def _desk_of(preview: Preview) -> Desk:
    return desk.desk(preview.store, preview.reader, now=datetime.now(UTC))


async def _preview_case(request: Request) -> Response:
    def content_for(current_store: Store, preview: Preview) -> dict[str, Any]:
        position, now = position_of(request), datetime.now(UTC)
        return case_json(
            desk.case_at(preview.store, preview.reader, position, now=now),
            _preview_address(preview),
        )

    return await _answer_in_preview(request, content_for)


async def _preview_records(request: Request) -> Response:
    refused = cross_origin_refusal(request) or await _answer_in_preview(
        request, lambda current_store, preview: {}
    )
    if refused.status_code != 200:
        return refused
    sent = await read_message(request)
    if isinstance(sent, Response):
        return sent
    seal, records = sent

    def store_records(current_store: Store, preview: Preview) -> dict[str, Any] | Response:
        with preview.store.look(sealed=True) as look:
            if desk.seal(look, preview.reader) != seal:
                return refusal(409, t("This preview has been restarted. Reload the page."))
        receipt = desk.take_records(preview.store, preview.reader, records, now=datetime.now(UTC))
        return acknowledgement_json(receipt, _preview_films(current_store, preview))

    return await _answer_in_preview(request, store_records)


async def _preview_film(request: Request) -> Response:
    case, view = str(request.path_params["case"]), number(request.path_params["view"])

    def content_for(current_store: Store, preview: Preview) -> Response:
        row = desk.film(preview.store, preview.reader, case, view)
        if row is None:
            return PlainTextResponse(t("There is no such image in this study."), status_code=404)
        return film_response(current_store, row)

    return await _answer_in_preview(request, content_for, Lane.IMAGES)


async def _restart(request: Request) -> Response:
    if not same_origin(request.scope):
        return PlainTextResponse(
            t("The preview can only be restarted from the preview itself."), status_code=403
        )

    def restart(current_store: Store, preview: Preview) -> Response:
        preview.discard()
        return Response(status_code=204)

    return await _answer_in_preview(request, restart)


async def _answer_in_preview(
    request: Request,
    answer: Callable[[Store, Preview], dict[str, Any] | Response],
    queue: Lane = Lane.READS,
) -> Response:
    """Answer a signed-in person's request to their preview."""

    def work() -> dict[str, Any] | Response:
        person = signed_in(request.cookies)
        if person is None:
            return refusal(401, t("Sign in first."), reason="signed-out")
        current_store = store_with_wait_limit()
        return answer(
            current_store, previews.find(current_store, person, str(request.path_params["mark"]))
        )

    return await json_answer(work, queue)


def _preview_films(current_store: Store, preview: Preview) -> Address:
    prepare_ahead(preview.store, preview.reader, home=current_store)
    return _preview_address(preview)


def _preview_address(preview: Preview) -> Address:
    return lambda film: f"preview/{preview.mark}/films/{film.film}"
