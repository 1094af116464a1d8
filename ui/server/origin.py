"""Whether a request comes from a page of ours: what the browser says of the page, against the host.

Scheme, host and port have to be the same. Behind a proxy that is so where it passes ``Host`` on and
sets ``X-Forwarded-Proto`` (``docs/proxy.md``); where it does not, the log says what to set.
"""

import logging
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from study.base.translation import t

_PORTS = {"http": 80, "https": 443}

_log = logging.getLogger("reading_room.origin")


def same_origin(scope: Scope) -> bool:
    """Return whether a request or a websocket is from a page of ours, or from no browser at all.

    A browser names the page's origin whenever it opens a websocket or posts; what names none
    carries nobody's cookies but its own.
    """
    headers = Headers(scope=scope)
    told = set(headers.getlist("origin"))
    if not told:
        return headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
    scheme = "https" if scope["scheme"] in ("https", "wss") else "http"
    own = f"{scheme}://{headers.get('host', '')}"
    if len(told) == 1 and (origin := _origin(told.pop())) is not None and origin == _origin(own):
        return True
    _log.warning(
        "Refused a page of %.200r: requests reach this server as %.200r. If that page is this "
        "program's own, have the proxy pass Host on and set X-Forwarded-Proto (docs/proxy.md).",
        headers["origin"],
        own,
    )
    return False


def what_to_set() -> str:
    """Return why a websocket was refused, for whoever looks after the proxy."""
    return t(
        "This request did not come from a page on this server. Behind a proxy, the proxy must "
        "pass on Host and set X-Forwarded-Proto."
    )


def _origin(text: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port.

    >>> _origin("https://Reading.example")
    ('https', 'reading.example', 443)
    >>> _origin("null"), _origin("http://a:b"), _origin("http://")
    (None, None, None)
    """
    try:
        found = urlsplit(text)
        port = found.port or _PORTS.get(found.scheme)
    except ValueError:
        return None
    if port is None or not found.hostname:
        return None
    return found.scheme, found.hostname, port
