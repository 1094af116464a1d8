"""The route of a review's verdicts as a table, for whoever sets up studies from its bank."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from study.base.csv_cells import csv_bytes
from study.base.translation import t
from study.lifecycle import reviewing
from study.people.roles import Act
from study.people.signing_in import Person
from ui.parts.text import number
from ui.server.access import answer
from ui.server.deployment import store


def routes() -> list[Route]:
    """Return the route."""
    return [Route("/verdicts/{review}", _verdicts, methods=["GET"])]


def address(review: int) -> str:
    """Return where a review's verdicts are downloaded from."""
    return f"verdicts/{review}"


async def _verdicts(request: Request) -> Response:
    def found(_: Person) -> Response:
        with store().look() as look:
            rows = reviewing.verdict_table(look, number(request.path_params["review"]))
        return Response(
            csv_bytes(reviewing.TABLE, rows),
            media_type="text/csv; charset=utf-8",
            headers={
                "Content-Disposition": 'attachment; filename="verdicts.csv"',
                "Cache-Control": "no-store",
            },
        )

    refused = t("Sign in with an account that can set up studies.")
    return await answer(request, Act.MAKE_STUDY, found, refused)
