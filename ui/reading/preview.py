"""The preview of a study: its page, and the reading page's routes over a copy that is thrown away.

The page and what it is told are the reader's own; only the addresses differ.
"""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from study.base.errors import StudyError
from study.base.translation import t
from study.lifecycle import previews
from study.lifecycle.previews import Preview
from study.people.signing_in import Person
from study.reading import desk
from study.reading.desk import Desk, FilmView
from study.store import Store
from ui import viewer
from ui.parts.text import number, plain
from ui.reading.desk import (
    Address,
    acknowledgement_json,
    answered,
    case_json,
    desk_json,
    from_elsewhere,
    message,
    position_of,
    refusal,
)
from ui.reading.films import film_response, prepare_ahead
from ui.server.access import same_origin, signed_in
from ui.server.deployment import store


def show(person: Person, *, draft: int | None = None) -> None:
    """Mount the reading page over a person's preview of their study, or of a draft.

    What stands in the way is said instead.
    """
    try:
        found = previews.preview(
            store(), person, entropy=secrets.token_bytes, now=datetime.now(UTC), draft=draft
        )
    except StudyError as error:
        st.error(plain(str(error)))
        st.html(f'<a href="{escape(_back(draft))}" target="_self">{t("Back")}</a>')
        return
    viewer.mount(
        desk_url=f"preview/{found.mark}/desk",
        modules_url=viewer.modules_url(),
        sign_out_url="sign-out",
        apart={
            "of": "preview",
            "again_url": f"preview/{found.mark}/again",
            "leave_url": _back(draft),
        },
    )


def _back(draft: int | None) -> str:
    """Return where the preview was begun, and is ended to."""
    return "set-up" if draft is None else f"new-study?draft={draft}&step=review"


def routes() -> list[Route]:
    """Return the preview's routes."""
    return [
        Route("/preview/{mark}/desk", _desk, methods=["GET"]),
        Route("/preview/{mark}/desk/cases/{position}", _case, methods=["GET"]),
        Route("/preview/{mark}/desk/records", _records, methods=["POST"]),
        Route("/preview/{mark}/films/{case}/{view}", _film, methods=["GET"]),
        Route("/preview/{mark}/again", _again, methods=["POST"]),
    ]


async def _desk(request: Request) -> Response:
    def found(kept: Store, walk: Preview) -> dict[str, Any]:
        return desk_json(_desk_of(walk), _films(kept, walk))

    return await _walking(request, found)


def _desk_of(walk: Preview) -> Desk:
    return desk.desk(walk.store, walk.reader, now=datetime.now(UTC))


async def _case(request: Request) -> Response:
    def found(kept: Store, walk: Preview) -> dict[str, Any]:
        position, now = position_of(request), datetime.now(UTC)
        return case_json(desk.case_at(walk.store, walk.reader, position, now=now), _address(walk))

    return await _walking(request, found)


async def _records(request: Request) -> Response:
    refused = from_elsewhere(request) or await _walking(request, lambda kept, walk: {})
    if refused.status_code != 200:
        return refused
    sent = await message(request)
    if isinstance(sent, Response):
        return sent
    seal, records = sent

    def take(kept: Store, walk: Preview) -> dict[str, Any] | Response:
        with walk.store.look(sealed=True) as look:
            if desk.seal(look, walk.reader) != seal:
                return refusal(409, t("This preview has been restarted. Reload the page."))
        receipt = desk.take_records(walk.store, walk.reader, records, now=datetime.now(UTC))
        return acknowledgement_json(receipt, _films(kept, walk))

    return await _walking(request, take)


async def _film(request: Request) -> Response:
    case, view = str(request.path_params["case"]), number(request.path_params["view"])

    def found(kept: Store, walk: Preview) -> Response:
        row = desk.film(walk.store, walk.reader, case, view)
        if row is None:
            return PlainTextResponse(t("There is no such image in this study."), status_code=404)
        return film_response(kept, row)

    return await _walking(request, found)


async def _again(request: Request) -> Response:
    if not same_origin(request.scope):
        return PlainTextResponse(
            t("The preview can only be restarted from the preview itself."), status_code=403
        )

    def restart(kept: Store, walk: Preview) -> Response:
        walk.discard()
        return Response(status_code=204)

    return await _walking(request, restart)


async def _walking(
    request: Request, answer: Callable[[Store, Preview], dict[str, Any] | Response]
) -> Response:
    """Answer whoever is signed in from a preview of theirs."""

    def work() -> dict[str, Any] | Response:
        person = signed_in(request.cookies)
        if person is None:
            return refusal(401, t("Sign in first."), reason="signed-out")
        kept = store()
        return answer(kept, previews.find(kept, person, str(request.path_params["mark"])))

    return await answered(work)


def _films(kept: Store, walk: Preview) -> Address:
    prepare_ahead(walk.store, walk.reader, home=kept)
    return _address(walk)


def _address(walk: Preview) -> Address:
    def address(film: FilmView) -> str:
        return f"preview/{walk.mark}/films/{film.film}"

    return address
