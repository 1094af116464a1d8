"""The route of a bank's films, for whoever sets up studies from it."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from study.base.translation import t
from study.people.roles import Act
from study.people.signing_in import Person
from study.store import Store, bank_contents
from ui.parts.text import film_name, number
from ui.results.case_films import picture
from ui.server.access import answer
from ui.server.deployment import store


def routes() -> list[Route]:
    """Return the route."""
    return [Route("/bank-films/{bank}/{item}/{view}", _film, methods=["GET"])]


def addresses(kept: Store, bank: int, item: int) -> list[tuple[str, str]]:
    """Return label and address of every film of an item."""
    with kept.look(sealed=True) as look:
        views = bank_contents.films_of(look, bank, item)
    return [
        (film_name(view.label, view.prior, view.days), f"bank-films/{bank}/{item}/{n}")
        for n, view in enumerate(views)
    ]


async def _film(request: Request) -> Response:
    bank, item, view = (number(request.path_params[key]) for key in ("bank", "item", "view"))

    def found(_: Person) -> Response:
        with store().look(sealed=True) as look:
            views = bank_contents.films_of(look, bank, item)
        if not 0 <= view < len(views):
            return PlainTextResponse(t("There is no such image in this bank."), status_code=404)
        return picture(views[view])

    refused = t("Sign in with an account that can set up studies.")
    return await answer(request, Act.MAKE_STUDY, found, refused)
