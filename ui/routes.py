"""Every route of our own, in one list."""

from starlette.routing import BaseRoute

from ui import (
    access,
    case_films,
    desk,
    exports,
    films,
    preview,
    protocols,
    score_card,
    trail,
    viewer,
)


def routes() -> list[BaseRoute]:
    """Return the routes beside Streamlit's: sign-in, films, desk, downloads, viewer's modules."""
    return [
        *access.routes(),
        *films.routes(),
        *desk.routes(),
        *exports.routes(),
        *protocols.routes(),
        *case_films.routes(),
        *trail.routes(),
        *preview.routes(),
        *score_card.routes(),
        *viewer.mounts(),
    ]
