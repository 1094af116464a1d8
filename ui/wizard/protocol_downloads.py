"""The downloads of protocol files: of a draft, and of a study as amended."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from study.base.translation import t
from study.lifecycle import drafts
from study.people.roles import Act
from study.people.signing_in import Person
from study.protocol.protocol import Protocol, as_toml, toml_of_study
from ui.parts.downloads import attachment
from ui.parts.text import number
from ui.server.access import answer
from ui.server.deployment import store


def routes() -> list[Route]:
    """Return the download routes."""
    return [
        Route("/draft/protocol.toml", _draft, methods=["GET"]),
        Route("/study/protocol.toml", _study, methods=["GET"]),
    ]


async def _draft(request: Request) -> Response:
    draft = number(request.query_params.get("draft", ""))
    return await _file(
        request,
        Act.MAKE_STUDY,
        lambda _: as_toml(Protocol.from_json(drafts.find(store(), draft).protocol_values)),
    )


async def _study(request: Request) -> Response:
    return await _file(
        request, Act.SET_UP, lambda person: toml_of_study(store(), person.study_name)
    )


async def _file(request: Request, act: Act, text: Callable[[Person], str]) -> Response:
    return await answer(
        request,
        act,
        lambda person: Response(
            text(person), media_type="application/toml", headers=attachment("protocol.toml")
        ),
        t("Sign in with an account that can set up the study."),
    )
