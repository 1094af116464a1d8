"""Every route of our own, in one list."""

from starlette.routing import BaseRoute

from ui import viewer
from ui.archive import exports
from ui.banks import item_films, verdicts
from ui.overview import exam_paper, examples, trail
from ui.reading import desk, films, rooms, score_card
from ui.results import case_films, leaderboard
from ui.server import access
from ui.wizard import protocol_downloads as protocols


def routes() -> list[BaseRoute]:
    """Return the routes beside Streamlit's: sign-in, films, desk, downloads, viewer's modules."""
    return [
        *access.routes(),
        *films.routes(),
        *desk.routes(),
        *exports.routes(),
        *protocols.routes(),
        *case_films.routes(),
        *leaderboard.routes(),
        *item_films.routes(),
        *verdicts.routes(),
        *trail.routes(),
        *examples.routes(),
        *exam_paper.routes(),
        *rooms.routes(),
        *score_card.routes(),
        *viewer.mounts(),
    ]
