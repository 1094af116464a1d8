"""The downloads of protocol files: of a draft, and of a study as amended."""

from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from study.base.errors import StudyError
from study.base.translation import t
from study.lifecycle import drafts
from study.people.roles import Act
from study.protocol import toml_file
from study.protocol.protocol import Protocol
from ui.parts.text import number
from ui.server.access import allowed
from ui.server.deployment import store
from ui.server.headers import attachment


def routes() -> list[Route]:
    """Return the download routes."""
    return [
        Route("/draft/protocol.toml", _draft, methods=["GET"]),
        Route("/study/protocol.toml", _study, methods=["GET"]),
    ]


async def _draft(request: Request) -> Response:
    draft = number(request.query_params.get("draft", ""))

    def file() -> str | None:
        if allowed(request, Act.MAKE_STUDY) is None:
            return None
        found = drafts.find(store(), draft)
        return toml_file.written(Protocol.from_json(found.protocol_values))

    return await _answer(file)


async def _study(request: Request) -> Response:
    def file() -> str | None:
        person = allowed(request, Act.SET_UP)
        if person is None or person.study is None:
            return None
        return toml_file.of_study(store(), person.study_name)

    return await _answer(file)


async def _answer(make: Callable[[], str | None]) -> Response:
    try:
        found = await run_in_threadpool(make)
    except StudyError as error:
        return PlainTextResponse(str(error), status_code=409)
    if found is None:
        return PlainTextResponse(t("Sign in as whoever sets up the study."), status_code=401)
    return Response(found, media_type="application/toml", headers=attachment("protocol.toml"))
