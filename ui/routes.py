"""Every route of our own, in one list."""

from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from ui import access, desk, films, viewer


def routes() -> list[BaseRoute]:
    """Return the routes beside Streamlit's: signing in, films, the desk, the viewer's modules."""
    return [
        *access.routes(),
        *films.routes(),
        *desk.routes(),
        Mount(f"/viewer/{viewer.version()}", app=StaticFiles(directory=viewer.MODULES)),
    ]
