"""Every route of our own, in one list."""

from starlette.routing import BaseRoute

from ui import viewer
from ui.archive import exports
from ui.banks import questions, verdicts
from ui.overview import case_films, examples, models, trail
from ui.reading import desk, films, rooms, score_card
from ui.results import leaderboard
from ui.server import access
from ui.wizard import protocol_view


def routes() -> list[BaseRoute]:
    """Return the routes beside Streamlit's: sign-in, films, desk, downloads, viewer's modules."""
    return [
        *access.routes(),
        *films.routes(),
        *desk.routes(),
        *exports.routes(),
        *protocol_view.routes(),
        *case_films.routes(),
        *leaderboard.routes(),
        *questions.routes(),
        *verdicts.routes(),
        *trail.routes(),
        *examples.routes(),
        *models.routes(),
        *rooms.routes(),
        *score_card.routes(),
        *viewer.mounts(),
    ]
