"""The leaderboard of the studies whose results a person may see, and its download."""

from collections.abc import Sequence

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from study.base.errors import NotAllowed
from study.base.translation import language, t
from study.lifecycle.studies import shows_accuracy
from study.models.models import FIELDS, cards
from study.people.roles import STUDY_PERMISSIONS, Act
from study.people.signing_in import Person, memberships
from study.store import Store
from study.store.studies import study_row
from study.trail.trails import record_download
from ui.overview.current_state import chain_head
from ui.parts.links import attachment
from ui.results.background import leaderboard_of
from ui.server.access import acting, answer
from ui.server.deployment import store

FILE = "leaderboard.zip"


def routes() -> list[Route]:
    """Return the route of the download."""
    return [Route(f"/export/{FILE}", _download, methods=["GET"])]


def visible_studies(store: Store, person: Person) -> list[str]:
    """Return the studies whose accuracy a person may see, the current study first."""
    study_ids = {
        membership.study_name: membership.study
        for membership in memberships(store, person)
        if membership.study is not None and Act.RESULTS in STUDY_PERMISSIONS[membership.role]
    }
    with store.look() as look:
        names = [name for name in study_ids if shows_accuracy(study_row(look, name))]
    return sorted(names, key=lambda name: (name != person.study_name, name))


def leaderboard(store: Store, person: Person, studies: Sequence[str]) -> tuple[str, bytes]:
    """Return the leaderboard of the studies as HTML, and as a zipped folder of its files.

    Raises
    ------
    NotAllowed
        One of the studies is not among those that `visible_studies` returns.
    """
    if not studies or not set(studies) <= set(visible_studies(store, person)):
        raise NotAllowed(t("You cannot see the results of these studies."))
    heads = tuple(chain_head(store, study) for study in studies)
    return _cached_leaderboard(store, tuple(studies), heads, language())


@st.cache_resource(max_entries=4, show_spinner=False)
def _cached_leaderboard(
    _store: Store, studies: tuple[str, ...], heads: tuple[str, ...], language: str
) -> tuple[str, bytes]:
    cards_by_model = {
        model: {"model": model, **dict.fromkeys(FIELDS, ""), **card}
        for study in studies
        for model, card in cards(_store, study).items()
    }
    return leaderboard_of(_store, studies, list(cards_by_model.values()))


async def _download(request: Request) -> Response:
    studies = request.query_params.getlist("study")

    def make(person: Person) -> Response:
        content = leaderboard(store(), person, studies)[1]
        for study in studies:
            record_download(store(), study=study, file=FILE, content=content, acting=acting(person))
        return Response(content, media_type="application/zip", headers=attachment(FILE))

    refused = t("Sign in with an account that can export the study.")
    return await answer(request, Act.EXPORT, make, refused)
