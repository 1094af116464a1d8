"""Shows the films of a study's cases on staff pages, before the opening and with the results."""

from html import escape
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from study.base.translation import t
from study.films import grey_levels, imported_bytes, initial_window, preview
from study.lifecycle.studies import accuracy_is_shown
from study.people.roles import Act
from study.people.signing_in import Person
from study.store import Store, studies
from study.store.banks import FilmRow
from ui.parts.text import film_name, number
from ui.parts.theme import page_file, style
from ui.server.access import answer
from ui.server.deployment import Lane, store

CASE_CSS = style(page_file(__file__, "case-films.css"))
"""Styles for a case and its films."""


def routes() -> list[Route]:
    """Return the route."""
    return [Route("/case-films/{view}", _film, methods=["GET"])]


def addresses(current_store: Store, study: int, item_id: str) -> list[tuple[str, str]]:
    """Return the label and address of each film of a case; empty if the item is not a case."""
    with current_store.look() as look:
        views = studies.views_of_case(look, study, item_id)
    return [
        (
            film_name(view.label, view.prior, view.days),
            f"case-films/{place}?{urlencode({'item': item_id})}",
        )
        for place, view in enumerate(views)
    ]


def figure_html(label: str, address: str) -> str:
    """Return HTML that shows a film of a case."""
    return (
        f'<figure><img src="{escape(address)}" alt="{escape(label)}">'
        f"<figcaption>{escape(label)}</figcaption></figure>"
    )


async def _film(request: Request) -> Response:
    refused = t("Sign in with an account that can see the results.")

    def make(person: Person) -> Response:
        current_store = store()
        if person.study is None:
            return PlainTextResponse(refused, status_code=401)
        if not person.may(Act.SET_UP) and not accuracy_is_shown(current_store, person.study_name):
            reason = t("Cases are shown once the study is closed.")
            return PlainTextResponse(reason, status_code=409)
        with current_store.look() as look:
            views = studies.views_of_case(look, person.study, request.query_params.get("item", ""))
        view_number = number(request.path_params["view"])
        if not 0 <= view_number < len(views):
            return PlainTextResponse(t("There is no such image in this study."), status_code=404)
        return picture_response(views[view_number])

    return await answer(request, Act.RESULTS, make, refused, lambda _: 503, Lane.IMAGES)


def picture_response(view: FilmRow) -> Response:
    """Return a response with a film as an 8-bit picture."""
    data = imported_bytes(view.file, view.sha256)
    low, high = initial_window(data) or (view.low, view.high)
    png = preview(grey_levels(data), low=low, high=high)
    headers = {"Cache-Control": "private, max-age=600"}
    return Response(png, media_type="image/png", headers=headers)
