"""All HTTP routes of this program."""

from starlette.routing import BaseRoute

from ui import viewer
from ui.archive import exports
from ui.banks import questions, verdicts
from ui.overview import case_films, examples, models, trail
from ui.reading import desk, films, rooms, score_card
from ui.results import leaderboard
from ui.server import access, health, metrics
from ui.wizard import protocol_view


def routes() -> list[BaseRoute]:
    """Return this program's routes: sign-in, films, desk, downloads, modules of the viewer."""
    return [
        *access.routes(),
        *health.routes(),
        *metrics.routes(),
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
